"""The checksum that files are known by."""

import hashlib
from pathlib import Path


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, 64 hexadecimal digits; read in pieces, so that a file of any size will do."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
