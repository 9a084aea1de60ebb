// A rehearsal of the judging screen, for practice and for the preview: the same page, and nothing leaves it. What is here answers as
// the server would, from the pairs that came with the page.

/** Keeps an answer until it is "sent", as the outbox of the real screen does; nothing is stored. */
export class Outbox {
  prefix = "rehearsal:";
  kept = [];

  put(entry) {
    this.kept.push({ ...entry, kept: Date.now() });
  }
  remove(entry) {
    this.kept = this.kept.filter((other) => other.client_id !== entry.client_id);
  }
  entries() {
    return [...this.kept];
  }
  holds(lease) {
    return this.kept.some((entry) => entry.lease === lease);
  }
  restore() {}
}

const AHEAD = 5;

export function senderOf({ form, outbox, taken, arrange }) {
  const { tuples, progress, unstored } = JSON.parse(document.getElementById("rehearsal").textContent);
  let waiting = tuples; // what is still to be judged, the first on the screen
  const answered = [];

  const screen = (note = "") => ({
    note,
    progress,
    tuple: waiting[0] ?? null,
    ahead: waiting.slice(1, 1 + AHEAD),
    over: !waiting.length,
    undo: answered.length ? "rehearsed" : "",
    undo_off: "",
    sitting: answered.length,
  });
  const without = (lease) => waiting.filter((tuple) => tuple.lease !== lease);

  async function deliver() {
    for (const entry of outbox.entries()) {
      outbox.remove(entry);
      waiting = without(entry.lease);
      answered.push(entry);
      taken({ outcome: "ok", body: screen() }, entry);
    }
  }

  /** The choice that was taken back stands on the cards again. */
  function chosenAgain({ html, best, worst, tie }) {
    const template = document.createElement("template");
    template.innerHTML = html;
    if (tie) template.content.querySelector("input[name=tie]").setAttribute("checked", "");
    else for (const [role, place] of Object.entries({ best, worst })) template.content.querySelector(`input[name=${role}][value="${place}"]`).setAttribute("checked", "");
    return template.innerHTML;
  }

  async function ask(address, fields) {
    if (address === document.getElementById("undo").action) {
      const entry = answered.pop();
      waiting = [{ lease: entry.lease, html: chosenAgain(entry) }, ...waiting];
    } else if (address === document.querySelector("#skip-dialog form").action) waiting = without(Number(fields.lease));
    return { outcome: "ok", body: screen(unstored) };
  }

  return { ask, deliver, fetchScreen: async () => arrange(screen()), hindered() {}, unsent: async () => undefined };
}
