"""Many questions to a language model: each pass once, those that read the same together, batches of like length."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from curation.files.progress import Report, silent
from mlworkers.science.contexts.gaps import Question, Row, Tokens
from mlworkers.science.contexts.kept_values import KeptValues
from mlworkers.science.contexts.language_model import ContextModel
from mlworkers.science.contexts.similarity import TERMS, Terms
from mlworkers.science.pretrained.compute import side_by_side

Keyed = tuple[bytes, Row]


class Questioner:
    """Asks one model. What was answered is not asked again.

    kept: answers of an earlier process that did the same and was killed; new ones are added. A pass is computed with
    the same others as if no process had been killed, so that its numbers are the same to the last bit: a batch of which
    one answer is missing is computed whole.
    """

    def __init__(self, model: ContextModel, kept: KeptValues | None = None) -> None:
        self._model, self._kept = model, kept
        self._answered: dict[bytes, tuple[float, float]] = {}

    def terms(self, questions: Sequence[Question], *, report: Report = silent) -> Terms:
        """The terms of Eq. 3 for n questions, (n, 4), in nats per token; those that the model cannot give are NaN.

        report counts passes.
        """
        rows = [[(self._model.key(row), row) for row in each] for each in self._model.rows(questions)]
        # By key: a pass that several questions need is asked once.
        self._answer({key: row for each in rows for key, row in each}, report)
        terms = np.full((len(questions), len(TERMS)), np.nan)  # (n, 4)
        for place, each in enumerate(rows):
            for key, row in each:
                for term, value in zip(row.terms, self._answered[key], strict=False):
                    terms[place, TERMS.index(term)] = value
        return terms

    def _answer(self, asked: dict[bytes, Row], report: Report) -> None:
        new = [(key, row) for key, row in asked.items() if key not in self._answered]
        batches = batches_of(new, tokens_per_batch=self._model.compute.tokens_per_batch)
        # Whole batches: padding and the order of sums change the last bits of what stands in the same batch.
        missing = [batch for batch in batches if not self._found(batch)]
        done = len(new) - sum(map(len, missing))

        def work(batch: list[Keyed]) -> NDArray[np.float64]:
            return self._model.values([row for _key, row in batch])

        # In the order of the batches, whichever ends first.
        answers = side_by_side(work, missing, workers=self._model.compute.workers)
        for batch, values in zip(missing, answers, strict=True):
            found = [
                (key, (float(one), float(other)))
                for (key, _row), (one, other) in zip(batch, values, strict=True)
            ]
            if self._kept is not None:
                self._kept.add(found)  # on the disk at once: a killed worker loses no answered batch
            self._answered.update(found)
            done += len(batch)
            report(done, len(new), "Scoring contexts")

    def _found(self, batch: Sequence[Keyed]) -> bool:
        """Take the answers of a batch from what is kept, if all are there."""
        kept = self._kept
        if kept is None or not all(key in kept for key, _row in batch):
            return False
        self._answered.update((key, kept[key]) for key, _row in batch)
        return True


def batches_of(rows: Sequence[Keyed], *, tokens_per_batch: int) -> list[list[Keyed]]:
    """Rows in batches within a budget of tokens, padding included: those that read the same follow on each other, and
    groups of like length too. What follows from the rows alone. A row that is longer than the budget has its own batch.
    """
    groups: dict[Tokens, list[Keyed]] = {}
    for key, row in rows:
        groups.setdefault(row.read, []).append((key, row))  # one encoder pass serves a group
    # By the longest decoder text of a group, then by its input: neighbours need little padding.
    ordered = sorted(
        groups.values(), key=lambda group: (max(row.decoded for _, row in group), len(group[0][1].read))
    )
    batches: list[list[Keyed]] = [[]]
    reads, read, decoded = set[Tokens](), 0, 0
    for key, row in (each for group in ordered for each in group):
        batch = batches[-1]
        # The cost with this row, padding included: inputs × longest input + rows × longest decoder text.
        wide, long = max(read, len(row.read)), max(decoded, row.decoded)
        cost = (len(reads) + (row.read not in reads)) * wide + (len(batch) + 1) * long
        if batch and cost > tokens_per_batch:
            batches.append(batch := [])
            reads, wide, long = set(), len(row.read), row.decoded  # a new batch: the sizes of this row alone
        batch.append((key, row))
        reads.add(row.read)
        read, decoded = wide, long
    return batches if batches[0] else []
