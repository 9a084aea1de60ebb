"""Drawing the candidates that people rate, and storing their ratings."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import User
from mlworkers.models import CandidateRating, RatedCandidate, Run
from mlworkers.runs.candidates import candidates_read
from mlworkers.science.paraphrasing.ratings import sample_drawn


@transaction.atomic
def candidates_draw(*, run: Run, most: int) -> int:
    """Draw at most so many candidates of each setting, once. Returns how many there are. Raises UserError."""
    locked = Run.objects.select_for_update().get(pk=run.pk)
    if locked.state != Run.State.SUCCEEDED:
        raise UserError(_("Candidates can be drawn when the run has succeeded."))
    if locked.rated_candidates.exists():
        raise UserError(_("The candidates to rate were drawn already."))
    table = candidates_read(run, ["setting", "pair", "source_text", "text"]).to_pylist()
    of_setting: dict[str, list[int]] = defaultdict(list)
    texts: dict[int, Mapping[str, Any]] = {}
    for row in table:
        if row["pair"] is not None:
            of_setting[row["setting"]].append(row["pair"])
            texts.setdefault(row["pair"], row)
    drawn = sample_drawn(of_setting, most=most, seed=run.pk)
    RatedCandidate.objects.bulk_create(
        RatedCandidate(
            run=run,
            place=place,
            setting=setting,
            source=texts[number]["source_text"],
            text=texts[number]["text"],
        )
        for place, (setting, number) in enumerate(drawn)
    )
    return len(drawn)


@transaction.atomic
def rating_record(*, candidate: RatedCandidate, person: User, values: Mapping[str, int]) -> None:
    """Store how a person rated a candidate; sent twice, it is stored once, with the values of the last."""
    CandidateRating.objects.update_or_create(candidate=candidate, person=person, defaults=dict(values))


@transaction.atomic
def rating_undo(*, run: Run, person: User) -> bool:
    """Take back the person's newest rating. Returns whether there was one."""
    newest = (
        CandidateRating.objects.filter(candidate__run=run, person=person)
        .order_by("-created_at", "-pk")
        .first()
    )
    if newest is None:
        return False
    newest.delete()
    return True
