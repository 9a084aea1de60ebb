"""How many files of our own sentences are refused, with the right encoding named first or second.

    PYTHONPATH=. python docs/experiments/encodings.py

The files and their sentences are those of `tests/unit/curation/test_encodings.py`: 40 in each encoding and language, of
8 to 60 pairs. Those of Windows-1252 in languages of Western Europe must not be refused.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from curation.files.encoding import UnknownEncodingError, detect_encoding, encoding_label
from tests.unit.curation.test_encodings import OTHERS, files_of

FILES = 40


def likely(path: Path) -> tuple[str, ...]:
    """The encodings that are named where the file is refused; nothing where it is read."""
    try:
        detect_encoding(path)
    except UnknownEncodingError as error:
        return error.likely
    return ()


def main() -> None:
    for encoding, language in [*OTHERS, *(("cp1252", language) for language in ("fr", "de", "es", "pt"))]:
        with TemporaryDirectory() as folder:
            named = [likely(path) for path in files_of(Path(folder), language, encoding, number=FILES)]
        refused = sum(map(bool, named))
        first, among_two = (sum(encoding in each[:most] for each in named) for most in (1, 2))
        print(
            f"{encoding_label(encoding):13} {language}: {refused} of {FILES} refused; "
            f"the right one first {first}, first or second {among_two}"
        )


if __name__ == "__main__":
    main()
