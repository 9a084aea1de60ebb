"""Every setting of an index of a dataset's sentences, and of a search in it."""

from dataclasses import dataclass

from mlworkers.plans.fields import dataset_setting, device_setting, setting

MOST_NEIGHBOURS = 100
NEIGHBOURS = 10


@dataclass(frozen=True)
class SentenceIndexPlan:
    """The vectors of all sentences of a dataset, by one encoder."""

    dataset: str = dataset_setting()
    model: str = setting(
        "Encoder",
        "The encoder whose cosines are the similarity. Give packaged:all-MiniLM-L6-v2, run:ID, a folder or "
        "a hub id.",
        refers_to="model",
        kinds=("encoder",),
    )
    # float16 has 11 significant bits: a relative error of 2^-11 at most. Codes of 8 bits are kept too.
    number_format: str = setting(
        "Numbers",
        "float16 takes half the disk space of float32, and rounds each number to about three digits.",
        default="float32",
        choices=("float32", "float16"),
    )
    shard_sentences: int = setting(
        "Sentences of a shard",
        "Number of sentences in one shard. Several workers can share the shards of a run.",
        default=5_000,
        bounds=(1, 100_000),
    )
    device: str = device_setting()


@dataclass(frozen=True)
class SentenceSearchPlan:
    """A sentence whose nearest ones somebody looks for."""

    sentence: str = setting("Sentence", "Any sentence.")
    index: int = setting(
        "Index",
        "The number of a run “Index sentences”.",
        refers_to="run",
        kinds=("index_sentences",),
        low=1,
    )
    most: int = setting(
        "Sentences shown", "How many sentences are found.", default=NEIGHBOURS, bounds=(1, MOST_NEIGHBOURS)
    )
