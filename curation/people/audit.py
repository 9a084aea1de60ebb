"""The audit log of a dataset: every change by a person, a token or a command, and what became of one pair.

What is done to the site itself, such as draining a worker, is in the log of all datasets alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.foundation.log_lines import log_line_at_commit
from curation.models import AuditEntry, Dataset, ImportBatch, Pair, PairChange, SplitBefore, User

Action = AuditEntry.Action
Via = AuditEntry.Via
HISTORY_SHOWN = 50  # changes of one pair on its page
_SUBJECT_MAX_CHARACTERS = 255
DETAILS = {
    "role": gettext_lazy("role"),
    "people": gettext_lazy("people"),
    "settings": gettext_lazy("settings"),
    "sha256": gettext_lazy("SHA-256"),
    "added": gettext_lazy("added"),
    "updated": gettext_lazy("updated"),
    "unchanged": gettext_lazy("unchanged"),
    "rejected": gettext_lazy("rejected"),
    "kind": gettext_lazy("kind"),
    "campaign": gettext_lazy("campaign"),
    "annotator": gettext_lazy("annotator"),
    "reason": gettext_lazy("reason"),
    "judgements": gettext_lazy("judgements"),
    "tuple": gettext_lazy("tuple"),
    "version": gettext_lazy("version"),
    "run": gettext_lazy("run"),
    "verdict": gettext_lazy("verdict"),
    "set": gettext_lazy("set"),
    "filter": gettext_lazy("pairs"),
    "shares": gettext_lazy("shares"),
    "seed": gettext_lazy("seed"),
    "strategy": gettext_lazy("strategy"),
    "leaks": gettext_lazy("leaks"),
    # What an edit of many pairs chose them by.
    "score_set": gettext_lazy("scores"),
    "edges": gettext_lazy("bins"),
    "count": gettext_lazy("pairs asked for"),
    "cap": gettext_lazy("most pairs of a sentence"),
    "shortest": gettext_lazy("fewest words"),
    "longest": gettext_lazy("most words"),
    "window": gettext_lazy("words in common"),
    # Which entries of the log a file has.
    "format": gettext_lazy("format"),
    "entries": gettext_lazy("entries"),
    "action": gettext_lazy("what"),
    "via": gettext_lazy("how"),
    "since": gettext_lazy("from"),
    "until": gettext_lazy("to"),
}
COLUMNS = ("at", "by", "via", "token", "action", "subject", "pair", "pairs", "details", "dataset")


@dataclass(frozen=True)
class AuditFilter:
    """Which entries. "" and None take any.

    by: a person's number; since, until: days in the site's time, both included; search: in what the entry was about, or
    the id of its pair or the name of its annotator.
    """

    action: str = ""
    by: int | None = None
    via: str = ""
    search: str = ""
    since: date | None = None
    until: date | None = None


class HistoryLine(NamedTuple):
    """A change of one pair. entry: of the log; None for drawn splits. undone: whether drawn splits were undone."""

    at: datetime
    by: User | None
    entry: AuditEntry | None
    what: str
    before: str
    after: str
    undone: bool = False


def audit_record(
    *,
    dataset: Dataset | None,
    action: Action,
    by: User | None,
    subject: object = "",
    pair: Pair | None = None,
    pairs: int | None = None,
    batch: ImportBatch | None = None,
    undoes: AuditEntry | None = None,
    blind: bool = False,
    rule: bool = False,
    details: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Write down a change, in the transaction that makes it. Nothing else writes to the log.

    dataset: None for what is done to the site itself. by: None for a command. rule: whether nobody asked for the
    change, and a rule of the site made it. blind: whether nobody may learn who made the change: neither the person nor
    a token is kept then. details: by the names of DETAILS; those that are None or empty are left out.
    """
    token = by.token_used if by else ""
    via = Via.TOKEN if token else Via.SITE if by else Via.RULE if rule else Via.COMMAND
    log_line_at_commit(
        str(action),
        via=Via.BLIND if blind else via,
        user=None if blind or by is None else by.pk,
        dataset=dataset.slug if dataset else None,
        pairs=pairs,
    )
    return AuditEntry.objects.create(
        dataset=dataset,
        action=action,
        by=None if blind else by,
        via=Via.BLIND if blind else via,
        token="" if blind else token,
        subject=str(subject)[:_SUBJECT_MAX_CHARACTERS],
        pair=pair,
        pairs=pairs,
        batch=batch,
        undoes=undoes,
        details={name: value for name, value in (details or {}).items() if value not in (None, "", [], {})},
    )


def audit_person_rename(before: str, after: str) -> None:
    """Let the log call a person by another name: the one change of it, for who asks that their data be erased."""
    AuditEntry.objects.person_renamed(before, after)


def audit_found(dataset: Dataset | None, filter: AuditFilter) -> QuerySet[AuditEntry]:
    """The entries that a filter finds, the newest first; of all datasets where none is given."""
    entries = AuditEntry.objects.select_related("dataset", "by", "pair", "batch")
    if dataset:
        entries = entries.filter(dataset=dataset)
    given = {"action": filter.action, "by": filter.by, "via": filter.via}
    entries = entries.filter(**{name: value for name, value in given.items() if value})
    if filter.search:
        about = Q(subject__icontains=filter.search) | Q(details__annotator__icontains=filter.search)
        entries = entries.filter(about | Q(pair__external_id=filter.search))
    if filter.since:
        entries = entries.filter(at__date__gte=filter.since)
    if filter.until:
        entries = entries.filter(at__date__lte=filter.until)
    return entries


@transaction.atomic
def audit_export(
    *, dataset: Dataset | None, filter: AuditFilter, format: str, by: User
) -> QuerySet[AuditEntry]:
    """The entries for a file, which the log of each dataset that has some of them says.

    Whom and what the filter looks for is not written down: the log must not keep the name of somebody who is erased.
    """
    found = audit_found(dataset, filter)
    last = AuditEntry.objects.aggregate(last=Max("pk"))["last"] or 0
    told = {
        name: value.isoformat() if isinstance(value, date) else value
        for name in ("action", "via", "since", "until")
        if (value := getattr(filter, name))
    }
    of_all = _("all datasets") if dataset is None else ""
    datasets = Dataset.objects.filter(
        pk__in=found.exclude(dataset=None).order_by().values("dataset").distinct()
    )
    for each in [dataset] if dataset else datasets:
        details = {"format": format, "entries": told}
        audit_record(dataset=each, action=Action.LOG_EXPORTED, by=by, subject=of_all, details=details)
    return found.filter(pk__lte=last)


def audit_people(dataset: Dataset | None) -> list[User]:
    """Everybody who changed the dataset, or any, by name."""
    made = AuditEntry.objects.filter(by__isnull=False).order_by()
    if dataset:
        made = made.filter(dataset=dataset)
    return list(User.objects.filter(pk__in=made.values("by").distinct()).order_by("username"))


def hidden_before(pair: Pair) -> bool:
    """Whether a decision about the pair was made in a review that hides who decides."""
    return AuditEntry.objects.filter(pair=pair, via=Via.BLIND).exists()


def audit_counts(entry: AuditEntry) -> Mapping[str, int]:
    """What an import did so far: pairs that it added, updated and left as they are, and rows that it refused."""
    if entry.batch is None:
        return {}
    batch = entry.batch
    if batch.state != ImportBatch.State.DONE:
        return {name: batch.written.get(name, 0) for name in ("added", "updated")}
    counts = {name: getattr(batch, name) for name in ("added", "unchanged", "rejected")}
    return {**counts, "updated": batch.report.get("updated", 0)}


def audit_details(entry: AuditEntry) -> list[tuple[str, str]]:
    """The details of an entry, each with its label. Two values in a list are the one before and the one after."""
    details = {**entry.details, **{name: n for name, n in audit_counts(entry).items() if n}}
    return [(str(DETAILS.get(name, name)), detail_shown(value)) for name, value in details.items()]


def detail_shown(value: Any) -> str:
    if isinstance(value, Mapping):
        # A table of pairs always names the score set that it shows; it says which pairs only where scores are bounded.
        told = {
            name: each
            for name, each in value.items()
            if name != "score_set" or isinstance(each, str) or "low" in value or "high" in value
        }
        return ", ".join(f"{DETAILS.get(name, name)} {detail_shown(each)}" for name, each in told.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " → ".join(detail_shown(each) for each in value)
    return str(value) if value != "" else _("none")


def pair_history(pair: Pair, *, most: int = HISTORY_SHOWN) -> list[HistoryLine]:
    """The changes of a pair by imports, edits and drawn splits, the newest first, without reviews."""
    changes = (
        PairChange.objects.filter(pair=pair)
        .select_related("entry__by", "entry__batch")
        .order_by("-pk")[:most]
    )
    drawn = SplitBefore.objects.filter(pair=pair).select_related("change__created_by").order_by("-pk")[:most]
    lines = []
    for change in changes:
        entry = change.entry
        what = str(change.get_field_display())
        score_set = entry.batch and entry.batch.mapping.get("score_set")
        if change.field == PairChange.Field.SCORE and score_set:
            what = _("score in “%(set)s”") % {"set": score_set}
        lines.append(HistoryLine(entry.at, entry.by, entry, what, change.before, change.after))
    what = str(PairChange.Field.SPLIT.label)
    for row in drawn:
        of, undone = row.change, row.change.undone_at is not None
        lines.append(HistoryLine(of.created_at, of.created_by, None, what, row.split, row.given, undone))
    return sorted(lines, key=lambda line: line.at, reverse=True)[:most]


def audit_rows(entries: QuerySet[AuditEntry]) -> Iterator[list[object]]:
    """Entries as rows of a file with COLUMNS; details are one text."""
    for entry in entries.iterator(chunk_size=2_000):
        details = "; ".join(f"{name}: {value}" for name, value in audit_details(entry))
        pair = entry.pair.external_id if entry.pair else ""
        who = entry.by.username if entry.by else ""
        pairs = "" if entry.pairs is None else entry.pairs
        yield [
            entry.at.isoformat(),
            who,
            entry.via,
            entry.token,
            entry.action,
            entry.about,
            pair,
            pairs,
            details,
            entry.dataset.slug if entry.dataset else "",
        ]


def audit_objects(entries: QuerySet[AuditEntry]) -> Iterator[dict[str, Any]]:
    """Entries as objects with COLUMNS and id; details and counts of imports are objects, and nobody is null."""
    for entry in entries.iterator(chunk_size=2_000):
        yield {
            "id": entry.pk,
            "dataset": entry.dataset.slug if entry.dataset else None,
            "at": entry.at.isoformat(),
            "by": entry.by.username if entry.by else None,
            "via": entry.via,
            "token": entry.token,
            "action": entry.action,
            "subject": entry.about,
            "pair": entry.pair.external_id if entry.pair else None,
            "pairs": entry.pairs,
            "details": {**entry.details, **audit_counts(entry)},
        }
