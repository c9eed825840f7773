/**
 * Keeps the address and the browser's history in step with the form: every change is one step back, keystrokes in one
 * field together are one change.
 */
import { fragmentOf, keptFragment, writeAddress } from "./address.mjs";
import { isInitial, readForm } from "./form.mjs";
import { keepUnwritten } from "./unwritten.mjs";

/**
 * Milliseconds after the last edit the address is written. Writing it costs a browser more than an answer, and browsers
 * take only so many in a while.
 */
const SETTLED = 150;

/** Milliseconds after which a page that was to be left, and still is there, stays: a download begins like a departure. */
const STAYED = 2000;

/** Says on the calculator that what its form asks does not stand in the address yet. */
const UNWRITTEN = "data-kv-unwritten";

/** @typedef {{fields: Map<string, string>, isInitial: boolean, isNew: boolean}} Step */

export class Course {
  /** What the form asked after the latest edit, until it is written. @type {Step | undefined} */
  #step;
  /** Writes follow each other: folding a config takes a while. @type {Promise<void>} */
  #written = Promise.resolve();
  /** @type {unknown} */
  #edited;
  #isNew = false;
  /** Steps that are being written. */
  #writes = 0;
  /** A reload that has begun asks for the address as it was: another one would only confuse the history. */
  #isLeaving = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} root
   * @param {HTMLFormElement} form
   */
  constructor(root, form) {
    this.root = root;
    this.form = form;
    // Whoever goes elsewhere, to the address or by a link, finds it written.
    form.addEventListener("focusout", () => this.write());
    form.addEventListener("change", () => this.commit());
    const leaving = ["beforeunload", "pagehide"];
    const left = () => {
      if (!root.isConnected) for (const event of leaving) removeEventListener(event, left);
      else if (root.hasAttribute(UNWRITTEN)) {
        keepUnwritten(readForm(form));
        this.#isLeaving = true;
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#stay(), STAYED);
      }
    };
    for (const event of leaving) addEventListener(event, left);
  }

  /**
   * Notes an edit. The first edit of a control, and every edit without one, begins a new step.
   *
   * @param {EventTarget | null} [control]
   */
  edit(control) {
    this.#isLeaving = false;
    if (!control || control !== this.#edited) {
      this.write();
      this.#edited = control;
      this.#isNew = true;
    }
    this.keep();
  }

  /** Notes what was typed before a reload, which is a step like any other. */
  resume() {
    this.#isNew = true;
    this.keep();
  }

  /** Has what the form asks written soon. */
  keep() {
    this.#step = { fields: readForm(this.form), isInitial: isInitial(this.form), isNew: this.#isNew };
    this.root.setAttribute(UNWRITTEN, "");
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.write(), SETTLED);
  }

  /** The control was left or its choice made: another edit of it is another step. */
  commit() {
    this.#edited = undefined;
  }

  /** The form follows the address: what was not written is given up. */
  follow() {
    this.#step = undefined;
    clearTimeout(this.#timer);
    this.root.removeAttribute(UNWRITTEN);
  }

  /** Writes what is not written yet, so that a reload or a shared link asks it again. */
  write() {
    const step = this.#step;
    if (!step || this.#isLeaving) return;
    this.#step = undefined;
    this.#isNew = false;
    clearTimeout(this.#timer);
    this.#writes += 1;
    const put = () => this.#put(step);
    this.#written = this.#written.then(put, put);
  }

  #stay() {
    this.#isLeaving = false;
    this.keep();
  }

  /** @param {Step} step */
  async #put(step) {
    const fields = step.isInitial ? new Map() : step.fields;
    const name = fields.has("config") ? "config" : "layout";
    const carried = fields.get(name);
    fields.delete(name);
    const fragment = carried === undefined ? "" : ((await fragmentOf(name, carried)) ?? keptFragment(name, carried));
    this.#writes -= 1;
    if (!this.form.isConnected || this.#isLeaving) return;
    const address = writeAddress(new URL(location.href), fields, fragment);
    const isOther = address !== location.pathname + location.search + location.hash;
    if (step.isNew && isOther) history.pushState(history.state, "", address);
    else history.replaceState(history.state, "", address);
    this.root.toggleAttribute(UNWRITTEN, this.#step !== undefined || this.#writes > 0);
  }
}
