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
    const text = response.ok ? await shortText(response) : undefined;
    if (!response.ok) self.postMessage({ problem: String(response.status) });
    else self.postMessage(text === undefined ? { problem: "large" } : { text });
  } catch {
    self.postMessage({ problem: "network" });
  }
});

/**
 * Reads no more than it keeps: what is sent compressed states no length, or a short one.
 *
 * @param {Response} response
 * @returns {Promise<string | undefined>} Nothing where it is longer than MAX_BYTES.
 */
async function shortText(response) {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || !value) return text + decoder.decode();
    bytes += value.byteLength;
    if (bytes > MAX_BYTES) {
      await reader?.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}
