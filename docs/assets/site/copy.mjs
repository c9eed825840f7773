/**
 * "Copy" on a model's page: the link carries a text, or leads to one; with this script the text goes to the clipboard.
 */

/**
 * @param {string} address
 * @returns {Promise<string>}
 */
async function textOf(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(response.statusText);
  return response.text();
}

/**
 * @param {HTMLAnchorElement} link
 * @param {(text: string) => void} say
 */
async function copyTarget(link, say) {
  try {
    await navigator.clipboard.writeText(link.dataset.kvCopy || (await textOf(link.href)));
    say("Copied.");
  } catch {
    // The text itself is the fallback: a reader can always copy it by hand.
    location.assign(link.href);
  }
}

document.addEventListener(
  "click",
  (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[data-kv-copy]") : null;
    if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    const status = link.parentElement?.querySelector("[role=status]");
    void copyTarget(link, (text) => {
      if (status) status.textContent = text;
    });
  },
  { capture: true },
);
