/**
 * The worker that runs kvcore under Pyodide. It answers one question at a time and computes nothing itself.
 *
 * @import { BundleAddress, FromWorker, Question, ToWorker } from "./protocol.mjs"
 */
import { isFast, startPython } from "./start.mjs";

/** @typedef {(text: string, pull?: (size: number) => Uint8Array) => string} PythonFunction */
/** @typedef {Record<string, PythonFunction | undefined>} Doors */

/** @type {Doors | undefined} */
let browser;
/** Imports the module of the further questions; most visits never ask one. @type {() => Doors} */
let further = () => ({});

/** @param {FromWorker} message */
const post = (message) => self.postMessage(message);

self.addEventListener("message", (/** @type {MessageEvent<ToWorker>} */ { data }) => {
  if (data.type === "boot") {
    boot(data.bundle).then(() => post({ type: "ready" }), fail);
  } else {
    answer(data);
  }
});

// Pyodide loses some failures of its own start: its promise then never settles.
self.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  fail(event.reason);
});

/** @param {unknown} error */
function fail(error) {
  post({ type: "failed", message: error instanceof Error ? error.message : String(error) });
}

/**
 * Starts Python and imports kvcore.
 *
 * @param {BundleAddress} bundle
 */
async function boot(bundle) {
  const restored = bundle.snapshot !== "" && isFast();
  const files = Object.entries(bundle.bytes);
  countFetches(files.filter(([name]) => restored || !bundle.snapshot.endsWith(name)));
  const started = await startPython(bundle, restored);
  browser = started.browser;
  further = () => started.python.pyimport("kvcore.browser_questions");
}

/**
 * Asks Python and posts what it says. Python's own exceptions leave the worker usable; anything else does not.
 *
 * @param {Question} question
 */
function answer({ id, door, text, log }) {
  if (!browser) {
    post({ type: "refused", id, message: "Python has not started" });
    return;
  }
  const started = performance.now();
  try {
    const ask = browser[door] ?? further()[door];
    if (!ask) throw new Error(`Python has no ${door}`);
    const reply = log ? ask(text, pieces(log)) : ask(text);
    post({ type: "answer", id, text: reply, milliseconds: performance.now() - started });
  } catch (error) {
    if (error instanceof Error && error.name === "PythonError") {
      post({ type: "refused", id, message: lastLine(error.message) });
    } else {
      fail(error);
    }
  }
}

/**
 * Hands out a log piece by piece, so that no more than one is held at a time.
 *
 * @param {Blob} log
 */
function pieces(log) {
  // Known to workers only, and so not to the types of pages.
  /** @type {new () => { readAsArrayBuffer(log: Blob): ArrayBuffer }} */
  const Reader = Reflect.get(self, "FileReaderSync");
  const reader = new Reader();
  let at = 0;
  return (/** @type {number} */ size) => {
    const piece = new Uint8Array(reader.readAsArrayBuffer(log.slice(at, at + size)));
    at += piece.length;
    return piece;
  };
}

/** @param {string} traceback */
const lastLine = (traceback) => traceback.trimEnd().split("\n").at(-1) ?? traceback;

/**
 * Counts the bytes of the files Pyodide fetches. Lengths come from the build: a compressed response does not state its
 * own.
 *
 * @param {[string, number][]} sizes
 */
function countFetches(sizes) {
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  const plainFetch = self.fetch.bind(self);
  let loaded = 0;
  let posted = 0;
  const report = () => {
    if (performance.now() - posted < 50 && loaded < total) return;
    posted = performance.now();
    const label = loaded < total ? "Loading Python" : "Starting Python";
    post({ type: "progress", label, loaded: Math.min(loaded, total), total });
  };
  report();
  self.fetch = async (input, init) => {
    const response = await plainFetch(input, init).catch((error) => {
      // Told here, since Pyodide may tell nobody.
      fail(error);
      throw error;
    });
    if (!response.ok) fail(`${response.url} gave ${response.status} ${response.statusText}`);
    if (!response.body) return response;
    const counter = new TransformStream({
      transform(chunk, controller) {
        loaded += chunk.byteLength;
        report();
        controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
  };
}
