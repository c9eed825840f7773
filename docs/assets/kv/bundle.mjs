/**
 * Where the page says its bundle lies.
 *
 * @import { BundleAddress } from "./protocol.mjs"
 */

/**
 * @param {string | undefined} text The page's own statement, with addresses relative to the page.
 * @returns {BundleAddress} With absolute addresses, which the worker needs.
 */
export const bundleAddress = (text) =>
  JSON.parse(text ?? "{}", (_, value) => (typeof value === "string" ? new URL(value, location.href).href : value));
