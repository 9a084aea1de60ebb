// Where there is nothing to judge: what an earlier visit kept on this device is sent from here, work by work.

import { fieldsOf, outboxOf, say, senderOf, words } from "./deciding.js";

const progress = document.getElementById("progress");
const works = [...document.querySelectorAll("form.leftover")].map((form) => ({ form, outbox: outboxOf(form) }));
const waiting = () => works.reduce((sum, { outbox }) => sum + outbox.entries().length, 0);
let refused = false; // then the page stays, so that one can read why

function refresh() {
  if (waiting()) progress.textContent = say(words.waiting, { number: waiting() });
  // What needs all answers to be stored first, such as a code.
  for (const button of document.querySelectorAll("[data-after-waiting]")) button.disabled = waiting() > 0;
}

/** @param {Answered} answer */
function taken({ outcome, body }) {
  refused ||= outcome === "refused";
  if (body.note) document.getElementById("note").textContent = body.note;
  arrange(body);
}

/** @param {Shown} screen */
function arrange(screen) {
  progress.textContent = screen.progress;
  refresh();
  if (!waiting() && !screen.over && !refused) location.reload();
}

for (const { outbox } of works) await outbox.restore();
refresh();
for (const { form, outbox } of works) {
  const sender = senderOf({ form, outbox, fieldsOf, taken, arrange, lacking: () => false, refresh });
  if (outbox.entries().length) sender.deliver();
}
