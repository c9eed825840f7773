/**
 * The further questions below the answer. Each asks Python and shows what it says.
 *
 * @import { Host } from "./host.mjs"
 */
import { bindPanel, onPress, part } from "./host.mjs";

/** @param {Host} host */
export function bindPanels(host) {
  part(host.root, "further").hidden = false;
  bindSolve(host);
  bindMix(host);
  bindPanel(host, "sweep", "sweep_json", (form) => ({
    request: host.fields(),
    axes: axes(form),
    figures: figures(form),
  }));
  bindPanel(host, "iso", "iso_json", (form) => ({ request: host.fields(), ...Object.fromEntries(form) }));
  const offer = () => offerToEngine(part(host.root, "further"), host.fields().engine ?? "vllm");
  host.answered(offer);
  offer();
}

/**
 * Offers the choices the engine has. A choice it does not have gives way to the first it has.
 *
 * @param {HTMLElement} panels
 * @param {string} engine
 */
function offerToEngine(panels, engine) {
  for (const option of panels.querySelectorAll("option[data-kv-only]")) {
    if (!(option instanceof HTMLOptionElement)) continue;
    option.hidden = option.disabled = option.dataset.kvOnly !== engine;
  }
  for (const choice of panels.querySelectorAll("select")) {
    if (choice.selectedOptions[0]?.disabled) {
      choice.value = [...choice.options].find((option) => !option.disabled)?.value ?? "";
    }
  }
}

/** @param {Host} host */
function bindSolve(host) {
  /** @type {Record<string, unknown> | undefined} */
  let solved;
  const question = (/** @type {FormData} */ form) => ({ request: host.fields(), ...Object.fromEntries(form) });
  const { panel } = bindPanel(host, "solve", "solve_json", question, (reply) => {
    solved = reply.errors || reply.value === null ? undefined : reply.request;
    const code = command.querySelector("code");
    if (code) code.textContent = reply.engine_command ?? "";
    command.hidden = solved === undefined;
    use.hidden = solved === undefined;
  });
  const command = part(panel, "solve-command");
  const use = onPress(panel, "use", () => {
    // The reply leaves a pasted config out; the form still has it.
    const { config } = host.fields();
    if (solved) host.fill(config === undefined ? solved : { ...solved, config });
  });
}

/** @param {Host} host */
function bindMix(host) {
  const { panel } = bindPanel(host, "mix", "mix_json", (form) => {
    const columns = ["prompt_tokens", "output_tokens", "weight"].map((name) => form.getAll(name).map(String));
    const [prompts = [], outputs = [], weights = []] = columns;
    const rows = prompts.map((prompt, row) => ({
      prompt_tokens: prompt,
      output_tokens: outputs[row] || "0",
      weight: weights[row] || "1",
    }));
    return { request: host.fields(), lengths: rows.filter((row) => row.prompt_tokens.trim() !== "") };
  });
  onPress(panel, "row", () => {
    const body = panel.querySelector("tbody");
    const last = body?.lastElementChild;
    if (!body || !last) return;
    const row = /** @type {HTMLElement} */ (last.cloneNode(true));
    for (const input of row.querySelectorAll("input")) {
      input.value = "";
      input.ariaLabel = (input.ariaLabel ?? "").replace(/\d+$/, String(body.children.length + 1));
    }
    body.append(row);
    row.querySelector("input")?.focus();
  });
}

/**
 * @param {FormData} form
 * @param {string} name
 */
const text = (form, name) => String(form.get(name) ?? "");

/** @param {FormData} form */
function axes(form) {
  const first = { [text(form, "field")]: text(form, "values") };
  const second = text(form, "second");
  return second === "" ? first : { [second]: text(form, "second_values"), ...first };
}

/**
 * The figure to draw stands first; the others are listed with it.
 *
 * @param {FormData} form
 */
function figures(form) {
  const usual = ["capacity.concurrency.engine_log", "capacity.concurrency.held", "capacity.tokens.engine_log"];
  const drawn = text(form, "figure");
  return [drawn, ...usual.filter((path) => path !== drawn)];
}
