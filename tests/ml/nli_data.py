"""A dataset before encoders are trained by contrast: premises with entailments and contradictions, paraphrases of them
in several subsets, and dev and test pairs with gold scores.
"""

from curation.models import Dataset, PairScore
from tests.factories import DatasetFactory, PairFactory, ScoreSetFactory, SentenceFactory
from tests.ml.encoder_data import DOES, WHO, scene


def nli_dataset(*, premises: int = 12, judged: int = 8, copies: int = 2, slug: str = "nli") -> Dataset:
    """Premises p0, p1 … each with a pair of every label; `copies` paraphrases of every sentence in the subset “tagged”,
    one in “round trip”; and as many dev and test pairs, whose sentences are in no other pair.
    """
    dataset = DatasetFactory(slug=slug, licence="CC0-1.0")
    told = {}
    for number in range(premises):
        who, does = WHO[number % len(WHO)], DOES[number % len(DOES)]
        texts = {
            "premise": f"a {who} {does} on the mat with ball {number}",
            "entailment": f"the {who} {does} {number}",
            "neutral": f"a {who} {does} in a tree {number}",
            "contradiction": f"the {who} is a man in grass {number}",
        }
        told |= {text: SentenceFactory(dataset=dataset, text=text) for text in texts.values()}
        for label in ("entailment", "neutral", "contradiction"):
            _pair(dataset, told[texts["premise"]], told[texts[label]], subset=label)
    for text, sentence in told.items():
        for copy in range(copies):
            _generated(dataset, sentence, f"on copy {copy} {text}", subset="tagged")
        _generated(dataset, sentence, f"so {text}", subset="round trip")
    for split in ("dev", "test"):
        gold = ScoreSetFactory(dataset=dataset, name=f"{split} gold", low=0.0, high=5.0)
        for number in range(judged):
            a, b = (
                SentenceFactory(dataset=dataset, text=f"{split} {scene(number + shift)} and {shift} {number}")
                for shift in (0, 1 + number % 4)
            )
            pair = PairFactory(dataset=dataset, split=split, a=a, b=b)
            PairScore.objects.create(score_set=gold, pair=pair, value=number % 6)
    return dataset


def _pair(dataset: Dataset, a, b, *, subset: str):
    return PairFactory(dataset=dataset, split="train", a=a, b=b, subset=subset)


def _generated(dataset: Dataset, a, text: str, *, subset: str):
    b = SentenceFactory(dataset=dataset, text=text, origin="machine")
    return PairFactory(dataset=dataset, split="train", a=a, b=b, subset=subset, origin="generated")
