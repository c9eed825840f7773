/** The small box beside the pointer that says what a mark of a chart stands for. */

/** Pixels between the pointer and the box. */
const GAP = 14;

/** @type {HTMLDListElement | undefined} */
let box;

/**
 * Shows a mark's values; hides the box where there are none.
 *
 * @param {MouseEvent | undefined} event
 * @param {unknown} value Texts by their title, as the specification's tooltip lists them.
 */
export function tip(event, value) {
  if (!event || value === null || typeof value !== "object") {
    if (box) box.hidden = true;
    return;
  }
  if (!box?.isConnected) {
    box = Object.assign(document.createElement("dl"), { className: "kv-chart__tip" });
    box.ariaHidden = "true";
    document.body.append(box);
  }
  box.replaceChildren(
    ...Object.entries(value).flatMap(([title, text]) => [element("dt", title), element("dd", String(text))]),
  );
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = Math.max(0, Math.min(event.clientX + GAP, innerWidth - width - GAP));
  const below = event.clientY + GAP;
  const top = below + height > innerHeight ? event.clientY - GAP - height : below;
  box.style.transform = `translate(${left}px, ${Math.max(0, top)}px)`;
}

/**
 * @param {string} name
 * @param {string} text
 */
function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
