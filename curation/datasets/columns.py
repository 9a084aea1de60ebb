"""Columns that the pairs table can show beside the sentences, and what they hold of the pairs of a page."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from django.template.defaultfilters import floatformat
from django.utils.translation import gettext as _

from curation.models import Pair, PairScore, ScoreSet, SentenceScore
from curation.pairs.overlap import dice
from curation.pairs.segmenting import word_count

SCORES = "scores-"  # before the number of a score set
CONTEXTS, INTERVAL = (
    "contexts-",
    "interval-",
)  # likewise: how many contexts gave a score, and its interval over them
_OF_SETS = (SCORES, CONTEXTS, INTERVAL)
ALWAYS = "pair"  # the id and the sentences: what an address says that names no other column
WHOLE = "whole"  # no column: long sentences are not cut off after two lines
SHOWN_FIRST = ("source",)
_EMPTY = "–"
_OF_PAIRS: Mapping[str, Callable[[Pair], str]] = {
    "source": lambda pair: pair.source,
    "subset": lambda pair: pair.subset,
    "origin": lambda pair: pair.get_origin_display(),
    "status": lambda pair: pair.get_status_display(),
    "overlap": lambda pair: floatformat(dice(pair.a.text, pair.b.text), 2),
    "words": lambda pair: f"{word_count(pair.a.text)} · {word_count(pair.b.text)}",
}


class Column(NamedTuple):
    name: str
    label: str
    number: bool = False


class Cell(NamedTuple):
    column: Column
    text: str


def columns_offered(score_sets: Sequence[ScoreSet], *, shown: ScoreSet | None = None) -> list[Column]:
    """What an address can name. Every score set is one column, also one of single sentences, such as p_D; one whose
    scores are from contexts has two more. shown: the set that the table has anyway.
    """
    return [
        Column("source", _("Source and split")),
        Column("subset", _("Subset")),
        Column("origin", _("Origin")),
        Column("status", _("Status")),
        Column("overlap", _("Words in common (Dice)"), number=True),
        Column("words", _("Words of each sentence"), number=True),
        *(Column(f"{SCORES}{each.pk}", str(each), number=True) for each in score_sets if each != shown),
        *(
            Column(f"{name}{each.pk}", label % {"set": each}, number=True)
            for each in score_sets
            if "contexts_of_a_sentence" in each.parameters
            for name, label in ((CONTEXTS, _("Contexts, %(set)s")), (INTERVAL, _("95 %% interval, %(set)s")))
        ),
        Column(WHOLE, _("Long sentences in full")),
    ]


def cells_of(pairs: Sequence[Pair], columns: Sequence[Column]) -> list[list[Cell]]:
    """Of each pair a cell for each column, in at most two queries. Pairs with their sentences."""
    sets = {_of_set(column)[1] for column in columns if column.name.startswith(_OF_SETS)}
    of_pairs: dict[tuple[int, int], PairScore] = {}
    of_sentences: dict[tuple[int, int], float] = {}
    if sets:
        scores = PairScore.objects.filter(score_set__in=sets, pair__in=pairs)
        of_pairs = {(score.score_set_id, score.pair_id): score for score in scores}
        both = {number for pair in pairs for number in (pair.a_id, pair.b_id)}
        singles = SentenceScore.objects.filter(score_set__in=sets, sentence__in=both)
        of_sentences = {
            (s, sentence): value
            for s, sentence, value in singles.values_list("score_set", "sentence", "value")
        }

    def text(pair: Pair, column: Column) -> str:
        if not column.name.startswith(_OF_SETS):
            return _OF_PAIRS[column.name](pair) or _EMPTY
        part, number = _of_set(column)
        score = of_pairs.get((number, pair.pk))
        if part != SCORES:
            # How many contexts gave a score, or its interval over them.
            if score is None or (score.contexts if part == CONTEXTS else score.interval_low) is None:
                return _EMPTY
            if part == CONTEXTS:
                return str(score.contexts)
            low, high = (floatformat(end, 2) for end in (score.interval_low, score.interval_high))
            return _("%(low)s to %(high)s") % {"low": low, "high": high}
        two = [of_sentences.get((number, sentence)) for sentence in (pair.a_id, pair.b_id)]
        if any(value is not None for value in two):
            return " · ".join(_EMPTY if value is None else floatformat(value, 2) for value in two)
        return _EMPTY if score is None else floatformat(score.value, 3)

    return [[Cell(column, text(pair, column)) for column in columns] for pair in pairs]


def _of_set(column: Column) -> tuple[str, int]:
    """What the column says of a score set, and the set's number."""
    part, _dash, number = column.name.partition("-")
    return f"{part}-", int(number)
