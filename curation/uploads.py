"""Uploads stay within bounds: a file that is too large, or that fills the disk, ends in a sentence on its form."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _


class BoundedUpload(TemporaryFileUploadHandler):
    """Receives a file into a temporary one, and lets go of it at the first byte over `UPLOAD_MAX_BYTES`.

    Django reads the form before any view runs, so the reason waits on the request for the form to say it.
    """

    received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        self.received += len(raw_data)
        if self.received > settings.UPLOAD_MAX_BYTES:
            sentence = _("The file is larger than %(most)s, which is the most this site takes; split it.")
            self._refuse(sentence % {"most": filesizeformat(settings.UPLOAD_MAX_BYTES)})
        with self._full_disk_refused():
            return super().receive_data_chunk(raw_data, start)

    def file_complete(self, file_size: int) -> "UploadedFile[Any] | None":
        with self._full_disk_refused():
            return super().file_complete(file_size)

    @contextmanager
    def _full_disk_refused(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            sentence = _("The file could not be kept: %(reason)s; free some space, then upload it again.")
            self._refuse(sentence % {"reason": error.strerror})

    def _refuse(self, sentence: str) -> NoReturn:
        self.request.upload_refusal = sentence  # type: ignore[union-attr]
        raise StopUpload(connection_reset=False)


def upload_refusal(request: HttpRequest) -> str:
    """Why the request's file was not received, as one sentence, or nothing."""
    return getattr(request, "upload_refusal", "")
