"""Every setting of what is done with contexts. Needs neither torch nor Django."""

from dataclasses import dataclass
from typing import Any

from curation.files.documents import DocumentForm
from mlworkers.plans.fields import dataset_setting, setting

INDEXING = "index_corpus"  # the kind of run
OURS = "our choice; the paper does not say"


def corpus_setting(text: str, *, may_be_none: bool = False) -> Any:
    """Which corpus is used: the number of the run that made it, or 0 where there may be none."""
    told = {"refers_to": "run", "kinds": (INDEXING,)}
    if may_be_none:
        return setting("Corpus", text, default=0, bounds=(0, None), preselected=True, **told)
    return setting("Corpus", text, bounds=(1, None), **told)


def window_setting(label: str) -> Any:
    """How many sentences of a context are on one side."""
    return setting(
        label,
        "Most sentences of the context on this side. It has fewer at the end of its document.",
        default=2,
        # Two on each side and the sentence itself are five, the length of a chunk.
        bounds=(1, 20),
        unit="sentences",
        source=OURS,
    )


def steps_setting(*, default: int) -> Any:
    """Of a model that learns from a corpus."""
    return setting(
        "Steps",
        "Number of training steps.",
        default=default,
        bounds=(1, 1_000_000),
        source=OURS,
        essential=True,
    )


def places_setting(each: str) -> Any:
    """How many places a model learns from. each: the sentence that says what a place gives."""
    return setting(
        "Places",
        f"Number of places of the corpus that are drawn to train on. {each} 0 means all.",
        default=30_000,
        bounds=(0, 5_000_000),
        source=OURS,
        essential=True,
    )


def held_out_setting(use: str) -> Any:
    """use: the sentence that says what the held-out part is for."""
    return setting(
        "Held-out share",
        f"Share of the corpus that the model does not learn from. {use}",
        default=0.05,
        bounds=(0.001, 0.5),
        source=OURS,
    )


def evaluated_setting(*, default: int) -> Any:
    """Of the held-out places."""
    return setting(
        "Held-out places",
        "Most held-out places that are looked at.",
        default=default,
        bounds=(10, 100_000),
        source=OURS,
    )


def vocabulary_setting(*, default: int) -> Any:
    """Of a tokenizer that a model brings along."""
    return setting(
        "Vocabulary",
        "Most tokens of the tokenizer, which is learned.",
        default=default,
        bounds=(300, 65_536),
        unit="tokens",
        source=OURS,
    )


@dataclass(frozen=True)
class CorpusPlan:
    """Running text, divided into sentences and indexed by its bigrams."""

    dataset: str = dataset_setting()
    batch: int = setting(
        "Uploaded text",
        "The number of an upload of running text.",
        refers_to="batch",
        kinds=("corpus",),
        bounds=(1, None),
    )
    form: DocumentForm = setting(
        "Form of the text",
        "text: each file is one document, with empty lines between paragraphs. paragraphs: each paragraph "
        "is a document. sentences: one a line, with empty lines between documents. Files of JSONL have one "
        "document a line, whatever is chosen.",
        default=DocumentForm.TEXT,
        essential=True,
    )
    language: str = setting(
        "Language", "The language of the text, such as en or pt-BR.", default="en", essential=True
    )
    encoding: str = setting(
        "Encoding",
        "The encoding of all files, such as gbk, euc_jp or cp1251. Empty: that of each file is detected.",
        default="",
    )
    # A chunk is the unit of retrieval, and gives at most one context (section 3.3).
    chunk_sentences: int = setting(
        "Sentences of a chunk",
        "Number of consecutive sentences that the index finds at once.",
        default=5,
        bounds=(3, 100),
        unit="sentences",
        source=OURS,
    )
