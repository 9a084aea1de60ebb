"""How long do the pages of a big campaign keep somebody waiting, and what is left to a worker?

A campaign in a database of its own: 3,000 items in 6,000 tuples, judged by 30 simulated annotators who differ, or the
judgements of a file (`--file`, for example Ruddit's). Then a draft over as many pairs as `--draft`, and a slider arm
whose four people rate 1,000 of the pairs (`--rated`). Each request is sent once with an empty cache; the script prints
its status, seconds and processor seconds. No worker runs, so what a worker would do is not among them.

    python docs/experiments/request_seconds.py --each 2
    python docs/experiments/request_seconds.py --file ruddit/Ruddit_individual_annotations.csv
"""

import argparse
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks"), str(ROOT / "docs" / "experiments")]

import _database  # noqa: E402  (importing it makes the installation)
from django.contrib.auth import get_user_model  # noqa: E402
from django.core.cache import cache  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from reliability_coverage import judged_by  # noqa: E402

from annotation.bws.designs.design import design_tuples  # noqa: E402
from annotation.bws.files.judgement_files import write_judgements  # noqa: E402
from annotation.campaigns.services import campaign_create  # noqa: E402
from annotation.models import (  # noqa: E402
    Campaign,
    Judgement,
    PairRating,
    Participation,
    SliderArm,
    SliderPair,
    TupleItem,
)
from curation.models import Dataset, Pair, Sentence  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=3000)
    parser.add_argument("--each", type=int, default=2, help="judgements of a tuple")
    parser.add_argument("--file", help="judgements to import in place of made ones")
    parser.add_argument("--draft", type=int, default=1000, help="pairs of a campaign that is opened")
    parser.add_argument(
        "--rated", type=int, default=1000, help="pairs that four people rate; 0: no slider arm"
    )
    parser.add_argument("--only", default="", help="requests whose name contains this")
    asked = parser.parse_args()
    judged_campaign(Path(_database.HOME), asked)
    _ask_all(asked)


def judged_campaign(folder: Path, asked: argparse.Namespace) -> None:
    path = Path(asked.file) if asked.file else folder / "judgements.csv"
    if not asked.file:
        tuples = design_tuples(asked.items).tuples
        judged = judged_by(tuples, asked.each, 30, differ=True, seed=1)
        write_judgements(path, [f"i {n}" for n in range(asked.items)], judged, [f"p {n}" for n in range(30)])
    call_command("bws", "import", str(path), "--dataset", "d", "--create", "--campaign", "C")


def _ask_all(asked: argparse.Namespace) -> None:
    client, users = Client(HTTP_HOST="localhost"), get_user_model().objects
    client.force_login(users.filter(is_superuser=True).first() or users.create_superuser("root"))
    client.get("/campaigns/")  # loads what every page needs
    for name, address, sent in _requests(asked):
        if asked.only not in name:
            continue
        cache.clear()
        began, worked = time.monotonic(), time.process_time()
        answer = client.get(address) if sent is None else client.post(address, sent)
        if answer.streaming:
            b"".join(answer.streaming_content)
        seconds, processor = time.monotonic() - began, time.process_time() - worked
        print(f"{name:44} {answer.status_code}  {seconds:7.2f} s  {processor:7.2f} s", flush=True)


def _requests(asked: argparse.Namespace) -> list[tuple[str, str, dict[str, Any] | None]]:
    campaign = Campaign.objects.get()
    of, person = f"/campaigns/{campaign.pk}/", campaign.participations.first().pk
    publish = [
        (f"publish, {method}", f"{of}publish/", {"method": method, "name": f"{method} of a page"})
        for method in ("counting", "bradley-terry", "maxdiff")
    ]
    if asked.rated:
        _rate(campaign, asked.rated)
    draft = _draft(campaign, asked.draft)
    gets = {
        "progress of the campaign": of,
        "analysis": f"{of}analysis/",
        "analysis, what if": f"{of}analysis/?factor=3&judgements=4",
        "scores": f"{of}scores/",
        "judgements": f"{of}judgements/",
        "judgements of a person": f"{of}annotators/{person}/",
        "judgements as a file": f"{of}judgements.csv",
        "machines": f"{of}machines/",
        "gold tuples": f"{of}gold/",
        "gold tuples, suggested": f"{of}gold/suggest/",
        "spend": f"{of}spend/",
        "comparison with the slider": f"{of}slider/comparison/",
        "ratings as a file": f"{of}slider/ratings.csv",
        "the dataset": "/datasets/d/",
        "charts of the dataset": "/datasets/d/charts/",
        "campaigns": "/campaigns/",
    }
    return [
        *((name, address, None) for name, address in gets.items()),
        *publish,
        ("exclude an annotator", f"{of}annotators/{person}/", {"reason": "random", "exclude": "on"}),
        ("progress after the exclusion", of, None),
        ("publish again, counting", f"{of}publish/", {"method": "counting", "name": "again"}),
        ("reinstate the annotator", f"{of}annotators/{person}/reinstate/", {}),
        ("preview of a draft", f"/campaigns/{draft.pk}/design/", {}),
        ("open a draft", f"/campaigns/{draft.pk}/move/", {"move": "open"}),
        ("bundle", f"{of}bundle/", {}),
    ]


def _draft(campaign: Any, pairs: int) -> Any:
    dataset = Dataset.objects.create(slug="draft", name="Draft")
    texts = [Sentence(dataset=dataset, text=f"sentence {n}", key=f"sentence {n}") for n in range(2 * pairs)]
    sentences = Sentence.objects.bulk_create(texts, batch_size=1000)
    Pair.objects.bulk_create(
        [
            Pair(dataset=dataset, a=first, b=second, external_id=str(number))
            for number, (first, second) in enumerate(zip(sentences[::2], sentences[1::2], strict=True))
        ],
        batch_size=1000,
    )
    return campaign_create(dataset=dataset, name="Draft")


def _rate(campaign: Any, pairs: int) -> None:
    """Four people rate so many pairs, five seconds each, with chance."""
    arm = SliderArm.objects.create(campaign=campaign, question="How close?", ratings_per_pair=4)
    asked = TupleItem.objects.for_scores(campaign).order_by("pair").values_list("pair", flat=True).distinct()
    rated = SliderPair.objects.bulk_create(
        [SliderPair(arm=arm, number=number, pair_id=pair) for number, pair in enumerate(asked[:pairs], 1)]
    )
    rng, began = np.random.default_rng(3), datetime(2026, 11, 1, tzinfo=UTC)
    for number in range(4):
        user = get_user_model().objects.create_user(f"rater{number}")
        person = Participation.objects.create(campaign=campaign, user=user, rates=True)
        PairRating.objects.bulk_create(
            PairRating(
                rated=item,
                participation=person,
                value=int(rng.integers(101)),
                client_id=uuid4(),
                shown_at=began + timedelta(seconds=5 * place),
                submitted_at=began + timedelta(seconds=5 * place + 5),
            )
            for place, item in enumerate(rated)
        )
    judged = list(Judgement.objects.filter(participation__campaign=campaign).only("participation_id"))
    times: Counter[int] = Counter()
    for judgement in judged:  # an imported file has no times; 20 seconds each
        times[judgement.participation_id] += 20
        judgement.submitted_at = began + timedelta(seconds=times[judgement.participation_id])
    Judgement.objects.bulk_update(judged, ["submitted_at"], batch_size=400)


if __name__ == "__main__":
    main()
