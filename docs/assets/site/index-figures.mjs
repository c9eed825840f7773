// @ts-check
/**
 * The cells of the models index that follow the choice of cards. Every figure was computed when the site was built; a card's
 * figures are fetched when someone first asks for it.
 */

/**
 * @typedef {{ tensor_parallel_size: number, fits: boolean, concurrency: (number | null)[], reasons: (string | null)[] }} Place
 * @typedef {{ gpu: string, models: Record<string, Place[]> }} Fleet
 */

const NOTHING = "–";
/** Beside a figure that the engine logs before it stops. */
const STOPS = "stops";
const requests = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** @type {Map<string, Promise<Fleet>>} */
const fetched = new Map();

/**
 * The figures of one GPU, fetched once.
 * @param {string} folder
 * @param {string} gpu
 * @returns {Promise<Fleet>}
 */
export function fleetOf(folder, gpu) {
  const address = new URL(`${encodeURIComponent(gpu)}.json`, new URL(folder, document.baseURI)).href;
  const known = fetched.get(address);
  if (known) {
    return known;
  }
  const asked = fetch(address).then((response) => {
    if (!response.ok) {
      throw new Error(`${address}: ${response.status}`);
    }
    return response.json();
  });
  fetched.set(address, asked);
  // What failed once may be asked for again.
  asked.catch(() => fetched.delete(address));
  return asked;
}

/**
 * Shows a row's figures on some cards and notes whether the model fits on them.
 * @param {HTMLTableRowElement} row
 * @param {Fleet} fleet
 * @param {number} size
 * @param {{ requests: number[], fewest: number }} columns
 */
export function showRow(row, fleet, size, columns) {
  const places = fleet.models[row.id] ?? [];
  const place = places.find((one) => one.tensor_parallel_size === size);
  row.dataset.fits = place?.fits ? "1" : "";
  for (const [index, column] of columns.requests.entries()) {
    const value = place?.concurrency[index] ?? null;
    fill(row.cells[column], value, value === null ? "" : requests.format(value), place?.reasons[index] ?? "");
  }
  const fewest = places.find((one) => one.fits)?.tensor_parallel_size ?? null;
  const none = fewest === null ? places.at(-1)?.reasons[0] : null;
  fill(row.cells[columns.fewest], fewest, String(fewest), none ?? "");
}

/**
 * @param {HTMLTableCellElement | undefined} cell
 * @param {number | null} value
 * @param {string} text
 * @param {string} reason
 */
function fill(cell, value, text, reason) {
  if (!cell) {
    return;
  }
  cell.classList.toggle("kv-refused", value === null);
  cell.title = reason;
  if (value === null) {
    cell.replaceChildren(NOTHING);
    return;
  }
  const figure = document.createElement("data");
  figure.className = "kv-figure";
  figure.value = String(value);
  figure.textContent = text;
  cell.replaceChildren(figure, ...(reason ? [` ${STOPS}`] : []));
}
