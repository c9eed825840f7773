/**
 * The page's address as a carrier of the question: ordinary query parameters, and a pasted config or a layout in the
 * fragment, which browsers do not send to a server.
 */

/** Longest compressed text an address carries, in characters. Longer ones stay on the page only. */
export const MAX_FRAGMENT = 32_000;
/** Longest text taken out of an address, in characters: a small fragment can unfold into a huge text. */
export const MAX_CONFIG = 8_000_000;

/** Parameters of the site's search, of this page's view, and of what a link said; none belongs to the question. */
const FOREIGN = /^(?:q|h|utm_.*|embed|kvcore|said)$/;
/** Fields that stand in the fragment; a question has one of them at most. */
const CARRIED = ["config", "layout"];
/** Stands in the address for a text too long for it, which this window keeps across a reload. */
const KEPT = "-kept";

/**
 * @param {string} hash
 * @returns {string | undefined} The field whose text the fragment carries or stands for.
 */
export const carriedField = (hash) =>
  CARRIED.find((name) => hash.startsWith(`#${name}=`) || hash === `#${name}${KEPT}`);

/**
 * Reads the question out of an address.
 *
 * @param {URL} address
 * @returns {Map<string, string>} Request fields as texts; the last of a repeated parameter counts.
 */
export function readQuery(address) {
  const fields = new Map();
  for (const [name, value] of address.searchParams) if (!FOREIGN.test(name)) fields.set(name, value);
  return fields;
}

/**
 * Unfolds the config or the layout an address carries.
 *
 * @param {URL} address
 * @returns {Promise<[string, string] | undefined>} The field and its text, or undefined where the address carries none.
 * @throws {Error} The fragment is damaged or unfolds to more than MAX_CONFIG characters.
 */
export async function readCarried(address) {
  const name = carriedField(address.hash);
  if (name === undefined) return undefined;
  if (address.hash.endsWith(KEPT)) return [name, sessionStorage.getItem(address.hash) ?? lost()];
  const packed = address.hash.slice(name.length + 2);
  return packed === "" ? undefined : [name, await unfolded(packed)];
}

/** @param {string} packed */
async function unfolded(packed) {
  const reader = streamOf(fromBase64Url(packed)).pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > MAX_CONFIG) {
      await reader.cancel();
      throw new Error(`it is longer than ${MAX_CONFIG} characters`);
    }
  }
}

/**
 * Folds a text for an address.
 *
 * @param {string} name The field.
 * @param {string} text
 * @returns {Promise<string | undefined>} The fragment with its "#", or undefined where it would be too long.
 */
export async function fragmentOf(name, text) {
  const stream = streamOf(new TextEncoder().encode(text)).pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const packed = toBase64Url(bytes);
  return packed.length > MAX_FRAGMENT ? undefined : `#${name}=${packed}`;
}

/**
 * Keeps a text that is too long for an address in this window.
 *
 * @param {string} name The field.
 * @param {string} text
 * @returns {string} The fragment that stands for it, or nothing where the browser keeps no such text.
 */
export function keptFragment(name, text) {
  const mark = `#${name}${KEPT}`;
  try {
    sessionStorage.setItem(mark, text);
    return mark;
  } catch {
    return "";
  }
}

/** @returns {never} */
function lost() {
  throw new Error("it was too long for an address, and the window that kept it is closed");
}

/**
 * Writes a question as an address of this page.
 *
 * @param {URL} page
 * @param {Iterable<[string, string]>} fields Every field of the question; engine defaults are left out by being absent.
 * @param {string} fragment With its "#", or empty.
 * @returns {string}
 */
export function writeAddress(page, fields, fragment) {
  const query = [...fields].map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
  return page.pathname + (query && `?${query}`) + fragment;
}

/** Slashes and commas may stand in a query, and a model id is easier to read with them. */
const encode = (/** @type {string} */ text) =>
  encodeURIComponent(text).replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%3A", ":");

/**
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @returns {ReadableStream<Uint8Array<ArrayBuffer>>}
 */
const streamOf = (bytes) =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });

/**
 * @param {Uint8Array} bytes
 * @returns {string}
 */
function toBase64Url(bytes) {
  let binary = "";
  for (let start = 0; start < bytes.length; start += 8192) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 8192));
  }
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * @param {string} text
 * @returns {Uint8Array<ArrayBuffer>}
 */
function fromBase64Url(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
