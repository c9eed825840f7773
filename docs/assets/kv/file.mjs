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
  const refuse = (/** @type {File} */ { name }, /** @type {string} */ rule) =>
    showErrors(form, [
      { field: "config", value: name, rule, remedy: "Give the model's config.json, not its weights." },
    ]);
  const take = async (/** @type {File | undefined} */ file) => {
    if (!file) return;
    const [bytes, most] = [file.size, MAX_CHARACTERS].map((size) => size.toLocaleString("en"));
    if (file.size > MAX_CHARACTERS) {
      refuse(file, `this file has ${bytes} bytes and was not read; the page reads up to ${most}`);
      return;
    }
    const text = await file.text().catch(() => undefined);
    if (text === undefined) {
      // A folder, or a file that was moved since.
      refuse(file, `the browser cannot read ${file.name}`);
      return;
    }
    box.value = text;
    box.dispatchEvent(new Event("input", { bubbles: true }));
    changed();
  };
  picker.addEventListener("change", async () => {
    await take(picker.files?.[0]);
    // So that the same file can be chosen again after it was edited.
    picker.value = "";
  });
  // Beside the box a browser would open the file in place of the page.
  form.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  form.addEventListener("drop", (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    void take(event.dataTransfer.files[0]);
  });
}
