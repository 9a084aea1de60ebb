"""What becomes of a file, or of rows, that cannot be imported: told in one sentence, kept, and recorded in the batch.

The same for files of pairs and of sentences.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from django.db import OperationalError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from curation.exchange.claiming import import_failed
from curation.files.drafts import FileError, Layout, RowError
from curation.files.identity import FileOrigin, TooManyRowsError
from curation.files.progress import Interrupted
from curation.files.rejected import rejected_writer
from curation.files.unpacking import TooLargeError
from curation.files.writing import as_text, replacing
from curation.foundation.errors import UserError, error_on_page
from curation.foundation.heartbeats import ClaimLost, connection_lost
from curation.models import ImportBatch

IMPORT_BROKE = gettext_lazy(
    "An unexpected error stopped the import; the log of the site describes it. Import the file again."
)


class Counts(Protocol):
    """What an import did, or would have done."""

    def count_in(self, batch: ImportBatch) -> None:
        """Put the figures into the batch, without storing it."""


class NothingImportedError(UserError):
    """No row of the file can be imported. The rejected rows are written to the file of errors all the same."""

    def __init__(self, sentence: str, /, *, outcome: Counts, **names: object) -> None:
        super().__init__(sentence, **names)
        self.outcome = outcome


def none_was_imported(name: str, first: RowError, rejected: int, outcome: Counts) -> NothingImportedError:
    """The error where all rows or none were to be imported. rejected: rows; first: the first of them."""
    sentence = ngettext(
        "%(rejected)s row of %(file)s cannot be imported, so none was: you asked for all rows or none. "
        "Line %(line)s: %(reason)s.",
        "%(rejected)s rows of %(file)s cannot be imported, so none was: you asked for all rows or none. "
        "The first is on line %(line)s: %(reason)s.",
        rejected,
    )
    facts = {"rejected": rejected, "line": first.line, "reason": first.reason}
    return NothingImportedError(sentence, outcome=outcome, file=name, **facts)


@contextmanager
def rejections_kept(
    path: Path | None, layout: Layout, origin: FileOrigin
) -> Iterator[Callable[[RowError], None]]:
    """Where rejected rows go: a CSV file with the columns of the imported one, or nowhere."""
    if path is None:
        yield lambda error: None
        return
    nothing: NothingImportedError | None = None
    with replacing(path) as file, as_text(file) as text:
        try:
            yield rejected_writer(text, layout, origin, more=_("There are more."))
        except NothingImportedError as error:
            nothing = error
    if nothing:
        raise nothing


@contextmanager
def failure_recorded(batch: ImportBatch) -> Iterator[None]:
    """Record an exception of the block as the failure of the import, and raise it again.

    Only sentences for people are recorded as they are. If the connection to the database is lost, nothing can be
    recorded: the import's heartbeat goes stale, and another attempt may claim it. An import without a stored batch was
    rolled back as a whole and leaves nothing.
    """
    try:
        yield
    except Exception as error:
        # A small import is not under way any more: it was rolled back, with a batch that it had made itself.
        if batch.pk and not connection_lost(error):
            if isinstance(error, NothingImportedError):
                error.outcome.count_in(batch)  # the file of errors lists the rows of this attempt
            is_said = isinstance(error, UserError | FileError | ClaimLost | Interrupted)
            import_failed(batch=batch, error=str(error if is_said else IMPORT_BROKE))
        raise


@contextmanager
def file_errors_shown() -> Iterator[None]:
    """Raise what a person can mend as a UserError, but that a file is too large: it may do for another caller."""
    try:
        yield
    except (TooManyRowsError, TooLargeError):
        raise
    except FileError as error:
        raise error_on_page(error) from error
    except OperationalError as error:
        cause = error.__cause__
        sqlite_full = getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        if not sqlite_full and getattr(cause, "sqlstate", "") != "53100":
            raise
        sentence = _("The disk of the database is full. Free some space and import the file again.")
        raise UserError(sentence) from error
