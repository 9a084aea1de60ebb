// Loaded in the head, before anything is drawn: the chosen theme, and the switch in the account menu. Where the browser forbids its
// storage, the choice holds for this page.
/**
 * @template Result
 * @param {(storage: Storage) => Result} act
 */
function onDevice(act) {
  try {
    return act(localStorage);
  } catch {
    return null;
  }
}
const stored = onDevice((storage) => storage.getItem("theme"));
if (stored) document.documentElement.dataset.theme = stored;

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-theme-choice]");
  if (!button) return;
  const choice = button.dataset.themeChoice;
  if (choice === "system") {
    onDevice((storage) => storage.removeItem("theme"));
    delete document.documentElement.dataset.theme;
  } else {
    onDevice((storage) => storage.setItem("theme", choice));
    document.documentElement.dataset.theme = choice;
  }
});
