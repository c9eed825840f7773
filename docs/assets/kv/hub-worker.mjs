/** Asks another host for one file, once, and says what came of it. It knows nothing of the page. */

const MAX_BYTES = 50_000_000;

self.addEventListener("message", async (/** @type {MessageEvent<string>} */ { data: address }) => {
  try {
    const response = await fetch(address, {
      mode: "cors",
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
    });
    if (!response.ok) self.postMessage({ problem: String(response.status) });
    else if (Number(response.headers.get("content-length") ?? 0) > MAX_BYTES) self.postMessage({ problem: "large" });
    else self.postMessage({ text: await response.text() });
  } catch {
    self.postMessage({ problem: "network" });
  }
});
