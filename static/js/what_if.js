// The what-if sliders: moving one shows the sentence of its step, which stands in the table beside it.
document.addEventListener("input", (event) => {
  const form = event.target.closest("form.what-if");
  if (!form) return;
  const rows = [...form.querySelectorAll("tr[data-threshold]")];
  const chosen = rows.find((row) => Math.abs(Number(row.dataset.threshold) - Number(event.target.value)) < 0.001);
  if (!chosen) return;
  for (const row of rows) row.classList.toggle("chosen", row === chosen);
  form.querySelector(".threshold").textContent = Number(chosen.dataset.threshold).toFixed(2);
  form.querySelector(".sentence-of").textContent = chosen.dataset.sentence;
});
// Without this script the button asks the server; with it there is nothing to ask.
for (const button of document.querySelectorAll("form.what-if button")) button.hidden = true;
