/**
 * The worker that runs kvcore under Pyodide. It answers one question at a time and computes nothing itself.
 *
 * @import { BundleAddress, FromWorker, Question, ToWorker } from "./protocol.mjs"
 * @import { Python } from "./wheel.mjs"
 */
import { installed, wheelFiles } from "./wheel.mjs";

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
  countFetches(bundle.bytes);
  const lock = fetch(`${bundle.packages}pyodide-lock.json`).then((response) => response.json());
  const files = lock.then((contents) => lockedFiles(bundle.packages, contents.packages.kvcore));
  const { loadPyodide } = await import(`${bundle.runtime}pyodide.mjs`);
  /** @type {Python} */
  const python = await loadPyodide({
    indexURL: bundle.runtime,
    stdLibURL: `${bundle.runtime}python_stdlib.zip`,
    lockFileContents: lock,
    packageBaseUrl: bundle.packages,
    stdout: () => {},
  });
  browser = installed(python, await files);
  further = () => python.pyimport("kvcore.browser_questions");
}

/**
 * Fetches the wheel the lock names and makes sure that it is that one.
 *
 * @param {string} folder
 * @param {{file_name: string, sha256: string}} locked
 */
async function lockedFiles(folder, locked) {
  // Static hosts compress no .whl, so it travels compressed as a whole.
  const { body } = await fetch(`${folder}${locked.file_name}.gz`);
  if (!body) throw new Error(`${locked.file_name} is empty`);
  const wheel = await new Response(body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  // Browsers hash only on pages that came over https or from this machine.
  if (crypto.subtle && hex(await crypto.subtle.digest("SHA-256", wheel)) !== locked.sha256) {
    throw new Error(`${locked.file_name} is not the file its lock names`);
  }
  return wheelFiles(wheel);
}

/** @param {ArrayBuffer} bytes */
const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

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
 * @param {Record<string, number>} sizes
 */
function countFetches(sizes) {
  const total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
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
    const response = await plainFetch(input, init);
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
