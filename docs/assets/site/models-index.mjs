// @ts-check
/**
 * The models index brought to life: sorting, filters and the choice of cards, all kept in the address so that a list can be
 * linked. The table is complete without this script.
 */

import { fleetOf, showRow } from "./index-figures.mjs";
import { makeSortable } from "./index-sort.mjs";

const FILTERS = /** @type {const} */ (["kind", "family", "org"]);
const FIELDS = /** @type {const} */ (["q", ...FILTERS, "n", "gpu", "fits"]);

/** One index on one page. */
class Index {
  /**
   * @param {HTMLElement} root
   * @param {HTMLFormElement} form
   * @param {HTMLTableElement} table
   */
  constructor(root, form, table) {
    this.root = root;
    this.form = form;
    this.rows = [...(table.tBodies[0]?.rows ?? [])];
    const names = [...(table.tHead?.rows[0]?.cells ?? [])].map((title) => title.dataset.name ?? "");
    this.columns = {
      requests: names.flatMap((name, column) => (name.startsWith("requests-") ? [column] : [])),
      fewest: names.indexOf("fewest"),
    };
    /** Cards whose figures the table shows. */
    this.shown = this.cards();
    this.sorting = makeSortable(table, () => this.writeAddress());
  }

  /** The cards chosen, as one word to compare. */
  cards() {
    return `${this.value("n")} × ${this.value("gpu")}`;
  }

  /**
   * @param {string} name
   * @returns {string}
   */
  value(name) {
    return String(new FormData(this.form).get(name) ?? "").trim();
  }

  readAddress() {
    const asked = new URL(location.href).searchParams;
    for (const name of FIELDS) {
      const control = this.form.elements.namedItem(name);
      const value = asked.get(name);
      if (value === null) {
        continue;
      }
      if (control instanceof HTMLInputElement && control.type === "checkbox") {
        control.checked = value === control.value;
      } else if (control instanceof HTMLInputElement) {
        control.value = value;
      } else if (control instanceof HTMLSelectElement && [...control.options].some((one) => one.value === value)) {
        // A value the list does not have is passed over, as a mistyped address should be.
        control.value = value;
      }
    }
    this.sorting.choose(asked.get("sort") ?? "", asked.get("order") === "up");
  }

  writeAddress() {
    const address = new URL(location.href);
    for (const name of FIELDS) {
      const value = this.value(name);
      if (value && value !== defaultOf(this.form.elements.namedItem(name))) {
        address.searchParams.set(name, value);
      } else {
        address.searchParams.delete(name);
      }
    }
    const { name, ascending } = this.sorting.chosen();
    address.searchParams.delete("sort");
    address.searchParams.delete("order");
    if (name) {
      address.searchParams.set("sort", name);
      address.searchParams.set("order", ascending ? "up" : "down");
    }
    if (address.href !== location.href) {
      history.replaceState(history.state, "", address);
    }
  }

  /** Shows what the form chooses. */
  async apply() {
    const cards = this.cards();
    if (cards !== this.shown || this.value("fits")) {
      const folder = this.root.dataset.figures ?? "";
      try {
        const fleet = await fleetOf(folder, this.value("gpu"));
        if (this.cards() !== cards) {
          return; // chosen anew meanwhile
        }
        for (const row of this.rows) {
          showRow(row, fleet, Number(this.value("n")), this.columns);
        }
        this.say(cards);
        this.sorting.again();
      } catch {
        this.count("These figures could not be fetched; the table still shows the cards named above it.");
        return;
      }
    }
    this.filter();
    this.writeAddress();
  }

  /**
   * Says which cards the figures are of.
   * @param {string} cards
   */
  say(cards) {
    this.shown = cards;
    for (const place of this.root.querySelectorAll("[data-kv-deployment]")) {
      place.textContent = cards;
    }
    for (const place of this.root.querySelectorAll("[data-kv-fewest]")) {
      place.textContent = `${this.value("gpu")}, fewest`;
    }
  }

  filter() {
    const words = this.value("q").toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = FILTERS.map((name) => /** @type {const} */ ([name, this.value(name)]));
    const fitting = Boolean(this.value("fits"));
    let shown = 0;
    for (const row of this.rows) {
      const found =
        words.every((word) => row.dataset.search?.includes(word)) &&
        wanted.every(([name, value]) => !value || row.dataset[name] === value) &&
        (!fitting || row.dataset.fits === "1");
      row.hidden = !found;
      shown += found ? 1 : 0;
    }
    // Nothing to take back, no way to do so.
    const reset = this.form.querySelector("[type=reset]");
    if (reset instanceof HTMLElement) {
      reset.hidden = !FIELDS.some((name) => this.value(name) !== defaultOf(this.form.elements.namedItem(name)));
    }
    this.count(shown === this.rows.length ? `${shown} models` : `${shown} of ${this.rows.length} models`);
  }

  /** @param {string} text */
  count(text) {
    const output = this.form.querySelector("output");
    if (output) {
      output.value = text;
    }
  }
}

/**
 * What a control holds while nothing was chosen.
 * @param {Element | RadioNodeList | null} control
 */
function defaultOf(control) {
  if (control instanceof HTMLSelectElement) {
    return [...control.options].find((option) => option.defaultSelected)?.value ?? "";
  }
  return "";
}

/** Brings the index on the present page to life, if the page is the index. */
function start() {
  const root = document.querySelector("[data-kv-index]");
  const form = root?.querySelector("form");
  const table = root?.querySelector("table");
  if (!(root instanceof HTMLElement) || !form || !table || root.dataset.ready) {
    return;
  }
  root.dataset.ready = "true";
  const index = new Index(root, form, table);
  index.readAddress();
  form.hidden = false;
  form.addEventListener("input", () => void index.apply());
  form.addEventListener("submit", (event) => event.preventDefault());
  // The form has its first values once the event is over.
  form.addEventListener("reset", () => setTimeout(() => void index.apply()));
  void index.apply();
}

// Material swaps pages without a reload; document$ then announces each new page.
const pages = /** @type {{ document$?: { subscribe(next: () => void): void } }} */ (globalThis).document$;
if (pages) {
  pages.subscribe(start);
} else {
  start();
}
