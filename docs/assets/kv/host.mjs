/**
 * What a panel of the calculator gets from it, and the few things all panels do.
 *
 * @import { Door, FieldError, Reply } from "./protocol.mjs"
 */
import { shownFragment } from "./fragment.mjs";

/**
 * @typedef {Record<string, string>} Fields Request fields as the form holds them.
 *
 * @typedef {object} Host
 * @property {HTMLElement} root
 * @property {(channel: string, door: Door, values: object) => Promise<any>} ask The parsed reply; undefined when a newer
 *   question took its place.
 * @property {() => Fields} fields What the form asks now.
 * @property {(fields: Record<string, unknown>) => void} fill Puts a request into the form and asks it.
 * @property {(listener: (reply: Reply) => void) => void} answered Calls back with every new answer.
 */

/**
 * @param {ParentNode} root
 * @param {string} name
 * @returns {HTMLElement}
 */
export function part(root, name) {
  const found = root.querySelector(`[data-kv-part=${name}]`);
  if (found instanceof HTMLElement) return found;
  throw new Error(`the calculator has no ${name}`);
}

/**
 * @param {ParentNode} root
 * @param {string} action
 * @param {() => unknown} act
 * @returns {HTMLButtonElement}
 */
export function onPress(root, action, act) {
  const button = root.querySelector(`button[data-kv-do=${action}], button[data-kv-take=${action}]`);
  if (!(button instanceof HTMLButtonElement)) throw new Error(`there is no button to ${action}`);
  button.addEventListener("click", () => void act());
  return button;
}

/**
 * @param {HTMLElement} place
 * @param {string} html As kvcore wrote it.
 */
export const showHtml = (place, html) => place.replaceChildren(shownFragment(html));

/**
 * Shows what is wrong with a question, beside it.
 *
 * @param {ParentNode} panel
 * @param {FieldError[] | undefined} errors
 * @returns {boolean} Whether there was anything.
 */
export function showProblems(panel, errors) {
  const line = panel.querySelector(".kv-field__error");
  if (!(line instanceof HTMLElement)) return Boolean(errors?.length);
  line.textContent = (errors ?? []).map(describe).join(" ");
  line.hidden = line.textContent === "";
  return !line.hidden;
}

/** @param {FieldError} error */
export const describe = (error) => `${error.field}: ${error.rule}. ${error.remedy}`.replaceAll("`", "");

/**
 * A request as the texts a form holds.
 *
 * @param {Record<string, unknown>} request
 * @returns {Map<string, string>}
 */
export const texts = (request) =>
  new Map(
    Object.entries(request).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );

/**
 * Hands a text over as a file.
 *
 * @param {string} text
 * @param {string} name
 * @param {string} type
 */
export const download = (text, name, type) => save(new Blob([text], { type }), name);

/**
 * @param {Blob} file
 * @param {string} name
 */
export function save(file, name) {
  const address = URL.createObjectURL(file);
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}

/**
 * Binds a folded panel that holds one form: submits ask, the answer is shown below, and its CSV can be taken away.
 *
 * @param {Host} host
 * @param {string} name
 * @param {Door} door
 * @param {(form: FormData) => object} question The values to ask with.
 * @param {(reply: any) => void} [shown] Called with every reply after it was shown.
 * @returns {{panel: HTMLElement, ask: () => Promise<void>}}
 */
export function bindPanel(host, name, door, question, shown) {
  const panel = part(host.root, name);
  const form = panel.querySelector("form");
  const place = part(panel, `${name}-answer`);
  if (!form) throw new Error(`${name} has no form`);
  let csv = "";
  const save = panel.querySelector("button[data-kv-do=csv]");
  save?.addEventListener("click", () => download(csv, `${name}.csv`, "text/csv"));
  const ask = async () => {
    place.ariaBusy = "true";
    try {
      const reply = await host.ask(name, door, question(new FormData(form)));
      if (reply === undefined) return;
      showProblems(panel, reply.errors);
      if (reply.html !== undefined) showHtml(place, reply.html);
      else place.replaceChildren();
      if (reply.charts) void import("./charts.mjs").then(({ drawAll }) => drawAll(place, reply.charts));
      csv = reply.csv ?? "";
      if (save instanceof HTMLElement) save.hidden = csv === "";
      shown?.(reply);
    } catch (error) {
      const rule = error instanceof Error ? error.message : String(error);
      showProblems(panel, [{ field: name, value: "", rule, remedy: "Ask again." }]);
    } finally {
      place.ariaBusy = "false";
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void ask();
  });
  return { panel, ask };
}
