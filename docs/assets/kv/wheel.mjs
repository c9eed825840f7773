/**
 * kvcore's wheel, unpacked beside Python's start. Pyodide would do it in Python, after the start, and load a dozen
 * modules of the standard library for it.
 */

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const END_SIZE = 22;
const ENTRY_SIZE = 46;
const LOCAL_SIZE = 30;
const STORED = 0;

/** Where the files go in Python's file system. */
const FOLDER = "/kvcore-wheel";

/**
 * @typedef {object} Python
 * @property {{mkdirTree: (path: string) => void, writeFile: (path: string, data: Uint8Array, options: object) => void}} FS
 * @property {(name: string) => any} pyimport
 */

/**
 * Lists the files of a wheel.
 *
 * @param {ArrayBuffer} archive A zip file whose members are stored as they are.
 * @returns {[string, Uint8Array][]} Path and content of every file.
 * @throws {Error} The bytes are not such an archive.
 */
export function wheelFiles(archive) {
  const view = new DataView(archive);
  const end = archive.byteLength - END_SIZE;
  if (end < 0 || view.getUint32(end, true) !== END) throw new Error("the package is not a zip archive");
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  /** @type {[string, Uint8Array][]} */
  const files = [];
  for (let index = 0; index < count; index += 1) {
    if (view.getUint32(at, true) !== ENTRY || view.getUint16(at + 10, true) !== STORED) {
      throw new Error("the package's list of files is damaged");
    }
    const size = view.getUint32(at + 20, true);
    const nameSize = view.getUint16(at + 28, true);
    const local = view.getUint32(at + 42, true);
    const name = new TextDecoder().decode(new Uint8Array(archive, at + ENTRY_SIZE, nameSize));
    const start = local + LOCAL_SIZE + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    files.push([name, new Uint8Array(archive, start, size)]);
    at += ENTRY_SIZE + nameSize + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return files;
}

/**
 * Writes the files where Python finds them.
 *
 * @param {Python} python
 * @param {[string, Uint8Array][]} files
 */
export function unpack(python, files) {
  const folders = new Set();
  for (const [name, content] of files) {
    const path = `${FOLDER}/${name}`;
    const folder = path.slice(0, path.lastIndexOf("/"));
    if (!folders.has(folder)) python.FS.mkdirTree(folder);
    folders.add(folder);
    python.FS.writeFile(path, content, { canOwn: true });
  }
}

/**
 * Unpacks the wheel and imports kvcore's door for the browser.
 *
 * @param {Python} python
 * @param {[string, Uint8Array][]} files
 * @returns {any} The module kvcore.browser.
 */
export function installed(python, files) {
  unpack(python, files);
  python.pyimport("sys").path.append(FOLDER);
  return python.pyimport("kvcore_start").browser();
}
