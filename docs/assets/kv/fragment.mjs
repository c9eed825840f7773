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
    for (const { name, value } of element.attributes) {
      const allowed = name === "href" ? safeLink(value) : ATTRIBUTES.test(name);
      if (!allowed) throw new Error(`unexpected attribute ${name} on ${element.localName} in an answer`);
    }
  }
  return template.content;
}

/** @param {string} href */
const safeLink = (href) => /^(?:#|\.{0,2}\/|https:\/\/|[\w-]+\/)/.test(href);
