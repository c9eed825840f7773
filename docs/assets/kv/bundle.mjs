/**
 * Where the page says its bundle lies.
 *
 * @import { BundleAddress } from "./protocol.mjs"
 */

/**
 * @param {string | undefined} text The page's own statement, with addresses relative to the page.
 * @returns {BundleAddress} With absolute addresses, which the worker needs.
 */
export function bundleAddress(text) {
  const bundle = JSON.parse(text ?? "{}");
  const absolute = (/** @type {string} */ path) => new URL(path, location.href).href;
  return {
    worker: absolute(bundle.worker),
    runtime: absolute(bundle.runtime),
    packages: absolute(bundle.packages),
    snapshot: absolute(bundle.snapshot),
    bytes: Object.entries(bundle.bytes),
  };
}
