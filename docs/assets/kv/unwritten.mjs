/** A question that was typed but does not stand in the address yet: this window keeps it across a reload. */

const KEY = "kv-unwritten";

/** @param {Map<string, string>} fields */
export function keepUnwritten(fields) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ at: location.href, fields: [...fields] }));
  } catch {
    // A browser that keeps nothing, or not so much, asks what the address says.
  }
}

/** @returns {Map<string, string> | undefined} What was typed before this reload, where its address was not written. */
export function takeUnwritten() {
  try {
    const kept = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    const [entry] = performance.getEntriesByType("navigation");
    if (kept === null || !(entry instanceof PerformanceNavigationTiming) || entry.type !== "reload") return undefined;
    const { at, fields } = JSON.parse(kept);
    return at === location.href ? new Map(fields) : undefined;
  } catch {
    return undefined;
  }
}
