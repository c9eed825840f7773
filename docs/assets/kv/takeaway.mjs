/**
 * What a reader takes away: the link, the Markdown, the JSON, the command.
 *
 * @import { Reply } from "./protocol.mjs"
 */

/**
 * @param {HTMLElement} element Holds one button per thing, named by data-kv-take, and the command.
 * @returns {{show: (reply: Reply) => void, setLinkable: (linkable: boolean) => void}}
 */
export function bindTakeAway(element) {
  /** @type {Reply | undefined} */
  let latest;
  let linkable = true;
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
  /** @type {Record<string, () => void>} */
  const actions = {
    link: () => {
      void copy(location.href, linkable ? "Link" : "Link without the config, which is too long for one,");
    },
    markdown: () => latest && void copy(latest.markdown, "Markdown"),
    json: () => latest && download(JSON.stringify(latest.report, null, 2), "report.json"),
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
    setLinkable: (value) => {
      linkable = value;
    },
  };
}

/**
 * @param {string} text
 * @param {string} name
 */
function download(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  URL.revokeObjectURL(address);
}
