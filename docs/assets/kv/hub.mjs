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
  if (!baseOf(usual) || !own) return;
  own.value = remembered();
  own.placeholder = usual;
  /** Counts presses: only the newest fills the form. */
  let presses = 0;
  /** @returns {URL | undefined} The reader's mirror, or the site's Hub where none is stated; none where it is no address. */
  const hub = () => baseOf(own.value.trim() || usual);
  const label = () => {
    button.textContent = `Fetch config.json from ${hub()?.host ?? "the mirror"}`;
  };
  own.addEventListener("input", () => {
    remember(own.value.trim());
    label();
  });
  label();
  button.hidden = false;
  mirror.hidden = false;
  button.addEventListener("click", async () => {
    const press = ++presses;
    const base = hub();
    if (!base) {
      // The site's Hub is not asked in its place: the model may be one that nobody there should hear of.
      note.textContent =
        "The mirror's address is none. Write it as https://mirror.example, without a name or password.";
      return;
    }
    const name = base.host;
    const box = host.root.querySelector("[name=model]");
    const model = box instanceof HTMLInputElement ? box.value.trim() : "";
    if (!/^[\w.-]+\/[\w.-]+$/.test(model)) {
      note.textContent = "Type the model's name as organisation/name first.";
      return;
    }
    note.textContent = `Asking ${name} for ${model}…`;
    const { text, problem } = await fetched(`${base.href.replace(/\/$/, "")}/${model}/resolve/main/config.json`);
    if (press !== presses) return;
    note.textContent = text === undefined ? explain(problem, name, model) : `config.json of ${model}, from ${name}.`;
    if (text !== undefined) take(text);
  });
}

/**
 * @param {string} text
 * @returns {URL | undefined} The address below which models lie, without what a request must not carry.
 */
function baseOf(text) {
  try {
    const { protocol, host, username, password, origin, pathname } = new URL(text);
    const isBase = /^https?:$/.test(protocol) && host !== "" && username + password === "";
    return isBase ? new URL(origin + pathname) : undefined;
  } catch {
    return undefined;
  }
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
