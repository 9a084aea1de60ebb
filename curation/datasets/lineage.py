"""Where scores come from: judgements of a campaign, a run, or the lines of imported files."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from curation.models import ImportBatch, PairScore, ScoreSet

_LINES = 2**32  # a file has fewer


class FileLine(NamedTuple):
    """The import that gave a score, and the line of its file."""

    batch: ImportBatch
    line: int


def imported_mark(batch_pk: int | None, line: int) -> int | None:
    """What a score keeps of the line that gave it: one number, so that a million scores cost one column."""
    return None if batch_pk is None else batch_pk * _LINES + line


def lines_of(scores: Iterable[PairScore]) -> dict[int, FileLine]:
    """The line behind each imported score, by the score's number; not of scores from before lines were kept."""
    marked = [(score.pk, divmod(score.imported, _LINES)) for score in scores if score.imported is not None]
    batches = ImportBatch.objects.select_related("created_by").in_bulk({batch for _pk, (batch, _l) in marked})
    return {pk: FileLine(batches[batch], line) for pk, (batch, line) in marked if batch in batches}


def lines_attach(scores: Sequence[Any]) -> None:
    """Give each score its `line`, the FileLine that gave it, or None."""
    lines = lines_of(scores)
    for score in scores:
        score.line = lines.get(score.pk)


def imports_into(score_sets: Iterable[ScoreSet]) -> dict[int, list[ImportBatch]]:
    """The imports that wrote scores into each set, the oldest first, by the set's number. One query."""
    named = {(each.dataset_id, each.name): each for each in score_sets}
    done = ImportBatch.objects.filter(
        kind=ImportBatch.Kind.PAIRS,
        state=ImportBatch.State.DONE,
        dataset__in={dataset for dataset, _name in named},
        report__score_set__in=[name for _dataset, name in named],
    )
    found: dict[int, list[ImportBatch]] = {each.pk: [] for each in named.values()}
    for batch in done.select_related("created_by").order_by("created_at", "pk"):
        score_set = named.get((batch.dataset_id, batch.report["score_set"]))
        if score_set is not None and wrote_scores(batch):
            found[score_set.pk].append(batch)
    return found


def score_set_lineages(score_sets: Sequence[ScoreSet], *, people: bool = True) -> dict[int, dict[str, Any]]:
    """What sets are and how their scores came about, for files and programs: campaign, run, or every imported file.

    people: with the names of those who imported, which a file for others leaves out.
    """
    imported = imports_into(score_sets)
    return {
        each.pk: {
            "score_set": each.name,
            "kind": each.kind,
            "low": each.low,
            "high": each.high,
            "method": each.method,
            "judged_by": each.judged_by,
            "campaign": each.campaign_ref,
            "run": each.run_ref,
            "files": [_file_lineage(batch, people=people) for batch in imported[each.pk]],
        }
        for each in score_sets
    }


def score_lineages(scores: Sequence[PairScore]) -> dict[str, dict[str, Any]]:
    """Where each score of a pair comes from, by the name of its set: judges, campaign, run, or the line of a file."""
    lines = lines_of(scores)
    return {
        score.score_set.name: {
            "judged_by": score.score_set.judged_by,
            "campaign": score.score_set.campaign_ref,
            "run": score.score_set.run_ref,
            "file": _file_lineage(found.batch, people=True) | {"line": found.line}
            if (found := lines.get(score.pk))
            else None,
        }
        for score in scores
    }


def _file_lineage(batch: ImportBatch, *, people: bool) -> dict[str, Any]:
    by = {"by": batch.created_by.username if batch.created_by else None} if people else {}
    facts = {"import": batch.pk, "file": batch.file_name, "sha256": batch.sha256}
    return facts | by | {"at": batch.created_at.isoformat()}


def wrote_scores(batch: ImportBatch) -> bool:
    """Whether the import gave any pair a score, or another one."""
    changes = batch.report.get("changes", {})
    return bool(batch.report.get("scores_added") or changes.get("score") or changes.get("score_added"))
