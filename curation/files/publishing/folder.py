"""A published folder: tables by configuration and split, read from a snapshot in parts, with texts and manifest."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from curation.files.comparing import snapshot_leaks
from curation.files.drafts import FileError
from curation.files.heavy import pq
from curation.files.manifest import MANIFEST, manifest_names, write_manifest
from curation.files.publishing.facts import (
    UNASSIGNED,
    WHOLE,
    Configuration,
    Contents,
    Publication,
    Scores,
    Table,
)
from curation.files.publishing.metadata import citation, croissant
from curation.files.publishing.texts import STATEMENT, data_statement, methods_files, mteb_task, readme
from curation.files.tables import PAIR_COLUMNS, Column, Row, write_table
from curation.files.writing import sha256_of
from curation.pairs.leaks import Leak
from curation.pairs.naming import file_ids

SCHEMA_VERSION = 1
_ROWS_AT_ONCE = 20_000
_MAKERS = ("origin", "sentence1_origin", "sentence2_origin", "verdict")
SCORED_COLUMNS = (
    *PAIR_COLUMNS,
    *map(Column, _MAKERS),
    Column("score", "number"),
    Column("standard_error", "number"),
    Column("judgements", "integer"),
    *map(Column, ("method", "kind", "judged_by")),
)
UNSCORED_COLUMNS = (*PAIR_COLUMNS, *map(Column, _MAKERS))
OTHER_COLUMNS = (
    *map(Column, ("id", "score_set")),
    *(Column(name, "number") for name in ("score", "low", "high", "standard_error")),
    Column("judgements", "integer"),
    *map(Column, ("method", "kind", "judged_by")),
)
# The standard error and the number of judgements of a column's scores, by the pair's number, where they are known. It
# is asked with the scores: what was corrected since the snapshot was made says nothing of the snapshot's score.
Certainty = Callable[[Scores, Mapping[int, float]], Mapping[int, tuple[float | None, int | None]]]
_UNKNOWN = (None, None)


def published_ids(snapshot: Path) -> dict[int, str]:
    """The ids of a snapshot's pairs in a published folder, by their number."""
    table = pq.read_table(snapshot, columns=["pair", "source", "split", "id"])
    numbers, *parts = (table.column(name).to_pylist() for name in ("pair", "source", "split", "id"))
    return dict(zip(numbers, file_ids(zip(*parts, strict=True)), strict=True))


def split_names(splits: Iterable[str]) -> dict[str, str]:
    """What each split is called as a split of `datasets`, which takes letters, digits and underscores."""
    found = sorted(set(splits))
    if found == [""]:
        return {"": WHOLE}
    names: dict[str, str] = {}
    for split in found:
        name = re.sub(r"\W+", "_", split) or UNASSIGNED
        while name in names.values() or name == "all":  # `all` is every split at once
            name = f"{name}_"
        names[split] = name
    return names


def write_tables(
    folder: Path,
    publication: Publication,
    snapshot: Path,
    certainty: Certainty,
    *,
    more: Mapping[str, Table],
    ids: Mapping[int, str],
) -> Contents:
    """Write `data/<configuration>/<split>.parquet`. more: configurations beside those of the scores."""
    rows = _Snapshot(snapshot, publication, certainty, ids)
    # What each file says about itself: also by itself, it tells scores of people from those of programs.
    said = {
        "dataset": publication.slug,
        "snapshot": publication.snapshot,
        "sha256": publication.sha256,
        "licence": publication.licence,
        "software": publication.software,
        "scores": [asdict(scores) | {"judged_by": scores.judged_by} for scores in publication.scores],
    }
    about = {"semblance": json.dumps(said, ensure_ascii=False)}
    parts = {"scored": (SCORED_COLUMNS, rows.scored), "unscored": (UNSCORED_COLUMNS, rows.unscored)}
    made = []
    for name, (columns, read) in parts.items():
        files = {}
        for split, called in rows.splits(scored=name == "scored").items():
            path = f"data/{name}/{called}.parquet"
            files[called] = (path, _written(folder / path, columns, read(split), about))
        if files:
            made.append(Configuration(name, columns, files))
    tables = dict(more)
    if publication.others:
        tables = {"other_scores": Table(OTHER_COLUMNS, rows.others()), **tables}
    for name, table in tables.items():
        path = f"data/{name}/{WHOLE}.parquet"
        written = _written(folder / path, table.columns, table.rows, about)
        made.append(Configuration(name, table.columns, {WHOLE: (path, written)}))
    return Contents(
        made,
        rows.counted("origin"),
        rows.machine_sentences(),
        rows.counted("verdict").get("kept", 0),
        rows.leaks(),
    )


def _written(path: Path, columns: Sequence[Column], rows: Iterable[Row], about: Mapping[str, str]) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_table(path, "parquet", columns, rows, about=about)


class _Snapshot:
    """The rows of a snapshot as those of published tables."""

    def __init__(
        self, path: Path, publication: Publication, certainty: Certainty, ids: Mapping[int, str]
    ) -> None:
        self._path, self._publication, self._certainty, self._ids = path, publication, certainty, ids
        self._names = split_names(self.counted("split"))

    def counted(self, column: str) -> dict[str, int]:
        """How many pairs have each value of a column, "" for none."""
        values = pq.read_table(self._path, columns=[column]).column(0).to_pylist()
        return dict(Counter(value or "" for value in values))

    def leaks(self) -> list[Leak]:
        """What splits share, under the names that they have in the folder."""
        called = self._names
        return [
            replace(leak, split=called[leak.split], other=called[leak.other])
            for leak in snapshot_leaks(self._path)
        ]

    def machine_sentences(self) -> bool:
        found: set[str] = set()
        for column in ("sentence1_origin", "sentence2_origin"):
            found |= self.counted(column).keys()
        return bool(found - {"human", ""})

    def splits(self, *, scored: bool) -> dict[str, str]:
        """The splits that hold pairs with a score, or without one, each with what it is called."""
        table = pq.read_table(self._path, columns=["split", self._publication.main.column])
        pairs = zip(*(table.column(place).to_pylist() for place in (0, 1)), strict=True)
        there = {split or "" for split, value in pairs if (value is not None) == scored}
        return {split: called for split, called in self._names.items() if split in there}

    def scored(self, split: str) -> Iterator[Row]:
        main = self._publication.main
        for columns in self._parts(split, (main.column,)):
            scores = _present(columns["pair"], columns[main.column])
            known = self._certainty(main, scores)
            for facts, pair in zip(self._facts(columns), columns["pair"], strict=True):
                if pair in scores:
                    error, judgements = known.get(pair, _UNKNOWN)
                    yield (*facts, scores[pair], error, judgements, main.method, main.kind, main.judged_by)

    def unscored(self, split: str) -> Iterator[Row]:
        column = self._publication.main.column
        for columns in self._parts(split, (column,)):
            for facts, score in zip(self._facts(columns), columns[column], strict=True):
                if score is None:
                    yield facts

    def others(self) -> Iterator[Row]:
        for of in self._publication.others:
            for columns in self._parts(None, (of.column,)):
                scores = _present(columns["pair"], columns[of.column])
                known = self._certainty(of, scores)
                for pair, score in scores.items():
                    error, judgements = known.get(pair, _UNKNOWN)
                    how = (of.method, of.kind, of.judged_by)
                    yield (self._ids[pair], of.name, score, of.low, of.high, error, judgements, *how)

    def _facts(self, columns: Mapping[str, list[object]]) -> Iterator[Row]:
        names = [column.name for column in UNSCORED_COLUMNS[1:]]
        ids = (self._ids[pair] for pair in columns["pair"])  # type: ignore[index]
        return zip(ids, *(columns[name] for name in names), strict=True)

    def _parts(self, split: str | None, scores: Collection[str]) -> Iterator[dict[str, list[object]]]:
        """The columns of the pairs of a split, None for all, in parts."""
        wanted = ["pair", *(column.name for column in UNSCORED_COLUMNS[1:]), *scores]
        for batch in pq.ParquetFile(self._path).iter_batches(_ROWS_AT_ONCE, columns=wanted):
            columns = batch.to_pydict()
            if split is not None:
                kept = [(value or "") == split for value in columns["split"]]
                columns = {
                    name: [value for value, keep in zip(values, kept, strict=True) if keep]
                    for name, values in columns.items()
                }
            if columns["pair"]:
                yield columns


def _present(pairs: Sequence[object], values: Sequence[object]) -> dict[int, float]:
    return {pair: value for pair, value in zip(pairs, values, strict=True) if value is not None}  # type: ignore[misc]


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
