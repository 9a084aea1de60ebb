// The rating of candidates. Without this script it is a plain form. With it a digit answers the scale that is asked, the next
// scale follows, Enter sends and U undoes the last rating.

import { isElsewhere, letterOf, TYPING, useKeys } from "./keys.js";

const form = document.getElementById("rating");
if (form) start();

function start() {
  const scales = [...form.querySelectorAll("fieldset")];
  const undo = document.getElementById("undo");

  /** @type {(scale: HTMLFieldSetElement) => boolean} */
  const answered = (scale) => Boolean(scale.querySelector(":checked"));
  /** The scale that has the focus, or the first one without an answer. */
  const asked = () => scales.find((scale) => scale.contains(document.activeElement)) ?? scales.find((scale) => !answered(scale));

  /**
   * @param {HTMLFieldSetElement} scale
   * @param {string} value
   */
  function answer(scale, value) {
    const radio = scale.querySelector(`input[value="${value}"]`);
    if (!radio) return;
    radio.checked = true;
    const next = scales[scales.indexOf(scale) + 1];
    if (next) (next.querySelector(":checked") ?? next.querySelector("input"))?.focus();
    else form.querySelector("button")?.focus();
  }

  document.addEventListener("keydown", (event) => {
    if (!useKeys.checked || isElsewhere(event) || event.target.matches(TYPING)) return;
    const key = letterOf(event);
    if (/^[1-5]$/.test(key)) {
      const scale = asked() ?? scales.at(-1);
      event.preventDefault();
      if (scale) answer(scale, key);
    } else if (key === "u" && undo) {
      event.preventDefault();
      undo.requestSubmit();
    } else if (key === "enter" && !event.target.matches("button, a") && scales.every(answered)) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
}
