"""How many bytes of the database do a pair, a machine-written pair, a p_D, a tuple and a judgement take?

Pairs of the STS benchmark are imported; as many with a new second sentence are stored as a generation stores them, and
p_D of sentences and pairs as a scoring does; some pairs are judged as on the judging screen. After each step the tables
are vacuumed in full, and what they have grown by, indexes included, is divided by the rows that came.

    DATABASE_URL=postgres://… python docs/experiments/database_bytes.py $DATA/stsb/stsb-en-train.csv
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import _database  # noqa: E402  (importing it makes the installation)
import numpy as np  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.utils.timezone import now  # noqa: E402

from annotation.bws.studies.simulation import SimulatedAnnotator  # noqa: E402
from annotation.campaigns.services import campaign_create, campaign_open  # noqa: E402
from annotation.models import Judgement, Tuple  # noqa: E402
from curation.datasets.services import ScoredSentence, score_set_publish  # noqa: E402
from curation.exchange.generated import GeneratedRow, generated_pairs_add  # noqa: E402
from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence  # noqa: E402
from semblance.demo.accounts import members_add, simulated_users  # noqa: E402
from semblance.demo.judging import campaign_judge, values_of  # noqa: E402

SIZES = """
SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pairs", help="first sentence, second sentence and score from 0 to 5; no header")
    parser.add_argument("--judged", type=int, default=1000, help="pairs of the campaign")
    asked = parser.parse_args()
    if connection.vendor != "postgresql":
        parser.error("name a PostgreSQL database: DATABASE_URL=postgres://…")

    how = {"no_header": True, "a": "1", "b": "2", "score": "3", "scale": [0.0, 5.0], "verbosity": 0}
    with growth("an imported pair with a score", Pair):
        call_command("import_pairs", asked.pairs, dataset="stsb", create=True, **how)
    dataset = Dataset.objects.get()
    with growth("a generated pair with its target similarity", Pair):
        generated_pairs_add(
            dataset=dataset,
            run_ref=1,
            rows=rows_written(dataset),
            split="train",
            method="made",
            parameters={},
        )
    with growth("p_D of a sentence", Sentence, rows=Sentence.objects.count()):
        score_set_publish(**realism(dataset, "sentences"), scores=(), sentence_scores=list(scored(dataset)))
    with growth("p_D of a pair", PairScore):
        numbers = Pair.objects.filter(origin="generated").values_list("pk", flat=True)
        score_set_publish(
            **realism(dataset, "pairs"), scores=[(number, 0.5, None, None) for number in numbers]
        )
    judge(Path(asked.pairs), asked.judged, how)


def judge(pairs: Path, count: int, how: dict) -> None:
    """A campaign of so many pairs, by twenty people."""
    few = Path(_database.HOME) / pairs.name
    few.write_text("".join(pairs.open(encoding="utf-8").readlines()[:count]), encoding="utf-8")
    call_command("import_pairs", str(few), dataset="judged", create=True, **how)
    dataset = Dataset.objects.get(slug="judged")
    users = simulated_users("simulated", 20)
    members_add(dataset=dataset, curators=[], annotators=users)
    with growth("a tuple of four pairs", Tuple):
        campaign = campaign_create(dataset=dataset, name="Judged", judgements_per_tuple=2)
        campaign_open(campaign=campaign, at=now())
    with growth("a judgement", Judgement):
        people = [(user, SimulatedAnnotator(noise=0.5)) for user in users]
        latent = values_of(ScoreSet.objects.get(dataset=dataset))
        campaign_judge(
            campaign=campaign, people=people, latent=latent, seed=1, start=now(), report=lambda *about: None
        )


@contextmanager
def growth(name: str, model: type, rows: int = 0) -> Iterator[None]:
    """Print what a row has cost. rows: how many came, where the model's own number does not say it."""
    before, had = sizes(), model.objects.count()
    yield
    after, came = sizes(), rows or model.objects.count() - had
    grown = {table: after[table] - before.get(table, 0) for table in after}
    largest = sorted(grown, key=grown.get, reverse=True)[:5]
    parts = ", ".join(f"{table} {grown[table] / came:,.0f}" for table in largest if grown[table] > 0)
    print(f"{name}: {sum(grown.values()) / came:,.0f} bytes ({came:,} rows; {parts})", flush=True)


def sizes() -> dict[str, int]:
    """Of each table, with its indexes."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM FULL")
        cursor.execute(SIZES)
        return {table: rows + indexes for table, rows, indexes in cursor.fetchall()}


def rows_written(dataset: Dataset) -> list[GeneratedRow]:
    """A partner for each first sentence: the second, with a word before it that makes it new."""
    pairs = Pair.objects.filter(dataset=dataset).select_related("a", "b")
    return [GeneratedRow(pair.a_id, f"Also {pair.b.text}", 0.5, "similar") for pair in pairs]


def scored(dataset: Dataset) -> Iterator[ScoredSentence]:
    rng = np.random.default_rng(1)
    for number in Sentence.objects.filter(dataset=dataset).order_by("pk").values_list("pk", flat=True):
        yield ScoredSentence(number, float(rng.random()), *rng.normal(size=2).tolist(), number % 5)


def realism(dataset: Dataset, name: str) -> dict:
    about = {"low": 0.0, "high": 1.0, "method": "made", "parameters": {}}
    return {"dataset": dataset, "name": f"p_D of {name}", "kind": "realism", **about}


if __name__ == "__main__":
    main()
