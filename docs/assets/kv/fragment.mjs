/**
 * Puts kvcore's HTML into the page. kvcore escapes every text; this is the second lock on the same door: only the
 * elements and attributes its writer uses get in, so no text can become a script, a link elsewhere or a form.
 */

const ELEMENTS = new Set(
  (
    "a abbr aside b br button caption circle code col colgroup data dd defs desc details div dl dt em figcaption figure g " +
    "h1 h2 h3 h4 h5 h6 hr i li line ol output p path pattern polyline pre rect section small span strong sub summary sup svg " +
    "table tbody td text tfoot th thead time title tr tspan ul use var"
  ).split(" "),
);
const ATTRIBUTES =
  /^(?:class|id|role|title|type|value|scope|colspan|rowspan|open|tabindex|hidden|lang|dir|aria-[a-z]+|data-[a-z-]+|viewbox|width|height|x|y|x1|x2|y1|y2|cx|cy|r|rx|ry|d|points|fill|stroke|stroke-width|stroke-dasharray|transform|text-anchor|preserveaspectratio|patternunits|focusable|datetime|xmlns)$/i;

/**
 * Parses HTML into nodes that may be shown.
 *
 * @param {string} html
 * @returns {DocumentFragment}
 * @throws {Error} The HTML holds an element or attribute that kvcore's writer never emits.
 */
export function shownFragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const element of template.content.querySelectorAll("*")) {
    if (!ELEMENTS.has(element.localName)) throw new Error(`unexpected element ${element.localName} in an answer`);
    for (const name of element.getAttributeNames()) {
      const allowed = name === "href" ? safeLink(element.getAttribute(name) ?? "") : isAllowed(name);
      if (!allowed) throw new Error(`unexpected attribute ${name} on ${element.localName} in an answer`);
    }
  }
  return template.content;
}

/** Attributes that were allowed before: an answer has thousands, of a few names. @type {Set<string>} */
const seen = new Set();

/** @param {string} name */
function isAllowed(name) {
  if (seen.has(name)) return true;
  const allowed = ATTRIBUTES.test(name);
  if (allowed) seen.add(name);
  return allowed;
}

/** @param {string} href */
const safeLink = (href) => /^(?:#|\.{0,2}\/|https:\/\/|[\w-]+\/)/.test(href);

/** What kvcore wrote for the children of a place, one text each. @type {WeakMap<Element, string[]>} */
const written = new WeakMap();

/**
 * Shows an answer's blocks in a place. A block that reads as it did is left alone: most changes move few of them.
 *
 * @param {Element} place
 * @param {string[]} blocks One element each.
 * @param {(content: DocumentFragment) => void} [prepare] Called with what is about to be shown.
 */
export function showBlocks(place, blocks, prepare) {
  const before = written.get(place) ?? [];
  const shown = [...place.children];
  const isPaired = before.length === blocks.length && shown.length === blocks.length;
  written.set(place, blocks);
  const parsed = (/** @type {string} */ html) => {
    const content = shownFragment(html);
    prepare?.(content);
    return content;
  };
  if (!isPaired) showChanged(place, parsed(blocks.join("\n")));
  else {
    for (const [index, html] of blocks.entries()) {
      if (html !== before[index]) become(shown[index], parsed(html).firstElementChild ?? undefined);
    }
  }
}

/**
 * Makes the nodes of a place those of an answer and leaves alone what stays the same: a change of one input moves few
 * figures, and what is not touched is not laid out anew, and keeps its focus and its scrolling.
 *
 * @param {Element} place
 * @param {ParentNode} content
 */
function showChanged(place, content) {
  const shown = [...place.childNodes];
  const fresh = [...content.childNodes];
  // What came or went stands between as much as can be paired from the front and from the back.
  const head = paired(shown, fresh);
  const tail = paired(shown.slice(head).reverse(), fresh.slice(head).reverse());
  const rest = shown.length - tail;
  for (const gone of shown.slice(head, rest)) gone.remove();
  const after = shown[rest] ?? null;
  for (const come of fresh.slice(head, fresh.length - tail)) place.insertBefore(come, after);
  for (let index = 0; index < head; index += 1) become(shown[index], fresh[index]);
  for (let back = 1; back <= tail; back += 1) become(shown.at(-back), fresh.at(-back));
}

/**
 * How many of two rows of nodes can become one another, from the first on.
 *
 * @param {ChildNode[]} shown
 * @param {ChildNode[]} fresh
 */
function paired(shown, fresh) {
  const end = shown.findIndex((old, index) => nameOf(old) !== nameOf(fresh[index]));
  return end < 0 ? shown.length : end;
}

/** @param {ChildNode | undefined} node */
const nameOf = (node) => (node instanceof Element ? `${node.nodeName}#${node.id}` : node?.nodeName);

/**
 * @param {ChildNode | undefined} old
 * @param {ChildNode | undefined} next
 */
function become(old, next) {
  if (!old || !next || old.isEqualNode(next)) return;
  // A chart is known by its element to what draws it.
  if (!(old instanceof Element && next instanceof Element) || next.hasAttribute("data-kv-chart")) {
    old.replaceWith(next);
    return;
  }
  takeAttributes(old, next);
  showChanged(old, next);
}

/**
 * @param {Element} element
 * @param {Element} other Whose attributes it takes.
 */
function takeAttributes(element, other) {
  for (const name of element.getAttributeNames()) if (!other.hasAttribute(name)) element.removeAttribute(name);
  for (const name of other.getAttributeNames()) {
    const value = other.getAttribute(name) ?? "";
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
}
