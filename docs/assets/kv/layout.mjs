/**
 * The layout part by part: rows that can be changed, dropped and added. kvcore says which rows a layout has and which
 * layout rows make; the text of the form's layout field stays the one truth, and the answer follows it as any field.
 *
 * @import { Fields, Host } from "./host.mjs"
 * @import { FieldError } from "./protocol.mjs"
 */
import { download, onPress, part, showProblems } from "./host.mjs";

/** @typedef {Record<string, unknown> & {part: number | null}} Row */

/** The layout as it was taken from a model, and the form before that: for this window, across reloads. */
const KEY = "kv-layout";
/** Longer than the gap between two keystrokes. */
const DEBOUNCE = 80;

/** @returns {{layout: string, fields: Fields} | undefined} */
function start() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

/** @returns {string} The layout before it was edited; empty where this window did not take it from a model. */
export const layoutBefore = () => start()?.layout ?? "";

/** @param {Host} host */
export function bindLayout(host) {
  const panel = part(host.root, "layout");
  const table = part(panel, "layout-rows");
  const note = part(panel, "layout-note");
  const box = host.root.querySelector("textarea[name=layout]");
  const template = panel.querySelector("template");
  if (!(box instanceof HTMLTextAreaElement) || !(template instanceof HTMLTemplateElement)) return;
  /** The text whose rows are shown. */
  let shown = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {FieldError[]} */
  let wrong = [];

  const lines = () => /** @type {HTMLElement[]} */ ([...table.querySelectorAll("[data-kv-row]")]);
  const inputs = (/** @type {HTMLElement} */ line) =>
    /** @type {(HTMLInputElement | HTMLSelectElement)[]} */ ([...line.querySelectorAll("[data-kv-column]")]);

  const replace = (/** @type {HTMLElement[]} */ wanted) => {
    for (const line of lines()) line.remove();
    table.append(...wanted);
  };
  /** @param {Row} row */
  const lineOf = (row) => {
    const line = /** @type {HTMLElement} */ (template.content.firstElementChild?.cloneNode(true));
    fill(line, row);
    return line;
  };
  /**
   * @param {HTMLElement} line
   * @param {Row} row
   */
  const fill = (line, row) => {
    line.dataset.kvRow = row.part === null ? "" : String(row.part);
    for (const input of inputs(line)) {
      const text = String(row[input.dataset.kvColumn ?? ""] ?? "");
      if (input === document.activeElement || input.value === text) continue;
      input.value = text;
      // A growth kvcore does not know still has to be seen to be corrected.
      if (input instanceof HTMLSelectElement && input.value !== text) {
        input.add(new Option(text, text));
        input.value = text;
      }
    }
  };
  /** Rows name their part and number in every label, and offer a window only where there is one. */
  const relabel = () => {
    for (const [index, line] of lines().entries()) {
      const [name, growth] = inputs(line);
      const windowed = /sliding_window|chunked/.test(growth?.value ?? "");
      for (const input of inputs(line)) {
        input.ariaLabel = `${input.dataset.kvLabel}, part ${index + 1}`;
        if (input.dataset.kvColumn === "window") input.disabled = !windowed && input.value === "";
      }
      const drop = line.querySelector("button");
      if (drop) drop.ariaLabel = `Drop part ${index + 1}, ${name?.value ?? ""}`;
      mark(line, index);
    }
  };
  /**
   * @param {HTMLElement} line
   * @param {number} index
   */
  const mark = (line, index) => {
    const path = `layout.parts.${index}.`;
    const own = wrong.filter((error) => error.field.startsWith(path));
    const message = line.querySelector("[role=alert]");
    if (!message) return;
    message.textContent = own
      .map((error) => `${error.field.slice(path.length)}: ${error.rule}. ${error.remedy}`)
      .join(" ")
      .replaceAll("`", "");
    message.closest("tr")?.toggleAttribute("hidden", own.length === 0);
    for (const input of inputs(line)) {
      const bad = own.some((error) => error.field === path + input.dataset.kvColumn);
      if (bad) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
  };

  /** Shows the rows of the form's layout, or the offer to start from the model. */
  const show = async () => {
    const text = host.fields().layout ?? "";
    panel.dataset.kvEditing = String(text !== "");
    panel
      .querySelector("[data-kv-do=layout-reset]")
      ?.toggleAttribute("hidden", text === layoutBefore() || !layoutBefore());
    panel.querySelector("[data-kv-do=layout-back]")?.toggleAttribute("hidden", !start());
    if (text === "") replace([]);
    if (text === "" || text === shown) {
      shown = text;
      relabel();
      return;
    }
    panel.setAttribute("open", "");
    const reply = await host.ask("layout", "layout_json", { layout: text });
    if (reply === undefined) return;
    shown = text;
    showProblems(panel, reply.errors);
    replace((reply.rows ?? []).map(lineOf));
    relabel();
  };

  /** Asks which layout the rows make and hands it to the form. */
  const write = async () => {
    clearTimeout(timer);
    const rows = lines().map((line) => ({
      part: line.dataset.kvRow === "" ? null : Number(line.dataset.kvRow),
      ...Object.fromEntries(inputs(line).map((input) => [input.dataset.kvColumn, input.value])),
    }));
    const before = shown;
    const reply = await host.ask("layout", "layout_json", { layout: before, rows });
    // Another layout has come meanwhile: its own rows are shown with its answer.
    if (reply === undefined || box.value !== before) return;
    if (showProblems(panel, reply.errors)) return;
    shown = reply.layout;
    for (const [index, line] of lines().entries()) if (reply.rows[index]) fill(line, reply.rows[index]);
    relabel();
    if (box.value === shown) return;
    box.value = shown;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };

  table.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void write(), DEBOUNCE);
  });
  // Leaving a cell ends a step of the history.
  table.addEventListener(
    "change",
    () => void write().then(() => box.dispatchEvent(new Event("change", { bubbles: true }))),
  );
  table.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    const line = button?.closest("[data-kv-row]");
    if (!line) return;
    const next = line.nextElementSibling ?? line.previousElementSibling;
    line.remove();
    (next?.querySelector("button") ?? add).focus();
    note.textContent = `Part dropped; ${lines().length} left.`;
    void write().then(() => box.dispatchEvent(new Event("change", { bubbles: true })));
  });
  panel.querySelector("form")?.addEventListener("submit", (event) => event.preventDefault());

  const add = onPress(panel, "layout-add", () => {
    table.append(lineOf({ part: null, name: `part ${lines().length + 1}`, growth: "per_token", layers: 1 }));
    lines().at(-1)?.querySelector("input")?.focus();
    note.textContent = `Part added; ${lines().length} in all.`;
    void write();
  });
  onPress(panel, "layout-start", async () => {
    const fields = host.fields();
    const reply = await host.ask("layout", "layout_json", { request: fields });
    if (reply === undefined || showProblems(panel, reply.errors)) return;
    try {
      sessionStorage.setItem(KEY, JSON.stringify({ layout: reply.request.layout, fields }));
    } catch {
      // A full or forbidden store costs the way back, and nothing else.
    }
    host.fill(reply.request);
    // The model stays in its box, not used, as the way back.
    const model = host.root.querySelector("input[name=model]");
    if (model instanceof HTMLInputElement) model.value = fields.model ?? "";
    await show();
    lines()[0]?.querySelector("input")?.focus();
  });
  onPress(panel, "layout-reset", () => host.fill({ ...host.fields(), layout: layoutBefore() }));
  onPress(panel, "layout-back", () => host.fill(start()?.fields ?? {}));
  onPress(panel, "layout-save", () => download(box.value, "layout.json", "application/json"));

  host.answered((reply) => {
    wrong = reply.report.errors;
    void show();
  });
  panel.hidden = false;
}
