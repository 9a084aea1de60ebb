// The judging screen. Without this script it is a plain form. With it, an answer is kept on this device until the
// server has it, and the next pairs stand on the screen before the answer has left.

import { announce, clock, fieldsOf, identifier, outboxOf, say, senderOf, timeOfDay, words } from "./deciding.js";
import { isElsewhere, letterOf, recall, remember, TYPING, useKeys } from "./keys.js";

const form = document.getElementById("judgement");
const stage = document.getElementById("stage");
const undoForm = document.getElementById("undo");
const undoButton = document.querySelector("[data-undo]");
const bar = document.querySelector(".judge-bar");
const nextButton = bar.querySelector(".next");
const note = document.getElementById("note");
const saved = document.getElementById("saved");
const WORST_KEYS = ["KeyQ", "KeyW", "KeyE", "KeyR", "KeyT", "KeyY", "KeyU", "KeyI"];
const GRACE_MS = 500; // an Enter meant for the next pairs must not wave the feedback away
const SLOW_MS = 3000; // a save that takes longer is worth a word

// In a rehearsal nothing leaves the page.
const rehearsal = "rehearsal" in form.dataset ? await import("./rehearsal.js") : null;
/** @type {Waiting<Judged>} */
const outbox = rehearsal ? new rehearsal.Outbox() : outboxOf(form);
const lacking = () => !leaseOnScreen() && !held;
const has = () => [leaseOnScreen(), held?.lease, ...queue.map((tuple) => tuple.lease)].filter((lease) => typeof lease === "number");
/** @type {Sender<Judged>} */
const sender = (rehearsal?.senderOf ?? senderOf)({ form, outbox, fieldsOf, taken, arrange, lacking, refresh, has });

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden" || held || document.querySelector("dialog[open]")) clock.lookAway();
  else clock.look();
});

/** The pairs are seen again after feedback or a dialog: from the beginning, if nothing was chosen yet. */
function lookAgain() {
  if (held) return;
  if (clock.touched) clock.look();
  else clock.start();
}

// The stage: one tuple, or the feedback on a gold one while the tuple waits in `held`.
/** @type {Required<Tuple>[]} */
let queue = []; // the next tuples, {lease, html}: as many judgements survive a lost connection
/** @type {{nodes: Node[], lease: number | null} | null} */
let held = null; // the stage's nodes, put by while feedback is read
let over = false; // the server has nothing more for this person
let undoable = undoForm.elements.client_id.value;
/** @type {string[]} */
const feedbacks = []; // html of feedback still to be read
let feedbackSince = 0;

const leaseOnScreen = () => Number(form.elements.lease?.value) || null;

/** @param {{html: string}} tuple */
function show(tuple) {
  stage.innerHTML = tuple.html;
  announce("");
  clock.start();
  printKeys();
  stage.focus({ preventScroll: true });
  scrollTo({ top: 0 });
  refresh();
}

function showNext() {
  const next = queue.shift();
  if (next) show(next);
  else {
    stage.innerHTML = `<p class="waiting"></p>`;
    refresh();
  }
}

/**
 * Take over what the server says stands on the screen and after it.
 * @param {Shown} screen
 */
function arrange(screen) {
  const known = new Map(queue.map((tuple) => [tuple.lease, tuple.html]));
  const offered = [screen.tuple, ...screen.ahead]
    .filter((tuple) => tuple !== null)
    .filter((tuple) => !outbox.holds(tuple.lease))
    .map(({ lease, html }) => ({ lease, html: html ?? known.get(lease) ?? "" }))
    .filter((tuple) => tuple.html);
  over = screen.over && !outbox.entries().length;
  if (!held && !leaseOnScreen() && offered.length) show(offered.splice(0, 1)[0]);
  const current = held ? held.lease : leaseOnScreen();
  queue = offered.filter((tuple) => tuple.lease !== current);
  if (held && !held.lease && queue.length) {
    const [next] = queue.splice(0, 1);
    held = { nodes: [fragment(next.html)], lease: next.lease };
  }
  undoable = screen.undo;
  document.getElementById("undo-off").textContent = screen.undo_off;
  document.getElementById("progress").textContent = screen.progress;
  document.getElementById("sitting").value = String(screen.sitting);
  refresh();
  if (over && !held) location.replace(form.dataset.page);
}

/** @param {string} html */
function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

function refresh() {
  const entries = outbox.entries();
  const waiting = entries.length;
  const slow = entries.some((entry) => Date.now() - entry.kept >= SLOW_MS);
  if (slow) {
    saved.setAttribute("role", "status"); // read out from now on, until all is saved
    saved.textContent = say(words.waiting, { number: waiting });
  }
  const lease = leaseOnScreen();
  nextButton.disabled = !lease;
  nextButton.style.visibility = held ? "hidden" : "";
  for (const opener of document.querySelectorAll("[data-dialog=skip-dialog], [data-dialog=flag-dialog]")) {
    opener.classList.toggle("unavailable", !lease);
    opener.setAttribute("aria-disabled", String(!lease));
  }
  undoButton.disabled = Boolean(held) || !(undoable || waiting);
  const empty = stage.querySelector(".waiting");
  if (empty) empty.textContent = navigator.onLine ? words.fetching : words.fetching_offline;
}

// Choosing.
/** @type {(role: string, place: number | string | undefined) => HTMLInputElement | null} */
const radio = (role, place) => stage.querySelector(`input[name=${role}][value="${place}"]`);
/** @type {(role: string) => HTMLInputElement | null} */
const chosen = (role) => stage.querySelector(`input[name=${role}]:checked`);
const tie = () => stage.querySelector("input[name=tie]"); // where the campaign offers it
/** @type {(input: HTMLInputElement) => number} */
const number = (input) => Number(input.value) + 1;

/**
 * @param {string} role
 * @param {number} place
 */
function choose(role, place) {
  const input = radio(role, place);
  if (!input) return;
  input.checked = true;
  input.focus({ preventScroll: true });
  settle(input);
  const [label, badge] = [input.closest("label"), input.closest(".card")?.querySelector(`.badge.${role}`)];
  if (![label, badge].some(isSeen)) label?.scrollIntoView({ block: "nearest" });
}

/** @param {Element | null | undefined} element */
function isSeen(element) {
  if (!element) return false;
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= bar.getBoundingClientRect().top;
}

/** @param {HTMLInputElement | null} input */
function uncheck(input) {
  if (input) input.checked = false;
}

/**
 * A pair is best or worst, not both: the newer choice moves the role and says so.
 * @param {HTMLInputElement} input
 */
function settle(input) {
  clock.touch();
  uncheck(tie());
  const role = input.name;
  const other = role === "best" ? "worst" : "best";
  const clash = radio(other, input.value);
  const moved = clash?.checked;
  uncheck(clash);
  delete form.dataset.missing;
  note.textContent = "";
  const open = chosen(other) ? null : other;
  const sentence = say(words[role], { number: number(input) });
  announce([moved ? say(words.moved, { number: number(input) }) : "", sentence, open ? words[`choose_${open}`] : words.ready].filter(Boolean).join(" "));
}

/**
 * Too close to call: no pair is chosen, or one is again.
 * @param {HTMLInputElement} input
 */
function settleTie(input) {
  clock.touch();
  if (input.checked) for (const role of ["best", "worst"]) uncheck(chosen(role));
  delete form.dataset.missing;
  note.textContent = "";
  announce(input.checked ? `${words.tie} ${words.ready}` : words.choose_best);
}
stage.addEventListener("change", (event) => {
  if (event.target.type === "radio") settle(event.target);
  else if (event.target.name === "tie") settleTie(event.target);
});

// Submitting: keep the answer, show the next pairs, then send.
form.noValidate = true;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (held) return;
  const [best, worst] = [chosen("best"), chosen("worst")];
  if (!leaseOnScreen()) return;
  const tied = Boolean(tie()?.checked);
  if (!tied && (!best || !worst)) {
    form.dataset.missing = best ? "worst" : "best";
    note.textContent = words[`choose_${form.dataset.missing}`];
    return;
  }
  note.textContent = "";
  outbox.put({
    client_id: identifier(),
    lease: leaseOnScreen(),
    ...(tied ? { tie: "1" } : { best: best?.value, worst: worst?.value }),
    html: stage.innerHTML,
    ...clock.read(),
  });
  showNext();
  sender.deliver();
  setTimeout(refresh, SLOW_MS);
});

/**
 * The server kept the answer, or refused it for good.
 * @param {Answered} answer
 */
function taken({ outcome, body }) {
  if (outcome === "ok") {
    saved.textContent = say(words.saved, { time: timeOfDay(new Date()) });
    if (!outbox.entries().length) setTimeout(() => outbox.entries().length || saved.removeAttribute("role"), SLOW_MS);
  }
  note.textContent = body.note;
  pauseDue ||= Boolean(body.pause);
  if (body.answered) feedbacks.push(body.answered);
  if (feedbacks.length && !held) showFeedback();
  arrange(body);
  offerPause();
}

// The end of a sitting: a pause is offered, and nobody is made to take it.
const pause = document.getElementById("pause-dialog");
let pauseDue = false;

function offerPause() {
  if (!pauseDue || held || over || document.querySelector("dialog[open]")) return;
  pauseDue = false;
  clock.lookAway();
  pause.showModal();
}

addEventListener("storage", (event) => {
  if (!event.key?.startsWith(outbox.prefix)) return;
  // Another tab of the same person answered these pairs.
  if (event.newValue && JSON.parse(event.newValue).lease === leaseOnScreen() && !held) showNext();
  refresh();
  if (!event.newValue && !leaseOnScreen()) sender.deliver();
});

// Feedback on an attention check.
function showFeedback() {
  clock.lookAway();
  held ??= { lease: leaseOnScreen(), nodes: [...stage.childNodes] };
  stage.innerHTML = feedbacks.shift() ?? "";
  feedbackSince = performance.now();
  const feedback = stage.querySelector(".feedback");
  feedback?.focus({ preventScroll: true });
  feedback?.scrollIntoView({ block: "end" });
  refresh();
}

function goOn() {
  if (performance.now() - feedbackSince < GRACE_MS) {
    note.textContent = words.early;
    return;
  }
  if (note.textContent === words.early) note.textContent = "";
  if (feedbacks.length) return showFeedback();
  if (over) return location.replace(form.dataset.page);
  stage.replaceChildren(...(held?.nodes ?? []));
  held = null;
  if (!leaseOnScreen()) {
    showNext();
    sender.deliver();
    return;
  }
  lookAgain();
  stage.focus({ preventScroll: true });
  scrollTo({ top: 0 });
  refresh();
  offerPause();
}
stage.addEventListener("click", (event) => {
  if (!event.target.closest("[data-continue]")) return;
  event.preventDefault();
  goOn();
});

// Undo, but not while feedback is read.
undoForm.addEventListener("submit", (event) => {
  event.preventDefault();
  if (held) return;
  note.textContent = "";
  sender.undo({ takeBack, bringBack, request: () => (undoable && !held ? [undoForm.action, { client_id: undoable }] : null) });
});

/** @param {Shown} screen */
function bringBack(screen) {
  stage.replaceChildren();
  saved.textContent = "";
  arrange(screen);
  announce(words.undone);
}

/** @param {Judged} entry */
function takeBack(entry) {
  if (held) return;
  outbox.remove(entry);
  saved.textContent = "";
  const current = leaseOnScreen();
  if (current) queue.unshift({ lease: current, html: stage.innerHTML });
  show(entry);
  for (const input of entry.tie ? [tie()] : [radio("best", entry.best), radio("worst", entry.worst)]) if (input) input.checked = true;
  announce(words.undone);
}

// Skip and flag, each in its dialog.
/** @param {HTMLDialogElement} dialog */
function open(dialog) {
  dialog.querySelector("[data-problem]")?.setAttribute("hidden", "");
  clock.lookAway();
  dialog.showModal();
}
for (const dialog of document.querySelectorAll("#skip-dialog, #flag-dialog")) {
  dialog.querySelector("[data-cancel]").addEventListener("click", () => dialog.close());
  dialog.querySelector("form")?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const lease = leaseOnScreen();
    const answer = await sender.ask(event.target.action, { ...Object.fromEntries(new FormData(event.target)), lease });
    if (answer.outcome !== "ok") {
      const problem = dialog.querySelector("[data-problem]");
      problem.textContent = answer.body?.note ?? (answer.outcome === "failing" ? words.not_recorded_failing : words.not_recorded);
      problem.hidden = false;
      return;
    }
    dialog.close();
    event.target.reset();
    if (dialog.id === "skip-dialog") stage.replaceChildren();
    arrange(answer.body);
    note.textContent = answer.body.note;
  });
}

// Guidelines: a dialog, which comes up by itself once for every version.
const guidelines = document.getElementById("guidelines");
const guidelinesKey = `judging-guidelines:${form.dataset.guidelinesOf}`;

function showGuidelines() {
  const [first, again] = guidelines.querySelectorAll("[data-start]");
  const seen = recall(guidelinesKey) === guidelines.dataset.version;
  first.hidden = seen;
  again.hidden = !seen;
  clock.lookAway();
  guidelines.close(); // without this script it stands open in the page
  guidelines.showModal();
  guidelines.scrollTop = 0;
}
guidelines.addEventListener("close", () => {
  if (guidelines.open) return;
  remember(guidelinesKey, guidelines.dataset.version);
});
guidelines.querySelector("[data-practice]")?.addEventListener("click", () => remember(guidelinesKey, guidelines.dataset.version));
for (const dialog of document.querySelectorAll("dialog"))
  dialog.addEventListener("close", () => {
    if (document.querySelector("dialog[open]")) return;
    lookAgain();
    if (!held) stage.focus({ preventScroll: true });
    offerPause();
  });

// Keys. By place on the keyboard for the choices, by letter for the rest; never while typing, composing or in a dialog.

// Which letter does what, as somebody may have chosen it on this device. Empty: numbers and the row of Q, by place.
const USUAL = { best: "", worst: "", undo: "u", skip: "s", flag: "f", guidelines: "g", tie: "0" };
const keymapKey = "judging-keymap";
/** @type {Record<string, string>} */
let keymap = { ...USUAL, ...JSON.parse(recall(keymapKey) ?? "{}") };

let places = WORST_KEYS.map((code) => code.slice(3));
navigator.keyboard?.getLayoutMap?.().then((map) => {
  places = WORST_KEYS.map((code) => (map.get(code) ?? code.slice(3)).toUpperCase());
  printKeys();
});

/** @type {(role: string) => string[]} */
const lettersOf = (role) => (keymap[role] ? [...keymap[role].toUpperCase()] : role === "worst" ? places : [..."12345678"]);

function printKeys() {
  for (const role of ["best", "worst"])
    for (const key of document.querySelectorAll(`[data-${role}-key]`)) key.textContent = lettersOf(role)[Number(key.dataset[`${role}Key`])] ?? "";
  for (const key of document.querySelectorAll("[data-key]")) key.textContent = (keymap[key.dataset.key] ?? "").toUpperCase();
  for (const field of document.querySelectorAll("[data-map]")) {
    field.value = keymap[field.dataset.map];
    if (field.dataset.map === "best") field.placeholder = "12345678".slice(0, field.maxLength);
    if (field.dataset.map === "worst") field.placeholder = places.join("").slice(0, field.maxLength);
  }
}

/** Take the keys that somebody wrote into the list, or say why they cannot be taken. */
function remap() {
  const fields = [...document.querySelectorAll("[data-map]")].map((field) => [field.dataset.map, field.value.trim().toLowerCase()]);
  const chosen = { ...USUAL, ...Object.fromEntries(fields) };
  const size = stage.querySelectorAll("[data-worst-key]").length;
  const short = ["best", "worst"].some((role) => chosen[role] && [...chosen[role]].length !== size);
  const [standard, used] = [keymap, Object.values(chosen).join("")];
  keymap = chosen;
  const all = [
    ...lettersOf("best").slice(0, size),
    ...lettersOf("worst").slice(0, Math.min(size, 6)),
    chosen.undo,
    chosen.skip,
    chosen.flag,
    chosen.guidelines,
    chosen.tie,
  ]
    .filter(Boolean)
    .map((letter) => letter.toLowerCase());
  const wrong = short ? say(words.keys_short, { number: size }) : new Set(all).size < all.length || /\s/.test(used) ? words.keys_twice : "";
  const problem = document.getElementById("keys-problem");
  problem.textContent = wrong;
  problem.hidden = !wrong;
  if (wrong) keymap = standard;
  else remember(keymapKey, JSON.stringify(keymap));
  if (!wrong) printKeys();
}
for (const field of document.querySelectorAll("[data-map]")) field.addEventListener("change", remap);
document.querySelector("[data-usual-keys]").addEventListener("click", () => {
  keymap = { ...USUAL };
  remember(keymapKey, JSON.stringify(keymap));
  document.getElementById("keys-problem").hidden = true;
  printKeys();
});

/** @type {Record<string, () => void>} */
const ACTIONS = {
  undo: () => undoButton.click(),
  skip: () => press("skip-dialog"),
  flag: () => press("flag-dialog"),
  guidelines: () => showGuidelines(),
  tie: () => tie()?.click(),
};

/** @param {string} letter */
function actionOf(letter) {
  if (letter === "backspace") return ACTIONS.undo;
  if (letter === "?") return () => press("help-dialog");
  const named = Object.keys(ACTIONS).find((name) => keymap[name] === letter);
  return named && ACTIONS[named];
}

/** @param {string} name */
function press(name) {
  const dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById(name));
  if (dialog && (name === "help-dialog" || leaseOnScreen())) open(dialog);
}

/**
 * The role and the place that a key stands for, or nothing.
 * @param {KeyboardEvent} event
 * @returns {[string, number] | null}
 */
function choiceOf(event) {
  for (const role of ["best", "worst"]) {
    const place = keymap[role] ? [...keymap[role]].indexOf(event.key.toLowerCase()) : -1;
    if (place >= 0 && radio(role, place)) return [role, place];
  }
  const digit = /^(?:Digit|Numpad)([1-8])$/.exec(event.code);
  if (digit && event.shiftKey && !keymap.worst) return ["worst", Number(digit[1]) - 1];
  if (digit && !event.shiftKey && !keymap.best) return ["best", Number(digit[1]) - 1];
  const place = event.shiftKey || keymap.worst ? -1 : WORST_KEYS.indexOf(event.code);
  return place >= 0 && radio("worst", place) ? ["worst", place] : null;
}

document.addEventListener("keydown", (event) => {
  if (isElsewhere(event)) return;
  if (event.target.closest(TYPING)) return;
  if (event.key === "Enter") return enter(event);
  if (!useKeys.checked || event.repeat) return;
  const choice = choiceOf(event);
  const action = choice ? () => choose(...choice) : actionOf(letterOf(event));
  if (!action || (choice && held)) return;
  event.preventDefault();
  action();
});

/** @param {Heard<"keydown", KeyboardEvent>} event */
function enter(event) {
  if (event.target.closest("a, button, summary") && !event.target.closest("[data-continue], .next")) return;
  event.preventDefault();
  if (event.repeat) return;
  if (held) goOn();
  else form.requestSubmit();
}

for (const opener of document.querySelectorAll("[data-dialog], [data-guidelines]")) {
  opener.hidden = false;
  const isLink = opener.tagName === "A";
  if (isLink) opener.setAttribute("role", "button");
  const act = () => (opener.dataset.dialog ? press(opener.dataset.dialog) : showGuidelines());
  opener.addEventListener("click", (event) => {
    event.preventDefault();
    act();
  });
  opener.addEventListener("keydown", (event) => {
    if (event.key !== " " || !isLink) return;
    event.preventDefault();
    act();
  });
}

// The start: the time of the last saving as a local one, the tuple after this one, and what an earlier visit left.
const time = saved.querySelector("time");
if (time) time.textContent = timeOfDay(new Date(time.dateTime));
await outbox.restore();
clock.start();
printKeys();
if (stage.querySelector(".feedback")) {
  stage.querySelector(".feedback")?.focus();
  held = { lease: null, nodes: [] };
} else if (outbox.holds(leaseOnScreen())) stage.replaceChildren();
refresh();
if (recall(guidelinesKey) !== guidelines.dataset.version && !held) showGuidelines();
if (outbox.entries().length) sender.deliver();
else if (!held) sender.fetchScreen();
