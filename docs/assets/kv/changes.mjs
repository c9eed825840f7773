/**
 * What each changed input does, as chips above the answer: "KV cache dtype fp8: 12.30 → 24.10".
 *
 * @import { Host } from "./host.mjs"
 */
import { part } from "./host.mjs";
import { layoutBefore } from "./layout.mjs";

/** @typedef {{field: string, label: string, value: unknown, before: number | null, after: number | null}} Change */

/** @param {Host} host */
export function bindChanges(host) {
  const place = part(host.root, "changes");
  host.answered(async (reply) => {
    if (reply.report.errors.length > 0) {
      place.hidden = true;
      markFields(host.root, []);
      return;
    }
    const found = await host.ask("changes", "changes_json", {
      request: host.fields(),
      layout_before: layoutBefore(),
    });
    if (found === undefined) return;
    const changes = /** @type {Change[]} */ (found.changes ?? []);
    const counted = changes.filter((change) => !isUncounted(change));
    const list = document.createElement("ul");
    list.append(...counted.map(chip));
    const title = document.createElement("span");
    title.className = "kv-changes__title";
    title.textContent = "Requests at once, without each input and with it";
    place.replaceChildren(title, list);
    place.hidden = counted.length === 0;
    markFields(host.root, changes);
  });
}

/**
 * Marks each changed input in the form, with what it did.
 *
 * @param {HTMLElement} root
 * @param {Change[]} changes
 */
function markFields(root, changes) {
  for (const old of root.querySelectorAll(".kv-field__change")) old.remove();
  for (const change of changes) {
    const { field, before, after } = change;
    const mark = Object.assign(document.createElement("span"), { className: "kv-field__change" });
    mark.textContent = isUncounted(change) ? "changed" : `${requests(before)} → ${requests(after)}`;
    mark.title = "Requests at once with the default and with this value";
    root.querySelector(`[data-kv-part=form] [data-kv-field="${field}"] > label`)?.after(mark);
  }
}

/** @param {Change} change */
function chip({ field, label, value, before, after }) {
  const item = document.createElement("li");
  item.dataset.kvChange = field;
  const shown = typeof value === "object" ? JSON.stringify(value) : String(value);
  const words = document.createElement("span");
  words.textContent = `${label} ${shown.slice(0, 40)}: `;
  const figures = document.createElement("strong");
  figures.textContent = `${requests(before)} → ${requests(after)}`;
  item.append(words, figures);
  return item;
}

/**
 * Whether there are no requests to count either way, as without a budget.
 *
 * @param {Change} change
 */
const isUncounted = ({ before, after }) => before === null && after === null;

/** @param {number | null} value */
const requests = (value) =>
  value === null ? "none" : value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
