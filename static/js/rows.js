// Settings that list rows of controls: rows are added and removed here. Without this script the server adds a row.
for (const rows of document.querySelectorAll("[data-rows]")) {
  const add = rows.querySelector("[data-add]");
  const all = () => [...rows.querySelectorAll(":scope > .row")];
  /** @param {HTMLElement} row */
  const controls = (row) => [...row.querySelectorAll("[data-column]")];
  /** @param {number} place */
  const focusRow = (place) => controls(all()[Math.min(place, all().length - 1)])[0].focus();
  let next = all().length; // a number that no row has

  // Sentences about a row name its number.
  function number() {
    for (const [place, row] of all().entries()) {
      row.setAttribute("aria-label", `${rows.dataset.row} ${place + 1}`);
      row.querySelector("[data-remove]").hidden = false;
      offer(row);
    }
  }

  /**
   * The score sets that the row's dataset does not have.
   * @param {HTMLElement} row
   */
  function elsewhere(row) {
    const dataset = controls(row).find((one) => one.dataset.column === "dataset")?.value;
    return [...row.querySelectorAll("option[data-of]")].filter((option) => dataset && !option.dataset.of.split(" ").includes(dataset));
  }

  // They are not offered, but one that the server has chosen stays, so that the server can say what is wrong with it.
  /** @param {HTMLElement} row */
  function offer(row) {
    const others = new Set(elsewhere(row));
    for (const option of row.querySelectorAll("option[data-of]")) {
      option.disabled = others.has(option) && !option.selected;
      option.hidden = option.disabled;
    }
  }

  /** @param {HTMLElement} row */
  function clear(row) {
    for (const one of controls(row)) one.value = "";
  }

  add.type = "button"; // so that the Enter key starts the run, as on other forms
  add.addEventListener("click", () => {
    const last = all()[all().length - 1];
    const row = /** @type {HTMLElement} */ (last.cloneNode(true));
    for (const one of controls(row)) one.name = one.name.replace(/-\d+-/, `-${next}-`);
    next += 1;
    clear(row);
    last.after(row);
    number();
    focusRow(all().length - 1);
  });
  rows.addEventListener("click", (event) => {
    const row = event.target.closest("[data-remove]")?.closest(".row");
    if (!row) return;
    const place = all().indexOf(row);
    if (all().length > 1) row.remove();
    else clear(row);
    number();
    focusRow(place);
    rows.dispatchEvent(new Event("change", { bubbles: true })); // the estimate follows
  });
  rows.addEventListener("change", (event) => {
    const row = event.target.closest(".row");
    if (!row || event.target.dataset.column !== "dataset") return;
    for (const option of elsewhere(row)) option.selected = false;
    offer(row);
  });
  number();
}
