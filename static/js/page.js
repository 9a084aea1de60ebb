// Small manners of every page: no form is sent twice, menus close, a copied link says so.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.sent && !form.hasAttribute("data-repeatable")) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  setTimeout(() => delete form.dataset.sent, 5000); // a failed connection must not lock the form for good
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
  const button = event.target.closest("[data-copy]");
  const field = button && document.querySelector(button.dataset.copy);
  if (field) copyFrom(button, /** @type {HTMLInputElement | HTMLTextAreaElement} */ (field));
});

/**
 * Copy a field's text, and let the button say what came of it.
 * @param {HTMLElement} button
 * @param {HTMLInputElement | HTMLTextAreaElement} field
 */
async function copyFrom(button, field) {
  const copied = (await copiedByClipboard(field.value)) || copiedBySelection(field);
  button.textContent = copied ? button.dataset.copied : button.dataset.selected;
}

// The clipboard exists only on HTTPS and on this very machine; a site in a house's own network is often neither. Even where it
// exists, the browser may refuse it.
/** @param {string} text */
async function copiedByClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The older way, which works everywhere. The text stays selected, so that somebody can copy it by hand if this fails too.
 * @param {HTMLInputElement | HTMLTextAreaElement} field
 */
function copiedBySelection(field) {
  field.focus();
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  }
}

// A link that the site shows once stays in this tab, on every page that has a place for it, until it is dismissed. Logging in or
// out forgets it: a name in the storage begins with "invitation-" and has the person's number. What is kept is the number of the
// invitation and its link; it goes when a page says that the invitation admits nobody any more.
/** @type {<Result>(ask: (storage: Storage) => Result) => Result | null} */
const inTab = (ask) => {
  try {
    return ask(sessionStorage);
  } catch {
    return null; // the browser keeps nothing
  }
};
/** @param {HTMLElement} place */
function keptForget(place) {
  inTab((storage) => storage.removeItem(place.dataset.kept));
  place.replaceChildren();
}
function keptShown() {
  const closed = [...document.querySelectorAll("[data-closed]")].flatMap((each) => (each.dataset.closed ?? "").split(" "));
  for (const place of document.querySelectorAll("[data-kept]")) {
    const made = place.querySelector("[data-invitation]")?.dataset.invitation;
    if (made) inTab((storage) => storage.setItem(place.dataset.kept, `${made} ${place.querySelector("input")?.value}`));
    const [number, link] = inTab((storage) => storage.getItem(place.dataset.kept))?.split(" ") ?? [];
    if (closed.includes(number)) keptForget(place);
    else if (link && !place.querySelector("input")) {
      place.append(document.getElementById("kept").content.cloneNode(true));
      const copied = place.querySelector("input");
      if (copied) copied.value = link;
    }
  }
}
if (location.pathname.startsWith(document.body.dataset.login))
  inTab((storage) => {
    for (const name of Object.keys(storage)) if (name.startsWith("invitation-")) storage.removeItem(name);
  });
keptShown();
document.addEventListener("htmx:afterSwap", keptShown);
document.addEventListener("click", (event) => {
  const place = event.target.closest("[data-dismiss]")?.closest("[data-kept]");
  if (place) keptForget(place);
});

document.addEventListener("change", (event) => {
  if (event.target.closest("form[data-autosubmit]")) event.target.form?.requestSubmit();
});

// A short name follows the name that it is made from, until somebody writes one or there is one already.
/** @type {(text: string, most: number) => string} */
const shortened = (text, most) =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, most)
    .replace(/-$/, "");
for (const field of document.querySelectorAll("[data-made-from]")) {
  const from = /** @type {HTMLInputElement | null | undefined} */ (field.form?.elements.namedItem(field.dataset.madeFrom));
  let own = field.value !== "";
  field.addEventListener("input", () => {
    own = true;
  });
  from?.addEventListener("input", () => {
    if (!own) field.value = shortened(from.value, field.maxLength);
  });
}

// What a style sheet needs to know of one element stands in its data-properties, as custom properties: the site's policy
// allows no style attributes, which somebody's text could bring along. For the same reason htmx settles none (base.html).
/** @param {ParentNode} within */
function propertiesSet(within) {
  for (const element of within.querySelectorAll("[data-properties]"))
    for (const property of element.dataset.properties.split(";")) {
      const [name, value] = property.split(":").map((part) => part.trim());
      if (name.startsWith("--")) element.style.setProperty(name, value);
    }
}
propertiesSet(document);
document.addEventListener("htmx:load", (event) => propertiesSet(event.detail.elt.parentElement ?? document));

// A chart becomes a PNG where it is shown: its SVG file is drawn on white, at twice its size.
/** @param {HTMLButtonElement} button */
async function pngSave(button) {
  const file = button.parentElement?.querySelector("a[download$='.svg']");
  if (!(file instanceof HTMLAnchorElement)) return;
  const picture = new Image();
  picture.src = file.href;
  await picture.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * picture.naturalWidth;
  canvas.height = 2 * picture.naturalHeight;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const link = document.createElement("a");
  link.href = canvas.toDataURL("image/png");
  link.download = `${button.dataset.png}.png`;
  link.click();
}
/** @param {ParentNode} part */
function pngOffered(part) {
  for (const button of part.querySelectorAll("button[data-png]")) if (button instanceof HTMLButtonElement) button.hidden = false;
}
pngOffered(document);
document.addEventListener("htmx:load", (event) => pngOffered(event.detail.elt.parentElement ?? document));
document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element && target.closest("button[data-png]");
  if (button instanceof HTMLButtonElement) pngSave(button);
});

// What a form of filters leaves empty stays out of the address.
document.addEventListener("formdata", (event) => {
  if (!event.target.hasAttribute("data-short-address")) return;
  for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
});

// htmx exchanges parts of a page. When the session has ended, or a form of filters is refused, the whole page says so.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!new URL(event.detail.xhr.responseURL).pathname.startsWith(document.body.dataset.login)) return;
  event.detail.shouldSwap = false;
  location.reload();
});
document.addEventListener("htmx:responseError", (event) => {
  const form = event.detail.elt;
  if (form.matches("form[method=get]")) location.assign(event.detail.pathInfo.finalRequestPath);
  if (form.matches("form[method=post]") && event.detail.xhr.status < 500) form.submit(); // nothing was done: the page says why
});

// A part of a page that comes again by itself, such as the progress of a run, keeps what somebody opened, how far they
// scrolled within it, and the control that has the focus.
const PARTS = "details, [tabindex]";
/** @type {{id: string, parts: {open: boolean, top: number, left: number}[], name: string} | null} */
let kept = null;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (!detail.target.matches?.("[hx-trigger*=every]")) return;
  const parts = [...detail.target.querySelectorAll(PARTS)];
  kept = {
    id: detail.target.id,
    parts: parts.map((part) => ({ open: isOpened(part) && part.open, top: part.scrollTop, left: part.scrollLeft })),
    name: nameOf(detail.target, document.activeElement),
  };
});
document.addEventListener("htmx:afterSwap", () => {
  const before = kept;
  const target = before && document.getElementById(before.id);
  if (!target) return;
  const parts = [...target.querySelectorAll(PARTS)];
  if (parts.length === before.parts.length)
    for (const [place, { open, top, left }] of before.parts.entries()) {
      const part = parts[place];
      if (isOpened(part)) part.open = open;
      part.scrollTop = top;
      part.scrollLeft = left;
    }
  if (before.name) controlNamed(target, before.name)?.focus({ preventScroll: true });
  kept = null;
});

/** @type {(part: HTMLElement) => part is HTMLDetailsElement} */
const isOpened = (part) => part.matches("details");

const CONTROLS = "a, button, summary, input, select, textarea, [tabindex]";
/** @type {(control: Element) => string} */
const wordsOf = (control) => control.id || control.getAttribute("aria-label") || (control.textContent ?? "").trim();

/**
 * What a control is called, if it is within the part; a part that comes again has one of the same name.
 * @param {HTMLElement} within
 * @param {Element | null} control
 */
function nameOf(within, control) {
  return control && control !== document.body && within.contains(control) ? wordsOf(control) : "";
}

/**
 * @param {HTMLElement} within
 * @param {string} name
 */
function controlNamed(within, name) {
  return [...within.querySelectorAll(CONTROLS)].find((control) => wordsOf(control) === name);
}

// A list that is there as a whole is narrowed by words, in any order; parts without any of them go, the others unfold.
/** @param {HTMLElement} filters */
function narrows(filters) {
  const field = filters.querySelector("input");
  const none = filters.querySelector("p");
  const list = document.getElementById(filters.dataset.filters ?? "");
  if (!field || !none || !list) return;
  filters.hidden = false;
  field.addEventListener("input", () => {
    const asked = field.value.toLowerCase().split(/\s+/);
    for (const item of list.querySelectorAll("li")) {
      const said = item.textContent.toLowerCase();
      item.hidden = !asked.every((word) => said.includes(word));
    }
    for (const part of list.querySelectorAll("details")) {
      part.hidden = !part.querySelector("li:not([hidden])");
      part.open = field.value !== "";
    }
    none.hidden = Boolean(list.querySelector("li:not([hidden])"));
  });
}
for (const filters of document.querySelectorAll("[data-filters]")) if (filters instanceof HTMLElement) narrows(filters);

// A long list of models is searched by words, in any order. The first that has them is chosen, unless the chosen one does.
for (const field of document.querySelectorAll(".open-select input[type=search]")) {
  const select = field.parentElement?.querySelector("select");
  if (!(field instanceof HTMLInputElement) || !select) continue;
  const all = [...select.options];
  field.hidden = false;
  field.placeholder = field.ariaLabel ?? "";
  field.addEventListener("input", () => {
    const asked = field.value.toLowerCase().split(/\s+/);
    const found = all.slice(0, -1).filter((option) => asked.every((word) => `${option.text} ${option.value}`.toLowerCase().includes(word)));
    const before = select.value;
    const chosen = found.find((option) => option.value === before) ?? found[0] ?? all.at(-1);
    select.replaceChildren(...found, ...all.slice(-1));
    if (chosen) select.value = chosen.value;
    if (select.value !== before) select.dispatchEvent(new Event("change", { bubbles: true }));
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault(); // it is a search, and starts no run
  });
}

// On a telephone the tabs of a dataset are one row that scrolls: the tab of this page is brought into it.
for (const row of document.querySelectorAll(".context nav")) {
  const here = row.querySelector("[aria-current]");
  if (here) row.scrollLeft = here.offsetLeft - row.offsetLeft - (row.clientWidth - here.offsetWidth) / 2;
}
