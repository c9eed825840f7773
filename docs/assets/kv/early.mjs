/**
 * Written into the head of the calculator's page, before everything the page loads. An address that holds a question
 * needs Python whatever the reader does next, and a worker can hardly begin while styles and layout keep the page busy.
 * Until Python answers, the answer to the form's first question is not shown as if it were this one's.
 *
 * @import { Early, FromWorker } from "./protocol.mjs"
 */
{
  const stated = document.querySelector("meta[name=kv-bundle]")?.getAttribute("content");
  const asks = location.search !== "" || /^#(?:config|layout)=/.test(location.hash);
  // Instant navigation may run this again in a window that has its worker.
  if (stated && asks && document.readyState === "loading") {
    document.documentElement.dataset.kvAsks = "";
    const bundle = JSON.parse(stated, (_, value) =>
      typeof value === "string" ? new URL(value, location.href).href : value,
    );
    const worker = new Worker(bundle.worker, { type: "module", name: "kvcore" });
    /** @type {FromWorker[]} */
    const heard = [];
    worker.onmessage = ({ data }) => heard.push(data);
    worker.onerror = ({ message }) =>
      heard.push({ type: "failed", message: message || "the worker could not be loaded" });
    worker.postMessage({ type: "boot", bundle });
    Reflect.set(globalThis, Symbol.for("kv-atlas.early"), /** @type {Early} */ ({ worker, heard }));
  }
}
