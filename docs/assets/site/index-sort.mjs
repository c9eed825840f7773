// @ts-check
/** Sorting a table by its column titles; the titles become buttons. */

/**
 * @typedef {{
 *   choose(name: string, ascending: boolean): void,
 *   chosen(): { name: string, ascending: boolean },
 *   again(): void,
 * }} Sorting
 */

/**
 * Value of a cell for sorting: the exact number where the cell has one, else its text.
 * @param {HTMLTableRowElement} row
 * @param {number} column
 * @returns {number | string}
 */
function sortValue(row, column) {
  const cell = row.cells[column];
  const exact = cell?.querySelector("data")?.getAttribute("value");
  if (exact) {
    return Number(exact);
  }
  return cell?.textContent?.trim().toLowerCase() ?? "";
}

/**
 * Order of two cells; cells without a number come last, whichever way the column is sorted.
 * @param {number | string} a
 * @param {number | string} b
 * @param {number} direction
 * @returns {number}
 */
function compare(a, b, direction) {
  if (typeof a === "number" && typeof b === "number") {
    return (a - b) * direction;
  }
  if (typeof a !== typeof b) {
    return typeof a === "number" ? -1 : 1;
  }
  return String(a).localeCompare(String(b)) * direction;
}

/**
 * Makes every column title a button that sorts by its column.
 * @param {HTMLTableElement} table
 * @param {() => void} changed Called when a reader has sorted.
 * @returns {Sorting}
 */
export function makeSortable(table, changed) {
  const titles = [...(table.tHead?.rows[0]?.cells ?? [])];
  let chosen = { column: -1, ascending: true };

  function again() {
    if (chosen.column < 0) {
      return;
    }
    const body = table.tBodies[0];
    const direction = chosen.ascending ? 1 : -1;
    const rows = [...(body?.rows ?? [])];
    rows.sort((a, b) => compare(sortValue(a, chosen.column), sortValue(b, chosen.column), direction));
    body?.append(...rows);
  }

  /**
   * @param {number} column
   * @param {boolean} ascending
   */
  function sort(column, ascending) {
    chosen = { column, ascending };
    for (const [index, title] of titles.entries()) {
      if (index === column) {
        title.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      } else {
        title.removeAttribute("aria-sort");
      }
    }
    again();
  }

  for (const [column, title] of titles.entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...title.childNodes);
    title.append(button);
    button.addEventListener("click", () => {
      const first = title.dataset.kind !== "number";
      sort(column, column === chosen.column ? !chosen.ascending : first);
      changed();
    });
  }

  return {
    choose(name, ascending) {
      const column = titles.findIndex((title) => title.dataset.name === name);
      if (column >= 0) {
        sort(column, ascending);
      }
    },
    chosen: () => ({ name: titles[chosen.column]?.dataset.name ?? "", ascending: chosen.ascending }),
    again,
  };
}
