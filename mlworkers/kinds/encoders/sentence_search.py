"""The indexes of a dataset's sentences, and the sentences that a search in one found, with the pairs that have them."""

from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence
from mlworkers.models import Artifact, Run

KIND, SEARCH = "index_sentences", "search_sentences"
INDEX = "sentence_index"  # kind of artefact
PAIRS_SHOWN = 3  # of each sentence
SCORES_SHOWN = 3  # of each pair
INDEXES_OFFERED = 50
# Those that people gave come first.
_ORDER = (ScoreSet.Kind.HUMAN, ScoreSet.Kind.REFERENCE)


@dataclass(frozen=True)
class IndexRow:
    """An index. since: sentences that the dataset got after it was made, which it does not find."""

    run: Run
    artifact: Artifact
    since: int


class FoundPair(NamedTuple):
    """A pair that has a found sentence, with some of its scores. other: its other sentence."""

    pair: Pair
    other: Sentence
    scores: list[PairScore]


@dataclass
class FoundSentence:
    """A sentence, its cosine to the one that was typed, and some of the active pairs that have it. more: there are
    further pairs.
    """

    sentence: Sentence
    cosine: float
    pairs: list[FoundPair] = field(default_factory=list)
    more: bool = False


def indexes_of(dataset: Dataset) -> list[IndexRow]:
    """Those whose files are there, newest first. One query for all, and one that counts for the newest alone."""
    made = Artifact.objects.filter(run__dataset=dataset, run__kind=KIND, kind=INDEX, removed_at=None)
    rows = list(made.select_related("run").order_by("-run")[:INDEXES_OFFERED])
    if not rows:
        return []
    since = dataset.sentences.filter(pk__gt=rows[0].card["last"]).count()
    return [IndexRow(each.run, each, since if each is rows[0] else 0) for each in rows]


def sentences_found(run: Run) -> list[FoundSentence]:
    """What a search found, in its order; without sentences that the dataset no longer has."""
    if run.dataset is None:
        return []
    cosines: dict[int, float] = {
        int(number): float(value) for number, value in run.result.get("neighbours", [])
    }
    sentences = run.dataset.sentences.in_bulk(list(cosines))
    found = {
        number: FoundSentence(sentences[number], cosine)
        for number, cosine in cosines.items()
        if number in sentences
    }
    # The first active pairs of each sentence, one more than is shown, on either side.
    either: dict[int, Pair] = {}
    for side in ("a", "b"):
        of_side = run.dataset.pairs.filter(status=Pair.Status.ACTIVE, **{f"{side}__in": list(found)})
        numbered = of_side.annotate(place=Window(RowNumber(), partition_by=F(f"{side}_id"), order_by="pk"))
        first = numbered.filter(place__lte=PAIRS_SHOWN + 1).select_related("a", "b")
        either |= {pair.pk: pair for pair in first}
    pairs = [either[number] for number in sorted(either)]
    # Some scores of each pair, those of people first.
    rows = PairScore.objects.filter(pair__in=[pair.pk for pair in pairs]).select_related("score_set")
    scores: dict[int, list[PairScore]] = {}
    for row in sorted(rows, key=lambda row: (row.score_set.kind not in _ORDER, -row.score_set_id)):
        of_pair = scores.setdefault(row.pair_id, [])
        if len(of_pair) < SCORES_SHOWN:
            of_pair.append(row)
    for pair in pairs:
        for here, other in ((pair.a, pair.b), (pair.b, pair.a)):
            place = found.get(here.pk)
            if place is None or any(one.pair.pk == pair.pk for one in place.pairs):
                continue
            if len(place.pairs) == PAIRS_SHOWN:
                place.more = True
            else:
                place.pairs.append(FoundPair(pair, other, scores.get(pair.pk, [])))
    return list(found.values())
