/**
 * The calculator's form as texts: reading it, filling it, and showing errors beside its fields. What the texts mean is
 * decided by kvcore alone.
 *
 * @import { FieldError } from "./protocol.mjs"
 */

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control */

/**
 * @param {HTMLFormElement} form
 * @returns {Control[]} The controls that hold request fields.
 */
export const controls = (form) => /** @type {Control[]} */ ([...form.querySelectorAll("[data-kv-initial]")]);

/**
 * @param {HTMLFormElement} form
 * @returns {string} "catalogue", "config" or "layout": where the model comes from; "" when an address named several.
 */
export const source = (form) => form.dataset.kvSource ?? "";

/**
 * Marks one of the sources as used. The others keep their texts and are not sent.
 *
 * @param {HTMLFormElement} form
 * @param {string} value
 */
export function setSource(form, value) {
  form.dataset.kvSource = value;
}

/** The source each of these fields is. @type {Record<string, string>} */
const SOURCES = { model: "catalogue", config: "config", layout: "layout" };

/**
 * Takes as the source what was typed into, if it is one.
 *
 * @param {HTMLFormElement} form
 * @param {string} name
 */
export function sourceTyped(form, name) {
  const typed = SOURCES[name];
  if (typed) setSource(form, typed);
}

/**
 * Reads every field that has a text and counts for the chosen source and engine.
 *
 * @param {HTMLFormElement} form
 * @returns {Map<string, string>}
 */
export function readForm(form) {
  const fields = new Map();
  for (const item of controls(form))
    if (applies(form, item) && item.value.trim() !== "") fields.set(item.name, item.value);
  return fields;
}

/** Longest text that is asked with: six times the longest config.json anyone has published. kvcore's command reads more. */
export const MAX_CHARACTERS = 20_000_000;

/**
 * @param {Record<string, string>} fields
 * @returns {FieldError[]} One error for each text too long to be asked with.
 */
export const tooLong = (fields) =>
  Object.entries(fields)
    .filter(([, text]) => text.length > MAX_CHARACTERS)
    .map(([field, text]) => ({
      field,
      value: text.slice(0, 40),
      rule: `the text has ${text.length.toLocaleString("en")} characters; the page takes up to ${MAX_CHARACTERS.toLocaleString("en")}`,
      remedy: "Ask the kvcore command, which reads a file.",
    }));

/**
 * @param {HTMLFormElement} form
 * @returns {boolean} Whether the form asks what the built page already answers.
 */
export const isInitial = (form) =>
  source(form) === "catalogue" &&
  controls(form).every((item) => !applies(form, item) || item.value === item.dataset.kvInitial);

/**
 * @param {HTMLFormElement} form
 * @param {Control} item
 */
function applies(form, item) {
  const chosen = source(form);
  const own = SOURCES[item.name];
  if (own && chosen && own !== chosen) return false;
  const engine = item.closest("[data-kv-engine]")?.getAttribute("data-kv-engine") ?? "both";
  return engine === "both" || engine === chosenEngine(form);
}

/** @param {HTMLFormElement} form */
function chosenEngine(form) {
  const choice = form.elements.namedItem("engine");
  return choice instanceof HTMLSelectElement && choice.value === "sglang" ? "sglang" : "vllm";
}

/**
 * Shows only the fields of the chosen engine.
 *
 * @param {HTMLFormElement} form
 */
export function showEngine(form) {
  form.dataset.kvChosenEngine = chosenEngine(form);
}

/**
 * Puts the built page's question back.
 *
 * @param {HTMLFormElement} form
 */
export function resetForm(form) {
  for (const item of controls(form)) setValue(item, item.dataset.kvInitial ?? "");
  setSource(form, "catalogue");
}

/**
 * Fills in a whole question: a field that is not given becomes empty, which means the engine's default.
 *
 * @param {HTMLFormElement} form
 * @param {Map<string, string>} fields
 * @returns {Map<string, string>} Fields the form has no control for.
 */
export function fillForm(form, fields) {
  const unknown = new Map(fields);
  for (const item of controls(form)) {
    setValue(item, fields.get(item.name) ?? "");
    unknown.delete(item.name);
    // A field that an address sets must be visible, also where its group is folded; a layout's parts have their own table.
    if (fields.has(item.name) && item.name !== "layout") item.closest("details")?.setAttribute("open", "");
  }
  // Named in several ways: none is dropped silently, kvcore says what is wrong.
  const named = Object.keys(SOURCES).filter((name) => fields.has(name));
  setSource(form, named.length > 1 ? "" : (SOURCES[named[0] ?? "model"] ?? ""));
  return unknown;
}

/**
 * @param {Control} item
 * @param {string} value
 */
function setValue(item, value) {
  item.value = value;
  if (item.value === value || !(item instanceof HTMLSelectElement)) return;
  // A choice the list does not have still has to be seen to be corrected.
  item.add(new Option(value, value));
  item.value = value;
}

/**
 * Shows each error beside its field.
 *
 * @param {HTMLFormElement} form
 * @param {FieldError[]} errors
 * @returns {FieldError[]} Errors without a field on the page.
 */
export function showErrors(form, errors) {
  // Most questions are right, before and after.
  if (errors.length === 0 && !form.querySelector("[aria-invalid]")) return [];
  /** @type {Map<string, string[]>} */
  const byField = new Map();
  const elsewhere = [];
  const names = new Set(controls(form).map((item) => item.name));
  for (const error of errors) {
    const name = names.has(error.field) ? error.field : (error.field.split(".")[0] ?? "");
    const known = names.has(name) ? name : "";
    if (!known) elsewhere.push(error);
    else
      byField.set(known, [
        ...(byField.get(known) ?? []),
        `${sentence(error.rule)} ${error.remedy}`.replaceAll("`", ""),
      ]);
  }
  for (const item of controls(form)) {
    const line = form.querySelector(`#${CSS.escape(`${item.id}-error`)}`);
    const messages = byField.get(item.name);
    if (messages) item.setAttribute("aria-invalid", "true");
    else item.removeAttribute("aria-invalid");
    const words = messages?.join(" ") ?? "";
    // Most fields are right before and after: writing the same again would still lay the form out anew.
    if (line instanceof HTMLElement && (line.textContent !== words || line.hidden === Boolean(messages))) {
      line.textContent = words;
      line.hidden = !messages;
    }
    // What is wrong with a part of the layout is said at its row, not at the text that holds them all.
    const atRows = errors.every((error) => /^layout\.parts\.\d/.test(error.field));
    if (messages && !(item.name === "layout" && atRows)) item.closest("details")?.setAttribute("open", "");
  }
  return elsewhere;
}

/** @param {string} rule */
const sentence = (rule) => rule.charAt(0).toUpperCase() + rule.slice(1) + (/[.!?]$/.test(rule) ? "" : ".");
