// Suggested attention checks: one key decides about the marked one, and the next one is marked. Without this script, they are checkboxes.
import { say } from "./deciding.js";
import { isElsewhere, letterOf, TYPING, useKeys } from "./keys.js";

const form = /** @type {HTMLFormElement | null} */ (document.getElementById("suggestions"));
const suggestions = [...document.querySelectorAll(".suggestion")];
const decided = new Set();
let here = 0;

/** @param {number} index */
function mark(index) {
  here = index;
  suggestions.forEach((each, place) => each.toggleAttribute("data-here", place === here));
  const next = suggestions[here] ?? form.querySelector("button.primary");
  if (suggestions[here]) next.setAttribute("tabindex", "-1");
  next.focus({ preventScroll: true });
}

/** @param {boolean} keep */
function decide(keep) {
  const box = /** @type {HTMLInputElement} */ (suggestions[here].querySelector("input[type=checkbox]"));
  box.checked = keep;
  decided.add(here);
  const kept = form.querySelectorAll("input:checked").length;
  const said = document.getElementById("decided");
  said.textContent = say(said.dataset.said, { kept, left: suggestions.length - decided.size });
  mark(here + 1);
  (suggestions[here] ?? document.activeElement).scrollIntoView({ block: "center" });
}

if (form && suggestions.length) {
  document.querySelector(".keys-hint").removeAttribute("hidden");
  mark(0);
  form.addEventListener("focusin", (event) => {
    const place = suggestions.indexOf(event.target.closest(".suggestion"));
    if (place >= 0 && place !== here) {
      here = place;
      suggestions.forEach((each, index) => each.toggleAttribute("data-here", index === here));
    }
  });
  document.addEventListener("keydown", (event) => {
    if (!useKeys.checked || isElsewhere(event) || event.repeat || event.target.closest(TYPING) || !suggestions[here]) return;
    const letter = letterOf(event);
    if (letter === "y" || letter === "n") {
      event.preventDefault();
      decide(letter === "y");
    }
  });
}
