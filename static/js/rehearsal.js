// A rehearsal of the judging screen, for practice and for the preview: the same page, and nothing leaves it. What is here answers as
// the server would, from the pairs that came with the page.

/**
 * Keeps an answer until it is "sent", as the outbox of the real screen does; nothing is stored.
 * @implements {Waiting<Judged>}
 */
export class Outbox {
  prefix = "rehearsal:";
  /** @type {Map<string, Judged>} */
  memory = new Map();

  /** @param {Omit<Judged, "kept">} entry */
  put(entry) {
    this.memory.set(entry.client_id, { ...entry, kept: Date.now() });
  }
  /** @param {Judged} entry */
  remove(entry) {
    this.memory.delete(entry.client_id);
  }
  entries() {
    return [...this.memory.values()];
  }
  /** @param {number | null} lease */
  holds(lease) {
    return this.entries().some((entry) => entry.lease === lease);
  }
  restore() {}
}

const AHEAD = 5;

/**
 * @param {Sending<Judged>} sending
 * @returns {Sender<Judged>}
 */
export function senderOf({ outbox, taken, arrange }) {
  /** @type {{tuples: Tuple[], progress: string, unstored: string}} */
  const { tuples, progress, unstored } = JSON.parse(document.getElementById("rehearsal").textContent);
  let waiting = tuples; // what is still to be judged, the first on the screen
  /** @type {Judged[]} */
  const answered = [];

  const screen = (note = "") =>
    /** @type {Shown} */ ({
      note,
      progress,
      tuple: waiting[0] ?? null,
      ahead: waiting.slice(1, 1 + AHEAD),
      over: !waiting.length,
      undo: answered.length ? "rehearsed" : "",
      undo_off: "",
      sitting: answered.length,
    });
  /** @type {(lease: number | null) => Tuple[]} */
  const without = (lease) => waiting.filter((tuple) => tuple.lease !== lease);

  async function deliver() {
    for (const entry of outbox.entries()) {
      outbox.remove(entry);
      waiting = without(entry.lease);
      answered.push(entry);
      taken({ outcome: "ok", body: screen() }, entry);
    }
  }

  /**
   * The choice that was taken back stands on the cards again.
   * @param {Judged} entry
   */
  function chosenAgain({ html, best, worst, tie }) {
    const template = document.createElement("template");
    template.innerHTML = html;
    const inputs = tie ? ["input[name=tie]"] : Object.entries({ best, worst }).map(([role, place]) => `input[name=${role}][value="${place}"]`);
    for (const input of inputs) template.content.querySelector(input)?.setAttribute("checked", "");
    return template.innerHTML;
  }

  /** @type {Sender<Judged>["ask"]} */
  async function ask(address, fields) {
    if (address === document.getElementById("undo").action) {
      const entry = answered.pop();
      if (entry) waiting = [{ lease: Number(entry.lease), html: chosenAgain(entry) }, ...waiting];
    } else if (address === document.querySelector("#skip-dialog form").action) waiting = without("lease" in fields ? Number(fields.lease) : null);
    return { outcome: "ok", body: screen(unstored) };
  }

  /** @type {Sender<Judged>["undo"]} */
  async function undo({ request, bringBack }) {
    const asks = request();
    const answer = asks && (await ask(...asks));
    if (answer?.body) bringBack(answer.body);
  }

  return { ask, deliver, fetchScreen: async () => arrange(screen()), hindered() {}, undo };
}
