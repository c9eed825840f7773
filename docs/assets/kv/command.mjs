/**
 * Engine commands, in and out: a pasted command fills the form; every answer is given back as one.
 *
 * @import { Host } from "./host.mjs"
 */
import { onPress, part, showHtml, showProblems } from "./host.mjs";

/** @param {Host} host */
export function bindCommand(host) {
  bindPaste(host);
  const given = part(host.root, "engine");
  const code = given.querySelector("code");
  const copy = onPress(given, "copy", async () => {
    await navigator.clipboard.writeText(code?.textContent ?? "").then(
      () => (copy.textContent = "Copied"),
      () => (copy.textContent = "The browser refused; select the text"),
    );
    setTimeout(() => (copy.textContent = label), 2000);
  });
  const label = copy.textContent ?? "";
  given.hidden = false;
  host.answered(async () => {
    const reply = await host.ask("engine-command", "command_json", { request: host.fields() });
    if (reply === undefined || !code) return;
    given.hidden = reply.errors !== undefined;
    code.textContent = reply.command ?? "";
  });
}

/** What no engine's command says: it stays as it is in the form. */
const HARDWARE = ["gpu", "gpu_memory_gib"];

/** @param {Host} host */
function bindPaste(host) {
  const panel = part(host.root, "command");
  const box = panel.querySelector("textarea");
  const notes = part(panel, "command-notes");
  const fill = async () => {
    const reply = await host.ask("command", "command_json", { command: box?.value ?? "" });
    if (reply === undefined) return;
    notes.replaceChildren();
    if (showProblems(panel, reply.errors)) {
      box?.setAttribute("aria-invalid", "true");
      return;
    }
    box?.removeAttribute("aria-invalid");
    showHtml(notes, reply.html);
    const done = document.createElement("p");
    done.className = "kv-field__help";
    done.textContent = `Filled in: ${Object.keys(reply.request).join(", ") || "nothing"}.`;
    notes.prepend(done);
    const kept = Object.entries(host.fields()).filter(([name]) => HARDWARE.includes(name));
    host.fill({ ...Object.fromEntries(kept), ...reply.request });
  };
  onPress(panel, "fill", fill);
  box?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void fill();
  });
}
