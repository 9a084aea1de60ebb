"""Files that people send: only to addresses that take one, from people who may send it there, and within bounds.

A browser sends a file as a part of a form, a program as the body of its request.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any, NoReturn, TypeVar

from django.conf import settings
from django.core.exceptions import BadRequest
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler
from django.http import HttpRequest, UnreadablePostError
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError

View = TypeVar("View", bound=Callable[..., Any])
# What a form's other fields and the boundaries between them may add to the size of its file.
FORM_BYTES = 1024**2
UNNAMED = "file"  # the name of a file that has none, or none that a disk takes
_BLOCK_BYTES = 64 * 1024


def takes_file(allow: Callable[..., object]) -> Callable[[View], View]:
    """Mark a view whose form has a file. Every other address refuses files before they reach the disk.

    allow: is called with the request and the address's arguments before anything of the file is kept; it raises
    Http404 or PermissionDenied where the person may not send one.
    """

    def mark(view: View) -> View:
        view.allow_file = allow  # type: ignore[attr-defined]
        return view

    return mark


class BoundedUpload(TemporaryFileUploadHandler):
    """Receives a file into a temporary one, and lets go of it at the first byte over `UPLOAD_MAX_BYTES`.

    Django reads the form before any view runs, so the reason waits on the request for the form to say it.
    """

    received = 0

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        request = self.request
        match = getattr(request, "resolver_match", None)
        allow = getattr(match and match.func, "allow_file", None)
        if request is None or match is None or allow is None:
            raise BadRequest(_("This address does not accept files."))
        if not request.user.is_authenticated:
            # The rest of the request stays unread, and the login page answers it.
            raise StopUpload(connection_reset=True)
        allow(request, *match.args, **match.kwargs)
        # The size of the whole request, as the client gives it.
        if int(request.META.get("CONTENT_LENGTH") or 0) > settings.UPLOAD_MAX_BYTES + FORM_BYTES:
            self._refuse_size()
        super().new_file(*args, **kwargs)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        self.received += len(raw_data)
        if self.received > settings.UPLOAD_MAX_BYTES:
            self._refuse_size()
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
            why = _("The file could not be stored: %(reason)s. Free some space, then upload the file again.")
            self._refuse(why % {"reason": error.strerror})

    def _refuse_size(self) -> NoReturn:
        self._refuse(str(FileTooLargeError()))

    def _refuse(self, sentence: str) -> NoReturn:
        self.request.upload_refusal = sentence  # type: ignore[union-attr]
        raise StopUpload(connection_reset=False)


class FileTooLargeError(UserError):
    status = 413

    def __init__(self) -> None:
        sentence = _("The file is larger than %(most)s, the limit of this site. Split the file.")
        super().__init__(sentence, most=filesizeformat(settings.UPLOAD_MAX_BYTES))


class LengthMissingError(UserError):
    status = 411


class NoFormError(UserError):
    status = 415


class BodyFile(UploadedFile):  # type: ignore[type-arg]
    """The body of a request as an uploaded file. The code that keeps it reads it once, a block at a time.

    Raises UserError where the body is a form, is empty, is larger than `UPLOAD_MAX_BYTES` or has no known length.
    """

    def __init__(self, request: HttpRequest, name: str) -> None:
        length = request.META.get("CONTENT_LENGTH") or ""
        if (request.content_type or "").startswith("multipart/"):
            raise NoFormError(_("Send the file itself as the body of the request, not a form."))
        if not length.isdigit():
            raise LengthMissingError(_("The length of the file is missing. Send it as Content-Length."))
        if int(length) > settings.UPLOAD_MAX_BYTES:
            raise FileTooLargeError
        if not int(length):
            raise UserError(_("The file is empty. Send another file."))
        # A name that ends in a slash, or is dots alone, names no file; Django would refuse it as an attack.
        last = PurePosixPath(name.replace("\\", "/")).name
        super().__init__(name=last if last not in {"", "..", "."} else UNNAMED, size=int(length))
        self._request = request

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Raises UserError where the body ends before its length is reached."""
        left = self.size or 0
        try:
            while block := self._request.read(min(left, chunk_size or _BLOCK_BYTES)):
                left -= len(block)
                yield block
        except UnreadablePostError:
            pass  # the sender has hung up
        if left:
            raise UserError(_("The file did not arrive whole. Send it again."))


def upload_refusal(request: HttpRequest) -> str:
    """Why the request's file was not received, as one sentence, or nothing."""
    return getattr(request, "upload_refusal", "")
