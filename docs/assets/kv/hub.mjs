/**
 * Fetching a config.json from the Hub, only when asked: no referrer, no cookies, nothing else in the request.
 *
 * The fetch is made by a worker of its own. The page's policy lets the page reach no other host, and stays that way.
 *
 * @import { Host } from "./host.mjs"
 */
import { part } from "./host.mjs";

const TIMEOUT = 15_000;
/** Where a reader's own mirror is remembered. */
const MIRROR = "kv-hub-mirror";
const ADDRESS = /^https?:\/\/[^/\s]+/;

/**
 * @param {Host} host
 * @param {(text: string) => void} take Called with the text of the config.
 */
export function bindHub(host, take) {
  const usual = host.root.dataset.kvHub ?? "";
  const button = part(host.root, "hub");
  const note = part(host.root, "hub-note");
  const mirror = part(host.root, "mirror");
  const own = mirror.querySelector("input");
  if (!ADDRESS.test(usual) || !own) return;
  own.value = remembered();
  own.placeholder = usual;
  /** @returns {URL} The reader's mirror where its address is one, else the site's Hub. */
  const hub = () => new URL(ADDRESS.test(own.value.trim()) ? own.value.trim() : usual);
  const label = () => {
    button.textContent = `Fetch config.json from ${hub().host}`;
  };
  own.addEventListener("input", () => {
    remember(own.value.trim());
    label();
  });
  label();
  button.hidden = false;
  mirror.hidden = false;
  button.addEventListener("click", async () => {
    const name = hub().host;
    const box = host.root.querySelector("[name=model]");
    const model = box instanceof HTMLInputElement ? box.value.trim() : "";
    if (!/^[\w.-]+\/[\w.-]+$/.test(model)) {
      note.textContent = "Type the model's name as organisation/name first.";
      return;
    }
    note.textContent = `Asking ${name} for ${model}…`;
    const { text, problem } = await fetched(`${hub().href.replace(/\/$/, "")}/${model}/resolve/main/config.json`);
    note.textContent = text === undefined ? explain(problem, name, model) : `config.json of ${model}, from ${name}.`;
    if (text !== undefined) take(text);
  });
}

/** @returns {string} */
function remembered() {
  try {
    return localStorage.getItem(MIRROR) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} address */
function remember(address) {
  try {
    if (address === "") localStorage.removeItem(MIRROR);
    else localStorage.setItem(MIRROR, address);
  } catch {
    // A forbidden store costs typing the address again, and nothing else.
  }
}

/**
 * @param {string} address
 * @returns {Promise<{text?: string, problem?: string}>}
 */
function fetched(address) {
  return new Promise((resolve) => {
    const worker = new Worker(new URL("./hub-worker.mjs", import.meta.url), { type: "module", name: "hub" });
    const end = (/** @type {{text?: string, problem?: string}} */ outcome) => {
      clearTimeout(timer);
      worker.terminate();
      resolve(outcome);
    };
    const timer = setTimeout(() => end({ problem: "timeout" }), TIMEOUT);
    worker.addEventListener("message", ({ data }) => end(data));
    worker.addEventListener("error", () => end({ problem: "network" }));
    worker.postMessage(address);
  });
}

/**
 * @param {string | undefined} problem
 * @param {string} name
 * @param {string} model
 */
function explain(problem, name, model) {
  const paste = "You can open it there yourself and paste its config.json below.";
  if (problem === "401" || problem === "403") {
    return `${name} gives ${model} to nobody who is not signed in: it is gated, private or does not exist. ${paste}`;
  }
  if (problem === "404") return `${name} has no config.json for ${model}. Check the name; GGUF repositories have none.`;
  if (problem === "timeout") return `${name} did not answer within ${TIMEOUT / 1000} seconds. ${paste}`;
  if (problem === "large") return `What ${name} sent is too large for a config.json. ${paste}`;
  if (problem === "network") return `${name} could not be reached from this browser. ${paste}`;
  return `${name} answered with status ${problem}. ${paste}`;
}
