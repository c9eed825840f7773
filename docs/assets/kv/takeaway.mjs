/**
 * What a reader takes away: the link, the Markdown, the JSON, the command.
 *
 * @import { Reply } from "./protocol.mjs"
 */
import { download } from "./host.mjs";

/**
 * @param {HTMLElement} element Holds one button per thing, named by data-kv-take, and the command.
 * @param {(copy: (text: string, what: string) => Promise<void>) => () => Promise<void>} linkCopier
 * @returns {{show: (reply: Reply) => void}}
 */
export function bindTakeAway(element, linkCopier) {
  /** @type {Reply | undefined} */
  let latest;
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
  /** @type {Record<string, () => unknown>} */
  const actions = {
    link: linkCopier(copy),
    markdown: () => latest && void copy(latest.markdown, "Markdown"),
    json: () => latest && download(JSON.stringify(latest.report, null, 2), "report.json", "application/json"),
    command: () => void copy(command?.textContent ?? "", "Command"),
  };
  for (const button of element.querySelectorAll("button[data-kv-take]")) {
    button.addEventListener("click", () => actions[button.getAttribute("data-kv-take") ?? ""]?.());
  }
  element.hidden = false;
  return {
    show: (reply) => {
      latest = reply;
      if (command) command.textContent = reply.command;
      for (const button of element.querySelectorAll("button[disabled]")) button.removeAttribute("disabled");
    },
  };
}
