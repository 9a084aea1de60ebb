"""How long a run's end takes that publishes many scores, and how long another writer of the database waits meanwhile.

Simulated: p_D of so many sentences, published by `run_finish`, while another thread writes a row every 0.2 seconds,
as a judgement or a heartbeat does.

    python docs/experiments/publish_many.py --sentences 1000000
"""

import argparse
import sys
import threading
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import _database  # noqa: E402, F401  (importing it makes the installation)
from django.db import DatabaseError, connection  # noqa: E402
from django.utils.timezone import now  # noqa: E402

from curation.datasets.services import ScoredSentence, score_set_publish  # noqa: E402
from curation.models import Dataset, Sentence  # noqa: E402
from mlworkers.models import Run, WorkerHeartbeat  # noqa: E402
from mlworkers.runs.lifecycle import run_claim, run_finish  # noqa: E402

SENTENCES = """
    INSERT INTO curation_sentence (id, dataset_id, text, key, language, origin)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %s)
    SELECT i, %s, 'sentence ' || i, 'key ' || i, '', 'machine' FROM n
"""


def other_writer(ended: threading.Event, waits: list[float], refused: list[str]) -> None:
    while not ended.wait(0.2):
        start = perf_counter()
        try:
            WorkerHeartbeat.objects.update_or_create(name="other", defaults={"seen_at": now()})
        except DatabaseError as error:
            refused.append(str(error))
            connection.close()
        waits.append(perf_counter() - start)
    connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=100_000)
    count = parser.parse_args().sentences
    dataset = Dataset.objects.create(slug="many", name="Many")
    with connection.cursor() as cursor:
        cursor.execute(SENTENCES, [count, dataset.pk])
    run = Run.objects.create(kind="score_realism", dataset=dataset, queue="gpu")
    claim = run_claim(run_id=run.pk, worker="here", at=now())
    if claim is None:
        raise SystemExit("The run was not claimed.")

    def publish() -> dict[str, str]:
        scores = (
            ScoredSentence(number, 0.5, 0.0, 0.0, 0)
            for number in Sentence.objects.values_list("pk", flat=True)
        )
        about = {"kind": "realism", "low": 0.0, "high": 1.0, "method": "simulated", "parameters": {}}
        made = score_set_publish(
            dataset=dataset, name="p_D", scores=[], sentence_scores=scores, run_ref=run.pk, **about
        )
        return {"score_set": made.name}

    ended, waits, refused = threading.Event(), [], []
    writer = threading.Thread(target=other_writer, args=(ended, waits, refused))
    writer.start()
    start = perf_counter()
    run_finish(claim=claim, at=now(), message="", result={}, publish=publish)
    seconds = perf_counter() - start
    ended.set()
    writer.join()
    print(
        f"{count:,} sentences on {connection.vendor}: {seconds:.1f} s; another writer waited at most "
        f"{max(waits):.2f} s and was refused {len(refused)} of {len(waits)} times"
    )


if __name__ == "__main__":
    main()
