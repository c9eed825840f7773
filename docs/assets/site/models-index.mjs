// @ts-check
/**
 * Sorting and filtering of the models index. The table is complete without this script; the filter's state is kept in
 * the address, so that a filtered list can be linked.
 */

const FIELDS = /** @type {const} */ (["q", "kind", "org"]);

/**
 * Value of a cell for sorting: the exact number where the cell has one, else its text.
 * @param {HTMLTableRowElement} row
 * @param {number} column
 * @returns {number | string}
 */
function sortValue(row, column) {
  const cell = row.cells[column];
  const exact = cell?.querySelector("data")?.getAttribute("value");
  if (exact) {
    return Number(exact);
  }
  return cell?.textContent?.trim().toLowerCase() ?? "";
}

/**
 * Order of two cells; cells without a number come last, whichever way the column is sorted.
 * @param {number | string} a
 * @param {number | string} b
 * @param {number} direction
 * @returns {number}
 */
function compare(a, b, direction) {
  if (typeof a === "number" && typeof b === "number") {
    return (a - b) * direction;
  }
  if (typeof a !== typeof b) {
    return typeof a === "number" ? -1 : 1;
  }
  return String(a).localeCompare(String(b)) * direction;
}

/**
 * Makes every column title a button that sorts by its column.
 * @param {HTMLTableElement} table
 */
function makeSortable(table) {
  const titles = [...(table.tHead?.rows[0]?.cells ?? [])];
  for (const [column, title] of titles.entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...title.childNodes);
    title.append(button);
    button.addEventListener("click", () => {
      const numeric = title.dataset.kind === "number";
      const before = title.getAttribute("aria-sort");
      const ascending = before === null ? !numeric : before === "descending";
      for (const other of titles) {
        other.removeAttribute("aria-sort");
      }
      title.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      const body = table.tBodies[0];
      const rows = [...(body?.rows ?? [])];
      const direction = ascending ? 1 : -1;
      rows.sort((a, b) => compare(sortValue(a, column), sortValue(b, column), direction));
      body?.append(...rows);
    });
  }
}

/**
 * Hides the rows that the form's choice leaves out, counts the rest and writes the choice into the address.
 * @param {HTMLFormElement} form
 * @param {HTMLTableElement} table
 */
function applyFilter(form, table) {
  const choice = new FormData(form);
  const words = String(choice.get("q") ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean);
  const kind = choice.get("kind");
  const org = choice.get("org");
  const rows = [...(table.tBodies[0]?.rows ?? [])];
  let shown = 0;
  for (const row of rows) {
    const found =
      words.every((word) => row.dataset.search?.includes(word)) &&
      (!kind || row.dataset.kind === kind) &&
      (!org || row.dataset.org === org);
    row.hidden = !found;
    shown += found ? 1 : 0;
  }
  const count = form.querySelector("output");
  if (count) {
    count.value = shown === rows.length ? `${rows.length} models` : `${shown} of ${rows.length} models`;
  }
  const address = new URL(location.href);
  for (const field of FIELDS) {
    const value = String(choice.get(field) ?? "").trim();
    if (value) {
      address.searchParams.set(field, value);
    } else {
      address.searchParams.delete(field);
    }
  }
  history.replaceState(history.state, "", address);
}

/** Brings the index on the present page to life, if the page is the index. */
function start() {
  const index = document.querySelector("[data-kv-index]");
  const form = index?.querySelector("form");
  const table = index?.querySelector("table");
  if (!(index instanceof HTMLElement) || !form || !table || index.dataset.ready) {
    return;
  }
  index.dataset.ready = "true";
  const asked = new URL(location.href).searchParams;
  for (const field of FIELDS) {
    const control = form.elements.namedItem(field);
    if (control instanceof HTMLInputElement || control instanceof HTMLSelectElement) {
      control.value = asked.get(field) ?? "";
    }
  }
  form.hidden = false;
  makeSortable(table);
  form.addEventListener("input", () => applyFilter(form, table));
  form.addEventListener("submit", (event) => event.preventDefault());
  applyFilter(form, table);
}

// Material swaps pages without a reload; document$ then announces each new page.
const pages = /** @type {{ document$?: { subscribe(next: () => void): void } }} */ (globalThis).document$;
if (pages) {
  pages.subscribe(start);
} else {
  start();
}
