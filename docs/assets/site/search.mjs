/**
 * Stands before the theme's search worker, which puts every page into its index as soon as it is told of them: seconds
 * of work on each visit, for a search most visits never make. Here the index waits for the first query.
 *
 * The theme starts this file as a classic worker. Its messages: the pages (0), "ready" (1), a query (2), its results (3).
 */

/** @typedef {{type: number, data?: unknown}} Message */

const PAGES = 0;
const READY = 1;
const RESULTS = 3;

/** The theme's worker, whose file name the address of this one carries. */
const address = new URL(`../javascripts/workers/${location.search.slice(1)}`, location.href);

/** @type {Message | undefined} */
let pages;
/** The newest query that waits for the index. @type {Message | undefined} */
let waiting;
/** @type {Worker | undefined} */
let engine;
let hasIndex = false;

/** @param {Message} message */
const reply = (message) => self.postMessage(message);

self.addEventListener("message", (/** @type {MessageEvent<Message>} */ { data: message }) => {
  if (message.type === PAGES) {
    pages = message;
    reply({ type: READY });
  } else if (hasIndex) {
    engine?.postMessage(message);
  } else if (message.data === "" && !engine) {
    reply({ type: RESULTS, data: { items: [] } });
  } else {
    waiting = message;
    engine ??= indexed();
  }
});

/** Starts the theme's worker on the pages and hands it the query that waits once its index stands. */
function indexed() {
  const worker = new Worker(address);
  worker.addEventListener("message", (/** @type {MessageEvent<Message>} */ { data: message }) => {
    if (message.type !== READY) return reply(message);
    hasIndex = true;
    worker.postMessage(waiting);
  });
  worker.postMessage(pages);
  return worker;
}
