/**
 * The page's end of the worker: starts it, watches it, replaces it when it dies, and matches answers to questions.
 *
 * @import { BundleAddress, Door, Early, FromWorker, Question, ToWorker } from "./protocol.mjs"
 */

/** Longer than the slowest start seen under load; a start that a policy blocks never ends by itself. */
const BOOT_TIMEOUT = 60_000;
/** A thousand times a usual answer: beyond it the worker is taken for dead. */
const ANSWER_TIMEOUT = 20_000;
/** Ten times what a megabyte of a log takes. */
const TIMEOUT_PER_BYTE = 1e-3;
/** A question that killed this many workers is not asked again. */
const MAX_ATTEMPTS = 2;

/**
 * @typedef {object} ClientState
 * @property {"idle" | "loading" | "ready" | "failed"} phase
 * @property {string} label What is being loaded, or what went wrong.
 * @property {number} loaded Bytes.
 * @property {number} total Bytes; 0 while unknown.
 *
 * @typedef {object} Pending
 * @property {Question} question
 * @property {string} channel
 * @property {number} attempts
 * @property {(text: string | undefined) => void} resolve
 * @property {(error: Error) => void} reject
 */

/** One worker and the questions it has been asked. */
export class Client {
  /** @type {ClientState} */
  #state = { phase: "idle", label: "", loaded: 0, total: 0 };
  /** @type {Worker | undefined} */
  #worker;
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  /** @type {Set<(state: ClientState) => void>} */
  #listeners = new Set();
  #nextId = 1;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {BundleAddress} bundle */
  constructor(bundle) {
    this.bundle = bundle;
    /** How many workers this window has started, for tests. */
    this.started = 0;
    /** Milliseconds Python took for the latest answer, for the benchmark. */
    this.milliseconds = 0;
  }

  get state() {
    return this.#state;
  }

  /**
   * Calls back at once and on every change, until the returned function is called.
   *
   * @param {(state: ClientState) => void} listener
   * @returns {() => void}
   */
  watch(listener) {
    this.#listeners.add(listener);
    listener(this.#state);
    return () => this.#listeners.delete(listener);
  }

  /** Starts the worker unless there is one; after a failure this is the retry. */
  start() {
    if (this.#worker) return;
    this.started += 1;
    this.#change({ phase: "loading", label: "Loading Python", loaded: 0, total: 0 });
    const early = takeEarly();
    const worker = early?.worker ?? new Worker(this.bundle.worker, { type: "module", name: "kvcore" });
    this.#worker = worker;
    worker.addEventListener("message", ({ data }) => this.#receive(worker, data));
    worker.addEventListener("error", (event) => this.#lost(worker, event.message || "the worker could not be loaded"));
    worker.addEventListener("messageerror", () => this.#lost(worker, "the worker sent something unreadable"));
    this.#watchdog(BOOT_TIMEOUT, `Python did not start within ${BOOT_TIMEOUT / 1000} seconds`);
    if (early) for (const message of early.heard) this.#receive(worker, message);
    else this.#send({ type: "boot", bundle: this.bundle });
  }

  /**
   * Asks a question. A newer question on the same channel replaces an older one that is still waiting: the older
   * promise then resolves to undefined.
   *
   * @param {string} channel
   * @param {Door} door
   * @param {string} text
   * @param {Blob} [log] A log the door reads.
   * @returns {Promise<string | undefined>} The text kvcore answered with.
   */
  ask(channel, door, text, log) {
    for (const [id, old] of this.#pending) {
      if (old.channel === channel) {
        this.#pending.delete(id);
        old.resolve(undefined);
      }
    }
    return new Promise((resolve, reject) => {
      const question = /** @type {Question} */ ({ type: "ask", id: this.#nextId++, door, text, log });
      const pending = { question, channel, attempts: 0, resolve, reject };
      this.#pending.set(question.id, pending);
      if (this.#state.phase === "ready") this.#put(pending);
      else if (this.#state.phase === "idle") this.start();
    });
  }

  /**
   * @param {Worker} worker
   * @param {FromWorker} message
   */
  #receive(worker, message) {
    if (worker !== this.#worker) return;
    if (message.type === "progress") {
      this.#change({ phase: "loading", label: message.label, loaded: message.loaded, total: message.total });
    } else if (message.type === "ready") {
      clearTimeout(this.#timer);
      this.#change({ ...this.#state, phase: "ready", label: "" });
      for (const pending of this.#pending.values()) this.#put(pending);
    } else if (message.type === "failed") {
      this.#lost(worker, message.message);
    } else {
      this.#settle(message);
    }
  }

  /** @param {Extract<FromWorker, {id: number}>} message */
  #settle(message) {
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (this.#pending.size === 0) clearTimeout(this.#timer);
    if (!pending) return;
    if (message.type === "answer") {
      this.milliseconds = message.milliseconds;
      pending.resolve(message.text);
    } else {
      pending.reject(new Error(message.message));
    }
  }

  /** @param {Pending} pending */
  #put(pending) {
    pending.attempts += 1;
    this.#send(pending.question);
    const patience = ANSWER_TIMEOUT + (pending.question.log?.size ?? 0) * TIMEOUT_PER_BYTE;
    this.#watchdog(patience, `no answer within ${Math.round(patience / 1000)} seconds`);
  }

  /** @param {ToWorker} message */
  #send(message) {
    this.#worker?.postMessage(message);
  }

  /**
   * Replaces a worker that answered questions before, and one that failed to start from Python's memory; gives up on one
   * that could not start at all.
   *
   * @param {Worker} worker
   * @param {string} reason
   * @param {boolean} silent Whether it never said what went wrong: another one would cost as long a wait.
   */
  #lost(worker, reason, silent = false) {
    if (worker !== this.#worker) return;
    const wasReady = this.#state.phase === "ready";
    const restored = this.bundle.snapshot !== "";
    clearTimeout(this.#timer);
    worker.terminate();
    this.#worker = undefined;
    for (const [id, pending] of this.#pending) {
      if (pending.attempts >= MAX_ATTEMPTS) {
        this.#pending.delete(id);
        pending.reject(new Error(`Python stopped ${MAX_ATTEMPTS} times while answering this: ${reason}`));
      }
    }
    if (!wasReady) this.bundle = { ...this.bundle, snapshot: "" };
    if (wasReady ? this.#pending.size > 0 : restored && !silent) this.start();
    else if (wasReady) this.#change({ phase: "idle", label: "", loaded: 0, total: 0 });
    else this.#change({ phase: "failed", label: reason, loaded: 0, total: 0 });
  }

  /**
   * @param {number} milliseconds
   * @param {string} reason
   */
  #watchdog(milliseconds, reason) {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#timer = setTimeout(() => worker && this.#lost(worker, reason, true), milliseconds);
  }

  /** @param {ClientState} state */
  #change(state) {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

const KEY = Symbol.for("kv-atlas.client");
const EARLY = Symbol.for("kv-atlas.early");

/**
 * Takes over the worker that the page started before its scripts came, if it did.
 *
 * @returns {Early | undefined}
 */
function takeEarly() {
  /** @type {Early | undefined} */
  const early = Reflect.get(globalThis, EARLY);
  Reflect.deleteProperty(globalThis, EARLY);
  if (early) Object.assign(early.worker, { onmessage: null, onerror: null });
  return early;
}

/**
 * Returns the window's one client. Instant navigation replaces pages within a window; the worker outlives them.
 *
 * @param {BundleAddress} bundle
 * @returns {Client}
 */
export function windowClient(bundle) {
  const holder = /** @type {Record<symbol, Client | undefined>} */ (/** @type {unknown} */ (globalThis));
  holder[KEY] ??= new Client(bundle);
  return holder[KEY];
}
