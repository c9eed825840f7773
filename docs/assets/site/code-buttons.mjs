// @ts-check
/**
 * The copy button of every code block stands in a `nav` that Material adds when a page has been shown. A page with ten
 * blocks is not a page with ten landmarks, so each is made a plain box.
 */

/** @param {Element} block */
function plain(block) {
  const nav = block.querySelector(":scope > .md-code__nav");
  nav?.setAttribute("role", "none");
  return nav !== null;
}

function start() {
  for (const block of document.querySelectorAll(".md-content pre:has(> code)")) {
    if (!plain(block)) {
      new MutationObserver((_, observer) => {
        if (plain(block)) observer.disconnect();
      }).observe(block, { childList: true });
    }
  }
}

// Material swaps pages without a reload; document$ then announces each new page.
const pages = /** @type {{ document$?: { subscribe(next: () => void): void } }} */ (globalThis).document$;
if (pages) {
  pages.subscribe(start);
} else {
  start();
}
