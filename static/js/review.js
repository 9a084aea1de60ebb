// The review of machine-written sentences. Without this script it is a plain form. With it, one key decides, the next
// sentence stands on the screen before the verdict has left, and a verdict is kept on this device until the server has it.

const form = document.getElementById("verdict");
if (form) start();

function start() {
  const stage = document.getElementById("stage");
  const words = JSON.parse(document.getElementById("words").textContent);
  const panels = { reject: document.getElementById("reject-panel"), edit: document.getElementById("edit-panel") };
  const buttons = document.getElementById("verdict-buttons");
  const textField = document.getElementById("edit-text");
  const noteField = document.getElementById("reject-note");
  const undoForm = document.getElementById("undo");
  const undoButton = document.querySelector("[data-undo]");
  const trouble = document.getElementById("trouble");
  const note = document.getElementById("note");
  const saved = document.getElementById("saved");
  const PATIENCE_MS = 20_000; // for one answer of the server
  const LONGEST_WAIT_MS = 30_000; // between two attempts
  const GRACE_MS = 250; // a key pressed twice in a hurry must not decide about the next sentence unread

  const say = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
  const announce = (text) => (document.getElementById("announcement").textContent = text);

  // Outbox: one entry of the browser's storage per verdict, which survives a reload and belongs to one person in one dataset.
  const outbox = {
    prefix: `review:${form.dataset.owner}:`,
    memory: new Map(), // where the browser keeps nothing, the page does
    put(entry) {
      try {
        localStorage.setItem(this.prefix + entry.client_id, JSON.stringify(entry));
      } catch {
        this.memory.set(entry.client_id, entry);
      }
    },
    remove(entry) {
      this.memory.delete(entry.client_id);
      localStorage.removeItem(this.prefix + entry.client_id);
    },
    entries() {
      const keys = Object.keys(localStorage).filter((key) => key.startsWith(this.prefix));
      const stored = keys.map((key) => JSON.parse(localStorage.getItem(key)));
      return [...stored, ...this.memory.values()].sort((one, other) => one.decided - other.decided);
    },
    holds: (pair) => outbox.entries().some((entry) => entry.pair === pair),
  };

  // The stage: one sentence, and those fetched ahead.
  let ahead = [];
  let opened = null; // the panel that is open: reject or edit
  let shownAt = 0;
  let undoable = undoForm.getAttribute("action").match(/undo\/(\d+)\//)?.[1] ?? "";
  const drafts = new Map(); // by pair: what was written for a verdict that was refused or taken back

  const pairOnScreen = () => Number(form.elements.pair?.value) || null;
  const machineText = () => stage.querySelector("[data-text]").textContent;

  function show(item) {
    stage.innerHTML = item.html;
    shownAt = performance.now();
    close();
    stage.focus({ preventScroll: true });
    scrollTo({ top: 0 });
    refresh();
  }

  function showNext() {
    const next = ahead.shift();
    if (next) return show(next);
    stage.innerHTML = `<p class="waiting"></p>`;
    stage.firstChild.textContent = words.fetching;
    close();
    refresh();
  }

  /** Take over what the server says stands on the screen and after it. */
  function arrange(answer) {
    const offered = answer.items.filter((item) => !outbox.holds(item.pair));
    if (!pairOnScreen() && offered.length) show(offered[0]);
    ahead = offered.filter((item) => item.pair !== pairOnScreen());
    undoable = answer.undo;
    document.getElementById("figures").innerHTML = answer.figures;
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
  function toggle(element, shown) {
    element.hidden = element.disabled = !shown;
  }

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
    } else panels.reject.querySelector("input").focus();
    panels[verdict].scrollIntoView({ block: "nearest" });
  }

  function close() {
    opened = null;
    for (const panel of Object.values(panels)) toggle(panel, false);
    toggle(buttons, true);
    note.textContent = "";
  }

  // Deciding: keep the verdict, show the next sentence, then send.
  function decide(verdict) {
    if (!pairOnScreen() || performance.now() - shownAt < GRACE_MS) return;
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
      decided: Date.now(),
      html: stage.innerHTML,
    });
    drafts.delete(pairOnScreen());
    announce(words[verdict]);
    showNext();
    deliver();
  }

  function problem(verdict, reasons, text) {
    if (verdict === "reject" && !reasons.length) return words.reasons_missing;
    if (verdict === "edit" && !text) return words.text_missing;
    if (verdict === "edit" && text === machineText()) return words.text_unchanged;
    return "";
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    decide(event.submitter?.value || opened || "keep");
  });
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

  // Sending.
  let token = form.elements.csrfmiddlewaretoken.value;
  let delivering = null;
  let wait = 1000;
  let retry = 0;

  /** Ask the server; the answer's `outcome` is one of ok, refused, unreachable, logged_out, forbidden. */
  async function ask(address, fields) {
    try {
      const response = await fetch(address, {
        method: fields ? "POST" : "GET",
        body: fields && new URLSearchParams(fields),
        headers: { Accept: "application/json", "X-CSRFToken": token },
        redirect: "manual",
        cache: "no-store",
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      if (response.type === "opaqueredirect") return { outcome: "logged_out" };
      if (response.status === 403 || response.status === 404) return { outcome: "forbidden" };
      if (response.status >= 500 || response.status === 429) return { outcome: "unreachable" };
      const body = await response.json();
      if (body.token) token = body.token;
      return { outcome: response.ok ? "ok" : "refused", body };
    } catch {
      return { outcome: "unreachable" };
    }
  }

  /** The same, once more with a fresh token where the old one was refused: logging in elsewhere changes it. */
  async function askTwice(address, fields) {
    const answer = await ask(address, fields);
    if (answer.outcome !== "forbidden") return answer;
    const screen = await ask(form.dataset.screen);
    return screen.outcome === "ok" ? ask(address, fields) : screen;
  }

  function fieldsOf(entry) {
    const { client_id, pair, verdict, text } = entry;
    const plain = { client_id, pair, verdict, text, note: entry.note, confirmed: "yes" };
    return [...Object.entries(plain), ...entry.reasons.map((reason) => ["reasons", reason])];
  }

  /** Send what waits, oldest first; one sender at a time, in this tab and, where the browser has locks, in all of them. */
  function deliver() {
    const alone = navigator.locks ? (task) => navigator.locks.request(outbox.prefix, task) : (task) => task();
    delivering ??= alone(deliverAll).finally(() => (delivering = null));
    return delivering;
  }

  async function deliverAll() {
    clearTimeout(retry);
    for (let entry = outbox.entries()[0]; entry; entry = outbox.entries()[0]) {
      const answer = await askTwice(form.action, fieldsOf(entry));
      if (answer.outcome !== "ok" && answer.outcome !== "refused") return hindered(answer.outcome);
      outbox.remove(entry);
      unhindered();
      if (answer.outcome === "refused") drafts.set(entry.pair, entry);
      else saved.textContent = `· ${words.saved}`;
      if (answer.body.items) arrange(answer.body);
      if (answer.body.note) note.textContent = answer.body.note;
    }
    if (!pairOnScreen() || !trouble.hidden) await fetchScreen();
  }

  async function fetchScreen() {
    const answer = await ask(form.dataset.screen);
    if (answer.outcome !== "ok") return hindered(answer.outcome);
    unhindered();
    arrange(answer.body);
  }

  function hindered(outcome) {
    trouble.replaceChildren(words[outcome] ?? words.unreachable);
    if (outcome === "logged_out") {
      trouble.append(" ", Object.assign(document.createElement("a"), { href: words.login_address, textContent: words.log_in }));
    }
    trouble.hidden = false;
    refresh();
    retry = setTimeout(deliver, wait);
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
  }

  function unhindered() {
    wait = 1000;
    trouble.hidden = true;
  }

  addEventListener("online", () => {
    unhindered();
    deliver();
  });
  addEventListener("offline", () => hindered("unreachable"));

  // Undo: of a verdict that has not left yet on this device, of any other at the server.
  undoForm.addEventListener("submit", async (event) => {
    event.preventDefault();
    const unsent = outbox.entries().at(-1);
    if (unsent && !delivering) return takeBack(unsent);
    await delivering;
    if (!undoable || outbox.entries().length) return;
    const answer = await askTwice(form.dataset.undoAddress.replace("/undo/0/", `/undo/${undoable}/`), {});
    if (answer.outcome === "ok") bringBack(answer.body);
    else if (answer.outcome === "refused") note.textContent = answer.body.note;
    else hindered(answer.outcome);
  });

  function takeBack(entry) {
    outbox.remove(entry);
    drafts.set(entry.pair, entry);
    if (pairOnScreen()) ahead.unshift({ pair: pairOnScreen(), html: stage.innerHTML });
    show(entry);
    announce(words.undone);
    saved.textContent = "";
    refresh();
  }

  function bringBack(answer) {
    stage.replaceChildren();
    if (answer.undone) show(answer.undone);
    arrange(answer);
    note.textContent = words.undone;
  }

  // Keys: by letter, never while typing or composing; a digit chooses a reason while the reasons are open.
  const TYPING = "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]";
  const letterOf = (event) => (event.key.length > 1 || event.key.charCodeAt(0) < 128 ? event.key : event.code.slice(3)).toLowerCase();
  // Single letters can be switched off, for whoever speaks to the computer or leans on the keyboard.
  const useKeys = document.getElementById("use-keys");
  useKeys.closest("label").hidden = false;
  useKeys.checked = localStorage.getItem("review-keys") !== "off";
  const markKeys = () => document.body.classList.toggle("without-keys", !useKeys.checked);
  useKeys.addEventListener("change", () => {
    localStorage.setItem("review-keys", useKeys.checked ? "on" : "off");
    markKeys();
  });
  markKeys();

  const actions = {
    k: () => decide("keep"),
    r: () => decide("reject"),
    e: () => decide("edit"),
    u: () => undoButton.click(),
    backspace: () => undoButton.click(),
    b: () => document.querySelector("[data-blind]").click(),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.keyCode === 229) return;
    if (event.key === "Escape" && opened) return cancel();
    if (event.key === "Enter") return enter(event);
    if (event.target.closest(TYPING) || event.repeat || !useKeys.checked) return;
    const reason = /^(?:Digit|Numpad)([1-5])$/.exec(event.code);
    const action = opened === "reject" && reason ? () => toggleReason(Number(reason[1]) - 1) : opened ? null : actions[letterOf(event)];
    if (!action) return;
    event.preventDefault();
    action();
  });

  function toggleReason(place) {
    const box = form.querySelectorAll("[name=reasons]")[place];
    box.checked = !box.checked;
    box.focus();
  }

  function enter(event) {
    if (!opened || event.shiftKey || !event.target.closest("#verdict, body")) return;
    if (event.target.closest("a, button, summary") && !event.target.closest("[data-confirm]")) return;
    event.preventDefault();
    if (!event.repeat) decide(opened);
  }

  // The start: what an earlier visit left, and the sentences after this one.
  shownAt = performance.now();
  opened = Object.keys(panels).find((name) => !panels[name].hidden) ?? null;
  if (outbox.holds(pairOnScreen())) stage.replaceChildren();
  refresh();
  if (outbox.entries().length) deliver();
  else fetchScreen();
}
