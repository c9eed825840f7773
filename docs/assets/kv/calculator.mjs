/**
 * The calculator page: address → form → worker → answer. It moves texts; every number comes from kvcore.
 *
 * @import { Host } from "./host.mjs"
 * @import { FieldError, Reply } from "./protocol.mjs"
 */
import { carriedField, readCarried, readQuery } from "./address.mjs";
import { Answer } from "./answer.mjs";
import { bundleAddress } from "./bundle.mjs";
import { windowClient } from "./client.mjs";
import { Course } from "./course.mjs";
import { bindEmbed } from "./embed.mjs";
import { bindFile } from "./file.mjs";
import { fillForm, readForm, resetForm, setSource, showEngine, showErrors, sourceTyped, tooLong } from "./form.mjs";
import { describe, texts } from "./host.mjs";
import { compareWithLink } from "./link.mjs";
import { offerWhatApplies } from "./offer.mjs";
import { bindStatus } from "./status.mjs";
import { bindTakeAway } from "./takeaway.mjs";
import { takeUnwritten } from "./unwritten.mjs";

/**
 * Binds one built calculator. Safe to call again for the same element.
 *
 * @param {HTMLElement} root
 */
export function bindCalculator(root) {
  if (root.dataset.kvBound !== undefined) return;
  root.dataset.kvBound = "";
  new Calculator(root);
}

class Calculator {
  /** Whether Python is at a question of the form. */
  #isAsking = false;
  /** Whether the form has changed since. */
  #isStale = false;
  /** Fields of the address that the form does not have; kvcore names them in its errors. @type {Map<string, string>} */
  #unknown = new Map();
  /** @type {((reply: Reply) => unknown)[]} */
  #listeners = [];
  /** The latest answer the listeners were told of. @type {Reply | undefined} */
  #told;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.form = /** @type {HTMLFormElement} */ (this.#part("form"));
    this.answer = this.#part("answer");
    this.course = new Course(root, this.form);
    this.client = windowClient(bundleAddress(root.dataset.kvBundle));
    this.shown = new Answer(
      this.answer,
      (door, fields) => this.host.ask("calculator", door, fields),
      (reply) => this.#tell(reply),
      (error) => this.status.say(noAnswer(error)),
    );
    this.status = bindStatus(this.#part("status"), this.client, () => this.#ask());
    this.host = this.#host();
    this.takeAway = bindTakeAway(this.#part("takeaway"), this.host);
    bindEmbed(root);
    void import("./further.mjs").then(({ bindFurther }) => bindFurther(this.host, (text) => this.#take(text)));
    bindFile(this.form, () => this.#changed());
    this.form.addEventListener("input", (event) => this.#changed(event));
    this.form.addEventListener("click", (event) => this.#use(event.target));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#ask();
    });
    this.form.addEventListener("reset", (event) => {
      event.preventDefault();
      this.#unknown = new Map();
      resetForm(this.form);
      this.#changed();
    });
    root.addEventListener("click", (event) => this.#followed(event));
    const path = location.pathname;
    const moved = () => {
      if (!root.isConnected) removeEventListener("popstate", moved);
      else if (location.pathname === path && (location.hash === "" || carriedField(location.hash))) {
        void this.#restore(true);
      }
    };
    // Fires for a step back or forward, and for another fragment put into the address by hand.
    addEventListener("popstate", moved);
    this.#startWhenWanted();
    void this.#restore(false);
  }

  /** @returns {Host} */
  #host() {
    return {
      root: this.root,
      ask: async (channel, door, values) => {
        // Another page's calculator may have taken this one's place, and asks on the same channels.
        if (!this.root.isConnected) return undefined;
        const text = await this.client.ask(channel, door, JSON.stringify(values));
        return text === undefined || !this.root.isConnected ? undefined : JSON.parse(text);
      },
      fields: () => Object.fromEntries([...this.#unknown, ...readForm(this.form)]),
      fill: (request) => {
        this.#unknown = fillForm(this.form, texts(request));
        this.#changed();
        this.form.scrollIntoView({ block: "nearest" });
      },
      answered: (listener) => {
        this.#listeners.push(listener);
        if (this.#told) listener(this.#told);
      },
    };
  }

  /**
   * Takes a config as if it had been pasted.
   *
   * @param {string} text
   */
  #take(text) {
    const box = this.form.querySelector("textarea[name=config]");
    if (box instanceof HTMLTextAreaElement) box.value = text;
    setSource(this.form, "config");
    this.#changed();
  }

  /**
   * @param {string} name
   * @returns {HTMLElement}
   */
  #part(name) {
    const part = this.root.querySelector(`[data-kv-part=${name}]`);
    if (part instanceof HTMLElement) return part;
    throw new Error(`the calculator has no ${name}`);
  }

  /**
   * Fills the form from the address; asks at once unless the built answer is shown already.
   *
   * @param {boolean} answered Whether another answer may be shown now.
   */
  async #restore(answered) {
    if (answered) this.course.follow();
    const address = new URL(location.href);
    const typed = answered ? undefined : takeUnwritten();
    const query = typed ?? readQuery(address);
    const errors = [];
    try {
      const carried = typed ? undefined : await readCarried(address);
      if (carried !== undefined) query.set(...carried);
    } catch (error) {
      errors.push(damagedLink(carriedField(address.hash) ?? "config", error));
    }
    this.#unknown = new Map();
    document.documentElement.toggleAttribute("data-kv-asks", query.size > 0 && !answered);
    if (query.size > 0) this.#unknown = fillForm(this.form, query);
    else resetForm(this.form);
    showEngine(this.form);
    if (typed) this.course.resume();
    if (errors.length > 0) this.status.say(showErrors(this.form, errors).map(describe).join(" "));
    else if (query.size > 0 || answered) await this.#ask();
    void compareWithLink(this.host, address);
  }

  /** @param {Event} [event] */
  #changed(event) {
    const target = event?.target;
    // A chosen file or a mirror's address is no field of the question.
    if (target instanceof HTMLInputElement && target.name === "") return;
    if (target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement)
      sourceTyped(this.form, target.name);
    showEngine(this.form);
    this.#part("notice").replaceChildren();
    this.answer.ariaBusy = "true";
    void this.#ask();
    this.course.edit(target);
  }

  /**
   * A press on "use this" beside the model or the config.
   *
   * @param {EventTarget | null} target
   */
  #use(target) {
    const wanted = target instanceof HTMLElement ? target.dataset.kvUse : undefined;
    if (wanted === undefined) return;
    setSource(this.form, wanted);
    this.#changed();
  }

  /**
   * Follows a link within the page without its fragment, where the fragment holds a config.
   *
   * @param {MouseEvent} event
   */
  #followed(event) {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || !carriedField(location.hash)) return;
    const target = link.pathname === location.pathname && document.getElementById(link.hash.slice(1));
    if (!target) return;
    event.preventDefault();
    event.stopPropagation();
    target.scrollIntoView();
  }

  /** Asks at once. While Python is at an earlier question only the newest waits: those between are never seen. */
  async #ask() {
    this.#isStale = this.#isAsking;
    if (this.#isAsking) return;
    this.#isAsking = this.client.state.phase === "ready";
    await this.#askNow();
    this.#isAsking = false;
    if (this.#isStale && this.root.isConnected) await this.#ask();
  }

  async #askNow() {
    const fields = this.host.fields();
    const errors = tooLong(fields);
    if (errors.length > 0) {
      this.answer.ariaBusy = "false";
      this.status.say(showErrors(this.form, errors).map(describe).join(" ") || "See the marked field.");
      return;
    }
    this.answer.ariaBusy = "true";
    try {
      const reply = await this.shown.to(fields);
      if (reply === undefined) return;
      const elsewhere = showErrors(this.form, reply.report.errors);
      this.takeAway.show(reply, fields);
      offerWhatApplies(this.form, reply.report);
      const problem = reply.report.errors.length > 0;
      this.status.say(problem ? elsewhere.map(describe).join(" ") || "See the marked field." : "Answer updated.");
    } catch (error) {
      this.status.say(noAnswer(error));
    }
    this.answer.ariaBusy = "false";
  }

  /** @param {Reply} reply Whole. */
  #tell(reply) {
    this.#told = reply;
    offerWhatApplies(this.form, reply.report);
    for (const listener of this.#listeners) listener(reply);
  }

  /** The worker costs megabytes: it starts when someone turns to the form, or when the browser has nothing to do. */
  #startWhenWanted() {
    this.form.addEventListener("focusin", () => this.#startFirst(), { once: true });
    const connection = /** @type {{saveData?: boolean} | undefined} */ (Reflect.get(navigator, "connection"));
    if (connection?.saveData) return;
    if ("requestIdleCallback" in globalThis) requestIdleCallback(() => this.#startFirst(), { timeout: 4000 });
    else setTimeout(() => this.#startFirst(), 1500);
  }

  #startFirst() {
    if (this.client.state.phase === "idle") this.client.start();
  }
}

/** @param {unknown} error */
const noAnswer = (error) => `No answer: ${error instanceof Error ? error.message : String(error)}`;

/**
 * @param {string} field
 * @param {unknown} error
 * @returns {FieldError}
 */
const damagedLink = (field, error) => ({
  field,
  value: "",
  rule: `the ${field} in this link cannot be read (${error instanceof Error ? error.message : String(error)})`,
  remedy: `Ask for the link again, or paste the ${field === "config" ? "config.json" : "layout"} here.`,
});
