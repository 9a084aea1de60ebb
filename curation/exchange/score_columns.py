"""The columns of an exported file that hold scores: each value, and what a reader must know beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from curation.datasets.lineage import score_set_lineages
from curation.files.tables import Column, free_columns
from curation.models import PairScore, ScoreSet

# What a score's row says of it beside its value: campaigns give the first two, similarity from contexts the others.
_OF_A_SCORE = {
    "judgements": Column("judgements", "integer"),
    "standard_error": Column("standard_error", "number"),
    "contexts": Column("contexts", "integer"),
    "interval_low": Column("interval_low", "number"),
    "interval_high": Column("interval_high", "number"),
}
_ERROR = "standard_error"
_OF_CONTEXTS = ("contexts", "interval_low", "interval_high")


@dataclass(frozen=True)
class SetColumns:
    """Columns of one score set. fields: of the rows of its scores; stated: what is the same for all of them.

    start: the place of its first column among those of all sets.
    """

    score_set: ScoreSet
    columns: Sequence[Column]
    fields: Sequence[str]
    stated: Sequence[str]
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.columns)


def values_and_errors(sets: Sequence[ScoreSet]) -> list[SetColumns]:
    """A column for each score set, under its name, and one for the standard errors of a set that has any."""
    with_errors = _having(sets, _ERROR)
    found: list[SetColumns] = []
    for one in sets:
        fields = ["value", *([_ERROR] if one.pk in with_errors else [])]
        columns = [Column(one.name, "number"), *_under(one, [_OF_A_SCORE[field] for field in fields[1:]])]
        found.append(SetColumns(one, columns, fields, [], found[-1].end if found else 0))
    return found


def _having(sets: Sequence[ScoreSet], field: str) -> set[int]:
    """The numbers of those sets of which a score has the field."""
    rows = PairScore.objects.filter(score_set__in=sets, **{f"{field}__isnull": False})
    return set(rows.order_by().values_list("score_set", flat=True).distinct())


def _under(score_set: ScoreSet, details: Sequence[Column]) -> list[Column]:
    """Columns under the name of their set."""
    return [Column(f"{score_set.name}: {each.name}", each.kind) for each in details]


def values_explained(
    sets: Sequence[ScoreSet], *, named: bool, plain: bool, standard_errors: bool
) -> list[SetColumns]:
    """Columns of each score set: its value, its number of judgements and standard error, its number of contexts and
    its interval over them, its method, who judged.

    named: one set alone, whose columns have the names of a published folder (`score`, `judgements`); otherwise each
    begins with the set's name. plain: without judgements, contexts and method. Who judged is said of every score from
    judgements, so that no file passes scores of simulated annotators on as those of people.
    """
    found: list[SetColumns] = []
    by_contexts = set() if plain else _having(sets, "contexts")
    for one in sets:
        fields, stated = ["value"], {}
        by = one.judged_by
        if by and not plain:
            fields.append("judgements")
        if by and standard_errors:
            fields.append(_ERROR)
        if one.pk in by_contexts:
            fields += _OF_CONTEXTS
        if one.method and not plain:
            stated["method"] = one.method
        if by:
            stated["judged_by"] = by
        details = [*(_OF_A_SCORE[field] for field in fields[1:]), *map(Column, stated)]
        columns = [
            Column("score" if named else one.name, "number"),
            *(details if named else _under(one, details)),
        ]
        found.append(SetColumns(one, columns, fields, list(stated.values()), found[-1].end if found else 0))
    return found


def columns_of(sets: Sequence[SetColumns], taken: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of all sets beside others, under names that are free."""
    return free_columns((column for one in sets for column in one.columns), taken)


def scores_about(
    sets: Sequence[SetColumns], columns: Sequence[Column], *, people: bool
) -> dict[str, dict[str, Any]]:
    """What a file says of its score columns, by their names: the set, where its scores come from, and the column of
    their standard errors.
    """
    lineages = score_set_lineages([one.score_set for one in sets], people=people)
    about = {}
    for one in sets:
        told = dict(lineages[one.score_set.pk])
        if _ERROR in one.fields:
            told[_ERROR] = columns[one.start + one.fields.index(_ERROR)].name
        about[columns[one.start].name] = told
    return about


def score_cells(pks: Sequence[int], sets: Sequence[SetColumns]) -> dict[int, list[object]]:
    """For each pair, by ascending number, its cells in the columns of all sets; None where it has no score."""
    width = sets[-1].end if sets else 0
    cells: dict[int, list[object]] = {pk: [None] * width for pk in pks}
    if not sets:
        return cells
    of = {one.score_set.pk: one for one in sets}
    fields = list(dict.fromkeys(field for one in sets for field in one.fields))
    places = {one.score_set.pk: [fields.index(field) for field in one.fields] for one in sets}
    rows = PairScore.objects.filter(
        score_set__in=[one.score_set for one in sets], pair__gte=pks[0], pair__lte=pks[-1]
    )
    for pair, score_set, *found in rows.values_list("pair_id", "score_set_id", *fields).iterator():
        if pair in cells:
            one = of[score_set]
            own = [found[place] for place in places[score_set]]
            cells[pair][one.start : one.end] = [*own, *one.stated]
    return cells
