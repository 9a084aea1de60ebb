"""A dataset before encoders are compared: generated pairs with intended scores and p_D, and pairs with gold scores."""

from collections.abc import Sequence
from itertools import permutations

from curation.datasets.edits import Edit, edit_apply
from curation.models import Dataset, Pair, PairScore, Sentence
from curation.pairs.leaks import Leaks
from tests.factories import (
    DatasetFactory,
    GeneratedPairFactory,
    PairFactory,
    ScoreSetFactory,
    SentenceFactory,
)

WHO = ("dog", "cat", "bird", "man", "woman", "child")
DOES = ("runs", "sits", "sings", "plays")
LEVELS = (0.1, 0.5, 0.9)


def scene(number: int) -> str:
    who, does = WHO[number % len(WHO)], DOES[number // len(WHO) % len(DOES)]
    return f"the {who} {does} on the grass {'in the tree ' * (number // 24)}".strip()


def dataset_with_pairs(*, generated: int = 24, tested: int = 12, slug: str = "scenes") -> Dataset:
    """Human sources s0, s1 … and their machine partners; tested pairs of other sentences with gold scores 0..5."""
    dataset = DatasetFactory(slug=slug, licence="CC0-1.0")
    for number in range(generated):
        source = SentenceFactory(dataset=dataset, text=f"{scene(number)} with a ball {number}")
        machine = SentenceFactory(
            dataset=dataset, text=f"a mat {scene(number + 5)} {number}", origin="machine"
        )
        GeneratedPairFactory(
            dataset=dataset,
            a=source,
            b=machine,
            intended=LEVELS[number % 3],
            p_d=0.05 + number / (generated + 2),
        )
    pairs = zip(range(tested), permutations(range(9), 2), strict=False)
    pairs_with_gold_add(
        dataset, [(f"a {scene(a)}", f"is {scene(b)}", number % 6) for number, (a, b) in pairs]
    )
    return dataset


def pairs_with_gold_add(dataset: Dataset, pairs: Sequence[tuple[str, str, float]]) -> None:
    """Pairs of the test split, with their scores in the set “gold”, 0..5."""
    gold = dataset.score_sets.filter(name="gold").first() or ScoreSetFactory(
        dataset=dataset, name="gold", low=0.0, high=5.0
    )
    for first, second, score in pairs:
        pair = PairFactory(
            dataset=dataset, split="test", a=_sentence(dataset, first), b=_sentence(dataset, second)
        )
        PairScore.objects.create(score_set=gold, pair=pair, value=score)


def split_set_here(pair: Pair) -> None:
    """The pair keeps its split, as one that a person set with Edit pairs."""
    split = pair.split
    Pair.objects.filter(pk=pair.pk).update(split="")
    edit = Edit("split", split, pairs=(pair.pk,))
    edit_apply(dataset=pair.dataset, edit=edit, by=None, leaks=Leaks.ALLOW)


def _sentence(dataset: Dataset, text: str) -> Sentence:
    return dataset.sentences.filter(text=text).first() or SentenceFactory(dataset=dataset, text=text)
