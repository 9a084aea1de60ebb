"""How long does a dashboard of 4,000 judgements take if nothing is in the cache?

500 items, 1,000 tuples, four judgements each by 30 simulated annotators who differ, in a database of its own. The
script prints seconds and processor seconds of the page, three times.

    python docs/experiments/dashboard_seconds.py
"""

import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import django
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from reliability_coverage import judged_by

from annotation.bws.designs.design import design_tuples
from annotation.bws.files.judgement_files import write_judgements

ITEMS, EACH, PEOPLE = 500, 4, 30


def main() -> None:
    with TemporaryDirectory() as folder:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "semblance.settings",
            "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3",
            "SECRET_KEY": "of an experiment" * 4,
            "ALLOWED_HOSTS": "localhost",
            "DEBUG": "1",
        }
        django.setup()
        call_command("migrate", verbosity=0)
        path = Path(folder) / "judgements.csv"
        judged = judged_by(design_tuples(ITEMS).tuples, EACH, PEOPLE, differ=True, seed=1)
        items, people = (
            [f"{name} {n}" for n in range(count)] for name, count in (("i", ITEMS), ("p", PEOPLE))
        )
        write_judgements(path, items, judged, people)
        call_command("bws", "import", str(path), "--dataset", "d", "--create", "--campaign", "C")
        for _ in range(3):
            _time_page()


def _time_page() -> None:
    client, users = Client(HTTP_HOST="localhost"), get_user_model().objects
    client.force_login(users.filter(is_superuser=True).first() or users.create_superuser("root"))
    cache.clear()
    began, worked = time.monotonic(), time.process_time()
    answer = client.get("/campaigns/1/")
    seconds, processor = time.monotonic() - began, time.process_time() - worked
    print(f"status {answer.status_code}: {seconds:.2f} s, {processor:.2f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
