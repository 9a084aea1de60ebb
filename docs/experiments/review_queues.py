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

from curation.models import Dataset, ScoreSet, User  # noqa: E402
from curation.review.queue import Frame, Queue  # noqa: E402
from curation.review.queues import queue_progress  # noqa: E402
from curation.review.verdicts import review_decide, review_next  # noqa: E402

# Rows 1 to `rows`; the first tenth is human. p_D follows no order of the rows: a multiplication modulo a prime.
SENTENCES = """
    INSERT INTO curation_sentence (id, dataset_id, text, key, language, origin)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %(rows)s)
    SELECT i, %(dataset)s, 'sentence ' || i, 'key ' || i, '', CASE WHEN i <= %(humans)s THEN 'human' ELSE 'machine' END
    FROM n
"""
PAIRS = """
    INSERT INTO curation_pair
        (id, dataset_id, external_id, a_id, b_id, source, subset, split, origin, status, created_at)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %(rows)s)
    SELECT i, %(dataset)s, 'pair ' || i, 1, i, '', '', '',
        CASE WHEN i <= %(humans)s THEN 'imported' ELSE 'generated' END, 'active', CURRENT_TIMESTAMP
    FROM n
"""
SENTENCE_SCORES = """
    INSERT INTO curation_sentencescore (score_set_id, sentence_id, value)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %(rows)s)
    SELECT %(p_d)s, i, (CAST(i AS bigint) * 48271 %% 2147483647) / 2147483647.0
    FROM n
"""
PAIR_SCORES = """
    INSERT INTO curation_pairscore (score_set_id, pair_id, value)
    SELECT score_set_id, sentence_id, value FROM curation_sentencescore WHERE sentence_id > %(humans)s
"""


def sentences_make(count: int) -> ScoreSet:
    dataset = Dataset.objects.create(slug="many", name="Many")
    p_d = ScoreSet.objects.create(dataset=dataset, name="p_D", kind="realism", low=0, high=1)
    humans = count // 10
    numbers = {"rows": count + humans, "humans": humans, "dataset": dataset.pk, "p_d": p_d.pk}
    with connection.cursor() as cursor:
        for statement in (SENTENCES, PAIRS, SENTENCE_SCORES, PAIR_SCORES):
            cursor.execute(statement, numbers)
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
