"""Every setting of what is done with contexts. Needs neither torch nor Django."""

from dataclasses import dataclass

from curation.files.documents import DocumentForm
from mlworkers.plan_fields import dataset_setting, setting

OURS = "our choice; the paper does not say"


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
        "text: each file is one document, and an empty line ends a paragraph. paragraphs: each paragraph is a "
        "document. sentences: one sentence a line in order, and an empty line ends a document. Files of JSONL have one "
        "document a line, whatever is chosen.",
        default=DocumentForm.TEXT,
        essential=True,
    )
    language: str = setting(
        "Language", "The language of the text, such as en or pt-BR.", default="en", essential=True
    )
    chunk_sentences: int = setting(
        "Sentences of a chunk",
        "What the index finds at once: so many consecutive sentences.",
        default=5,
        bounds=(3, 100),
        unit="sentences",
        source=OURS,
    )
