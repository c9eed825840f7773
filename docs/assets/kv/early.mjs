/**
 * Runs while the calculator's page is still loading. An address that holds a question needs Python whatever the reader
 * does next, so its start need not wait for the page.
 */
import { bundleAddress } from "./bundle.mjs";
import { windowClient } from "./client.mjs";

const stated = document.querySelector("meta[name=kv-bundle]")?.getAttribute("content");
const asks = location.search !== "" || /^#(?:config|layout)=/.test(location.hash);
if (stated && asks) {
  const client = windowClient(bundleAddress(stated));
  if (client.state.phase === "idle") client.start();
}
