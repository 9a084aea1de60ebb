// The rating screen: one pair, and a scale from 0 to 100. Without this script it is a form with a number. With it there is a slider
// without a handle until it is touched, an answer is kept on this device until the server has it, and the next pairs wait in the page.

import { announce, clock, identifier, Outbox, say, senderOf, timeOfDay, timesOf, words } from "./deciding.js";
import { isElsewhere, letterOf, useKeys } from "./keys.js";

const form = document.getElementById("rating");
const stage = document.getElementById("stage");
const undoForm = document.getElementById("undo");
const undoButton = document.querySelector("[data-undo]");
const skipForm = document.getElementById("skip");
const skipButton = document.querySelector("[data-skip]");
const nextButton = document.querySelector(".next");
const note = document.getElementById("note");
const saved = document.getElementById("saved");
const SLOW_MS = 3000; // a save that takes longer is worth a word
const TYPED_MS = 1500; // digits that follow each other as quickly are one number

/** @type {Outbox<Rated>} */
const outbox = new Outbox(`rating:${form.dataset.owner}:`, "pair");
/** @type {(entry: Rated) => Fields} */
const fieldsOf = ({ client_id, pair, value, skip, ...times }) => ({ client_id, pair, ...(skip ? { skip } : { value }), ...timesOf(times) });
const sender = senderOf({ form, outbox, fieldsOf, taken, arrange, lacking: () => !onScreen(), refresh });

/** @type {Pair[]} */
let queue = []; // the next pairs, {pair, html}
let over = false; // the server has nothing more for this person
let undoable = undoButton.disabled ? "" : undoForm.elements.client_id.value;

const onScreen = () => Number(form.elements.pair?.value) || null;
const range = () => stage.querySelector("input[type=range]");
const number = () => stage.querySelector("input[name=value]");
const isValid = () => Boolean(number()?.value && number()?.checkValidity());

// The scale. The number holds the answer; the slider follows it, and has no handle while there is none.
function begin() {
  const around = range()?.parentElement;
  if (!around) return;
  around.hidden = false;
  draw();
}

function draw() {
  const [slider, value] = [range(), isValid() ? number()?.value : ""];
  if (!slider) return;
  slider.classList.toggle("unchosen", !value);
  slider.value = value || "50"; // where arrows begin: as far from one end as from the other
  slider.setAttribute("aria-valuetext", value || words.unchosen);
}

/** @param {string} value */
function write(value) {
  const field = number();
  if (field) field.value = value;
}

/** @param {string} value */
function choose(value) {
  write(value);
  touch();
  announce(say(words.chosen, { number: value }));
}

function touch() {
  clock.touch();
  note.textContent = "";
  draw();
}

stage.addEventListener("input", (event) => {
  if (event.target === range()) choose(event.target.value);
  else if (event.target === number()) touch();
});
// A click in the very middle changes no value, and is a choice all the same.
stage.addEventListener("click", (event) => {
  const slider = range();
  if (slider && event.target === slider && event.detail) choose(slider.value);
});

/** @param {{html: string}} shown */
function show({ html }) {
  stage.innerHTML = html;
  begin();
  announce("");
  clock.start();
  typed = "";
  stage.focus({ preventScroll: true });
  scrollTo({ top: 0 });
  refresh();
}

function showNext() {
  const next = queue.shift();
  if (next) return show(next);
  stage.innerHTML = `<p class="waiting"></p>`;
  refresh();
}

/**
 * Take over what the server says stands on the screen and after it.
 * @param {Shown} screen
 */
function arrange(screen) {
  const offered = screen.pairs.filter((shown) => !outbox.holds(shown.pair));
  over = screen.over && !outbox.entries().length;
  if (!onScreen() && offered.length) show(offered.splice(0, 1)[0]);
  queue = offered.filter((shown) => shown.pair !== onScreen());
  undoable = screen.undo;
  document.getElementById("progress").textContent = screen.progress;
  document.getElementById("sitting").value = String(screen.sitting);
  refresh();
  if (over && !onScreen() && !stage.querySelector(".empty")) location.replace(form.dataset.page);
}

function refresh() {
  const entries = outbox.entries();
  if (entries.some((entry) => Date.now() - entry.kept >= SLOW_MS)) {
    saved.setAttribute("role", "status"); // read out from now on, until all is saved
    saved.textContent = say(words.waiting, { number: entries.length });
  }
  nextButton.disabled = skipButton.disabled = !onScreen();
  undoButton.disabled = !(undoable || entries.length);
  const empty = stage.querySelector(".waiting");
  if (empty) empty.textContent = navigator.onLine ? words.fetching : words.fetching_offline;
}

// Submitting: keep the answer, show the next pair, then send.
form.noValidate = true;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!onScreen()) return;
  if (!isValid()) {
    note.textContent = words.choose;
    return;
  }
  note.textContent = "";
  keep({ value: number()?.value });
});
skipForm.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!onScreen()) return;
  note.textContent = words.skipped;
  keep({ skip: "1" });
});

/** @param {{value?: string, skip?: string}} answer */
function keep(answer) {
  outbox.put({ client_id: identifier(), pair: onScreen(), ...answer, html: stage.innerHTML, ...clock.read() });
  showNext();
  sender.deliver();
  setTimeout(refresh, SLOW_MS);
}

/**
 * The server kept the answer, or refused it for good.
 * @param {Answered} answer
 */
function taken({ outcome, body }) {
  if (outcome === "ok") {
    saved.textContent = say(words.saved, { time: timeOfDay(new Date()) });
    if (!outbox.entries().length) saved.removeAttribute("role");
  } else note.textContent = body.note;
  arrange(body);
}

addEventListener("storage", (event) => {
  if (!event.key?.startsWith(outbox.prefix)) return;
  // Another tab of the same person answered this pair.
  if (event.newValue && JSON.parse(event.newValue).pair === onScreen()) showNext();
  refresh();
  if (!event.newValue && !onScreen()) sender.deliver();
});

const seen = () => (document.visibilityState === "hidden" || document.querySelector("dialog[open]") ? clock.lookAway() : clock.look());
document.addEventListener("visibilitychange", seen);
document.getElementById("keys")?.addEventListener("toggle", seen);

undoForm.addEventListener("submit", (event) => {
  event.preventDefault();
  note.textContent = "";
  sender.undo({ takeBack, bringBack, request: () => (undoable ? [undoForm.action, { client_id: undoable }] : null) });
});

/** @param {Shown} screen */
function bringBack(screen) {
  stage.replaceChildren();
  saved.textContent = "";
  arrange(screen);
  announce(words.undone);
}

/** @param {Rated} entry */
function takeBack(entry) {
  outbox.remove(entry);
  saved.textContent = "";
  const current = onScreen();
  if (current) queue.unshift({ pair: current, html: stage.innerHTML });
  show(entry);
  write(entry.value ?? "");
  draw();
  announce(words.undone);
}

// Keys. Digits that are typed one after another are one number; arrows are the slider's own.
let typed = "";
let typedAt = 0;

/** @param {string} digit */
function type(digit) {
  const together = performance.now() - typedAt < TYPED_MS ? typed + digit : digit;
  typed = Number(together) <= 100 ? String(Number(together)) : digit;
  typedAt = performance.now();
  choose(typed);
}

document.addEventListener("keydown", (event) => {
  if (isElsewhere(event) || event.target === number()) return;
  if (event.key === "Enter") {
    if (event.target.closest("a, button, summary")) return;
    event.preventDefault();
    if (!event.repeat) form.requestSubmit();
    return;
  }
  if (/^Arrow(Left|Right)$/.test(event.key) && onScreen() && event.target !== range()) {
    // The first arrow brings the focus to the slider, and the handle to its middle; from there arrows move it.
    event.preventDefault();
    range()?.focus({ preventScroll: true });
    if (!number()?.value) choose("50");
    return;
  }
  if (!useKeys.checked || event.repeat) return;
  const letter = letterOf(event);
  const digit = /^[0-9]$/.test(event.key) ? event.key : /^(?:Digit|Numpad)([0-9])$/.exec(event.code)?.[1];
  if (digit && !event.shiftKey && onScreen()) type(digit);
  else if (letter === "u" || letter === "backspace") undoButton.click();
  else if (letter === "s") skipButton.click();
  else return;
  event.preventDefault();
});

// The start: what an earlier visit left, and the pairs after this one.
await outbox.restore();
begin();
clock.start();
if (outbox.holds(onScreen())) stage.replaceChildren();
refresh();
if (outbox.entries().length) sender.deliver();
else sender.fetchScreen();
