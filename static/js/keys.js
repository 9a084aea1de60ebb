// What the browser remembers for a page, and the keys of the page. A control declares its keys by `aria-keyshortcuts`: they act
// in the page's own script, and the list that ? opens is made from these declarations.

// What this browser remembers between visits. Where its storage is full or forbidden, reading it may throw: then it remembers nothing.

/** @param {string} key */
export function recall(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/**
 * Whether it was kept.
 * @param {string} key
 * @param {string} value
 */
export function remember(key, value) {
  try {
    localStorage.setItem(key, value);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} key */
export function forget(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing was kept.
  }
}

/** @param {string} prefix */
export function remembered(prefix) {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

// Keys that act without Ctrl or Alt: which letter it was, when it was typing instead, and the switch that turns them off.

export const TYPING = "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]";

/**
 * On a keyboard without Latin letters, a command is found by the place of its key.
 * @type {(event: KeyboardEvent) => string}
 */
export const letterOf = (event) => (event.key.length > 1 || event.key.charCodeAt(0) < 128 ? event.key : event.code.slice(3)).toLowerCase();

/**
 * A command of the browser or the system, a letter that is still being composed, or a key for an open dialog.
 * @type {(event: KeyboardEvent) => boolean}
 */
export const isElsewhere = (event) =>
  event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.keyCode === 229 || Boolean(document.querySelector("dialog[open]"));

/** The checkbox of the list, kept on this device by its data-name: for people who speak to the computer or lean on the keyboard. */
export const useKeys = document.getElementById("use-keys");
const mark = () => document.body.classList.toggle("without-keys", !useKeys.checked);
useKeys.checked = recall(useKeys.dataset.name ?? "") !== "off";
useKeys.addEventListener("change", () => {
  remember(useKeys.dataset.name ?? "", useKeys.checked ? "on" : "off");
  mark();
});
mark();

// The list, and the search field. The annotation screen has a list of its own, in which its keys can be changed.
const list = /** @type {HTMLDialogElement | null} */ (document.getElementById("keys"));
if (list) start(list);

/** @param {HTMLDialogElement} dialog */
function start(dialog) {
  search()?.setAttribute("aria-keyshortcuts", "/");
  for (const opener of document.querySelectorAll("[data-keys]")) {
    opener.hidden = false;
    opener.addEventListener("click", () => open(dialog));
  }
  document.addEventListener("keydown", (event) => {
    if (!useKeys.checked || isElsewhere(event) || event.repeat || event.target.closest(TYPING)) return;
    const field = event.key === "/" && search();
    if (event.key !== "?" && !field) return;
    event.preventDefault();
    if (field) enter(field);
    else open(dialog);
  });
}

/** The field that searches or narrows what the page shows; the first one that is in sight, or one in a folded part. */
function search() {
  const fields = [...document.querySelectorAll("#main input[type=search]:enabled")];
  return fields.find((field) => field.checkVisibility()) ?? fields.find((field) => field.closest("details:not([open])"));
}

/** @param {HTMLElement} field */
function enter(field) {
  for (let part = field.closest("details"); part; part = part.parentElement?.closest("details") ?? null) part.open = true;
  field.focus();
  if (field instanceof HTMLInputElement) field.select();
}

/** @type {Record<string, string>} */
const PRINTED = { ArrowLeft: "←", ArrowRight: "→" };

/** @param {HTMLDialogElement} dialog */
function open(dialog) {
  for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
  const controls = [...document.querySelectorAll("[aria-keyshortcuts]")].filter((control) => control !== dialog);
  dialog.querySelector("dl")?.replaceChildren(...[...controls, dialog].map(rowOf));
  dialog.showModal();
}

/**
 * One row of the list: the keys of a control, and what it is called or, by data-does, what they do.
 * @param {HTMLElement} control
 */
function rowOf(control) {
  const row = document.createElement("div");
  const keys = document.createElement("dt");
  for (const key of (control.getAttribute("aria-keyshortcuts") ?? "").split(" ")) {
    keys.append(Object.assign(document.createElement("kbd"), { textContent: PRINTED[key] ?? key }), " ");
  }
  row.append(keys, Object.assign(document.createElement("dd"), { dir: "auto", textContent: control.dataset.does || nameOf(control) }));
  return row;
}

/** @param {HTMLElement} control */
function nameOf(control) {
  const labels = control instanceof HTMLInputElement ? [...(control.labels ?? [])] : [];
  const said = /** @type {HTMLElement} */ ((labels[0] ?? control).cloneNode(true));
  for (const part of said.querySelectorAll("kbd, input")) part.remove();
  return control.getAttribute("aria-label") || said.textContent?.replace(/\s+/g, " ").trim() || "";
}
