/** A config.json chosen or dropped: its text goes into the box, and nowhere else. */
import { MAX_CHARACTERS, showErrors } from "./form.mjs";

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
    if (file.size > MAX_CHARACTERS) {
      const rule = `this file has ${file.size.toLocaleString("en")} bytes and was not read; the page reads up to ${MAX_CHARACTERS.toLocaleString("en")}`;
      showErrors(form, [
        { field: "config", value: file.name, rule, remedy: "Give the model's config.json, not its weights." },
      ]);
      return;
    }
    box.value = await file.text();
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
