"""The pairs on which encoders are furthest from people, from the results that runs stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy

from curation.datasets.agreement import Difference, ListedPair, pairs_listed
from curation.models import Dataset, User
from curation.people.access import datasets_readable
from mlworkers.kinds.encoders.cross_validation import METHODS
from mlworkers.models import Run
from mlworkers.plans.kinds import KINDS

_COSINE = gettext_lazy("Cosine")
_PREDICTED = gettext_lazy("Score of the method")


@dataclass(frozen=True)
class Row:
    """A row of a comparison or a method of a cross-validation, by the name under which the result has it."""

    name: str
    label: str


@dataclass(frozen=True)
class Furthest:
    """Where one encoder is furthest from people, the largest difference of ranks first.

    rows: all of which the run says it, one of them `chosen`; one without a name where there is one encoder. `first` of
    a pair's scores is what people gave, on its own scale, in the set `scores`; `second` that of the encoder.
    """

    dataset: Dataset
    snapshot: int | None
    scores: str
    second_name: str
    rows: Sequence[Row]
    chosen: Row
    pairs: Sequence[ListedPair]
    averaged: bool  # over several seeds

    @property
    def several(self) -> bool:
        return len(self.rows) > 1


def furthest_of(run: Run, user: User, *, asked: str = "", proposed: str = "") -> Furthest | None:
    """None of other kinds of run, of results of earlier versions, of suites alone, and where the person may not read
    the dataset of the test. asked: the name of a row; proposed: the one shown where that names none. Pairs that are
    gone are left out.
    """
    stored = run.result.get("furthest")
    measured = KINDS[run.kind].measured if run.kind in KINDS else None
    if measured is None or not stored:
        return None
    slug = (
        run.plan.get(measured.dataset) or run.plan.get("dataset") or (run.dataset.slug if run.dataset else "")
    )
    dataset = datasets_readable(user).filter(slug=slug).first()
    if dataset is None:
        return None
    by_name: Mapping[str, Sequence[Any]] = stored if isinstance(stored, dict) else {"": stored}
    rows = [Row(name, str(METHODS.get(name, name))) for name in by_name]
    named = {row.name: row for row in rows}
    chosen = named.get(asked) or named.get(proposed) or rows[0]
    listed = pairs_listed([Difference(*each) for each in by_name[chosen.name]])
    return Furthest(
        dataset=dataset,
        snapshot=run.result.get(measured.snapshot),
        scores=run.plan.get(measured.scores, ""),
        second_name=str(_PREDICTED if measured.predicted else _COSINE),
        rows=rows,
        chosen=chosen,
        averaged=run.plan.get("seeds", 1) > 1,
        pairs=[one for one in listed if one.pair.dataset_id == dataset.pk],
    )
