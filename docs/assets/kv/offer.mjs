/**
 * Offers only what applies: a field about states is of no use for a model that keeps none.
 *
 * @param {HTMLFormElement} form
 * @param {Record<string, unknown>} report The latest answer.
 */
export function offerWhatApplies(form, report) {
  const layout = /** @type {{parts: {growth: string}[]} | null | undefined} */ (report.layout);
  if (!layout) return;
  const growths = new Set(layout.parts.map((part) => part.growth));
  for (const field of form.querySelectorAll("[data-kv-needs]")) {
    if (!(field instanceof HTMLElement)) continue;
    const applies = (field.dataset.kvNeeds ?? "").split(" ").some((growth) => growths.has(growth));
    const control = field.querySelector("input, select");
    const isSet =
      control instanceof HTMLInputElement || control instanceof HTMLSelectElement ? control.value !== "" : false;
    field.hidden = !applies && !isSet;
  }
}
