/**
 * Where the page says its bundle lies.
 *
 * @import { BundleAddress } from "./protocol.mjs"
 */

/**
 * @param {HTMLElement} root The calculator.
 * @returns {BundleAddress} With absolute addresses, which the worker needs.
 */
export function bundleAddress(root) {
  const bundle = JSON.parse(root.dataset.kvBundle ?? "{}");
  const absolute = (/** @type {string} */ path) => new URL(path, location.href).href;
  return {
    worker: absolute(bundle.worker),
    runtime: absolute(bundle.runtime),
    packages: absolute(bundle.packages),
    bytes: bundle.bytes,
  };
}
