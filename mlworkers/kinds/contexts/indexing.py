"""Running text that was uploaded, as a corpus with its index: a folder that runs read contexts from."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.exchange.uploads import import_files, import_imported
from curation.files.documents import Document, read_documents
from curation.files.drafts import FileError
from curation.files.unpacking import unpacked
from curation.files.writing import folder_replacing
from curation.foundation.errors import UserError, errors_shown
from curation.models import Dataset, ImportBatch
from mlworkers.models import Run
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import artifact_path, content_of
from mlworkers.science.contexts.bigram_index import index_write
from mlworkers.science.contexts.corpus import Corpus, CorpusError, corpus_write
from mlworkers.science.contexts.plan import CorpusPlan

CORPUS = "corpus"  # kind of artefact


def index_corpus(plan: CorpusPlan, job: Job) -> Outcome:
    batch = ImportBatch.objects.filter(
        pk=plan.batch, dataset=job.dataset_of(plan.dataset), kind=ImportBatch.Kind.CORPUS
    ).first()
    if batch is None or not import_files(batch):
        sentence = _(
            "The upload number %(number)s is not a running text, or its files are gone; upload it again."
        )
        raise UserError(sentence, number=plan.batch)
    folder = job.folder / CORPUS
    with errors_shown(FileError, CorpusError), folder_replacing(folder) as beside:
        facts = corpus_write(_documents(plan, batch), beside, language=plan.language, report=job.report)
        index = index_write(Corpus(beside), beside, chunk_sentences=plan.chunk_sentences, report=job.report)
    result = {"file": batch.file_name, **asdict(facts), **index._asdict()}
    indexed = ngettext(
        "%(sentences)s sentences of one document indexed",
        "%(sentences)s sentences of %(documents)s documents indexed",
        facts.documents,
    )
    message = indexed % {"sentences": intcomma(facts.sentences), "documents": intcomma(facts.documents)}
    if facts.duplicates:
        told = ngettext(
            "; %(n)s duplicate document was left out",
            "; %(n)s duplicate documents were left out",
            facts.duplicates,
        )
        message += told % {"n": intcomma(facts.duplicates)}

    if facts.near_duplicates:
        told = ngettext(
            "; %(n)s pair of documents shares most of its sentences",
            "; %(n)s pairs of documents share most of their sentences",
            facts.near_duplicates,
        )
        message += told % {"n": intcomma(facts.near_duplicates)}

    def publish() -> dict[str, object]:
        import_imported(batch=batch, rows=facts.sentences + facts.left_out, added=facts.sentences)
        return {}

    return Outcome(message, result, [NewArtifact(CORPUS, folder, result)], publish=publish)


def corpus_named(number: int, dataset: Dataset) -> Path:
    """The folder of a corpus of the dataset. Raises UserError where there is none, or it is no longer what was made."""
    run = Run.objects.filter(pk=number, dataset=dataset, kind="index_corpus").first()
    made = run.artifacts.filter(kind=CORPUS, removed_at=None).first() if run else None
    if made is None:
        raise UserError(
            _("Run %(number)s has no corpus of this dataset; choose another corpus."), number=number
        )
    folder = artifact_path(made)
    if not folder.is_dir() or content_of(folder)[0] != made.sha256:
        raise UserError(
            _("The files of the corpus %(number)s are gone or were changed; index it again."), number=number
        )
    return folder


def _documents(plan: CorpusPlan, batch: ImportBatch) -> Iterator[Document]:
    """Of all files of the upload, in the order of their names."""
    for path in import_files(batch):
        with unpacked(path) as plain:
            yield from read_documents(
                plain, form=plan.form, language=plan.language, encoding=plan.encoding or None
            )
