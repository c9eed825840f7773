/** A config.json chosen or dropped: its text goes into the box, and nowhere else. */

/** The same limit as kvcore's, checked before the file is read into memory. */
const MAX_BYTES = 50_000_000;

/**
 * @param {HTMLFormElement} form
 * @param {() => void} changed Called when the box holds a new text.
 */
export function bindFile(form, changed) {
  const box = form.querySelector("textarea[name=config]");
  const picker = form.querySelector("input[type=file]");
  if (!(box instanceof HTMLTextAreaElement) || !(picker instanceof HTMLInputElement)) return;
  const take = async (/** @type {File | undefined} */ file) => {
    if (!file) return;
    box.value =
      file.size > MAX_BYTES ? `${file.name}: ${file.size} bytes are too many for a config.json` : await file.text();
    box.dispatchEvent(new Event("input", { bubbles: true }));
    changed();
  };
  picker.addEventListener("change", () => void take(picker.files?.[0]));
  box.addEventListener("dragover", (event) => event.preventDefault());
  box.addEventListener("drop", (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    void take(event.dataTransfer.files[0]);
  });
}
