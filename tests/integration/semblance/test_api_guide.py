"""The six programs of docs/guide/how-to/use-the-api.md, as they stand there, against a running site."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.timezone import now

from annotation.models import Judgement
from curation.models import Pair, PairScore
from mlworkers.models import Run
from mlworkers.runs.attempts import run_carry_out
from mlworkers.runs.lifecycle import run_claim
from mlworkers.tasks import pipeline_of
from tests.factories import CampaignFactory, MembershipFactory, token_of

pytestmark = pytest.mark.django_db(transaction=True)

GUIDE = (Path(settings.BASE_DIR) / "docs" / "guide" / "how-to" / "use-the-api.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"`python (\w+\.py) [^\n]*\n\n```python\n(.*?)```", GUIDE, re.DOTALL))
MOST_LINES = 15
FILE = "sentence1,sentence2,score\nA dog runs.,A cat sleeps.,1.5\nIt rains.,It pours.,4\nOne.,,2\n"
SENTENCES = [
    f"{who} sees the {what} in the {where} today"
    for who in ("Ann", "Ben")
    for what in ("red boat", "small dog", "old clock")
    for where in ("garden", "harbour")
]


def test_the_guide_has_a_short_program_for_each_purpose() -> None:
    lines = {name: len(text.strip().splitlines()) for name, text in PROGRAMS.items()}
    blank = {name: text.strip().splitlines().count("") for name, text in PROGRAMS.items()}

    assert set(lines) == {"import_pairs.py", "sample.py", "export.py", "run.py", "scores.py", "judge.py"}
    assert {name: n for name, n in lines.items() if n - blank[name] > MOST_LINES} == {}


@pytest.mark.exhaustive
def test_the_programs_of_the_guide_do_what_it_says(live_server, tmp_path) -> None:
    member = MembershipFactory(role="curator")
    dataset, environment = member.dataset, os.environ | {"SITE": live_server.url}
    environment["TOKEN"] = token_of(member.user)
    (tmp_path / "pairs.csv").write_text(FILE)
    (tmp_path / "stories.txt").write_text("\n".join(SENTENCES))

    def begin(name: str, *arguments: str) -> "subprocess.Popen[str]":
        (tmp_path / name).write_text(PROGRAMS[name])
        command = [sys.executable, name, *arguments]
        return subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)

    def run(name: str, *arguments: str) -> str:
        with begin(name, *arguments) as program:
            told, _nothing = program.communicate(timeout=60)
        assert program.returncode == 0
        return told

    assert run("import_pairs.py", dataset.slug, "pairs.csv") == "2 added, 0 updated, 1 rejected\n"
    assert run("import_pairs.py", dataset.slug, "pairs.csv") == "0 added, 0 updated, 1 rejected\n"

    assert run("sample.py", dataset.slug, "stories.txt", "3").startswith("3 pairs from 12 sentences")
    assert Pair.objects.filter(origin="sampled", source="stories").count() == 3

    assert run("export.py", dataset.slug, "jsonl", "pairs.jsonl") == "5 pairs\n"
    assert not list(tmp_path.glob("*.part"))
    exported = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert [row["sentence1"] for row in exported[:2]] == ["A dog runs.", "It rains."]
    assert len(exported) == 5

    reference = dataset.score_sets.get()
    told = [line.split("\t") for line in run("scores.py", dataset.slug, reference.name).splitlines()]
    stored = PairScore.objects.filter(score_set=reference).order_by("pair").values_list("pair", "value")
    assert [(int(pair), float(value)) for pair, value, *_more in told] == list(stored)

    with begin(
        "run.py", json.dumps({"kind": "export_dataset", "plan": {"dataset": dataset.slug}})
    ) as program:
        work_off_the_next_run()
        told, _nothing = program.communicate(timeout=60)
    assert told == "succeeded 5 pairs written\n"
    assert (tmp_path / f"{dataset.slug}.csv").read_text().count("\n") == 6


def test_the_program_that_judges_keeps_a_judgement(live_server, tmp_path) -> None:
    campaign = CampaignFactory(question="Most and least?", tuples=1)
    annotator = MembershipFactory(role="annotator", dataset=campaign.dataset).user
    token = token_of(annotator)
    (tmp_path / "judge.py").write_text(PROGRAMS["judge.py"])

    told = subprocess.run(
        [sys.executable, "judge.py", str(campaign.pk)],
        cwd=tmp_path,
        env=os.environ | {"SITE": live_server.url, "TOKEN": token},
        input="2 0\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout

    judgement = Judgement.objects.get()
    place = judgement.order_shown.index
    assert (place(judgement.best_slot), place(judgement.worst_slot)) == (2, 0)
    assert f"saved {judgement.client_id}" in told


def work_off_the_next_run() -> None:
    """What a worker does."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        queued = Run.objects.filter(state=Run.State.QUEUED).first()
        if queued and (claim := run_claim(run_id=queued.pk, worker="test", at=now())):
            run_carry_out(claim, pipeline_of)
            return
        time.sleep(0.05)
