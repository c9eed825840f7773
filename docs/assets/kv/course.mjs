/**
 * Keeps the address and the browser's history in step with the form: every change is one step back, keystrokes in one
 * field together are one change.
 */
import { fragmentOf, keptFragment, writeAddress } from "./address.mjs";
import { isInitial, readForm } from "./form.mjs";

/** Counts writes and knows what is being edited. */
export class Course {
  /** Counts writes, so that a slow compression cannot overwrite a newer address. */
  #edition = 0;
  /** @type {unknown} */
  #edited;
  #isNew = false;

  /**
   * Notes an edit. The first edit of a control, and every edit without one, begins a new step.
   *
   * @param {EventTarget | null | undefined} control
   */
  edit(control) {
    if (control && control === this.#edited) return;
    this.#edited = control;
    this.#isNew = true;
  }

  /** The control was left or its choice made: another edit of it is another step. */
  commit() {
    this.#edited = undefined;
  }

  /**
   * Writes the question into the address, so that a reload or a shared link asks it again.
   *
   * @param {HTMLFormElement} form
   */
  async write(form) {
    const edition = ++this.#edition;
    const fields = isInitial(form) ? new Map() : readForm(form);
    const name = fields.has("config") ? "config" : "layout";
    const carried = fields.get(name);
    fields.delete(name);
    const fragment = carried === undefined ? "" : ((await fragmentOf(name, carried)) ?? keptFragment(name, carried));
    if (edition !== this.#edition || !form.isConnected) return;
    const address = writeAddress(new URL(location.href), fields, fragment);
    const isOther = address !== location.pathname + location.search + location.hash;
    if (this.#isNew && isOther) history.pushState(history.state, "", address);
    else history.replaceState(history.state, "", address);
    this.#isNew = false;
  }
}
