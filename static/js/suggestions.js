// Suggested attention checks: one key decides about the marked one, and the next one is marked. Without this script, they are checkboxes.
import { say } from "./deciding.js";
import { isElsewhere, letterOf, TYPING, useKeys } from "./keys.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("suggestions"));
const suggestions = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".suggestion")]);
const decided = new Set();
let here = 0;

/** @param {number} index */
function mark(index) {
  here = index;
  for (const [place, each] of suggestions.entries()) each.toggleAttribute("data-here", place === here);
  const next = suggestions[here] ?? /** @type {HTMLElement} */ (form.querySelector("button.primary"));
  if (suggestions[here]) next.setAttribute("tabindex", "-1");
  next.focus({ preventScroll: true });
}

/** @param {boolean} keep */
function decide(keep) {
  const box = /** @type {HTMLInputElement} */ (suggestions[here].querySelector("input[type=checkbox]"));
  box.checked = keep;
  decided.add(here);
  const kept = form.querySelectorAll("input:checked").length;
  const said = /** @type {HTMLElement} */ (document.getElementById("decided"));
  said.textContent = say(said.dataset.said ?? "", { kept, left: suggestions.length - decided.size });
  mark(here + 1);
  (suggestions[here] ?? document.activeElement).scrollIntoView({ block: "center" });
}

if (form && suggestions.length) {
  document.querySelector(".keys-hint")?.removeAttribute("hidden");
  mark(0);
  form.addEventListener("focusin", (event) => {
    const place = suggestions.findIndex((each) => each.contains(event.target));
    if (place >= 0 && place !== here) {
      here = place;
      for (const [index, each] of suggestions.entries()) each.toggleAttribute("data-here", index === here);
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
