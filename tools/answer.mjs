/**
 * Answers requests with the built bundle under Node: what the browser's worker does, without a browser.
 *
 * Usage: node tools/answer.mjs JOB.json
 * Prints one line of JSON per text: {"answer": …} or {"error": …} where Python raised.
 */
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { installed, wheelFiles } from "../docs/assets/kv/wheel.mjs";

/**
 * @typedef {object} Job
 * @property {string} runtime Folder with Pyodide and the trimmed standard library.
 * @property {string} packages Folder with the wheel and its lock.
 * @property {"answer_json" | "answer_form"} door
 * @property {string[]} texts
 */

process.on("uncaughtException", (error) => {
  process.stderr.write(`${error.name}: ${error.message}\n`);
  process.exit(1);
});

/** @type {Job} */
const job = JSON.parse(await readFile(process.argv[2] ?? "", "utf8"));
const { loadPyodide } = await import(pathToFileURL(`${job.runtime}/pyodide.mjs`).href);
const lock = JSON.parse(await readFile(`${job.packages}/pyodide-lock.json`, "utf8"));
const wheel = gunzipSync(await readFile(`${job.packages}/${lock.packages.kvcore.file_name}.gz`));
const python = await loadPyodide({
  indexURL: job.runtime,
  stdLibURL: `${job.runtime}/python_stdlib.zip`,
  lockFileContents: lock,
  packageBaseUrl: `${job.packages}/`,
  stdout: () => {},
});
const browser = installed(python, wheelFiles(new Uint8Array(wheel).buffer));
for (const text of job.texts) {
  let line;
  try {
    line = { answer: browser[job.door](text) };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "PythonError") throw error;
    line = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
