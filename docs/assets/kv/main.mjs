/**
 * Runs once per window. Material's instant navigation swaps pages without reloading scripts and announces each page on
 * `document$`; a page with a calculator, with a box for a log or with charts gets its script then.
 */

/** @typedef {{subscribe: (next: () => void) => unknown}} Pages */

const bind = () => {
  const root = document.querySelector("[data-kv-calculator]");
  if (root instanceof HTMLElement) void import("./calculator.mjs").then(({ bindCalculator }) => bindCalculator(root));
  const log = document.querySelector("[data-kv-reconcile]");
  if (log instanceof HTMLElement) void import("./reconcile.mjs").then(({ bindReconcile }) => bindReconcile(log));
  if (document.querySelector("[data-kv-chart]")) void import("./charts.mjs");
};

const pages = /** @type {{document$?: Pages}} */ (/** @type {unknown} */ (globalThis)).document$;
if (pages) pages.subscribe(bind);
else bind();
