"""A site with a run of every kind and a judged campaign, kept as a backup with the answers of its pages.

`docs/experiments/golden_site.py` makes both. After code was moved, tests compare: the backup restores, every
page of the site opens, and every CSV file has the same bytes.
"""

import json
from pathlib import Path

from tests.integration.mlworkers.installation import Installation

FOLDER = Path(__file__).parent
BACKUP = FOLDER / "site.zip"
ANSWERS = FOLDER / "answers.json"

# The administrator's answer at each address of a list, or at the addresses that links lead to.
VISIT = """
import hashlib, json, re, sys
from html import unescape
from urllib.parse import urljoin, urlsplit
from collections import Counter
from django.test import Client
from django.urls import Resolver404, resolve
from curation.models import User
from mlworkers.models import Run
given, most = json.loads({given!r}), {most}
client = Client(HTTP_HOST="127.0.0.1")
client.raise_request_exception = False
client.force_login(User.objects.filter(is_superuser=True).earliest("pk"))
ended = Run.objects.filter(state="succeeded").values_list("pk", flat=True)
begin = given or ["/", "/runs/"] + [f"/runs/{{number}}/" for number in ended]
waiting, known, answers, like_it = list(begin), set(begin), {{}}, Counter()
def is_new(address):
    # Of pages that differ by their object alone, four are enough; of files of figures, all.
    try:
        name = resolve(address.partition("?")[0]).view_name
    except Resolver404:
        return False
    if address in known:
        return False
    like_it[name] += 1
    return like_it[name] <= 4 or ".csv" in address
# Addresses that change something, leave the site, or show another moment.
left_out = re.compile(r"/(logout|admin|static|api|livez|healthz|guide|accounts|metrics)(/|$)|[?#]|/progress/$")
while waiting and len(answers) < most:
    address = waiting.pop(0)
    answer = client.get(address, follow=True)
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    answers[address] = [answer.status_code, kind]
    # Logs tell of these very visits, and hours are counted up to now.
    if kind == "text/csv" and not re.search("/log/|/crowd/hours", address):
        answers[address].append(hashlib.sha256(body).hexdigest())
    if kind == "text/html" and not given:
        for link in re.findall(r'href="([^"]+)"', body.decode()):
            path = urlsplit(urljoin("http://127.0.0.1" + address, unescape(link)))
            if path.netloc == "127.0.0.1":
                full = path.path + ("?" + path.query if path.query and path.path.endswith(".csv") else "")
                if not left_out.search(path.path) and is_new(full):
                    known.add(full)
                    waiting.append(full)
print(json.dumps(answers))
"""


def visit(
    installed: Installation, addresses: list[str] | None = None, *, most: int = 3000
) -> dict[str, list]:
    """The answer to the administrator at each address: status, content type, and the SHA-256 of a CSV file."""
    code = VISIT.format(given=json.dumps(addresses or []), most=most)
    return json.loads(installed.manage("shell", "-v", "0", given=code).splitlines()[-1])
