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
import { basename, dirname } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * @typedef {object} Job
 * @property {string} pyodide Folder of the npm package.
 * @property {string} wheel The source wheel.
 * @property {string} source Folder it is unpacked in.
 * @property {string} start Python module that the worker starts with.
 * @property {string} trace Python script that lists what is used.
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
  lockFileContents: { info: JSON.parse(await readFile(`${job.pyodide}/pyodide-lock.json`, "utf8")).info, packages: {} },
  packageBaseUrl: job.pyodide,
  stdout: () => {},
});

/** @param {string} path */
async function namespace(path) {
  const globals = python.toPy({ __name__: "script" });
  python.runPython(await readFile(path, "utf8"), { globals, filename: path.split("/").at(-1) });
  return globals;
}

for (const [name, root] of Object.entries({ wheel: dirname(job.wheel), source: job.source, out: job.out })) {
  python.FS.mkdirTree(`/job/${name}`);
  python.FS.mount(python.FS.filesystems.NODEFS, { root }, `/job/${name}`);
}
python.pyimport("sys").path.append("/job/source");

const trace = await namespace(job.trace);
const [used, texts] = trace.get("used")(python.toPy(job.requests), python.toPy(job.imports)).toJs();
const stock = trace.get("STDLIB_ARCHIVE");
const wheel = `/job/wheel/${basename(job.wheel)}`;
const packer = await namespace(job.pack);
const kept = python.toPy([...used, ...job.keep]);
const modules = packer.get("pack_library")(stock, kept, "/job/out/python_stdlib.zip");
const name = packer.get("pack_wheel")(wheel, await readFile(job.start, "utf8"), python.toPy(texts), "/job/out");
process.stdout.write(`${JSON.stringify({ wheel: name, modules, used })}\n`);
