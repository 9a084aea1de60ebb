// The review of machine-written sentences. Without this script it is a plain form. With it, one key decides, the next
// sentence stands on the screen before the verdict has left, and a verdict is kept on this device until the server has it.

import { announce, Outbox, say, senderOf, words } from "./deciding.js";
import { isElsewhere, letterOf, TYPING, useKeys } from "./keys.js";

const form = document.getElementById("verdict");
if (form) start();

async function start() {
  const stage = document.getElementById("stage");
  /** @type {Record<string, HTMLFieldSetElement>} */
  const panels = { reject: document.getElementById("reject-panel"), edit: document.getElementById("edit-panel") };
  const buttons = document.getElementById("verdict-buttons");
  const textField = document.getElementById("edit-text");
  const noteField = document.getElementById("reject-note");
  const undoForm = document.getElementById("undo");
  const undoButton = document.querySelector("[data-undo]");
  const note = document.getElementById("note");
  const saved = document.getElementById("saved");
  const narrow = matchMedia("(max-width: 640px)"); // the head of the page leaves no room for a sentence
  const GRACE_MS = 250; // a key pressed twice in a hurry must not decide about the next sentence unread

  /** @type {Outbox<Reviewed>} */
  const outbox = new Outbox(`review:${form.dataset.owner}:`, "pair");
  const sender = senderOf({ form, outbox, fieldsOf, taken, arrange, lacking: () => !pairOnScreen(), refresh });

  // The stage: one sentence, and those fetched ahead.
  /** @type {Pair[]} */
  let ahead = [];
  /** @type {string | null} */
  let opened = null; // the panel that is open: reject or edit
  let shownAt = 0;
  let undoable = undoForm.getAttribute("action")?.match(/undo\/(\d+)\//)?.[1] ?? "";
  /** @type {Map<number, Reviewed>} */
  const drafts = new Map(); // by pair: what was written for a verdict that was refused or taken back

  const pairOnScreen = () => Number(form.elements.pair?.value) || 0;
  const machineText = () => stage.querySelector("[data-text]").textContent;

  /** @param {Pair} item */
  function show(item) {
    stage.innerHTML = item.html;
    shownAt = performance.now();
    close();
    stage.focus({ preventScroll: true });
    bringIntoSight();
    refresh();
  }

  function bringIntoSight() {
    if (narrow.matches) stage.scrollIntoView({ block: "start" });
    else scrollTo({ top: 0 });
  }

  function showNext() {
    const next = ahead.shift();
    if (next) return show(next);
    const waiting = Object.assign(document.createElement("p"), { className: "waiting", textContent: words.fetching });
    stage.replaceChildren(waiting);
    close();
    refresh();
  }

  /**
   * Take over what the server says stands on the screen and after it.
   * @param {Shown} answer
   */
  function arrange(answer) {
    const offered = answer.items.filter((item) => !outbox.holds(item.pair));
    if (!pairOnScreen() && offered.length) show(offered[0]);
    ahead = offered.filter((item) => item.pair !== pairOnScreen());
    undoable = answer.undo;
    const unfolded = Boolean(document.querySelector("#earlier-decisions[open]"));
    document.getElementById("figures").innerHTML = answer.figures;
    document.getElementById("earlier-decisions")?.toggleAttribute("open", unfolded);
    document.getElementById("progress").textContent = answer.progress;
    const bar = document.getElementById("bar");
    [bar.value, bar.max] = [answer.decided_of[0], answer.decided_of[1]];
    refresh();
    // Nothing is left: the page says so, and what to do next.
    if (!pairOnScreen() && !outbox.entries().length) location.replace(form.dataset.page);
  }

  function refresh() {
    const waiting = outbox.entries().length;
    if (waiting) saved.textContent = `· ${say(words.waiting, { number: waiting })}`;
    undoButton.disabled = !(undoable || waiting);
    for (const button of buttons.querySelectorAll("button")) button.disabled = !pairOnScreen();
  }

  // Panels: reasons appear when rejecting, the text when editing.
  /**
   * @param {HTMLFieldSetElement} element
   * @param {boolean} shown
   */
  function toggle(element, shown) {
    element.hidden = element.disabled = !shown;
  }

  /** @param {string} verdict */
  function open(verdict) {
    if (!pairOnScreen()) return;
    opened = verdict;
    for (const [name, panel] of Object.entries(panels)) toggle(panel, name === verdict);
    toggle(buttons, false);
    const draft = drafts.get(pairOnScreen());
    for (const box of form.querySelectorAll("[name=reasons]")) box.checked = draft?.reasons?.includes(box.value) ?? false;
    noteField.value = draft?.note ?? "";
    textField.value = draft?.text || machineText();
    note.textContent = "";
    announce(verdict === "reject" ? words.choose_reasons : words.edit_text);
    if (verdict === "edit") {
      textField.focus();
      textField.setSelectionRange(textField.value.length, textField.value.length);
    } else panels.reject.querySelector("input")?.focus();
    panels[verdict].scrollIntoView({ block: "nearest" });
  }

  function close() {
    opened = null;
    for (const panel of Object.values(panels)) toggle(panel, false);
    toggle(buttons, true);
    note.textContent = "";
  }

  // Deciding: keep the verdict, show the next sentence, then send.
  /** @param {string} verdict */
  function decide(verdict) {
    if (!pairOnScreen()) return;
    if (performance.now() - shownAt < GRACE_MS) {
      note.textContent = words.early;
      return;
    }
    if (verdict !== "keep" && opened !== verdict) return open(verdict);
    const reasons = [...form.querySelectorAll("[name=reasons]:checked")].map((box) => box.value);
    const text = textField.value.trim();
    const wrong = problem(verdict, reasons, text);
    if (wrong) {
      note.textContent = wrong;
      return;
    }
    outbox.put({
      client_id: form.elements.client_id.value,
      pair: pairOnScreen(),
      verdict,
      reasons: verdict === "reject" ? reasons : [],
      note: verdict === "reject" ? noteField.value : "",
      text: verdict === "edit" ? text : "",
      html: stage.innerHTML,
    });
    drafts.delete(pairOnScreen());
    announce(words[verdict]);
    showNext();
    sender.deliver();
  }

  /**
   * @param {string} verdict
   * @param {string[]} reasons
   * @param {string} text
   */
  function problem(verdict, reasons, text) {
    if (verdict === "reject" && !reasons.length) return words.reasons_missing;
    if (verdict === "edit" && !text) return words.text_missing;
    if (verdict === "edit" && text === machineText()) return words.text_unchanged;
    return "";
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
    decide(button?.value || opened || "keep");
  });
  // The second half of a slow double click belongs to the sentence that is gone.
  buttons.addEventListener("click", (event) => event.detail > 1 && event.preventDefault());
  form.addEventListener("click", (event) => {
    if (!event.target.closest("[data-cancel]")) return;
    event.preventDefault();
    cancel();
  });

  function cancel() {
    if (!opened) return;
    close();
    stage.focus({ preventScroll: true });
  }

  /** @param {Reviewed} entry */
  function fieldsOf(entry) {
    const { client_id, pair, verdict, text } = entry;
    const plain = { client_id, pair, verdict, text, note: entry.note, confirmed: "yes" };
    return [...Object.entries(plain), ...entry.reasons.map((reason) => ["reasons", reason])];
  }

  /**
   * The server kept the verdict, or refused it for good.
   * @param {Answered} answer
   * @param {Reviewed} entry
   */
  function taken({ outcome, body }, entry) {
    if (outcome === "refused") drafts.set(entry.pair, entry);
    else saved.textContent = `· ${words.saved}`;
    if (body.items) arrange(body);
    if (body.note) note.textContent = body.note;
  }

  undoForm.addEventListener("submit", (event) => {
    event.preventDefault();
    sender.undo({ takeBack, bringBack, request: () => (undoable ? [form.dataset.undoAddress.replace("/undo/0/", `/undo/${undoable}/`), {}] : null) });
  });

  /** @param {Reviewed} entry */
  function takeBack(entry) {
    outbox.remove(entry);
    drafts.set(entry.pair, entry);
    if (pairOnScreen()) ahead.unshift({ pair: pairOnScreen(), html: stage.innerHTML });
    show(entry);
    announce(words.undone);
    saved.textContent = "";
    refresh();
  }

  /** @param {Shown} answer */
  function bringBack(answer) {
    stage.replaceChildren();
    if (answer.undone) show(answer.undone);
    arrange(answer);
    note.textContent = words.undone;
    saved.textContent = "";
  }

  // Keys: by letter, never while typing or composing; a digit chooses a reason while the reasons are open.
  /** @type {Record<string, () => void>} */
  const actions = {
    k: () => decide("keep"),
    r: () => decide("reject"),
    e: () => decide("edit"),
    u: () => undoButton.click(),
    backspace: () => undoButton.click(),
    b: () => document.querySelector("[data-blind]").click(),
  };

  document.addEventListener("keydown", (event) => {
    if (isElsewhere(event)) return;
    if (event.key === "Escape" && opened) return cancel();
    if (event.key === "Enter") return enter(event);
    if (event.target.closest(TYPING) || event.repeat || !useKeys.checked) return;
    const reason = /^(?:Digit|Numpad)([1-5])$/.exec(event.code);
    const action = opened === "reject" && reason ? () => toggleReason(Number(reason[1]) - 1) : opened ? null : actions[letterOf(event)];
    if (!action) return;
    event.preventDefault();
    action();
  });

  /** @param {number} place */
  function toggleReason(place) {
    const box = form.querySelectorAll("[name=reasons]")[place];
    box.checked = !box.checked;
    box.focus();
  }

  /** @param {Heard<"keydown", KeyboardEvent>} event */
  function enter(event) {
    if (event.repeat && event.target.closest("button")) event.preventDefault(); // a held key decides once
    if (!opened || event.shiftKey || !event.target.closest("#verdict, body")) return;
    if (event.target.closest("a, button, summary") && !event.target.closest("[data-confirm]")) return;
    event.preventDefault();
    if (!event.repeat) decide(opened);
  }

  // The start: what an earlier visit left, and the sentences after this one.
  shownAt = performance.now();
  opened = Object.keys(panels).find((name) => !panels[name].hidden) ?? null;
  await outbox.restore();
  if (outbox.holds(pairOnScreen())) stage.replaceChildren();
  refresh();
  if (!opened) bringIntoSight();
  if (outbox.entries().length) sender.deliver();
  else sender.fetchScreen();
}
