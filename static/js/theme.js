// Loaded in the head, before anything is drawn: the chosen theme, and the switch in the account menu.
const stored = localStorage.getItem("theme");
if (stored) document.documentElement.dataset.theme = stored;

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-theme-choice]");
  if (!button) return;
  const choice = button.dataset.themeChoice;
  if (choice === "system") {
    localStorage.removeItem("theme");
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem("theme", choice);
    document.documentElement.dataset.theme = choice;
  }
});
