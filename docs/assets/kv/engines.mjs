/** What one engine was told stands for the other too, where both mean the same by it; kvcore says where they do. */

/** @typedef {HTMLInputElement | HTMLSelectElement | null} Control */

/**
 * Takes the sizes and the context along when another engine is chosen.
 *
 * @param {HTMLFormElement} form
 */
export function bindEngines(form) {
  const control = (/** @type {string | undefined} */ name) =>
    /** @type {Control} */ (form.querySelector(`[name="${name}"]`));
  // Before the form is asked with: the answer is to the same question.
  form.addEventListener(
    "input",
    ({ target }) => {
      if (!(target instanceof HTMLSelectElement) || target.name !== "engine") return;
      const engine = target.value === "sglang" ? "sglang" : "vllm";
      for (const field of form.querySelectorAll(`[data-kv-same][data-kv-engine="${engine}"]`)) {
        if (!(field instanceof HTMLElement)) continue;
        const [own, other] = [control(field.dataset.kvField), control(field.dataset.kvSame)];
        if (own && other && other.value.trim() !== "") own.value = other.value;
      }
    },
    { capture: true },
  );
}
