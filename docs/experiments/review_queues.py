"""How long the queues of the review take with many machine sentences.

Simulated: machine sentences of two words, each in one pair with an even p_D, and a tenth as many human ones. Prints
for each queue the seconds of drawing it once, and of what every verdict asks for: the next sentences and the progress.

    python docs/experiments/review_queues.py --sentences 1000000
"""

import argparse
import sys
from pathlib import Path
from time import perf_counter
from uuid import uuid4

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import _database  # noqa: E402, F401  (importing it makes the installation)
from django.core.cache import cache  # noqa: E402
from django.db import connection  # noqa: E402
from django.utils.timezone import now  # noqa: E402

from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence, SentenceScore, User  # noqa: E402
from curation.review.queue import Frame, Queue  # noqa: E402
from curation.review.queues import queue_progress  # noqa: E402
from curation.review.verdicts import review_decide, review_next  # noqa: E402

PRIME = 2_147_483_647
BATCH = 20_000


def sentences_make(count: int) -> ScoreSet:
    """Sentences, pairs and scores; p_D follows no order of the rows: a multiplication modulo a prime."""
    dataset = Dataset.objects.create(slug="many", name="Many")
    p_d = ScoreSet.objects.create(dataset=dataset, name="p_D", kind="realism", low=0, high=1)
    humans = count // 10
    for start in range(0, count + humans, BATCH):
        sentences, pairs = [], []
        for number in range(start, min(start + BATCH, count + humans)):
            is_human = number < humans
            origin = Sentence.Origin.HUMAN if is_human else Sentence.Origin.MACHINE
            text = f"sentence {number}"
            sentences.append(Sentence(dataset=dataset, text=text, key=text, origin=origin))
            made = Pair.Origin.IMPORTED if is_human else Pair.Origin.GENERATED
            pairs.append(Pair(dataset=dataset, external_id=str(number), b=sentences[-1], origin=made))
        Sentence.objects.bulk_create(sentences)
        first_of_all = Sentence.objects.order_by("pk").first()
        for pair in pairs:
            pair.a, pair.b = first_of_all, pair.b
        Pair.objects.bulk_create(pairs)
        values = [number * 48_271 % PRIME / PRIME for number in range(start + 1, start + 1 + len(pairs))]
        SentenceScore.objects.bulk_create(
            SentenceScore(score_set=p_d, sentence=pair.b, value=value)
            for pair, value in zip(pairs, values, strict=True)
        )
        PairScore.objects.bulk_create(
            PairScore(score_set=p_d, pair=pair, value=value)
            for pair, value in zip(pairs, values, strict=True)
            if pair.origin == Pair.Origin.GENERATED
        )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return p_d


def seconds(queue: Queue, reviewer: User) -> tuple[float, float]:
    """Of the first time, and of the slowest of ten verdicts after it."""
    cache.clear()
    start = perf_counter()
    offered = review_next(queue=queue, reviewer=reviewer, at=now(), count=3)
    queue_progress(queue)
    first, later = perf_counter() - start, []
    for _ in range(10):
        start = perf_counter()
        sent = {"by": reviewer, "at": now(), "queue": queue, "client_id": uuid4()}
        review_decide(pair=offered[0].pair, verdict="keep", **sent)
        offered = review_next(queue=queue, reviewer=reviewer, at=now(), count=3)
        queue_progress(queue)
        later.append(perf_counter() - start)
    return first, max(later)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=100_000)
    options = parser.parse_args()
    start = perf_counter()
    p_d = sentences_make(options.sentences)
    reviewer = User.objects.create(username="reviewer")
    print(f"{options.sentences:,} sentences on {connection.vendor}, made in {perf_counter() - start:.0f} s")
    queues = [
        Queue(p_d, share=0.1),
        Queue(p_d, share=1.0, blind=True),
        *(Queue(p_d, frame=frame, size=2000) for frame in (Frame.UNCERTAIN, Frame.RANDOM, Frame.STRATIFIED)),
        Queue(p_d, frame=Frame.RANDOM, size=2000, blind=True, human=True, twice=True),
    ]
    for queue in queues:
        first, later = seconds(queue, reviewer)
        print(f"{queue.address:60} first {first:6.2f} s, then {later:6.3f} s", flush=True)


if __name__ == "__main__":
    main()
