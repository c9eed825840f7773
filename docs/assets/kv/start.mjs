/**
 * How Python starts: where it stood when the site was built, or from its first instruction.
 *
 * The bundle holds a picture of Python's memory with kvcore imported. Restoring it takes a fraction of the time of
 * starting, and is as many bytes again; so slow connections start the long way.
 *
 * @import { BundleAddress } from "./protocol.mjs"
 * @import { Python } from "./wheel.mjs"
 */
import { installed, unpack, wheelFiles } from "./wheel.mjs";

/** The best class browsers sort connections into; its members differ, but the others are slow. */
const FAST = "4g";

/** @typedef {{saveData?: boolean, effectiveType?: string}} Connection Stated by some browsers, not by all. */

/** Whether nothing is known against fetching the memory too. */
export function isFast() {
  const { connection } = /** @type {{connection?: Connection}} */ (navigator);
  return !connection?.saveData && (connection?.effectiveType ?? FAST) === FAST;
}

/**
 * @param {BundleAddress} bundle
 * @param {boolean} restored Whether to restore the memory.
 * @returns {Promise<{python: Python, browser: any}>} Python and the module kvcore.browser.
 */
export async function startPython(bundle, restored) {
  const memory = restored ? unzipped(bundle.snapshot) : undefined;
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
    ...(memory && { _loadSnapshot: memory }),
  });
  if (!restored) return { python, browser: installed(python, await files) };
  unpack(python, await files);
  return { python, browser: python.pyimport("kvcore.browser") };
}

/**
 * Fetches the wheel the lock names and makes sure that it is that one.
 *
 * @param {string} folder
 * @param {{file_name: string, sha256: string}} locked
 */
async function lockedFiles(folder, locked) {
  const wheel = await unzipped(`${folder}${locked.file_name}.gz`);
  // Browsers hash only on pages that came over https or from this machine.
  if (crypto.subtle && hex(await crypto.subtle.digest("SHA-256", wheel)) !== locked.sha256) {
    throw new Error(`${locked.file_name} is not the file its lock names`);
  }
  return wheelFiles(wheel);
}

/**
 * Static hosts compress neither wheels nor unknown binary files, so these travel compressed as a whole.
 *
 * @param {string} address
 */
async function unzipped(address) {
  const { body } = await fetch(address);
  if (!body) throw new Error(`${address} is empty`);
  return new Response(body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/** @param {ArrayBuffer} bytes */
const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
