/**
 * What the page and the worker say to each other. Types only; nothing runs here.
 *
 * @typedef {object} BundleAddress Where the bundle lies; written into the page when it is built.
 * @property {string} worker Address of the worker module.
 * @property {string} runtime Folder of Pyodide and the standard library.
 * @property {string} packages Folder of kvcore and its lock file.
 * @property {string} snapshot Address of Python's memory; empty to start without.
 * @property {Record<string, number>} bytes Size of each file the worker fetches, by name, before transfer compression.
 *
 * @typedef {"answer_json" | "answer_form" | "unfolded_form" | "whole_form" | "reconcile_json"} MainDoor A function of kvcore.browser.
 * @typedef {"solve_json" | "compare_json" | "sweep_json" | "iso_json" | "mix_json" | "command_json" | "link_json" |
 *   "changes_json" | "layout_json" | "chart_json"} FurtherDoor A function of kvcore.browser_questions, imported when it is first asked.
 * @typedef {MainDoor | FurtherDoor} Door The function that is asked.
 *
 * @typedef {object} Boot
 * @property {"boot"} type
 * @property {BundleAddress} bundle
 *
 * @typedef {object} Question
 * @property {"ask"} type
 * @property {number} id
 * @property {Door} door
 * @property {string} text
 * @property {Blob} [log] A log of any length, which the door reads piece by piece.
 *
 * @typedef {object} Progress
 * @property {"progress"} type
 * @property {string} label
 * @property {number} loaded Bytes so far.
 * @property {number} total Bytes in all.
 *
 * @typedef {{type: "ready"}} Ready
 * @typedef {{type: "failed", message: string}} Failed The worker cannot go on: it must be replaced.
 * @typedef {{type: "answer", id: number, text: string, milliseconds: number}} Answer
 * @typedef {{type: "refused", id: number, message: string}} Refused Python raised: the worker lives on.
 *
 * @typedef {object} Early A worker that was told to boot before the page's scripts came.
 * @property {Worker} worker
 * @property {FromWorker[]} heard What it has said since.
 *
 * @typedef {Boot | Question} ToWorker
 * @typedef {Progress | Ready | Failed | Answer | Refused} FromWorker
 *
 * @typedef {object} Reply What kvcore.browser answers a form with, parsed.
 * @property {Record<string, unknown> & {errors: FieldError[]}} report What the form reads of it.
 * @property {string[]} blocks The answer as HTML, one element each.
 * @property {string} command
 *
 * @typedef {object} FieldError
 * @property {string} field
 * @property {string} value
 * @property {string} rule
 * @property {string} remedy
 */
export {};
