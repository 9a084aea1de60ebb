"""A dataset of small scenes with scores that people gave: what a labeller is trained on."""

from itertools import product

from curation.models import Dataset, PairScore
from tests.factories import DatasetFactory, PairFactory, ScoreSetFactory, SentenceFactory

WHO, DOES, WHERE = ("dog", "cat", "bird", "man"), ("runs", "sits", "sings"), ("grass", "mat", "tree")


def scored_scenes(*, slug: str = "scenes", source: str = "") -> Dataset:
    """Pairs of the same scene (score 5) and of two scenes (score 1): in train, dev and test, no sentence shared."""
    dataset = DatasetFactory(slug=slug, licence="CC0-1.0")
    gold = ScoreSetFactory(dataset=dataset, name="gold", low=0.0, high=5.0)
    for number, (who, does, where) in enumerate(product(WHO, DOES, WHERE)):
        split = ("train", "train", "dev", "test")[number % 4]
        other = WHO[(WHO.index(who) + 1) % len(WHO)]
        for text, partner, score in (
            (f"the {who} {does} on the {where}", f"a {who} {does} on a {where}", 5),
            (f"the {who} {does} in the {where}", f"a {other} is with a ball {number}", 1),
        ):
            a, b = (SentenceFactory(dataset=dataset, text=each) for each in (text, partner))
            pair = PairFactory(dataset=dataset, a=a, b=b, split=split, source=source)
            PairScore.objects.create(score_set=gold, pair=pair, value=score)
    return dataset
