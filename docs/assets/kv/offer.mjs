/**
 * Offers only what applies: a field about states is of no use for a model that keeps none, and one about dtypes of none
 * for a layout whose bytes are stated.
 *
 * @param {HTMLFormElement} form
 * @param {Record<string, unknown>} report The latest answer.
 */
export function offerWhatApplies(form, report) {
  const layout = /** @type {{parts: {growth: string}[]} | null | undefined} */ (report.layout);
  if (!layout) return;
  const growths = new Set(layout.parts.map((part) => part.growth));
  const isByHand = form.dataset.kvSource === "layout";
  for (const field of form.querySelectorAll("[data-kv-needs], [data-kv-needs-model]")) {
    if (!(field instanceof HTMLElement)) continue;
    const { kvNeeds, kvNeedsModel } = field.dataset;
    const grows = kvNeeds === undefined || kvNeeds.split(" ").some((growth) => growths.has(growth));
    const applies = grows && (kvNeedsModel === undefined || !isByHand);
    const control = field.querySelector("input, select, textarea");
    const isSet = control !== null && Reflect.get(control, "value") !== "";
    field.hidden = !applies && !isSet;
  }
}
