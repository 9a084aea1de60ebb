// The judging screen. Without this script it is a plain form. With it, an answer is kept on this device until the
// server has it, and the next pairs stand on the screen before the answer has left.

import { recall, remember } from "./device.js";
import { fieldsOf, outboxOf } from "./judgements.js";
import { isElsewhere, keysSwitch, letterOf, TYPING } from "./keys.js";
import { senderOf } from "./sending.js";
import { announce, say, words } from "./words.js";

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

const outbox = outboxOf(form);
const sender = senderOf({ form, outbox, fieldsOf, taken, arrange, lacking: () => !leaseOnScreen() && !held, refresh });

function identifier() {
  // crypto.randomUUID exists on secure addresses only.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

// Clock: when the pairs were shown and first touched, and how long the page was looked at meanwhile.
const clock = {
  start() {
    Object.assign(this, { shown: Date.now(), touched: null, active: 0, since: null });
    this.look();
  },
  look() {
    if (this.since === null && document.visibilityState === "visible") this.since = performance.now();
  },
  lookAway() {
    if (this.since !== null) this.active += performance.now() - this.since;
    this.since = null;
  },
  touch() {
    this.touched ??= Date.now();
  },
  read() {
    this.lookAway();
    this.look();
    return { shown: this.shown, touched: this.touched, active: Math.round(this.active) };
  },
};
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden" || held) clock.lookAway();
  else clock.look();
});

// The stage: one tuple, or the feedback on a gold one while the tuple waits in `held`.
let ahead = null; // the next tuple, {lease, html}
let held = null; // the stage's nodes, put by while feedback is read
let over = false; // the server has nothing more for this person
let undoable = undoForm.elements.client_id.value;
const feedbacks = []; // html of feedback still to be read
let feedbackSince = 0;

const leaseOnScreen = () => Number(form.elements.lease?.value) || null;

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
  const next = ahead;
  ahead = null;
  if (next) show(next);
  else {
    stage.innerHTML = `<p class="waiting"></p>`;
    refresh();
  }
}

/** Take over what the server says stands on the screen and after it. */
function arrange(screen) {
  const offered = [screen.tuple, screen.ahead].filter((tuple) => tuple && !outbox.holds(tuple.lease));
  over = screen.over && !outbox.entries().length;
  if (!held && !leaseOnScreen() && offered.length) show(offered.shift());
  ahead = offered.find((tuple) => tuple.lease !== (held ? held.lease : leaseOnScreen())) ?? null;
  if (held && !held.lease && ahead) [held, ahead] = [{ nodes: [fragment(ahead.html)], lease: ahead.lease }, null];
  undoable = screen.undo;
  document.getElementById("progress").textContent = screen.progress;
  refresh();
  if (over && !held) location.replace(form.dataset.page);
}

function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

function refresh() {
  const waiting = outbox.entries().length;
  if (waiting) saved.textContent = say(words.waiting, { number: waiting });
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
const radio = (role, place) => stage.querySelector(`input[name=${role}][value="${place}"]`);
const chosen = (role) => stage.querySelector(`input[name=${role}]:checked`);
const number = (input) => Number(input.value) + 1;

function choose(role, place) {
  const input = radio(role, place);
  if (!input) return;
  input.checked = true;
  input.focus({ preventScroll: true });
  settle(input);
  const [label, card] = [input.closest("label"), input.closest(".card")];
  if (![label, card.querySelector(`.badge.${role}`)].some(isSeen)) label.scrollIntoView({ block: "nearest" });
}

function isSeen(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= bar.getBoundingClientRect().top;
}

/** A pair is best or worst, not both: the newer choice moves the role and says so. */
function settle(input) {
  clock.touch();
  const role = input.name;
  const other = role === "best" ? "worst" : "best";
  const clash = radio(other, input.value);
  const moved = clash.checked;
  clash.checked = false;
  delete form.dataset.missing;
  note.textContent = "";
  const open = chosen(other) ? null : other;
  const sentence = say(words[role], { number: number(input) });
  announce([moved ? say(words.moved, { number: number(input) }) : "", sentence, open ? words[`choose_${open}`] : words.ready].filter(Boolean).join(" "));
}
stage.addEventListener("change", (event) => event.target.matches("input[type=radio]") && settle(event.target));

// Submitting: keep the answer, show the next pairs, then send.
form.noValidate = true;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (held) return;
  const [best, worst] = [chosen("best"), chosen("worst")];
  if (!leaseOnScreen()) return;
  if (!best || !worst) {
    form.dataset.missing = best ? "worst" : "best";
    note.textContent = words[`choose_${form.dataset.missing}`];
    return;
  }
  note.textContent = "";
  outbox.put({
    client_id: identifier(),
    lease: leaseOnScreen(),
    best: best.value,
    worst: worst.value,
    html: stage.innerHTML,
    ...clock.read(),
  });
  showNext();
  sender.deliver();
});

/** The server kept the answer, or refused it for good. */
function taken({ outcome, body }) {
  if (outcome === "ok") saved.textContent = say(words.saved, { time: timeOfDay(new Date()) });
  note.textContent = body.note;
  if (body.answered) feedbacks.push(body.answered);
  if (feedbacks.length && !held) showFeedback();
  arrange(body);
}

addEventListener("storage", (event) => {
  if (!event.key?.startsWith(outbox.prefix)) return;
  // Another tab of the same person answered these pairs.
  if (event.newValue && JSON.parse(event.newValue).lease === leaseOnScreen() && !held) showNext();
  refresh();
  if (!event.newValue && !leaseOnScreen()) sender.deliver();
});

const timeOfDay = (date) =>
  date.toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

// Feedback on a gold tuple.
function showFeedback() {
  clock.lookAway();
  held ??= { lease: leaseOnScreen(), nodes: [...stage.childNodes] };
  stage.innerHTML = feedbacks.shift();
  feedbackSince = performance.now();
  const feedback = stage.querySelector(".feedback");
  feedback.focus({ preventScroll: true });
  feedback.scrollIntoView({ block: "end" });
  refresh();
}

function goOn() {
  if (performance.now() - feedbackSince < GRACE_MS) return;
  if (feedbacks.length) return showFeedback();
  if (over) return location.replace(form.dataset.page);
  stage.replaceChildren(...held.nodes);
  held = null;
  if (!leaseOnScreen()) {
    showNext();
    sender.deliver();
    return;
  }
  if (clock.touched) clock.look();
  else clock.start();
  stage.focus({ preventScroll: true });
  scrollTo({ top: 0 });
  refresh();
}
stage.addEventListener("click", (event) => {
  if (!event.target.closest("[data-continue]")) return;
  event.preventDefault();
  goOn();
});

// Undo: of an answer that has not left yet on this device, of any other at the server.
undoForm.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (held) return;
  note.textContent = "";
  const unsent = await sender.unsent();
  if (held) return;
  if (unsent) return takeBack(unsent);
  if (!undoable) return;
  const answer = await sender.ask(undoForm.action, { client_id: undoable });
  if (answer.outcome === "ok") {
    stage.replaceChildren();
    arrange(answer.body);
    announce(words.undone);
  } else if (answer.outcome === "refused") note.textContent = answer.body.note;
  else sender.hindered(answer.outcome);
});

function takeBack(entry) {
  outbox.remove(entry);
  const current = leaseOnScreen();
  if (current) ahead = { lease: current, html: stage.innerHTML };
  show(entry);
  for (const role of ["best", "worst"]) radio(role, entry[role]).checked = true;
  announce(words.undone);
}

// Skip and flag, each in its dialog.
function open(dialog) {
  dialog.querySelector("[data-problem]")?.setAttribute("hidden", "");
  dialog.showModal();
}
for (const dialog of document.querySelectorAll("#skip-dialog, #flag-dialog")) {
  dialog.querySelector("[data-cancel]").addEventListener("click", () => dialog.close());
  dialog.querySelector("form").addEventListener("submit", async (event) => {
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

// Guidelines: a sheet at the side that stays as it was left, and comes up once for every new version.
const guidelines = document.getElementById("guidelines");
const guidelinesButton = document.querySelector("[data-guidelines]");
const guidelinesKey = `judging-guidelines:${form.dataset.page}`;

function showGuidelines(shown, { lasting = true } = {}) {
  if (!guidelines) return;
  guidelines.hidden = !shown;
  guidelinesButton.setAttribute("aria-expanded", String(shown));
  document.querySelector("main").classList.toggle("with-guidelines", shown);
  if (!lasting) return;
  remember(guidelinesKey, `${shown ? "open" : "closed"} ${guidelines.dataset.version}`);
  if (shown) document.getElementById("guidelines-title").focus();
  else stage.focus({ preventScroll: true });
}
if (guidelines) {
  const [left, version] = (recall(guidelinesKey) ?? "open 0").split(" ");
  showGuidelines(left === "open" || version !== guidelines.dataset.version, { lasting: false });
  guidelinesButton.setAttribute("aria-controls", "guidelines");
  guidelines.querySelector("[data-guidelines-close]").addEventListener("click", (event) => {
    event.preventDefault();
    showGuidelines(false);
  });
}

// Keys. By place on the keyboard for the choices, by letter for the rest; never while typing, composing or in a dialog.
const useKeys = keysSwitch("judging-keys");

let printed = WORST_KEYS.map((code) => code.slice(3));
navigator.keyboard?.getLayoutMap?.().then((map) => {
  printed = WORST_KEYS.map((code) => (map.get(code) ?? code.slice(3)).toUpperCase());
  printKeys();
});

function printKeys() {
  for (const key of document.querySelectorAll("[data-worst-key]")) key.textContent = printed[key.dataset.worstKey];
  const size = stage.querySelectorAll("[data-worst-key]").length || 4;
  const list = printed.slice(0, size).map((letter) => Object.assign(document.createElement("kbd"), { textContent: letter }));
  document.querySelector("[data-worst-keys]").replaceChildren(...list.flatMap((key) => [key, " "]));
}

const actions = {
  u: () => undoButton.click(),
  backspace: () => undoButton.click(),
  s: () => press("skip-dialog"),
  f: () => press("flag-dialog"),
  g: () => guidelines && showGuidelines(guidelines.hidden),
  "?": () => press("help-dialog"),
};

function press(dialog) {
  if (dialog === "help-dialog" || leaseOnScreen()) open(document.getElementById(dialog));
}

function choiceOf(event) {
  const digit = /^(?:Digit|Numpad)([1-8])$/.exec(event.code);
  if (digit) return [event.shiftKey ? "worst" : "best", Number(digit[1]) - 1];
  const place = event.shiftKey ? -1 : WORST_KEYS.indexOf(event.code);
  return place >= 0 && radio("worst", place) ? ["worst", place] : null;
}

document.addEventListener("keydown", (event) => {
  if (isElsewhere(event)) return;
  if (event.target.closest(TYPING) || document.querySelector("dialog[open]")) return;
  if (event.key === "Enter") return enter(event);
  if (!useKeys.checked || event.repeat) return;
  const choice = choiceOf(event);
  const action = choice ? () => choose(...choice) : actions[letterOf(event)];
  if (!action || (choice && held)) return;
  event.preventDefault();
  action();
});

function enter(event) {
  if (event.target.closest("a, button, summary") && !event.target.closest("[data-continue], .next")) return;
  event.preventDefault();
  if (event.repeat) return;
  if (held) goOn();
  else form.requestSubmit();
}

for (const opener of document.querySelectorAll("[data-dialog], [data-guidelines]")) {
  opener.hidden = false;
  if (opener.matches("a")) opener.setAttribute("role", "button");
  const act = () => (opener.dataset.dialog ? press(opener.dataset.dialog) : showGuidelines(guidelines.hidden));
  opener.addEventListener("click", (event) => {
    event.preventDefault();
    act();
  });
  opener.addEventListener("keydown", (event) => {
    if (event.key !== " " || !opener.matches("a")) return;
    event.preventDefault();
    act();
  });
}

// The start: the time of the last saving as a local one, the tuple after this one, and what an earlier visit left.
const time = saved.querySelector("time");
if (time) time.textContent = timeOfDay(new Date(time.dateTime));
clock.start();
printKeys();
if (stage.querySelector(".feedback")) {
  stage.querySelector(".feedback").focus();
  held = { lease: null, nodes: [] };
} else if (outbox.holds(leaseOnScreen())) stage.replaceChildren();
refresh();
if (outbox.entries().length) sender.deliver();
else if (!held) sender.fetchScreen();
