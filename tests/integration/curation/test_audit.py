"""The audit log: what is written with which change, what it keeps quiet, and who reads it."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from curation.datasets import services
from curation.datasets.splits import Drawing, splits_apply, splits_preview, splits_undo
from curation.exchange import importing
from curation.exchange.exporting import snapshot_create
from curation.exchange.importing import pairs_import
from curation.foundation.errors import UserError
from curation.models import AuditEntry, ImportBatch, Membership, PairChange
from curation.people import members as people
from curation.people.audit import AuditFilter, audit_details, audit_found, detail_shown, pair_history
from curation.review.disagreements import disagreement_resolve
from curation.review.queue import Queue
from curation.review.verdicts import review_decide, review_undo
from tests.factories import GeneratedPairFactory, MembershipFactory, PairFactory, run_score_set, token_of
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
FILE = "sentence1,sentence2,score,split\nRome fell.,A city fell.,4,train\nA dog runs.,A cat sleeps.,1,train\n"


@pytest.fixture
def written(tmp_path):
    def write(content: str, name: str = "news.csv"):
        path = tmp_path / name
        path.write_text(content)
        return path

    return write


def entries(dataset, **asked) -> list[AuditEntry]:
    return list(audit_found(dataset, AuditFilter(**asked)))


def told(dataset) -> list[tuple]:
    """Action, person and subject of every entry, the oldest first."""
    return [(entry.action, entry.by, entry.subject) for entry in reversed(entries(dataset))]


def decided(pair, by, verdict="keep", **more):
    reasons = ["logic"] if verdict == "reject" else []
    return review_decide(pair=pair, verdict=verdict, reasons=reasons, client_id=uuid4(), by=by, at=AT, **more)


# What is written


def test_changes_of_the_dataset_itself_are_written_down_and_what_changes_nothing_is_not(stranger) -> None:
    dataset = services.dataset_create(slug="news", name="News", by=stranger)
    services.dataset_change(dataset=dataset, by=stranger, name="Newer", licence="")
    services.dataset_change(dataset=dataset, by=stranger, name="Newer")
    services.dataset_archive(dataset=dataset, by=stranger)
    services.dataset_archive(dataset=dataset, by=stranger)
    services.dataset_restore(dataset=dataset)

    actions = [entry.action for entry in reversed(entries(dataset))]
    changed = entries(dataset, action="dataset_changed")[0]
    assert actions == ["dataset_created", "dataset_changed", "dataset_archived", "dataset_restored"]
    assert changed.details == {"settings": {"name": ["News", "Newer"]}}
    assert [entry.via for entry in entries(dataset)][:2] == ["command", "site"]


def test_members_and_invitations_are_written_down(dataset, owner, annotator, stranger) -> None:
    invitation, _token = people.invitation_create(
        dataset=dataset, role="curator", people=1, days=1, by=owner, at=AT, note="for the student"
    )
    people.invitation_accept(invitation=invitation, user=stranger, at=AT)
    people.invitation_revoke(invitation=invitation, at=AT, by=owner)
    membership = Membership.objects.get(dataset=dataset, user=annotator)
    people.member_set_role(membership=membership, role="curator", at=AT, by=owner)
    people.member_remove(membership=membership, at=AT + timedelta(hours=1), by=owner)
    people.member_restore(
        dataset=dataset, user=annotator, role="curator", removed_at=AT + timedelta(hours=1), by=owner
    )

    assert told(dataset) == [
        ("invitation_created", owner, "for the student"),
        ("member_joined", stranger, "stranger"),
        ("invitation_revoked", owner, "for the student"),
        ("member_changed", owner, "annotator"),
        ("member_removed", owner, "annotator"),
        ("member_restored", owner, "annotator"),
    ]
    assert entries(dataset, action="member_changed")[0].details == {"role": ["annotator", "curator"]}


def test_an_import_is_one_entry_with_its_counts_and_every_value_that_it_changed(
    dataset, written, curator
) -> None:
    pairs_import(dataset=dataset, path=written(FILE), by=curator)
    again = written(FILE.replace(",4,train", ",5,test"), "again.csv")
    pairs_import(dataset=dataset, path=again, by=curator)

    assert told(dataset) == [
        ("pairs_imported", curator, "news.csv"),
        ("pairs_imported", curator, "again.csv"),
    ]
    second, first = entries(dataset)
    assert ("added", "2") in audit_details(first)
    assert ("updated", "1") in audit_details(second)
    pair = dataset.pairs.get(split="test")
    assert [(line.what, line.before, line.after) for line in pair_history(pair)] == [
        ("score in “reference”", "4", "5"),
        ("split", "train", "test"),
    ]


def test_an_import_that_changes_nothing_or_fails_is_no_entry(dataset, written) -> None:
    def stop(done: int, total: int, message: str) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        pairs_import(dataset=dataset, path=written(FILE), report=stop)
    assert entries(dataset) == []

    pairs_import(dataset=dataset, path=written(FILE))
    pairs_import(dataset=dataset, path=written(FILE))

    assert len(entries(dataset)) == 1


def test_a_large_import_that_is_killed_is_written_down_with_what_it_had_added(
    dataset, written, monkeypatch
) -> None:
    monkeypatch.setattr(importing, "ONE_TRANSACTION_ROWS", 2)
    monkeypatch.setattr(importing, "CHUNK_ROWS", 2)
    rows = "".join(f"Sentence {n}.,Sentence {n + 1}.,1,train\n" for n in range(6))
    path = written("sentence1,sentence2,score,split\n" + rows)

    def stop(done: int, total: int, message: str) -> None:
        if done == 4:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        pairs_import(dataset=dataset, path=path, report=stop)

    entry = entries(dataset)[0]
    assert dataset.pairs.count() == 4
    assert (entry.batch.state, entry.batch.written["added"]) == ("failed", 4)
    assert ("added", "4") in audit_details(entry)


def test_an_upload_whose_import_goes_on_after_a_stop_is_one_entry(
    dataset, written, monkeypatch, curator
) -> None:
    monkeypatch.setattr(importing, "ONE_TRANSACTION_ROWS", 1)
    monkeypatch.setattr(importing, "CHUNK_ROWS", 1)
    batch = ImportBatch.objects.create(dataset=dataset, file_name="news.csv", created_by=curator)

    def stop(done: int, total: int, message: str) -> None:
        if done == 1:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        pairs_import(dataset=dataset, path=written(FILE), batch=batch, report=stop)
    pairs_import(dataset=dataset, path=written(FILE), batch=batch)

    assert told(dataset) == [("pairs_imported", curator, "news.csv")]
    assert dataset.pairs.count() == 2


def test_splits_snapshots_and_scores_are_written_down(dataset, curator) -> None:
    pairs = [PairFactory(dataset=dataset) for _ in range(4)]
    preview = splits_preview(dataset, Drawing({"train": 0.5, "test": 0.5}))
    change = splits_apply(dataset=dataset, drawing=preview.drawing, state=preview.state, by=curator)
    splits_undo(change=change, by=curator)
    snapshot_create(dataset=dataset, by=curator)
    services.score_set_publish(
        dataset=dataset, name="made", kind="model", low=0, high=1, method="m", parameters={}, by=curator,
        run_ref=9, scores=[(pair.pk, 0.5, None, None) for pair in pairs],
    )  # fmt: skip

    assert [(entry.action, entry.pairs, entry.subject) for entry in reversed(entries(dataset))] == [
        ("splits_drawn", 4, ""),
        ("splits_undone", 4, ""),
        ("snapshot_created", 4, "1"),
        ("scores_published", 4, "made"),
    ]
    assert entries(dataset, action="scores_published")[0].details == {"kind": "model", "run": 9}
    assert [(line.what, line.undone) for line in pair_history(pairs[0])] == [("split", True)]


def test_the_log_leads_to_a_snapshot_by_its_number(dataset, owner, client_of) -> None:
    PairFactory(dataset=dataset)
    snapshot_create(dataset=dataset, by=owner)

    page = squeezed(client_of(owner).get(f"/datasets/{dataset.slug}/log/").content.decode())

    assert f'created<a href="/datasets/{dataset.slug}/snapshots/1/">snapshot 1</a>' in page
    assert "created a snapshot<" not in page.partition("<tbody>")[2]


def test_a_change_that_is_refused_is_not_written_down(dataset, owner) -> None:
    services.dataset_archive(dataset=dataset, by=owner)
    dataset.refresh_from_db()

    with pytest.raises(UserError):
        services.dataset_change(dataset=dataset, name="Other", by=owner)

    assert told(dataset) == [("dataset_archived", owner, "")]


def test_a_command_has_no_person(written, dataset) -> None:
    call_command("import_pairs", str(written(FILE)), dataset="fresh", create=True)

    made = list(AuditEntry.objects.order_by("pk").values_list("action", "via", "by"))
    assert made == [("dataset_created", "command", None), ("pairs_imported", "command", None)]


def test_a_token_is_named_by_its_beginning(dataset, curator, client) -> None:
    pair = GeneratedPairFactory(dataset=dataset, p_d=0.2)
    token = token_of(curator)

    verdict = {"pair": pair.pk, "verdict": "keep", "client_id": str(uuid4())}
    client.post(
        f"/api/v1/datasets/{dataset.slug}/review/decisions/",
        verdict,
        headers={"Authorization": f"Token {token}"},
    )

    (entry,) = entries(dataset)
    assert (entry.by, entry.via, entry.token) == (curator, "token", token[:8])


# Reviews


def test_a_verdict_and_its_end_are_written_down_with_who_gave_it(dataset, curator) -> None:
    pair = GeneratedPairFactory(dataset=dataset, p_d=0.2)
    decision = decided(pair, curator, "reject")
    review_undo(decision=decision, by=curator, at=AT)
    review_undo(decision=decision, by=curator, at=AT)

    assert told(dataset) == [
        ("review_decided", curator, pair.external_id),
        ("review_undone", curator, pair.external_id),
    ]
    assert {entry.details["verdict"] for entry in entries(dataset)} == {"reject"}


@pytest.mark.parametrize("kept_quiet", [{"twice": True}, {"blind": True}])
def test_a_review_that_hides_who_decides_is_written_down_without_the_person_and_the_verdict(
    dataset, curator, owner, client_of, kept_quiet
) -> None:
    pair = GeneratedPairFactory(dataset=dataset, p_d=0.2)
    decision = decided(pair, curator, queue=Queue(run_score_set(dataset, "realism", "p_D"), **kept_quiet))
    review_undo(decision=decision, by=curator, at=AT)

    assert [(entry.by, entry.via, entry.token, entry.details) for entry in entries(dataset)] == [
        (None, "blind", "", {})
    ] * 2
    page = client_of(owner).get(f"/datasets/{dataset.slug}/log/").content.decode()
    file = b"".join(client_of(owner).get(f"/datasets/{dataset.slug}/log/log.csv").streaming_content).decode()
    for text in (page.split("<table")[1], file):
        assert "curator" not in text
        assert "keep" not in text


def test_a_second_opinion_changes_nothing_and_is_not_written_down(dataset, curator, owner) -> None:
    pair = GeneratedPairFactory(dataset=dataset, p_d=0.2)
    queue = Queue(run_score_set(dataset, "realism", "p_D"), twice=True)
    first = decided(pair, curator, queue=queue)
    second = decided(pair, owner, "reject", queue=queue)

    assert len(entries(dataset)) == 1
    disagreement_resolve(decision=first, follow=second, client_id=uuid4(), by=owner, at=AT)
    resolved = entries(dataset)[0]
    assert (resolved.action, resolved.by, resolved.details) == (
        "review_decided",
        owner,
        {"verdict": "reject"},
    )


# What stays


def test_nothing_changes_or_deletes_an_entry(dataset, owner) -> None:
    services.dataset_archive(dataset=dataset, by=owner)

    for change in (
        lambda: AuditEntry.objects.update(subject="another"),
        lambda: AuditEntry.objects.all().delete(),
        entries(dataset)[0].save,
        entries(dataset)[0].delete,
        lambda: PairChange.objects.update(after="another"),
    ):
        with pytest.raises(TypeError, match="never"):
            change()


def test_entries_outlive_the_account_and_the_upload(dataset, written, curator, owner, client_of) -> None:
    batch = ImportBatch.objects.create(dataset=dataset, file_name="news.csv", created_by=curator)
    pairs_import(dataset=dataset, path=written(FILE), batch=batch, by=curator)
    batch.delete()
    curator.delete()

    page = client_of(owner).get(f"/datasets/{dataset.slug}/log/").content.decode()

    assert "an account that was deleted" in page
    assert "news.csv" in page


# Who reads it


def test_the_page_filters_by_person_way_action_day_and_subject(dataset, owner, curator, client_of) -> None:
    services.dataset_archive(dataset=dataset, by=owner)
    services.dataset_restore(dataset=dataset, by=curator)
    first, second = (entry.pk for entry in reversed(entries(dataset)))
    AuditEntry._base_manager.filter(pk=first).update(at=AT, subject="=2+2")

    def found(query: str) -> list[int]:
        page = client_of(owner).get(f"/datasets/{dataset.slug}/log/?{query}")
        return [entry.pk for entry in page.context["page"]]

    assert found("") == [second, first]
    assert found(f"by={owner.pk}") == [first]
    assert found("action=dataset_restored") == [second]
    assert found("via=command") == []
    assert found("until=2026-03-02") == [first]
    assert found("since=2026-03-03") == [second]
    assert found("search=2%2B2") == [first]
    assert found("since=yesterday") == [second, first]


def test_the_file_has_what_the_filters_find_and_no_formula_by_choice(dataset, owner, client_of) -> None:
    services.dataset_archive(dataset=dataset, by=owner)
    services.dataset_restore(dataset=dataset, by=owner)
    AuditEntry._base_manager.filter(action="dataset_archived").update(subject="=2+2")
    address = f"/datasets/{dataset.slug}/log/log.csv?action=dataset_archived"

    plain, safe = (
        list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
        for answer in (client_of(owner).get(address), client_of(owner).get(f"{address}&spreadsheet=1"))
    )

    assert [(row["by"], row["action"], row["subject"]) for row in plain] == [
        ("owner", "dataset_archived", "=2+2")
    ]
    assert safe[0]["subject"] == "'=2+2"


def streamed(answer) -> str:
    return b"".join(answer.streaming_content).decode()


def test_a_file_of_the_log_is_json_lines_with_the_details(dataset, owner, annotator, client_of) -> None:
    people.member_set_role(
        membership=dataset.memberships.get(user=annotator), role="curator", at=AT, by=owner
    )

    answer = client_of(owner).get(f"/datasets/{dataset.slug}/log/log.jsonl?by={owner.pk}")

    (line,) = streamed(answer).splitlines()
    entry = json.loads(line)
    assert answer["Content-Disposition"] == f'attachment; filename="{dataset.slug}-log.jsonl"'
    assert (entry["dataset"], entry["by"], entry["action"]) == (dataset.slug, "owner", "member_changed")
    assert entry["details"] == {"role": ["annotator", "curator"]}


def test_a_download_is_an_entry_that_keeps_no_name_and_is_not_in_the_file(dataset, owner, client_of) -> None:
    services.dataset_archive(dataset=dataset, by=owner)
    query = f"by={owner.pk}&search=somebody&since=2026-01-01&action=dataset_archived"

    file = streamed(client_of(owner).get(f"/datasets/{dataset.slug}/log/log.csv?{query}"))
    again = streamed(client_of(owner).get(f"/datasets/{dataset.slug}/log/log.csv"))

    told = AuditEntry.objects.filter(action="log_exported").earliest("pk")
    assert told.by == owner
    assert told.details == {
        "format": "csv",
        "entries": {"action": "dataset_archived", "since": "2026-01-01"},
    }
    assert "log_exported" not in file
    assert again.count("log_exported") == 1


def test_staff_download_the_log_of_all_datasets_and_each_says_so(dataset, staff, owner, client_of) -> None:
    other = MembershipFactory(role="owner").dataset
    for each in (dataset, other):
        services.dataset_archive(dataset=each)

    page = client_of(staff).get("/log/").content.decode()
    file = streamed(client_of(staff).get("/log/log.jsonl"))

    assert dataset.name in page
    assert other.name in page
    assert [json.loads(line)["dataset"] for line in file.splitlines()] == [other.slug, dataset.slug]
    for each in (dataset, other):
        assert entries(each)[0].subject == "all datasets"
    assert client_of(owner).get("/log/").status_code == 403
    assert client_of(owner).get("/log/log.csv").status_code == 403


def test_programs_download_the_log(dataset, owner, curator, staff) -> None:
    services.dataset_archive(dataset=dataset, by=owner)

    def ask(user, path: str):
        return Client(HTTP_AUTHORIZATION=f"Token {token_of(user, 'read')}").get(f"/api/v1/{path}")

    mine = f"datasets/{dataset.slug}/log/log.jsonl"
    assert "dataset_archived" in streamed(ask(owner, f"{mine}?by=owner"))
    assert entries(dataset)[0].via == "token"
    assert ask(owner, f"{mine}?person=owner").status_code == 400
    assert ask(owner, f"datasets/{dataset.slug}/log/log.exe").status_code == 404
    assert ask(curator, mine).status_code == 403
    assert "dataset_archived" in streamed(ask(staff, "log/log.csv?spreadsheet=1"))
    assert ask(owner, "log/log.csv").status_code == 403


def test_a_pair_says_what_changed_it_and_who(dataset, written, curator, client_of) -> None:
    pairs_import(dataset=dataset, path=written(FILE), by=curator)
    pairs_import(dataset=dataset, path=written(FILE.replace(",1,train", ",1,dev"), "again.csv"), by=curator)
    pair = dataset.pairs.get(split="dev")

    page = squeezed(client_of(curator).get(f"/datasets/{dataset.slug}/pairs/{pair.pk}/").content.decode())

    assert "split: train → dev" in page
    assert "again.csv" in page


def test_the_page_asks_the_database_as_often_for_many_entries(dataset, owner, client_of) -> None:
    client = client_of(owner)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(f"/datasets/{dataset.slug}/log/")
        return len(captured)

    pair = PairFactory(dataset=dataset)
    made = {"dataset": dataset, "via": "site", "by": owner, "pair": pair, "action": "review_decided"}
    AuditEntry.objects.bulk_create(AuditEntry(**made) for _ in range(2))
    queries()
    few = queries()
    AuditEntry.objects.bulk_create(AuditEntry(**made) for _ in range(40))

    assert queries() == few


def test_an_empty_log_says_what_it_will_hold(dataset, owner, client_of) -> None:
    page = client_of(owner).get(f"/datasets/{dataset.slug}/log/").content.decode()

    assert "No entries yet." in page


def test_a_log_is_of_its_dataset_alone(dataset, owner) -> None:
    other = MembershipFactory(role="owner").dataset
    services.dataset_archive(dataset=other)

    assert entries(dataset) == []


def test_the_details_of_an_edit_name_its_pairs_in_words() -> None:
    bounded = {"source": "news", "score_set": 7, "low": 2.5}
    chosen = {"strategy": "score", "score_set": "gold", "edges": "0, 1", "cap": 1}

    assert detail_shown({"source": "news", "score_set": 7}) == "source news"
    assert detail_shown(bounded) == "source news, scores 7, low 2.5"
    assert detail_shown(chosen) == "strategy score, scores gold, bins 0, 1, most pairs of a sentence 1"
