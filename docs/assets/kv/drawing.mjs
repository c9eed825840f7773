/**
 * Draws a specification with Vega: in a place of the page, or as a file. It draws what kvcore computed and computes nothing.
 *
 * @typedef {Record<string, any>} Spec A Vega-Lite specification of kvcore; usermeta.variables names its colours.
 *
 * @typedef {object} View What this script uses of a Vega view.
 * @property {(place?: HTMLElement) => View} initialize
 * @property {() => Promise<View>} runAsync
 * @property {(show: (handler: unknown, event: MouseEvent, item: unknown, value: unknown) => void) => View} tooltip
 * @property {() => Promise<string>} toSVG
 * @property {(scale?: number) => Promise<HTMLCanvasElement>} toCanvas
 * @property {() => void} finalize
 */
import { tip } from "./tip.mjs";

/** Name of the folder the library lies in, beside the folder of the site's own scripts. */
const folder = document.querySelector("meta[name=kv-vega]")?.getAttribute("content") ?? "";
const base = new URL(`../../vega/${folder}/`, import.meta.url).href;

/** Pixels of a PNG for one of the page. */
const SHARPNESS = 3;

/** @type {Promise<{vega: any, vegaLite: any, expr: unknown}> | undefined} */
let library;

function loaded() {
  library ??= load();
  library.catch(() => {
    library = undefined;
  });
  return library;
}

async function load() {
  if (folder === "") throw new Error("this page does not say where the chart library lies");
  await import(`${base}vega.js`);
  const [{ expressionInterpreter }] = await Promise.all([
    import(`${base}interpreter.mjs`),
    import(`${base}vega-lite.js`),
  ]);
  const { vega, vegaLite } = /** @type {any} */ (globalThis);
  return { vega, vegaLite, expr: expressionInterpreter };
}

/**
 * Makes a view of a specification in the page's present colours.
 *
 * @param {Spec} spec
 * @returns {Promise<View>}
 */
async function viewOf(spec) {
  const { vega, vegaLite, expr } = await loaded();
  const { usermeta, ...own } = coloured(spec);
  // The figure has a name, and a table that says the same; a hundred named marks would only stand in the way of both.
  const config = { ...own.config, aria: false, background: variable("--kv-page") };
  const runtime = vega.parse(vegaLite.compile({ ...own, config }).spec, {}, { ast: true });
  return new vega.View(runtime, { expr, renderer: "svg", loader: closed, logLevel: vega.Error });
}

/** kvcore's specifications hold their data; nothing else is fetched, whatever one says. */
const closed = Object.fromEntries(
  ["load", "sanitize", "http", "file"].map((name) => [name, () => Promise.reject(new Error("nothing is fetched"))]),
);

/**
 * @param {Spec} spec
 * @returns {Spec} The same in the colours of the page's scheme.
 */
function coloured(spec) {
  /** @type {Record<string, string>} */
  const variables = spec.usermeta?.variables ?? {};
  const found = new RegExp(Object.keys(variables).join("|") || "(?!)", "gi");
  return JSON.parse(
    JSON.stringify({ ...spec, usermeta: null }).replace(found, (colour) => variable(variables[colour.toLowerCase()])),
  );
}

/** @param {string | undefined} name */
const variable = (name) =>
  getComputedStyle(document.body)
    .getPropertyValue(name ?? "")
    .trim();

/**
 * Draws into a place, in the stead of what was drawn there before.
 *
 * @param {HTMLElement} place
 * @param {Spec} spec
 * @param {string} title
 * @returns {Promise<() => void>} Ends the drawing.
 */
export async function drawInto(place, spec, title) {
  const view = await viewOf(spec);
  const stage = document.createElement("div");
  await view
    .tooltip((_, event, __, value) => tip(event, value))
    .initialize(stage)
    .runAsync();
  for (const name of ["role", "aria-roledescription", "aria-label"]) stage.removeAttribute(name);
  const svg = stage.querySelector("svg");
  // Vega calls its groups of marks symbols, which would want a name each; the picture is one, and has one.
  for (const group of svg?.querySelectorAll("[role]") ?? []) {
    for (const name of ["role", "aria-roledescription"]) group.removeAttribute(name);
  }
  svg?.setAttribute("role", "img");
  svg?.setAttribute("aria-label", title);
  place.replaceChildren(stage);
  return () => {
    tip(undefined, undefined);
    view.finalize();
  };
}

/**
 * @param {Spec} spec
 * @param {"svg" | "png"} kind
 * @returns {Promise<Blob>} The chart as a file, in the colours and on the ground of the page.
 */
export async function asFile(spec, kind) {
  const view = await viewOf(spec);
  try {
    if (kind === "svg") return new Blob([await view.toSVG()], { type: "image/svg+xml" });
    const canvas = await view.toCanvas(SHARPNESS);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large"))), "image/png"),
    );
  } finally {
    view.finalize();
  }
}
