"""Every setting of training on the sections of a corpus. Needs neither torch nor Django."""

from dataclasses import dataclass

from mlworkers.plans.fields import (
    dataset_setting,
    device_setting,
    seed_setting,
    setting,
    warmup_setting,
)
from mlworkers.science.contexts.plan import OURS, corpus_setting
from mlworkers.science.encoders.contrastive.plan import ContrastPlan, Material, Objective, Pooler
from mlworkers.science.encoders.plan import base_model_setting

_SBERT = "Reimers & Gurevych 2019, section 4.4"


@dataclass(frozen=True)
class SectionsPlan:
    """Triplets of a corpus: a sentence, one of the same section, and one of another section of the same document."""

    dataset: str = dataset_setting()
    corpus: int = corpus_setting("The run “Index a corpus” whose text is used. Its documents have sections.")
    model: str = base_model_setting()
    headings: str = setting(
        "Headings begin with",
        "Words with which headings begin, separated by commas. A sentence of at most 12 words that begins "
        "with one of them, such as “Chapter II”, begins a section.",
        default="chapter, book, part, section, act, kapitel, teil, capítulo, chapitre",
        source=OURS,
    )
    section_sentences: int = setting(
        "Sentences of a section without headings",
        "Number of sentences in a section of a document without headings. A document with fewer than two "
        "headings is cut into parts of so many consecutive sentences.",
        default=200,
        bounds=(4, 100_000),
        unit="sentences",
        source=OURS,
        essential=True,
    )
    triplets: int = setting(
        "Training triplets",
        "Number of triplets from the documents that are learned from.",
        default=10_000,
        bounds=(4, 5_000_000),
        unit="triplets",
        source="Ours. Wikipedia sections has 1,800,000",
        essential=True,
    )
    test_triplets: int = setting(
        "Test triplets",
        "Number of triplets from the other documents.",
        default=2_000,
        bounds=(4, 1_000_000),
        unit="triplets",
        source="Ours. Wikipedia sections has 222,000",
    )
    # Documents are the unit of the split and of the resamples.
    test_share: float = setting(
        "Share of test documents",
        "This share of the documents is not learned from. Of a corpus with one document, its last sections are not.",
        default=0.2,
        bounds=(0.01, 0.9),
        source=OURS,
    )
    shortest: int = setting(
        "Fewest words of a sentence",
        "Fewest words of a sentence. Shorter ones are left out.",
        default=5,
        bounds=(1, 1000),
        source=OURS,
    )
    longest: int = setting(
        "Most words of a sentence",
        "Most words of a sentence. Longer ones are left out.",
        default=60,
        bounds=(1, 1000),
        source=OURS,
    )
    epochs: int = setting(
        "Epochs",
        "Number of times that each example is used.",
        default=1,
        bounds=(1, 100),
        source=_SBERT,
        essential=True,
    )
    batch_size: int = setting(
        "Batch size",
        "Number of examples in one training step.",
        default=16,
        bounds=(2, 4096),
        unit="triplets",
        source=_SBERT,
    )
    learning_rate: float = setting(
        "Learning rate", "Peak learning rate of AdamW.", default=2e-5, bounds=(1e-8, 0.1), source=_SBERT
    )
    # max(0, |a - p| - |a - n| + margin), in Euclidean distances and not in cosines.
    margin: float = setting(
        "Margin",
        "By how much more distant the sentence of another section must be.",
        default=1.0,
        bounds=(0.0, 1000.0),
        source="Reimers & Gurevych 2019, section 3",
    )
    warmup: float = warmup_setting(default=0.1, source=_SBERT)
    max_length: int = setting(
        "Longest input",
        "Longer sentences are cut off in training.",
        default=64,
        bounds=(4, 8192),
        unit="tokens",
        source=OURS,
    )
    resamples: int = setting(
        "Resamples",
        "Number of resamples for the intervals. They are of the test documents.",
        default=1000,
        bounds=(100, 100_000),
    )
    device: str = device_setting()
    seed: int = seed_setting()

    @property
    def heading_words(self) -> frozenset[str]:
        return frozenset(word.strip().casefold() for word in self.headings.split(",") if word.strip())

    @property
    def training(self) -> ContrastPlan:
        """The plan of the training: the triplet loss, and the pooler that the base model has."""
        return ContrastPlan(
            dataset=self.dataset,
            model=self.model,
            material=Material.TRIPLETS,
            objective=Objective.TRIPLET,
            pooler=Pooler.OWN,
            margin=self.margin,
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            warmup=self.warmup,
            max_length=self.max_length,
            device=self.device,
            seed=self.seed,
        )
