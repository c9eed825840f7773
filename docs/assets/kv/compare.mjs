/**
 * Up to four deployments kept side by side. They stay in this window, across reloads, and go nowhere else.
 *
 * @import { Fields, Host } from "./host.mjs"
 */
import { bindPanel, onPress, part, showProblems } from "./host.mjs";

const MOST = 4;
const KEY = "kv-compare";

/** @param {Host} host */
export function bindCompare(host) {
  /** @type {Fields[]} */
  let kept = remembered();
  let full = false;
  // An answer that arrives afterwards takes nothing back.
  const question = () => ({ requests: kept });
  const { panel, ask } = bindPanel(host, "compare", "compare_json", question, () => full && refuse());
  const list = part(panel, "kept");
  const change = (/** @type {Fields[]} */ deployments) => {
    kept = deployments;
    full = false;
    remember(kept);
    show();
    if (kept.length > 0) void ask();
    else part(panel, "compare-answer").replaceChildren();
  };
  const add = () => {
    panel.setAttribute("open", "");
    if (kept.length < MOST) change([...kept, host.fields()]);
    else {
      full = true;
      refuse();
    }
  };
  const refuse = () => {
    const rule = `${MOST} deployments are compared at most`;
    showProblems(panel, [{ field: "requests", value: "", rule, remedy: "Remove one first." }]);
  };
  const show = () => list.replaceChildren(...kept.map((fields, index) => item(fields, index)));
  const item = (/** @type {Fields} */ fields, /** @type {number} */ index) => {
    const line = document.createElement("li");
    const words = document.createElement("span");
    words.textContent = [fields.model ?? (fields.layout ? "layout by hand" : "pasted config"), ...inputs(fields)].join(
      ", ",
    );
    const remove = button("Remove", () => change(kept.filter((_, other) => other !== index)));
    remove.ariaLabel = `Remove deployment ${index + 1}`;
    const use = button("Put into the form", () => host.fill(fields));
    use.ariaLabel = `Put into the form: deployment ${index + 1}`;
    line.append(words, " ", use, " ", remove);
    return line;
  };
  onPress(host.root, "add", add);
  onPress(panel, "add", add);
  show();
  panel.addEventListener(
    "toggle",
    () => kept.length > 0 && part(panel, "compare-answer").childElementCount === 0 && ask(),
  );
}

/**
 * @param {string} label
 * @param {() => void} act
 */
function button(label, act) {
  const made = Object.assign(document.createElement("button"), { type: "button", className: "kv-button" });
  made.textContent = label;
  made.addEventListener("click", act);
  return made;
}

/** @param {Fields} fields */
const inputs = (fields) =>
  Object.entries(fields)
    .filter(([name]) => !["model", "config", "layout"].includes(name))
    .map(([name, value]) => `${name} ${value.slice(0, 40)}`);

/** @returns {Fields[]} */
function remembered() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((item) => item && typeof item === "object").slice(0, MOST) : [];
  } catch {
    return [];
  }
}

/** @param {Fields[]} kept */
function remember(kept) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A full or forbidden store costs the comparison its life across a reload, and nothing else.
  }
}
