#!/usr/bin/env python3
"""Make tests/golden: a site with a run of every kind and a judged campaign, as a backup, and the answers of its pages.

usage: PYTHONPATH=. python docs/experiments/golden_site.py [--answers]        (minutes; --answers: only visit again)

A run of every kind is the smallest that its tests know. The campaign is judged by simulated annotators.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from tests.golden.visiting import ANSWERS, BACKUP, visit
from tests.integration.mlworkers.installation import Installation
from tests.integration.mlworkers.long_runs import LONG, carry_out, number, prepare
from tests.integration.mlworkers.nursery import Nursery
from tests.ml.tiny import tiny_encoder
from tests.ml.tiny_translator import tiny_marian

# A small campaign of the demonstration, with simulated annotators, and a person who sees everything.
JUDGED = """
import time
from contextlib import nullcontext
from django.utils.timezone import now
from curation.models import User
from semblance.demo.accounts import accounts_prepare
from semblance.demo.importing import scenes_import
from semblance.demo.judging import scores_from_people
from semblance.demo.plan import DemoPlan, Stages
def wait(run, report):
    while run.state in {"queued", "running"}:
        time.sleep(0.1)
        run.refresh_from_db()
    return run
stages = Stages(open=lambda _title: nullcontext(lambda *_about: None), wait=wait)
plan = DemoPlan(pairs=40, annotators=4, careless_annotators=1, labelled=10, held_out=10)
people = dict(zip(("admin", "curator", "annotator"), [account.user for account in accounts_prepare()]))
dataset = scenes_import(plan, owner=people["admin"], stages=stages)
scores_from_people(
    plan, dataset, curator=people["curator"], annotator=people["annotator"], at=now(), stages=stages
)
"""


def site_make(folder: Path) -> None:
    home = folder / "home"
    home.mkdir()
    installed = Installation(home, "")
    installed.manage("migrate", "-v", "0")
    tiny_marian(folder / "translators" / "there")
    tiny_marian(folder / "translators" / "back", "de", "en", seed=6)
    (folder / "models").mkdir()
    prepare(installed, tiny_encoder(folder / "models"), folder / "translators")
    nursery = Nursery()
    try:
        with nursery.worker(installed):
            for long in LONG:
                ended = carry_out(installed, number(long.name))
                print(long.name, ended["state"], ended["message"], flush=True)
            installed.manage("shell", "-v", "0", given=JUDGED)
    finally:
        nursery.close()
    BACKUP.unlink(missing_ok=True)
    print(installed.manage("backup", str(BACKUP)))


def site_restore(folder: Path) -> Installation:
    (folder / "home").mkdir()
    installed = Installation(folder / "home", "")
    installed.manage("restore", str(BACKUP))
    return installed


def main(arguments: list[str]) -> None:
    os.environ.setdefault("REDIS_PREFIX", "semblance-golden")
    if "--answers" not in arguments:
        with tempfile.TemporaryDirectory() as name:
            site_make(Path(name))
    with tempfile.TemporaryDirectory() as name:
        answers = visit(site_restore(Path(name)))
    ANSWERS.write_text(json.dumps(answers, indent=0, sort_keys=True) + "\n")
    print(f"{len(answers)} addresses, answered with {sorted({answer[0] for answer in answers.values()})}")


if __name__ == "__main__":
    main(sys.argv[1:])
