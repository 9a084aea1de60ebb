"""What the header `User-Agent` names."""

import pytest

from curation.people.accounts.browsers import browser_named

CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/131.0.0.0 Safari/537.36"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("header", "browser", "system"),
    [
        (CHROME, "Chrome", "Windows"),
        (f"{CHROME} Edg/131.0.0.0", "Edge", "Windows"),
        (f"{CHROME} OPR/115.0.0.0", "Opera", "Windows"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0", "Firefox", "Linux"),
        ("Mozilla/5.0 (Android 14; Mobile; rv:133.0) Gecko/133.0 Firefox/133.0", "Firefox", "Android"),
        (f"{IPHONE} Version/18.1 Mobile/15E148 Safari/604.1", "Safari", "iOS"),
        (f"{IPHONE} CriOS/131.0 Mobile/15E148 Safari/604.1", "Chrome", "iOS"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 14_7) Version/18.1 Safari/605.1.15", "Safari", "macOS"),
        ("curl/8.5.0", "", ""),
        ("<script>alert(1)</script>", "", ""),
        ("", "", ""),
    ],
)
def test_a_browser_and_a_system_have_their_names_and_nothing_else_is_kept(
    header: str, browser: str, system: str
) -> None:
    assert browser_named(header) == (browser, system)
