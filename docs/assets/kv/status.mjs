/**
 * The line between question and answer: what is loading and how much, what went wrong, and that an answer is new.
 *
 * @import { Client } from "./client.mjs"
 */

/**
 * @param {HTMLElement} element
 * @param {Client} client
 * @param {() => void} askAgain Called when the reader asks for another try.
 * @param {string} [meanwhile] What to know while Python loads; for a page with an answer whether it is the one asked for.
 * @returns {{say: (text: string) => void}}
 */
export function bindStatus(element, client, askAgain, meanwhile) {
  const line = find(element, "p", HTMLParagraphElement);
  const bar = find(element, "progress", HTMLProgressElement);
  const retry = find(element, "button", HTMLButtonElement);
  retry.addEventListener("click", () => {
    client.start();
    askAgain();
  });
  const stop = client.watch((state) => {
    if (!element.isConnected) {
      stop?.();
      return;
    }
    element.dataset.kvPhase = state.phase;
    bar.hidden = state.phase !== "loading";
    retry.hidden = state.phase !== "failed";
    if (state.phase === "loading") {
      bar.max = Math.max(state.total, 1);
      bar.value = state.loaded;
      const share = state.total ? `: ${megabytes(state.loaded)} of ${megabytes(state.total)} MB` : "";
      line.textContent = `${state.label}${share}. ${meanwhile ?? unanswered()}`;
    } else if (state.phase === "failed") {
      line.textContent = `Python could not be started in this browser: ${state.label}. What you typed is kept.`;
    } else if (state.phase === "ready") {
      line.textContent = "Ready.";
    }
  });
  return {
    say: (text) => {
      line.textContent = text;
    },
  };
}

/** The built answer is not shown where the address asks another question. */
const unanswered = () =>
  document.documentElement.hasAttribute("data-kv-asks")
    ? "The answer follows."
    : "The answer below was computed when this page was built.";

/** @param {number} bytes */
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/**
 * @template {HTMLElement} T
 * @param {HTMLElement} root
 * @param {string} selector
 * @param {new () => T} kind
 * @returns {T}
 */
function find(root, selector, kind) {
  const element = root.querySelector(selector);
  if (element instanceof kind) return element;
  throw new Error(`the page has no ${selector}`);
}
