/**
 * The page that reads a log: box or file → worker → answer. The log stays in this page; every number comes from kvcore.
 *
 * @import { FieldError } from "./protocol.mjs"
 */
import { bundleAddress } from "./bundle.mjs";
import { windowClient } from "./client.mjs";
import { shownFragment } from "./fragment.mjs";
import { bindStatus } from "./status.mjs";

/** Longest log read in the page, in bytes: more would make people wait. The command reads any. */
const MAX_BYTES = 200_000_000;
/** A pasted text longer than this many characters is not shown in the box: laying it out takes longer than reading it. */
const MAX_SHOWN = 200_000;
/** Longer than the gap between two keystrokes, shorter than a noticeable wait. */
const DEBOUNCE = 250;
const MEANWHILE = "What you pasted is kept and read as soon as Python runs.";

/**
 * Binds one built page. Safe to call again for the same element.
 *
 * @param {HTMLElement} root
 */
export function bindReconcile(root) {
  if (root.dataset.kvBound !== undefined) return;
  root.dataset.kvBound = "";
  const form = part(root, "form", HTMLFormElement);
  const answer = part(root, "answer", HTMLElement);
  const box = part(form, "log", HTMLTextAreaElement);
  const picker = part(form, "file", HTMLInputElement);
  const example = part(form, "example", HTMLButtonElement);
  const { placeholder } = box;
  const client = windowClient(bundleAddress(root.dataset.kvBundle));
  /** A chosen file or a long text, which the box does not show. @type {Blob | undefined} */
  let chosen;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const ask = async () => {
    const log = chosen ?? new Blob(box.value.trim() === "" ? [] : [box.value]);
    if (log.size === 0 && !String(new FormData(form).get("reported_tokens") ?? "")) return;
    answer.ariaBusy = "true";
    try {
      const text = await client.ask("reconcile", "reconcile_json", JSON.stringify(question(form)), log);
      if (text === undefined || !root.isConnected) return;
      const reply = JSON.parse(text);
      answer.replaceChildren(shownFragment(reply.html));
      answer.dataset.kvAnswered = String(Number(answer.dataset.kvAnswered ?? 0) + 1);
      status.say(reply.errors.length > 0 ? reply.errors.map(describe).join(" ") : "Read. Nothing left this page.");
    } catch (error) {
      status.say(`Not read: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      answer.ariaBusy = "false";
    }
  };
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), DEBOUNCE);
  };
  const take = async (/** @type {File | undefined} */ file) => {
    if (!file) return;
    if (file.size > MAX_BYTES) {
      const size = (file.size / 1e6).toFixed(0);
      status.say(
        `This log has ${size} MB; the page reads up to 200. The command "kvcore reconcile FILE" reads logs of any size.`,
      );
      return;
    }
    await hold(file, `A file of ${file.size.toLocaleString("en")} bytes`);
  };
  const forget = () => {
    chosen = undefined;
    picker.value = "";
    box.placeholder = placeholder;
  };
  const hold = async (/** @type {Blob} */ log, /** @type {string} */ shown) => {
    chosen = log;
    box.value = "";
    box.placeholder = shown;
    await ask();
  };

  const status = bindStatus(part(root, "status", HTMLElement), client, () => void ask(), MEANWHILE);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void ask();
  });
  form.addEventListener("input", (event) => {
    if (event.target === picker) return;
    if (event.target === box) forget();
    changed();
  });
  example.addEventListener("click", () => {
    forget();
    box.value = example.dataset.kvExample ?? "";
    void ask();
  });
  picker.addEventListener("change", () => void take(picker.files?.[0]));
  box.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.length <= MAX_SHOWN) return;
    event.preventDefault();
    void hold(new Blob([text]), `A pasted text of ${text.length.toLocaleString("en")} characters`);
  });
  box.addEventListener("dragover", (event) => event.preventDefault());
  box.addEventListener("drop", (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    void take(event.dataTransfer.files[0]);
  });
  form.addEventListener("focusin", () => client.state.phase === "idle" && client.start(), { once: true });
  // What was chosen or pasted before this script came.
  if (picker.files?.length) void take(picker.files[0]);
  else void ask();
}

/**
 * What the form asks besides the log; empty fields are left out by kvcore.
 *
 * @param {HTMLFormElement} form
 */
function question(form) {
  const fields = Object.fromEntries(new FormData(form));
  const { log: _log, file: _file, reported_tokens: reported, ...request } = fields;
  return { request, reported_tokens: reported };
}

/** @param {FieldError} error */
const describe = (error) => `${error.field}: ${error.rule}. ${error.remedy}`;

/**
 * @template {HTMLElement} T
 * @param {HTMLElement} root
 * @param {string} name
 * @param {new () => T} kind
 * @returns {T}
 */
function part(root, name, kind) {
  const element = root.querySelector(`[data-kv-part=${name}]`);
  if (element instanceof kind) return element;
  throw new Error(`the page has no ${name}`);
}
