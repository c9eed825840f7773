/**
 * "Copy" on a model's page: the link leads to a text; with this script its text goes to the clipboard instead.
 */

/**
 * @param {HTMLAnchorElement} link
 * @param {(text: string) => void} say
 */
async function copyTarget(link, say) {
  try {
    const response = await fetch(link.href);
    if (!response.ok) throw new Error(response.statusText);
    await navigator.clipboard.writeText(await response.text());
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
