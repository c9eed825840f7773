/**
 * What a reader takes away: the link, the Markdown, the JSON, the command.
 *
 * @import { Host } from "./host.mjs"
 * @import { Reply } from "./protocol.mjs"
 */
import { download } from "./host.mjs";
import { linkCopier } from "./link.mjs";

/**
 * @param {HTMLElement} element Holds one button per thing, named by data-kv-take, and the command.
 * @param {Host} host
 * @returns {{show: (reply: Reply, fields: Record<string, string>) => void}} Takes an answer and the question it is to.
 */
export function bindTakeAway(element, host) {
  /** @type {Record<string, string>} */
  let asked = {};
  const command = element.querySelector("code");
  const note = element.querySelector("[role=status]");
  const say = (/** @type {string} */ text) => {
    if (note) note.textContent = text;
  };
  const copy = (/** @type {string} */ text, /** @type {string} */ what) =>
    navigator.clipboard.writeText(text).then(
      () => say(`${what} copied.`),
      () => say(`${what} could not be copied: the browser refused.`),
    );
  // Written when it is wanted: with every answer it would take a good part of the answer's time.
  const whole = () => host.ask("takeaway", "whole_form", asked);
  /** @type {Record<string, () => unknown>} */
  const actions = {
    link: linkCopier(host, copy),
    markdown: async () => {
      const reply = await whole();
      if (reply !== undefined) await copy(reply.markdown, "Markdown");
    },
    json: async () => {
      const reply = await whole();
      if (reply !== undefined) download(JSON.stringify(reply.report, null, 2), "report.json", "application/json");
    },
    command: () => void copy(command?.textContent ?? "", "Command"),
  };
  for (const button of element.querySelectorAll("button[data-kv-take]")) {
    button.addEventListener("click", () => actions[button.getAttribute("data-kv-take") ?? ""]?.());
  }
  element.hidden = false;
  return {
    show: (reply, fields) => {
      asked = fields;
      if (command) command.textContent = reply.command;
      for (const button of element.querySelectorAll("button[disabled]")) button.removeAttribute("disabled");
    },
  };
}
