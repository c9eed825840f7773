/**
 * Everything beside question and answer.
 *
 * @import { Host } from "./host.mjs"
 */
import { bindChanges } from "./changes.mjs";
import { again, provide } from "./charts.mjs";
import { bindCommand } from "./command.mjs";
import { bindCompare } from "./compare.mjs";
import { bindEngines } from "./engines.mjs";
import { bindHub } from "./hub.mjs";
import { bindLayout } from "./layout.mjs";
import { bindPanels } from "./panels.mjs";

/**
 * @param {Host} host
 * @param {(config: string) => void} take Called with a config that was fetched.
 */
export function bindFurther(host, take) {
  bindCommand(host);
  bindChanges(host);
  bindPanels(host);
  bindCompare(host);
  bindHub(host, take);
  bindLayout(host);
  const form = host.root.querySelector("form[data-kv-part=form]");
  if (form instanceof HTMLFormElement) bindEngines(form);
  provide(async (name) => (await host.ask("chart", "chart_json", { request: host.fields() }))?.charts?.[name]);
  host.answered(again);
  host.root.dataset.kvFurther = "";
}
