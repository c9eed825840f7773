/**
 * Offers what applies, and says what a field left empty means: the engine's default under the present question, and why.
 */
import { controls } from "./form.mjs";

/** @typedef {{value: unknown, origin: string, note: string}} Input */
/** @typedef {{parts: {growth: string}[]} | null | undefined} Layout */
/** @typedef {{groups: {name: string}[]} | null | undefined} Weights */

/**
 * A field about states is of no use for a model that keeps none, one about experts for a dense model, and one about
 * dtypes for a layout whose bytes are stated.
 *
 * @param {HTMLFormElement} form
 * @param {Record<string, unknown>} report The latest answer.
 */
export function offerWhatApplies(form, report) {
  showDefaults(form, /** @type {Record<string, Input>} */ (report.inputs ?? {}));
  const layout = /** @type {Layout} */ (report.layout);
  const weights = /** @type {Weights} */ (report.weights);
  if (!layout) return;
  const there = new Set([
    ...layout.parts.map((part) => part.growth),
    ...(weights?.groups ?? []).map(({ name }) => name),
  ]);
  // Where nothing is known of the weights there may be experts.
  if (!weights?.groups.length) there.add("experts");
  const isByHand = form.dataset.kvSource === "layout";
  for (const field of form.querySelectorAll("[data-kv-needs], [data-kv-needs-model]")) {
    if (!(field instanceof HTMLElement)) continue;
    const { kvNeeds, kvNeedsModel } = field.dataset;
    const needed = kvNeeds === undefined || kvNeeds.split(" ").some((name) => there.has(name));
    const applies = needed && (kvNeedsModel === undefined || !isByHand);
    const control = field.querySelector("input, select, textarea");
    const isSet = control !== null && Reflect.get(control, "value") !== "";
    const isHidden = !applies && !isSet;
    if (field.hidden !== isHidden) field.hidden = isHidden;
  }
}

/**
 * @param {HTMLFormElement} form
 * @param {Record<string, Input>} inputs
 */
function showDefaults(form, inputs) {
  for (const control of controls(form)) {
    const { value, origin, note } = inputs[control.name] ?? { value: undefined, origin: "given", note: "" };
    if (origin === "given" || value === null || typeof value === "object") continue;
    const words = `default: ${typeof value === "number" ? value.toLocaleString("en") : value}`;
    const first = control instanceof HTMLSelectElement ? control.options[0] : undefined;
    // Writing the same again would still lay the form out anew.
    if (first) {
      if (first.textContent !== words) first.textContent = words;
    } else if (control.getAttribute("placeholder") !== words) control.setAttribute("placeholder", words);
    if (control.title !== note) control.title = note;
  }
}
