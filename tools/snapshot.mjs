/**
 * Takes a picture of Python's memory once it has imported kvcore, so that a browser can begin where this script ends:
 * starting the interpreter and importing kvcore are most of what a visitor waits for.
 *
 * The picture depends on its inputs alone: whatever Python could draw at random or read off a clock is fixed. kvcore
 * uses neither.
 *
 * Usage: node tools/snapshot.mjs JOB.json
 */
import nodeCrypto from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";

/**
 * @typedef {object} Job
 * @property {string} pyodide Folder of the npm package.
 * @property {string} stdlib The trimmed standard library.
 * @property {string} wheel The compiled wheel, compressed.
 * @property {string} unpack The page's own module that unpacks wheels.
 * @property {string[]} modules Modules to import, so that no later question needs a file.
 * @property {string[]} requests Requests to answer first, as JSON texts.
 * @property {string} out The file to write.
 */

/** What Pyodide allocates at its start. It restores into that and no more, whatever it is told. */
const HEAP = 30 * 1024 * 1024;

// Node prints the source line of an uncaught error, and Pyodide's lines are a megabyte long.
process.on("uncaughtException", (error) => {
  process.stderr.write(`${error.name}: ${error.message}\n${(error.stack ?? "").slice(0, 2000)}\n`);
  process.exit(1);
});

/** @template {NodeJS.ArrayBufferView | null} T @param {T} view @returns {T} */
const zeros = (view) => {
  if (view) new Uint8Array(view.buffer, view.byteOffset, view.byteLength).fill(0);
  return view;
};
Object.assign(nodeCrypto, { randomFillSync: zeros });
Object.assign(globalThis.crypto, { getRandomValues: zeros });
Date.now = () => 0;
performance.now = () => 0;

/** @type {Job} */
const job = JSON.parse(await readFile(process.argv[2] ?? "", "utf8"));
const { loadPyodide } = await import(pathToFileURL(`${job.pyodide}/pyodide.mjs`).href);
const { wheelFiles, installed } = await import(pathToFileURL(job.unpack).href);

const python = await loadPyodide({
  _makeSnapshot: true,
  indexURL: job.pyodide,
  stdLibURL: job.stdlib,
  lockFileContents: { info: JSON.parse(await readFile(`${job.pyodide}/pyodide-lock.json`, "utf8")).info, packages: {} },
  packageBaseUrl: job.pyodide,
  env: { PYTHONHASHSEED: "0" },
  stdout: () => {},
});
const wheel = gunzipSync(await readFile(job.wheel));
const browser = installed(python, wheelFiles(Uint8Array.from(wheel).buffer));
for (const name of job.modules) python.pyimport(name).destroy();
for (const request of job.requests) browser.answer_json(request);
browser.destroy();
python.runPython("import gc; gc.collect()");

/** @type {Uint8Array} */
const memory = python.makeMemorySnapshot();
if (python._module.HEAPU8.length > HEAP) {
  throw new Error(`Python's memory has grown to ${python._module.HEAPU8.length} bytes; ${HEAP} can be restored`);
}
await writeFile(job.out, gzipSync(memory, { level: 9 }));
process.stdout.write(`${JSON.stringify({ name: basename(job.out), bytes: memory.length })}\n`);
