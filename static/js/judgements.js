// Judgements on their way: where this device keeps them, and how they are posted.

import { Outbox } from "./sending.js";

export const outboxOf = (form) => new Outbox(`judging:${form.dataset.owner}:`, "lease");

export function fieldsOf(entry) {
  // Times travel as milliseconds before now, so that a wrong clock on this device does no harm.
  const before = (moment) => (moment === null ? "" : Math.max(0, Date.now() - moment));
  const { client_id, lease, best, worst, active } = entry;
  return { client_id, lease, best, worst, active_ms: active, shown_ms: before(entry.shown), touched_ms: before(entry.touched) };
}
