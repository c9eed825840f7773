/**
 * Charts that can be explored: the picture of a figure gives way to a drawing that answers the pointer, from the same
 * specification, and either can be taken away as SVG or PNG. The library comes when the first of it is asked for.
 *
 * @import { Spec } from "./drawing.mjs"
 */
import { save } from "./host.mjs";

/** Specifications that came with an answer. @type {WeakMap<HTMLElement, Spec>} */
const own = new WeakMap();
/** Figures that are drawn, and what ends each drawing. @type {Map<HTMLElement, () => void>} */
const drawn = new Map();
/** Asks for the specification of a chart by name. @type {((name: string) => Promise<Spec | undefined>) | undefined} */
let provider;
/** Files of specifications by address. @type {Map<string, Promise<Record<string, Spec>>>} */
const files = new Map();

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button[data-kv-draw]") : null;
  const figure = button?.closest("figure");
  if (!(button instanceof HTMLButtonElement) || !figure) return;
  const action = button.dataset.kvDraw;
  if (action === "explore") void attempt(figure, () => (drawn.has(figure) ? restore(figure) : explore(figure)));
  if (action === "svg" || action === "png") void attempt(figure, () => take(figure, action));
});

/** Another scheme, other colours. */
new MutationObserver(() => {
  again();
}).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });

/**
 * Says where the charts of the present answer come from.
 *
 * @param {(name: string) => Promise<Spec | undefined>} ask
 */
export function provide(ask) {
  provider = ask;
}

/**
 * Draws the charts of an answer that came with their specifications.
 *
 * @param {ParentNode} place
 * @param {Record<string, Spec> | undefined} specs
 */
export function drawAll(place, specs) {
  for (const figure of place.querySelectorAll("figure[data-kv-chart]")) {
    const spec = figure instanceof HTMLElement ? specs?.[figure.dataset.kvChart ?? ""] : undefined;
    if (!spec || !(figure instanceof HTMLElement)) continue;
    own.set(figure, spec);
    // There is no picture to go back to.
    button(figure)?.setAttribute("hidden", "");
    void attempt(figure, () => explore(figure));
  }
}

/**
 * Keeps the drawings of an answer that another one replaces, until {@link again} draws the new one's.
 *
 * @param {ParentNode} from
 * @param {ParentNode} to
 */
export function carry(from, to) {
  for (const figure of from.querySelectorAll("figure[data-kv-chart]")) {
    const next = to.querySelector(`figure[data-kv-chart="${figure.getAttribute("data-kv-chart")}"]`);
    if (!(figure instanceof HTMLElement) || !(next instanceof HTMLElement) || !drawn.has(figure)) continue;
    next.querySelector("[data-kv-part=picture]")?.after(stage(figure));
    show(next, true);
    drawn.set(next, drawn.get(figure) ?? (() => {}));
    drawn.delete(figure);
  }
}

/** Draws every explored chart anew: the answer is another one, or the page's colours are. */
export function again() {
  for (const figure of [...drawn.keys()]) {
    if (figure.isConnected) void attempt(figure, () => explore(figure));
    else end(figure);
  }
}

/** @param {HTMLElement} figure */
async function explore(figure) {
  const [{ drawInto }, spec] = await Promise.all([import("./drawing.mjs"), specOf(figure)]);
  if (!spec) return;
  const title = figure.querySelector("figcaption")?.textContent ?? "";
  const stop = await drawInto(stage(figure), spec, title);
  end(figure);
  drawn.set(figure, stop);
  show(figure, true);
}

/** @param {HTMLElement} figure */
function restore(figure) {
  end(figure);
  stage(figure).remove();
  show(figure, false);
}

/** @param {HTMLElement} figure */
function end(figure) {
  drawn.get(figure)?.();
  drawn.delete(figure);
}

/**
 * @param {HTMLElement} figure
 * @param {"svg" | "png"} kind
 */
async function take(figure, kind) {
  const [{ asFile }, spec] = await Promise.all([import("./drawing.mjs"), specOf(figure)]);
  if (!spec) return;
  const page = location.pathname.split("/").filter(Boolean).at(-1) ?? "kv-atlas";
  save(await asFile(spec, kind), `${page}-${figure.dataset.kvChart}.${kind}`);
}

/**
 * @param {HTMLElement} figure
 * @returns {Promise<Spec | undefined>} Undefined where a newer question took the place of this one.
 */
async function specOf(figure) {
  const name = figure.dataset.kvChart ?? "";
  const source = figure.dataset.kvSource;
  if (own.has(figure)) return own.get(figure);
  if (source !== undefined) return (await fileAt(new URL(source, location.href).href))[name];
  if (!provider) throw new Error("this page has nothing to draw it from");
  return provider(name);
}

/**
 * @param {string} address
 * @returns {Promise<Record<string, Spec>>}
 */
function fileAt(address) {
  const asked =
    files.get(address) ??
    fetch(address).then((response) => {
      if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
      return response.json();
    });
  files.set(address, asked);
  asked.catch(() => files.delete(address));
  return asked;
}

/**
 * Where a figure is drawn, beside its picture.
 *
 * @param {HTMLElement} figure
 * @returns {HTMLElement}
 */
function stage(figure) {
  const found = figure.querySelector(".kv-chart__drawn");
  if (found instanceof HTMLElement) return found;
  const made = Object.assign(document.createElement("div"), {
    className: "kv-chart__drawn",
    hidden: true,
    tabIndex: 0,
  });
  made.role = "region";
  made.ariaLabel = `${figure.querySelector("figcaption")?.textContent ?? "Chart"}, drawing`;
  figure.querySelector("[data-kv-part=picture]")?.after(made);
  return made;
}

/**
 * @param {HTMLElement} figure
 * @param {boolean} explored Whether the drawing is seen, or the picture.
 */
function show(figure, explored) {
  const picture = figure.querySelector("[data-kv-part=picture]");
  if (picture instanceof HTMLElement) picture.hidden = explored;
  if (explored) stage(figure).hidden = false;
  button(figure)?.setAttribute("aria-pressed", String(explored));
}

/** @param {HTMLElement} figure */
const button = (figure) => figure.querySelector("button[data-kv-draw=explore]");

/**
 * @param {HTMLElement} figure
 * @param {() => Promise<void> | void} act
 */
async function attempt(figure, act) {
  const line = figure.querySelector(".kv-chart__tools [role=status]");
  const say = (/** @type {string} */ text) => {
    if (line) line.textContent = text;
  };
  const late = setTimeout(() => say("Loading the chart library…"), 300);
  try {
    await act();
    say("");
  } catch (error) {
    say(`Not drawn: ${error instanceof Error ? error.message : String(error)}. The table says the same.`);
  } finally {
    clearTimeout(late);
  }
}
