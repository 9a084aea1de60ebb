"""The browser and the system that a request names, as words from two short lists."""

from typing import NamedTuple

# The first whose sign is in the header counts: most browsers also name others.
BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


class Browser(NamedTuple):
    """Names of a browser and of a system; "" where neither list has it."""

    browser: str
    system: str


def browser_named(header: str) -> Browser:
    """What the header `User-Agent` names. Versions and everything else in it are left out."""
    found = (next((name for sign, name in signs if sign in header), "") for signs in (BROWSERS, SYSTEMS))
    return Browser(*found)
