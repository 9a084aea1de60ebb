"""All files of a published folder."""

from collections.abc import Mapping
from pathlib import Path

from curation.files.drafts import FileError
from curation.files.manifest import MANIFEST, manifest_names, write_manifest
from curation.files.publishing.citation import citation
from curation.files.publishing.croissant import croissant
from curation.files.publishing.facts import Contents, Publication, Table
from curation.files.publishing.methods import methods_files
from curation.files.publishing.mteb_task import mteb_task
from curation.files.publishing.readme import readme
from curation.files.publishing.statement import FILE as STATEMENT
from curation.files.publishing.statement import data_statement
from curation.files.publishing.tables import Certainty, write_tables
from curation.files.writing import sha256_of

SCHEMA_VERSION = 1


def fill_folder(
    folder: Path,
    publication: Publication,
    snapshot: Path,
    certainty: Certainty,
    *,
    more: Mapping[str, Table],
    ids: Mapping[int, str],
) -> Contents:
    """Write tables, README, citation and manifest into an empty folder. The same facts give the same bytes."""
    contents = write_tables(folder, publication, snapshot, certainty, more=more, ids=ids)
    sums = {path.relative_to(folder).as_posix(): sha256_of(path) for path in folder.rglob("*.parquet")}
    texts = {
        **methods_files(publication),
        "README.md": readme(publication, contents),
        "CITATION.cff": citation(publication),
        STATEMENT: data_statement(publication, contents),
        "croissant.json": croissant(publication, contents, sums),
        "mteb_task.py": mteb_task(publication, contents.scored),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    about = {
        "schema_version": SCHEMA_VERSION,
        "dataset": publication.slug,
        "snapshot": publication.snapshot,
        "sha256": publication.sha256,
        "licence": publication.licence,
        "simulated_annotators": publication.simulated,
        "software": publication.software,
    }
    write_manifest(folder, about)
    return contents


def require_replaceable(folder: Path) -> None:
    """Raise FileError where a folder holds anything that its manifest does not list, such as a repository."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FileError(f"{folder} is a file; give the name of a folder.")
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    if not there:
        return
    others = there - {MANIFEST} - manifest_names(folder) if MANIFEST in there else there
    if others:
        raise FileError(
            f"{folder} holds {min(others)}, which Semblance did not publish, so it is not replaced; "
            f"choose another folder."
        )
