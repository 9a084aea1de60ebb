// Screens where a single letter acts: which letter it was, when it was typing instead, and the switch that turns letters off.

import { recall, remember } from "./device.js";

export const TYPING = "input:not([type=radio]):not([type=checkbox]), textarea, select, [contenteditable]";

/** On a keyboard without Latin letters, a command is found by the place of its key. */
export const letterOf = (event) => (event.key.length > 1 || event.key.charCodeAt(0) < 128 ? event.key : event.code.slice(3)).toLowerCase();

/** A command of the browser or the system, or a letter that is still being composed. */
export const isElsewhere = (event) => event.ctrlKey || event.altKey || event.metaKey || event.isComposing || event.keyCode === 229;

/** The checkbox #use-keys, kept on this device: for whoever speaks to the computer or leans on the keyboard. */
export function keysSwitch(name) {
  const box = document.getElementById("use-keys");
  const mark = () => document.body.classList.toggle("without-keys", !box.checked);
  box.checked = recall(name) !== "off";
  box.addEventListener("change", () => {
    remember(name, box.checked ? "on" : "off");
    mark();
  });
  mark();
  return box;
}
