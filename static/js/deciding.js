// What judging and reviewing share, in one file, because each file is a request before the first sentence is on the screen:
// the sentences of the page, and the outbox that sends what a person decides.

import { forget, recall, remember, remembered } from "./keys.js";

// What a page's script says: sentences that the server translated, in the page's #words, with names in braces.

/** @type {Record<string, string>} */
export const words = JSON.parse(document.getElementById("words")?.textContent ?? "{}");
/** @type {(text: string, values?: Record<string, unknown>) => string} */
export const say = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
/** @type {(date: Date) => string} */
export const timeOfDay = (date) =>
  date.toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
/** @type {(text: string) => void} */
export const announce = (text) => {
  document.getElementById("announcement").textContent = text;
};

// A decision's own number, and the time that it took.

export function identifier() {
  // crypto.randomUUID exists on secure addresses only.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

// Clock: when the pairs were shown and first touched, and how long the page was looked at meanwhile.
export const clock = {
  shown: 0,
  touched: /** @type {number | null} */ (null),
  active: 0,
  since: /** @type {number | null} */ (null), // when this look began; nothing while the page is hidden
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
  /** @returns {Times} */
  read() {
    this.lookAway();
    this.look();
    return { shown: this.shown, touched: this.touched, active: Math.round(this.active) };
  },
};

// What a person decides is kept on this device until the server has it, and sent while they go on. Judging and reviewing share
// this: the outbox, its one sender, and the banner that says why something waits.

const PATIENCE_MS = 20_000; // for one answer of the server
const LONGEST_WAIT_MS = 30_000; // between two attempts

// A browser that is killed loses what it wrote to its storage in the last seconds. Its database keeps what was written there, so that
// every entry stands in both.
const DATABASE_MS = 500; // a database that does not open keeps nobody waiting
/** @type {Promise<IDBDatabase | null>} */
const database = new Promise((resolve) => {
  try {
    const opening = indexedDB.open("decisions", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("waiting");
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => resolve(null);
  } catch {
    resolve(null); // the browser has none, or forbids it
  }
});

/**
 * change(store): what to do in the database; nothing happens where there is none.
 * @template Changed
 * @param {(store: IDBObjectStore) => Changed | Promise<Changed>} change
 * @returns {Promise<Changed | null>}
 */
const inDatabase = (change) => database.then((opened) => opened && change(opened.transaction("waiting", "readwrite").objectStore("waiting"))).catch(() => null);

/**
 * One entry of the browser's storage per decision, so that two tabs never write the same one. It survives a reload.
 * @template {Decided} Entry
 * @implements {Waiting<Entry>}
 */
export class Outbox {
  /** @type {Map<string, Entry>} */
  memory = new Map(); // where the browser keeps nothing, the page does

  /**
   * prefix: names one person at one work. subject: which field of an entry says what it is about.
   * @param {string} prefix
   * @param {keyof Entry} subject
   */
  constructor(prefix, subject) {
    this.prefix = prefix;
    this.subject = subject;
  }

  /** @param {Omit<Entry, "kept">} entry */
  put(entry) {
    const dated = /** @type {Entry} */ ({ ...entry, kept: Date.now() });
    if (!remember(this.prefix + dated.client_id, JSON.stringify(dated))) this.memory.set(dated.client_id, dated);
    inDatabase((store) => store.put(JSON.stringify(dated), this.prefix + dated.client_id));
  }

  /** @param {Entry} entry */
  remove(entry) {
    this.memory.delete(entry.client_id);
    forget(this.prefix + entry.client_id);
    inDatabase((store) => store.delete(this.prefix + entry.client_id));
  }

  /** Bring back what the storage lost and the database has. Sent twice, it is stored once. */
  restore() {
    const kept = inDatabase((store) => {
      const range = IDBKeyRange.bound(this.prefix, `${this.prefix}\uffff`);
      const [keys, values] = [store.getAllKeys(range), store.getAll(range)];
      /** @type {Promise<[string, string][]>} */
      const read = new Promise((resolve) => {
        values.onsuccess = () => resolve(keys.result.map((key, place) => [String(key), values.result[place]]));
        values.onerror = () => resolve([]);
      });
      return read;
    });
    /** @type {Promise<[string, string][]>} */
    const late = new Promise((resolve) => setTimeout(resolve, DATABASE_MS, []));
    return Promise.race([kept, late]).then((entries) => {
      for (const [key, value] of entries ?? []) if (recall(key) === null) remember(key, value);
    });
  }

  /**
   * Oldest first.
   * @returns {Entry[]}
   */
  entries() {
    const stored = remembered(this.prefix).map((key) => JSON.parse(recall(key) ?? "null"));
    // Another tab may have taken one out meanwhile.
    return [...stored.filter(Boolean), ...this.memory.values()].sort((one, other) => one.kept - other.kept);
  }

  /** @param {number | null} subject */
  holds(subject) {
    return this.entries().some((entry) => entry[this.subject] === subject);
  }
}

/**
 * form: its action takes what is decided, data-screen answers what stands on the screen, data-page is where a login leads back to.
 * fieldsOf(entry): what is posted. taken(answer, entry): the server kept it or refused it for good. arrange(body): take over what
 * the server says of the screen. lacking(): whether the screen waits for that. refresh(): what waits, or why, has changed. has(): leases whose
 * cards the page has already, which the server need not send again.
 * @template {Decided} Entry
 * @param {Sending<Entry>} sending
 * @returns {Sender<Entry>}
 */
export function senderOf({ form, outbox, fieldsOf, taken, arrange, lacking, refresh, has = () => [] }) {
  const trouble = document.getElementById("trouble");
  const note = document.getElementById("note"); // where something can be undone
  let token = form.elements.csrfmiddlewaretoken.value;
  /** @type {Promise<unknown>} */
  let turn = Promise.resolve(); // the end of what was begun last in this tab
  let delivering = false;
  let undoing = false;
  let asked = false; // since the sender last looked into the outbox
  let wait = 1000;
  let retry = 0;
  let leaving = false; // to log in: nothing is lost

  /**
   * Ask the server; the answer's `outcome` is one of ok, refused, unreachable (no connection), failing (the site has a problem), logged_out, forbidden.
   * @param {string} address
   * @param {Fields | null} fields
   * @param {Record<string, string>} extra headers
   * @returns {Promise<Answer>}
   */
  async function askOnce(address, fields = null, extra = {}) {
    try {
      const response = await fetch(address, {
        method: fields ? "POST" : "GET",
        body: fields && new URLSearchParams(/** @type {Record<string, string>} */ (fields)), // which writes numbers as text
        headers: { Accept: "application/json", "X-CSRFToken": token, ...extra },
        redirect: "manual",
        cache: "no-store",
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      if (response.type === "opaqueredirect") return { outcome: "logged_out" };
      if (response.status === 403 || response.status === 404) return { outcome: "forbidden" };
      if (response.status >= 500 || response.status === 429) return { outcome: "failing" };
      const body = await response.json();
      if (body.token) token = body.token;
      return { outcome: response.ok ? "ok" : "refused", body };
    } catch {
      return { outcome: "unreachable" };
    }
  }

  /**
   * The same, once more with a fresh token where the old one was refused: logging in elsewhere changes it.
   * @param {string} address
   * @param {Fields} fields
   * @param {Record<string, string>} [extra]
   */
  async function ask(address, fields, extra) {
    const answer = await askOnce(address, fields, extra);
    if (answer.outcome !== "forbidden") return answer;
    const screen = await askOnce(form.dataset.screen);
    return screen.outcome === "ok" ? askOnce(address, fields, extra) : screen;
  }

  const known = () => ({ "Judging-Has": has().join(",") });

  /**
   * One request at a time, in this tab and, where the browser has locks, in all of them: the screen in an older answer of the server must
   * not replace that of a newer one.
   * @template Result
   * @param {() => Promise<Result>} task
   * @returns {Promise<Result>}
   */
  function alone(task) {
    const begin = () => (navigator.locks ? navigator.locks.request(outbox.prefix, task) : task());
    const ended = turn.then(begin, begin);
    turn = ended;
    return ended;
  }

  /** Send what waits, oldest first. */
  async function deliver() {
    asked = true;
    if (delivering) return;
    delivering = true;
    try {
      await alone(deliverAll);
    } finally {
      delivering = false;
      if (asked) deliver();
    }
  }

  async function deliverAll() {
    asked = false;
    clearTimeout(retry);
    for (let entry = outbox.entries()[0]; entry; entry = outbox.entries()[0]) {
      asked = false;
      const answer = await ask(form.action, fieldsOf(entry), known());
      if (answer.outcome !== "ok" && answer.outcome !== "refused") return hindered(answer.outcome);
      outbox.remove(entry);
      unhindered();
      taken(answer, entry);
    }
    if (lacking() || !trouble.hidden) await fetchScreen();
  }

  async function fetchScreen() {
    const answer = await askOnce(form.dataset.screen, null, known());
    if (answer.outcome !== "ok") return hindered(answer.outcome);
    unhindered();
    arrange(answer.body);
  }

  /** @param {string} outcome */
  function hindered(outcome) {
    const sentences = [words[outcome], outbox.memory.size ? words.unkept : ""].filter(Boolean).join(" ");
    // Said once, not with every attempt.
    if (trouble.hidden || !trouble.textContent.startsWith(sentences)) {
      trouble.replaceChildren(sentences);
      if (outcome === "logged_out") trouble.append(" ", loginLink());
    }
    trouble.hidden = false;
    refresh();
    clearTimeout(retry);
    retry = setTimeout(deliver, wait);
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
  }

  function loginLink() {
    const href = `${words.login_address}?next=${encodeURIComponent(form.dataset.page)}`;
    const link = Object.assign(document.createElement("a"), { href, textContent: words.log_in });
    if (outbox.memory.size)
      link.target = "_blank"; // this page alone holds what waits
    else
      link.addEventListener("click", () => {
        leaving = true;
      });
    return link;
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
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && outbox.entries().length && deliver());
  addEventListener("beforeunload", (event) => outbox.entries().length && !leaving && event.preventDefault());

  /**
   * Take back the last decision: one that has not left yet on this device, any other at the server. A second click meanwhile does nothing.
   * @param {Undoing<Entry>} undoing
   */
  async function undo({ takeBack, request, bringBack }) {
    if (undoing) return;
    undoing = true;
    try {
      await alone(async () => {
        const unsent = outbox.entries().at(-1);
        if (unsent) return takeBack(unsent);
        const asks = request();
        if (!asks) return;
        const answer = await ask(...asks);
        if (answer.outcome === "ok") bringBack(answer.body);
        else if (answer.outcome === "refused") note.textContent = answer.body.note;
        else hindered(answer.outcome);
      });
    } finally {
      undoing = false;
    }
  }

  /** @type {Sender<Entry>["ask"]} */
  const askInTurn = (address, fields) => alone(() => ask(address, fields));

  return { ask: askInTurn, deliver, fetchScreen, hindered, undo };
}

// Judgements on their way: where this device keeps them, and how they are posted.

/** @type {(form: HTMLFormElement) => Outbox<Judged>} */
export const outboxOf = (form) => new Outbox(`judging:${form.dataset.owner}:`, "lease");

/** @param {Judged} entry */
export function fieldsOf(entry) {
  const { client_id, lease, best, worst, tie } = entry;
  const choice = tie ? { tie } : { best, worst };
  return { client_id, lease, ...choice, ...timesOf(entry) };
}

/**
 * Times travel as milliseconds before now, so that a wrong clock on this device does no harm.
 * @param {Times} times
 */
export function timesOf({ active, shown, touched }) {
  /** @type {(moment: number | null) => number | ""} */
  const before = (moment) => (moment === null ? "" : Math.max(0, Date.now() - moment));
  return { active_ms: active, shown_ms: before(shown), touched_ms: before(touched) };
}
