/**
 * The answer in the page. What is seen is asked for at once; what is folded when the questions rest or when it is opened,
 * and until then its place is empty, so that no figure of an earlier question stands in it.
 *
 * @import { Reply } from "./protocol.mjs"
 */
import { carry } from "./charts.mjs";
import { showBlocks } from "./fragment.mjs";

/** What waits so long, in milliseconds, does not stand between a keystroke and its answer. */
const PAUSE = 300;

/** @typedef {"answer_form" | "unfolded_form"} AnswerDoor */
/** @typedef {Record<string, string>} Fields */

export class Answer {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #pause;
  /** What the latest answer still lacks is asked for by this; once. @type {(() => Promise<void>) | undefined} */
  #complete;
  #count = 0;

  /**
   * @param {HTMLElement} place
   * @param {(door: AnswerDoor, fields: Fields) => Promise<Reply | undefined>} ask Undefined when a newer question took
   *   the place of this one.
   * @param {(reply: Reply) => void} completed Called when an answer is whole and no newer question came meanwhile.
   * @param {(error: unknown) => void} failed Called when that could not be.
   */
  constructor(place, ask, completed, failed) {
    this.place = place;
    this.ask = ask;
    this.completed = completed;
    this.failed = failed;
    // A fold's own event does not bubble.
    place.addEventListener("toggle", () => this.#opened(), true);
  }

  /**
   * Asks and shows.
   *
   * @param {Fields} fields
   * @returns {Promise<Reply | undefined>} What is shown; undefined when a newer question took its place.
   */
  async to(fields) {
    clearTimeout(this.#pause);
    this.#complete = undefined;
    const isFolded = this.#count > 0 && !this.place.querySelector(":scope > [open]");
    const reply = await this.ask(isFolded ? "unfolded_form" : "answer_form", fields);
    if (reply === undefined) return undefined;
    this.#show(reply);
    this.#count += 1;
    this.place.dataset.kvAnswered = String(this.#count);
    document.documentElement.removeAttribute("data-kv-asks");
    // The browser went there before there was an answer.
    if (this.#count === 1 && scrollY === 0) document.getElementById(location.hash.slice(1))?.scrollIntoView();
    this.#complete = async () => {
      this.#complete = undefined;
      clearTimeout(this.#pause);
      const whole = isFolded ? await this.ask("answer_form", fields) : reply;
      if (whole === undefined) return;
      if (whole !== reply) this.#show(whole);
      this.completed(whole);
    };
    this.#pause = setTimeout(() => this.#whole(), PAUSE);
    this.#opened();
    return reply;
  }

  /** Whoever opened something does not wait. */
  #opened() {
    if (this.place.querySelector(":scope > [open][data-kv-folded]")) this.#whole();
  }

  #whole() {
    this.#complete?.().catch(this.failed);
  }

  /** @param {Reply} reply */
  #show(reply) {
    const open = new Set([...this.place.querySelectorAll("details[open]")].map((item) => item.id));
    showBlocks(this.place, reply.blocks, (content) => {
      for (const item of content.querySelectorAll("details")) if (item.id && open.has(item.id)) item.open = true;
      carry(this.place, content);
    });
  }
}
