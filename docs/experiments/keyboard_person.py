"""Somebody at a real browser who has no mouse: everything on a page is reached by Tab and pressed by keys."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MOST_TABS = 80
WORST_KEYS = "qwertyui"
FOCUSED = """() => {
    const on = document.activeElement;
    if (!on.matches("a, button, input, select, summary, textarea")) return "";
    return [on.labels?.[0]?.innerText ?? on.innerText ?? "", on.name ?? ""].join("\\n").trim();
}"""
SHOWN = """() => [...document.querySelectorAll(".cards .card")].map((card) =>
    [...card.querySelectorAll(".sentence")].map((sentence) => sentence.textContent))"""
ANOTHER = """(lease) => document.querySelector("#judgement input[name=lease]")?.value !== lease"""
SENT = "() => !Object.keys(localStorage).some((key) => key.startsWith('judging:'))"
TWO_CHOSEN = "() => document.querySelectorAll('.card input:checked').length === 2"
# Pairs of which nothing is chosen yet, or the page that says that nothing is left.
NEXT = """() => document.readyState === "complete" && !document.querySelector(".feedback") &&
    (document.querySelector("#judgement input[name=lease]")
        ? !document.querySelector(".card input:checked") : !document.querySelector("#judgement"))"""
LOOK, READ = 150, 700  # milliseconds: until the page has reacted; until it takes an Enter after feedback
Choose = Callable[[Sequence[Mapping[str, str]]], tuple[int, int]]


class KeyboardPerson:
    """A page and a keyboard. keys: how many keys were pressed."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.keys = 0

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.keys += 1

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.keys += len(text)

    def tab_to(self, named: str) -> None:
        """Press Tab until what has the focus is called `named` (its label, its text or its name in the form)."""
        for _ in range(MOST_TABS):
            self.press("Tab")
            if named in self.page.evaluate(FOCUSED).splitlines():
                return
        raise RuntimeError(f"{self.page.url}: {MOST_TABS} times Tab do not reach “{named}”.")

    def join(self, address: str, *, username: str, password: str) -> None:
        """Follow an invitation: create an account with it."""
        self.page.goto(address)
        for field, value in (("username", username), ("password1", password), ("password2", password)):
            self.tab_to(field)
            self.type(value)
        self.tab_to("Create the account and join")
        self.press("Enter")
        self.page.wait_for_url(lambda url: "/invitations/" not in url)

    def judge(self, address: str, choose: Choose, *, undo_after: int) -> dict[str, Any]:
        """Judge until nothing is left. From that number of judgements on, undo the first judgement that can be
        undone (an answer to a gold tuple cannot), and give it again.
        """
        self.page.goto(address)
        self.tab_to("Start judging")
        self.press("Enter")
        self.page.wait_for_function("() => !document.querySelector('dialog[open]')")
        told = {"judgements": 0, "undone": 0, "golds_missed": 0}
        while pairs := self.pairs_shown():
            chosen = choose(pairs)
            told["golds_missed"] += self.answer(*chosen)
            told["judgements"] += 1
            if told["judgements"] >= undo_after and not told["undone"] and self.can_undo():
                self.press("Backspace")
                self.page.wait_for_function(TWO_CHOSEN)
                if self.pairs_shown() != pairs:
                    raise RuntimeError("Backspace brought other pairs back.")
                told["golds_missed"] += self.answer(*chosen)
                told["undone"] += 1
        return {**told, "keys": self.keys}

    def can_undo(self) -> bool:
        return self.page.locator("[data-undo]").is_enabled()

    def pairs_shown(self) -> list[dict[str, str]]:
        return [{"a": a, "b": b} for a, b in self.page.evaluate(SHOWN)]

    def answer(self, best: int, worst: int) -> bool:
        """Choose, save, and wait until the server has it; whether a gold tuple was missed, whose answer is put away."""
        lease = self.page.locator("#judgement input[name=lease]").input_value()
        for key in (str(best + 1), WORST_KEYS[worst], "Enter"):
            self.press(key)
        self.page.wait_for_function(ANOTHER, arg=lease)
        self.page.wait_for_function(SENT)
        self.page.wait_for_timeout(LOOK)
        missed = self.page.locator(".feedback").is_visible()
        if missed:
            self.page.wait_for_timeout(READ)
            self.press("Enter")
            self.page.wait_for_timeout(LOOK)
        self.page.wait_for_function(NEXT)
        if self.page.locator("#pause-dialog").is_visible():
            self.press("Escape")
        return missed


@contextmanager
def keyboard_person() -> Iterator[KeyboardPerson]:
    """Chromium without a window, of 1280 by 900 pixels, with an empty profile."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise SystemExit("Somebody who uses the keyboard alone needs Chromium: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--headless=new", "--no-sandbox"])
        try:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.set_default_timeout(60_000)
            yield KeyboardPerson(page)
        finally:
            browser.close()
