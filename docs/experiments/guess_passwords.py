"""Guess passwords at a running site in three ways, and count how many guesses the site checked.

Use a site that was started only for this: names and addresses stay closed for a quarter of an hour.
Start the site with TRUSTED_PROXIES=1 (this script writes the X-Forwarded-For header that a proxy would write), then:

    python docs/experiments/guess_passwords.py http://127.0.0.1:8000 --user NAME --password PASSWORD

NAME is an existing account. Its correct password shows whether the person can still log in while somebody else guesses.
"""

import argparse
import http.cookiejar
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, Request, build_opener

CHECKED, REFUSED, IN = "checked", "refused without a check", "logged in"


class Visitor:
    """A session that is logged out, whose form may be sent again and again."""

    def __init__(self, base: str) -> None:
        self.address = urljoin(base, "/accounts/login/")
        self.opener = build_opener(HTTPCookieProcessor(http.cookiejar.CookieJar()))
        page = self.opener.open(self.address, timeout=120).read().decode()
        self.token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[1]

    def guess(self, name: str, password: str, forwarded: str) -> str:
        form = {"csrfmiddlewaretoken": self.token, "username": name, "password": password}
        headers = {"Referer": self.address, "X-Forwarded-For": forwarded}
        try:
            with self.opener.open(
                Request(self.address, urlencode(form).encode(), headers), timeout=300
            ) as answer:
                return outcome(answer.url, answer.read().decode())
        except HTTPError as error:
            return outcome(error.url, error.read().decode()) if error.code == 429 else f"status {error.code}"


def outcome(url: str, page: str) -> str:
    if "/accounts/login/" not in url:
        return IN
    if "do not belong together" in page:
        return CHECKED
    return REFUSED if "too many wrong passwords" in page.lower() else "another answer"


def at_once(base: str, name: str, number: int) -> Counter[str]:
    """Wrong passwords for one name from one address, all at the same moment."""
    visitors = [Visitor(base) for _ in range(number)]
    with ThreadPoolExecutor(number) as pool:
        return Counter(pool.map(lambda each: each.guess(name, "wrong", "203.0.113.1"), visitors))


def forged(base: str, name: str, number: int) -> Counter[str]:
    """Wrong passwords for one name, one after the other, each with another forged address before the proxy's entry."""
    visitor = Visitor(base)
    return Counter(
        visitor.guess(name, "wrong", f"198.51.100.{place % 250}, 203.0.113.2") for place in range(number)
    )


def many_names(base: str, number: int, threads: int) -> Counter[str]:
    """One wrong password for each of many names, from one address."""
    guess = partial(Visitor(base).guess, password="wrong", forwarded="203.0.113.3")  # noqa: S106
    with ThreadPoolExecutor(threads) as pool:
        return Counter(pool.map(guess, [f"name-{number}" for number in range(number)]))


def report(what: str, begun: float, counts: Counter[str]) -> None:
    figures = ", ".join(f"{number} {answer}" for answer, number in sorted(counts.items()))
    print(f"{what}: {figures} ({time.monotonic() - begun:.1f} s)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("base")
    parser.add_argument("--user", required=True)
    parser.add_argument("--password", required=True)
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--forged", type=int, default=60)
    parser.add_argument("--names", type=int, default=150)
    options = parser.parse_args()
    begun = time.monotonic()
    report("wrong passwords at once", begun, at_once(options.base, "somebody", options.at_once))
    begun = time.monotonic()
    report("one name behind forged addresses", begun, forged(options.base, options.user, options.forged))
    begun = time.monotonic()
    person = Visitor(options.base).guess(options.user, options.password, "203.0.113.4")
    report("the person, from another address", begun, Counter([person]))
    begun = time.monotonic()
    report("many names from one address", begun, many_names(options.base, options.names, threads=8))


if __name__ == "__main__":
    main()
