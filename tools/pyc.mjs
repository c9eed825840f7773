/**
 * Byte-compiles what the browser needs, under the very Python the browser runs.
 *
 * Pyodide's npm package holds its standard library as source: compiling it is most of a visitor's start-up. This
 * script boots that stock Pyodide under Node exactly as the worker does, answers a set of requests to see which modules
 * are used, and packs those and kvcore as byte code.
 *
 * Usage: node tools/pyc.mjs JOB.json
 */
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

/**
 * @typedef {object} Job
 * @property {string} pyodide Folder of the npm package.
 * @property {object} lock Lock file that holds the source wheel.
 * @property {string} wheels Folder of the source wheel.
 * @property {string} wheel Its file name.
 * @property {string} trace Python script that lists used modules.
 * @property {string} pack Python script that writes the archives.
 * @property {string} out Folder for the archives.
 * @property {string[]} requests Requests as JSON texts.
 * @property {string[]} imports Modules that kvcore names.
 * @property {string[]} keep Modules to keep whatever was used, as paths in the stock archive.
 */

// Node prints the source line of an uncaught error, and Pyodide's lines are a megabyte long.
process.on("uncaughtException", (error) => {
  process.stderr.write(`${error.name}: ${error.message}\n${(error.stack ?? "").slice(0, 2000)}\n`);
  process.exit(1);
});

/** @type {Job} */
const job = JSON.parse(await readFile(process.argv[2] ?? "", "utf8"));
const { loadPyodide } = await import(pathToFileURL(`${job.pyodide}/pyodide.mjs`).href);

const python = await loadPyodide({
  indexURL: job.pyodide,
  lockFileContents: job.lock,
  packageBaseUrl: `${job.wheels}/`,
  packages: ["kvcore"],
  stdout: () => {},
});

/** @param {string} path */
async function namespace(path) {
  const globals = python.toPy({ __name__: "script" });
  python.runPython(await readFile(path, "utf8"), { globals, filename: path.split("/").at(-1) });
  return globals;
}

const trace = await namespace(job.trace);
const used = trace.get("used_modules")(python.toPy(job.requests), python.toPy(job.imports)).toJs();

for (const [name, root] of Object.entries({ wheels: job.wheels, out: job.out })) {
  python.FS.mkdirTree(`/job/${name}`);
  python.FS.mount(python.FS.filesystems.NODEFS, { root }, `/job/${name}`);
}
const pack = await namespace(job.pack);
const stock = trace.get("STDLIB_ARCHIVE");
const kept = [...used, ...job.keep];
const modules = pack.get("pack_library")(stock, python.toPy(kept), "/job/out/python_stdlib.zip");
const wheel = pack.get("pack_wheel")(`/job/wheels/${job.wheel}`, "/job/out");
process.stdout.write(`${JSON.stringify({ wheel, modules, used })}\n`);
