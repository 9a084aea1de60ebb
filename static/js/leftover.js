// Where there is nothing to judge: what an earlier visit kept on this device is sent from here.

import { fieldsOf, outboxOf, say, senderOf, words } from "./deciding.js";

const form = document.getElementById("leftover");
const progress = document.getElementById("progress");
const outbox = outboxOf(form);
const sender = senderOf({ form, outbox, fieldsOf, taken, arrange, lacking: () => false, refresh });

function refresh() {
  const waiting = outbox.entries().length;
  if (waiting) progress.textContent = say(words.waiting, { number: waiting });
  // What needs all answers to be stored first, such as a code.
  for (const button of document.querySelectorAll("[data-after-waiting]")) button.disabled = waiting > 0;
}

function taken({ body }) {
  document.getElementById("note").textContent = body.note;
  arrange(body);
}

function arrange(screen) {
  progress.textContent = screen.progress;
  refresh();
  if (!outbox.entries().length && !screen.over) location.reload();
}

await outbox.restore();
refresh();
if (outbox.entries().length) sender.deliver();
