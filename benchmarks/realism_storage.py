"""p_D of a million sentences into the database: ours against a loop that stores each score singly.

Measured is what the end of a scoring asks of the database: p_D, both logits and the fold of each sentence, and p_D of
each generated pair, checked and published as one score set. The classifier is left out; its logits are drawn. The
baseline stores the same rows one after the other and checks nothing.
"""

import itertools
import os
from collections.abc import Iterator
from time import process_time

import _installation  # noqa: F401  (importing it makes the installation)
import numpy as np
import pandas as pd
from _compare import Comparison, alternate, is_quick, peak_mb, print_comparison
from django.db import connection, transaction

from curation.datasets.services import ScoredSentence, score_set_publish
from curation.models import Dataset, PairScore, ScoreSet, SentenceScore

BASELINE = "a loop of create in one transaction, row by row, of a hundredth of the rows, times 100"
SMALLER = 100
SENTENCES = """
    INSERT INTO curation_sentence (id, dataset_id, text, key, language, origin)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %(rows)s)
    SELECT i, %(dataset)s, 'sentence ' || i, 'key ' || i, '', CASE i WHEN 1 THEN 'human' ELSE 'machine' END FROM n
"""
PAIRS = """
    INSERT INTO curation_pair
        (id, dataset_id, external_id, a_id, b_id, source, subset, split, origin, status, created_at)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %(rows)s)
    SELECT i, %(dataset)s, 'pair ' || i, 1, i, '', '', '', 'generated', 'active', CURRENT_TIMESTAMP FROM n
"""


def scored(count: int) -> pd.DataFrame:
    logits = np.random.default_rng(1).normal(size=(count, 2))
    p_d = 1 / (1 + np.exp(logits[:, 0] - logits[:, 1]))
    numbers = np.arange(1, count + 1)
    columns = {"sentence": numbers, "value": p_d, "logit_machine": logits[:, 0], "logit_human": logits[:, 1]}
    return pd.DataFrame({**columns, "fold": numbers % 5})


def sentence_scores(frame: pd.DataFrame) -> Iterator[ScoredSentence]:
    return map(ScoredSentence, *(frame[name].tolist() for name in frame.columns))


def main() -> None:
    count, rounds = (20_000, 1) if is_quick(__doc__) else (1_000_000, 1)
    dataset = Dataset.objects.create(slug="many", name="Many")
    with connection.cursor() as cursor:
        for statement in (SENTENCES, PAIRS):
            cursor.execute(statement, {"rows": count, "dataset": dataset.pk})
    frame, numbers, used = scored(count), itertools.count(1), list[float]()

    def ours() -> None:
        started = process_time()
        score_set_publish(
            dataset=dataset,
            name=f"p_D {next(numbers)}",
            kind="realism",
            low=0.0,
            high=1.0,
            method="human-likeness, cross-fitted",
            parameters={},
            scores=(
                (pair, p_d, None, None)
                for pair, p_d in zip(frame["sentence"].tolist(), frame["value"].tolist(), strict=True)
            ),
            sentence_scores=sentence_scores(frame),
        )
        used.append(process_time() - started)

    @transaction.atomic
    def theirs() -> None:
        score_set = ScoreSet.objects.create(
            dataset=dataset, name=f"p_D {next(numbers)}", kind="realism", low=0, high=1
        )
        for row in frame.head(count // SMALLER).itertuples(index=False):
            SentenceScore.objects.create(
                score_set=score_set,
                sentence_id=row.sentence,
                value=row.value,
                logit_machine=row.logit_machine,
                logit_human=row.logit_human,
                fold=row.fold,
            )
            PairScore.objects.create(score_set=score_set, pair_id=row.sentence, value=row.value)

    seconds, smaller_seconds = alternate(ours, theirs, rounds=rounds)
    baseline_seconds = SMALLER * smaller_seconds
    print_comparison(
        Comparison(
            name="realism_storage",
            figure=seconds,
            unit="s",
            baseline=BASELINE,
            baseline_figure=baseline_seconds,
            ratio=baseline_seconds / seconds,
            peak_mb=peak_mb(),
            cores=len(os.sched_getaffinity(0)),
            device="cpu",
            notes=f"{count} sentences and as many pairs, SQLite; {min(used):.1f} s of processor time",
        )
    )


if __name__ == "__main__":
    main()
