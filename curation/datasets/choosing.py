"""Choosing among the pairs of a dataset by the strategies that draw from pairs: a preview, and the edit that follows.

What is chosen stays, or gets a split; both are edits of pairs, which the page “Edits” undoes.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.db import transaction
from django.utils.translation import gettext as _

from curation.datasets.composing import MOST_ON_A_PAGE, Preview, examples_of
from curation.datasets.edits import Edit, Sampled, edit_apply, edit_leaks
from curation.datasets.selectors import PairFilter, pairs_matching
from curation.datasets.splits import LeaksOfChange
from curation.foundation.errors import UserError, errors_shown
from curation.models import AuditEntry, Dataset, Pair, PairScore, ScoreSet, User
from curation.pairs.leaks import Leaks
from curation.pairs.sampling.drawing import SamplingError, Settings, Strategy, drawn_from_pairs
from curation.pairs.sampling.synonyms import Synonyms
from curation.pairs.word_tables import Reals
from curation.people.access import dataset_lock


@dataclass(frozen=True)
class Choice:
    """Which pairs are chosen: of the active ones of a source and a split, "" for any. score_set: of the strategy score.

    becomes: the split that the chosen pairs get; None sets the others aside.
    """

    settings: Settings
    source: str = ""
    split: str = ""
    score_set: ScoreSet | None = None
    synonyms: Synonyms | None = None
    becomes: str | None = None

    @property
    def among(self) -> PairFilter:
        return PairFilter(source=self.source, split=self.split, status=Pair.Status.ACTIVE)

    @property
    def how(self) -> dict[str, Any]:
        """How they are drawn, for the log."""
        settings = self.settings
        told: dict[str, Any] = {
            "strategy": settings.strategy.value,
            "seed": settings.seed,
            "count": settings.count,
            "cap": settings.cap,
            "shortest": settings.shortest,
            "longest": settings.longest,
            "score_set": self.score_set.name if self.score_set else "",
            "edges": ", ".join(f"{edge:g}" for edge in settings.edges),
        }
        if settings.strategy is Strategy.OVERLAP:
            told["window"] = settings.window.described
        if settings.strategy is Strategy.PERCENTILES:
            told |= {"buckets": settings.buckets, "growth": settings.growth, "idf": settings.idf}
        if self.synonyms:
            told["synonyms"] = self.synonyms.name
        return {name: value for name, value in told.items() if value != ""}


@dataclass(frozen=True)
class _Rows:
    numbers: Sequence[int]
    first: Sequence[str]
    second: Sequence[str]
    scores: Reals

    @property
    def state(self) -> str:
        digest = hashlib.sha256(repr(list(self.numbers)).encode())
        digest.update(self.scores.tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class ChoicePreview(Preview):
    """Pairs that were chosen and nothing changed yet. edit: what would be changed; None where no pair was found.

    leaks: what splits would share afterwards; None where no split is set, or the dataset is too large to count that.
    """

    edit: Edit | None = None
    leaks: LeaksOfChange | None = None


def choice_preview(dataset: Dataset, choice: Choice) -> ChoicePreview:
    """What `choice_apply` would choose. Raises UserError where the settings do not fit the pairs, or these are too many
    to wait for.
    """
    found = _chosen(dataset, choice)
    return replace(found, leaks=edit_leaks(dataset, found.edit)) if found.edit else found


@transaction.atomic
def choice_apply(
    *, dataset: Dataset, choice: Choice, state: str | None, by: User | None, leaks: Leaks = Leaks.REFUSE
) -> AuditEntry:
    """Choose, and set the others aside or give the chosen pairs their split; the entry is an edit of pairs.

    state: as the preview said it; None applies without one. Raises UserError where pairs or scores have changed since,
    or no pair is found, and LeaksError as `edit_apply` does.
    """
    dataset_lock(dataset)
    found = _chosen(dataset, choice)
    if state is not None and found.state != state:
        raise UserError(
            _("The pairs or their scores have changed since the preview. Look at the preview again.")
        )
    if found.edit is None:
        raise UserError(_("No pair fits the settings, so nothing was changed."))
    return edit_apply(dataset=dataset, edit=found.edit, by=by, leaks=leaks)


def _chosen(dataset: Dataset, choice: Choice) -> ChoicePreview:
    pairs = pairs_matching(dataset, choice.among).order_by("pk")
    found = list(pairs.values_list("pk", "a__text", "b__text")[: MOST_ON_A_PAGE + 1])
    if len(found) > MOST_ON_A_PAGE:
        sentence = _(
            "There are more than %(most)s pairs, which are too many for a request. Choose a source or a split, or "
            "export the pairs and use semblance sample_pairs --pairs on the server."
        )
        raise UserError(sentence, most=f"{MOST_ON_A_PAGE:,}")
    scores: dict[int, float] = {}
    if choice.score_set is not None:
        scored = PairScore.objects.filter(score_set=choice.score_set).order_by()
        scores = dict(scored.values_list("pair_id", "value").iterator(chunk_size=5_000))
        found = [row for row in found if row[0] in scores]  # without a score, a pair is in no bin
    numbers, first, second = zip(*found, strict=True) if found else ((), (), ())
    rows = _Rows(numbers, first, second, np.array([scores.get(number, np.nan) for number in numbers], float))

    with errors_shown(SamplingError):
        drawn = drawn_from_pairs(
            rows.first,
            rows.second,
            choice.settings,
            scores=rows.scores,
            synonyms=choice.synonyms.words if choice.synonyms else None,
        )
    places = [] if drawn.places is None else drawn.places.tolist()
    chosen = sorted(rows.numbers[place] for place in places)
    examples = examples_of(drawn, [*rows.first, *rows.second])
    aside = choice.becomes is None
    edit = Edit(
        field="status" if aside else "split",
        value=Pair.Status.RETIRED.value if choice.becomes is None else choice.becomes,
        filter=choice.among,
        sampled=Sampled(tuple(chosen), others=aside, how=choice.how),
    )
    return ChoicePreview(drawn, rows.state, examples, edit if chosen else None)
