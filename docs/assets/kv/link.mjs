/**
 * Links that carry the question, the versions and what was answered; and what an old link said, beside what is true now.
 *
 * @import { Host } from "./host.mjs"
 */
import { download, part, showHtml } from "./host.mjs";

/**
 * @param {Host} host
 * @param {(text: string, what: string) => Promise<void>} copy
 * @returns {() => Promise<void>} Copies a link to what the form asks.
 */
export function linkCopier(host, copy) {
  return async () => {
    const fields = host.fields();
    const page = location.origin + location.pathname;
    const whole = await host.ask("link", "link_json", { request: fields });
    if (whole === undefined) return;
    if (whole.link !== undefined) {
      await copy(page + whole.link, "Link");
      return;
    }
    const name = fields.config === undefined ? "layout" : "config";
    const { [name]: long, ...rest } = fields;
    if (long === undefined) {
      await copy(location.href, "Link");
      return;
    }
    // Too long for an address: it goes as a file, and the link asks for the rest.
    download(long, `${name}.json`, "application/json");
    await copy(
      page + restQuery(rest),
      `The ${name} is too long for a link and was saved as ${name}.json. The rest, as a link,`,
    );
  };
}

/** @param {Record<string, string>} fields */
const restQuery = (fields) => `?${new URLSearchParams(fields)}`;

/**
 * Says above the answer where a link's figures differ from today's.
 *
 * @param {Host} host
 * @param {URL} address
 */
export async function compareWithLink(host, address) {
  const notice = part(host.root, "notice");
  notice.replaceChildren();
  if (!address.searchParams.has("said")) return;
  const reply = await host.ask("notice", "link_json", { address: address.search + address.hash });
  if (reply?.html) showHtml(notice, reply.html);
}
