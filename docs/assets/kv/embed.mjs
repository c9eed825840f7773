/** The compact view for another page's frame: `?embed` leaves the answer and a link to the whole calculator. */

const CLASS = "kv-embedded";

/** @param {HTMLElement} root */
export function bindEmbed(root) {
  const address = new URL(location.href);
  document.documentElement.classList.toggle(CLASS, address.searchParams.has("embed"));
  const link = root.querySelector("[data-kv-part=whole]");
  if (!(link instanceof HTMLAnchorElement)) return;
  address.searchParams.delete("embed");
  link.href = address.href;
  link.target = "_blank";
  link.rel = "noopener";
}
