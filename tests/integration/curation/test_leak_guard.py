"""The leak guard: own splits that would share sentences are refused, those of a file are told, and one may allow it."""

from pathlib import Path

import pytest
from django.core.management import call_command

from curation.datasets.edits import Edit, edit_apply, edit_preview, edit_undo
from curation.datasets.leak_guard import LeaksError
from curation.datasets.splits import Drawing, leaks_now, splits_apply, splits_preview
from curation.exchange.exporting import snapshot_create
from curation.exchange.importing import ImportOptions, pairs_import
from curation.exchange.snapshots import leaks_of_snapshot
from curation.foundation.command import Error
from curation.foundation.errors import UserError
from curation.models import AuditEntry, Pair, Snapshot
from curation.pairs.leaks import Leak, Leaks
from curation.people.audit import Action
from tests.factories import PairFactory, SentenceFactory
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def two_pairs(dataset):
    """Two pairs with one first sentence: “known” is in the split train of a file, “open” in none."""
    sentence = SentenceFactory(dataset=dataset, text="A boat sinks.")
    known = PairFactory(dataset=dataset, external_id="known", a=sentence, split="train")
    PairFactory(dataset=dataset, external_id="other", split="test")
    return known, PairFactory(dataset=dataset, external_id="open", a=sentence)


def set_split(pair: Pair, split: str, leaks: Leaks = Leaks.REFUSE) -> AuditEntry:
    return edit_apply(dataset=pair.dataset, edit=Edit("split", split, pairs=(pair.pk,)), by=None, leaks=leaks)


def written(folder: Path, *rows: str) -> Path:
    path = folder / "more.csv"
    path.write_text("\n".join(("sentence1,sentence2,split", *rows)))
    return path


# Edits


def test_an_edit_that_makes_splits_leak_is_refused_until_it_is_allowed(dataset, two_pairs) -> None:
    _known, open_pair = two_pairs

    with pytest.raises(
        LeaksError, match="1 of the 2 pairs of the split “test” share a sentence with “train”"
    ):
        set_split(open_pair, "test")
    open_pair.refresh_from_db()
    refused = open_pair.split
    entry = set_split(open_pair, "test", Leaks.ALLOW)

    assert refused == ""
    assert leaks_now(dataset) == [Leak("test", "train", 1, 2, own=1), Leak("train", "test", 1, 1, own=1)]
    assert entry.details["leaks"] == "allow"


def test_an_edit_that_adds_no_leak_to_those_of_a_file_needs_no_permission(dataset, two_pairs) -> None:
    _known, open_pair = two_pairs
    Pair.objects.filter(pk=open_pair.pk).update(split="test")  # as a file would say it
    alone = PairFactory(dataset=dataset)

    set_split(alone, "test")

    assert leaks_now(dataset)[0] == Leak("test", "train", 1, 3, own=0)


def test_a_pair_that_comes_back_with_a_split_set_here_is_guarded_too(dataset, two_pairs) -> None:
    _known, open_pair = two_pairs
    Pair.objects.filter(pk=open_pair.pk).update(status="retired")
    set_split(open_pair, "test")

    with pytest.raises(LeaksError):
        edit_apply(dataset=dataset, edit=Edit("status", "active", pairs=(open_pair.pk,)), by=None)


def test_a_split_that_was_undone_and_came_with_a_file_is_no_own_one(dataset, two_pairs) -> None:
    _known, open_pair = two_pairs
    edit_undo(entry=set_split(open_pair, "test", Leaks.ALLOW), by=None)
    Pair.objects.filter(pk=open_pair.pk).update(split="test")

    assert [leak.own for leak in leaks_now(dataset)] == [0, 0]


def test_an_edit_of_a_dataset_too_large_for_a_preview_is_counted_when_it_is_applied(
    dataset, two_pairs, curator, client_of, monkeypatch
) -> None:
    monkeypatch.setattr("curation.datasets.splits.MOST_ON_A_PAGE", 2)
    client, address = client_of(curator), f"/datasets/{dataset.slug}/edits/"
    sent = {"change": "split", "value": "test", "pair": [two_pairs[1].pk], "which": "selected"}
    sent["state"] = edit_preview(dataset, Edit("split", "test", pairs=(two_pairs[1].pk,))).state

    preview = squeezed(client.post(address, sent).content.decode())
    refused = squeezed(client.post(address, {**sent, "apply": "yes"}).content.decode())
    kept = dataset.pairs.get(external_id="open").split
    client.post(address, {**sent, "apply": "yes", "leaks": "allow"})

    assert "is counted when you apply the edit" in preview
    assert 'name="leaks"' not in preview
    assert "or allow these leaks" in refused
    assert '<input type="checkbox" name="leaks" value="allow" required>' in refused
    assert kept == ""
    assert dataset.pairs.get(external_id="open").split == "test"


def test_the_page_asks_for_the_permission_and_the_api_takes_it(
    dataset, two_pairs, curator, client_of
) -> None:
    client, address = client_of(curator), f"/datasets/{dataset.slug}/edits/"
    sent = {"change": "split", "value": "test", "pair": [two_pairs[1].pk], "which": "selected"}
    sent["state"] = edit_preview(dataset, Edit("split", "test", pairs=(two_pairs[1].pk,))).state
    asked = {"field": "split", "value": "test", "pairs": [two_pairs[1].pk]}
    by_api = f"/api/v1{address}"

    preview = squeezed(client.post(address, sent).content.decode())
    refused = squeezed(client.post(address, {**sent, "apply": "yes"}).content.decode())
    answers = [
        client.post(by_api, {**asked, **more}, content_type="application/json")
        for more in ({}, {"leaks": "perhaps"}, {"leaks": "allow"})
    ]

    assert '<input type="checkbox" name="leaks" value="allow" required>' in preview
    assert "or allow these leaks" in refused
    assert [answer.status_code for answer in answers] == [400, 400, 201]
    assert "leaks" in answers[1].json()


def test_the_box_of_the_page_allows_the_edit(dataset, two_pairs, curator, client_of) -> None:
    sent = {
        "change": "split",
        "value": "test",
        "pair": [two_pairs[1].pk],
        "which": "selected",
        "leaks": "allow",
    }
    sent["state"] = edit_preview(dataset, Edit("split", "test", pairs=(two_pairs[1].pk,))).state

    client_of(curator).post(f"/datasets/{dataset.slug}/edits/", {**sent, "apply": "yes"})

    assert dataset.pairs.get(external_id="open").split == "test"


# Drawn splits


def test_a_pair_that_joins_a_leak_of_a_file_must_be_allowed(dataset, curator, client_of) -> None:
    one, other = (SentenceFactory(dataset=dataset) for _ in range(2))
    PairFactory(dataset=dataset, a=one, split="train")
    PairFactory(dataset=dataset, b=other, split="test")
    PairFactory(dataset=dataset, external_id="between", a=one, b=other)
    drawing = Drawing({"train": 0.5, "test": 0.5})
    preview = splits_preview(dataset, drawing)
    form = {"train": 50, "dev": 0, "test": 50, "seed": 1234, "replace": "", "by_source": "on"}

    with pytest.raises(LeaksError):
        splits_apply(dataset=dataset, drawing=drawing, state=preview.state, by=None)
    page = client_of(curator).post(f"/datasets/{dataset.slug}/splits/", form).content.decode()
    splits_apply(dataset=dataset, drawing=drawing, state=preview.state, by=None, leaks=Leaks.ALLOW)

    assert sum(leak.own for leak in preview.leaks_added) > 0
    assert 'name="leaks" value="allow"' in " ".join(page.split())
    assert dataset.pairs.get(external_id="between").split


# Imports


@pytest.mark.parametrize("most", [300_000, 2])
def test_an_import_that_leaks_with_a_split_set_here_writes_nothing_until_it_is_allowed(
    dataset, two_pairs, tmp_path, monkeypatch, most
) -> None:
    monkeypatch.setattr("curation.exchange.import_leaks.MOST_ON_A_PAGE", most)
    known, open_pair = two_pairs
    Pair.objects.filter(pk=known.pk).update(split="")
    set_split(open_pair, "train")
    path = written(tmp_path, "A BOAT sinks!,It is gone.,test", "Rain falls.,It is wet.,test")

    with pytest.raises(
        LeaksError, match="1 of the 3 pairs of the split “test” share a sentence with “train”"
    ):
        pairs_import(dataset=dataset, path=path)
    after_refusal = dataset.pairs.count()
    pairs_import(dataset=dataset, path=path, options=ImportOptions(leaks=Leaks.ALLOW))

    assert (after_refusal, dataset.pairs.count()) == (3, 5)
    entry = AuditEntry.objects.get(dataset=dataset, action=Action.PAIRS_IMPORTED)
    assert entry.details["leaks"] == "allow"


def test_an_import_that_moves_a_pair_away_from_a_leak_is_let_in(dataset, two_pairs, tmp_path) -> None:
    known, open_pair = two_pairs
    set_split(open_pair, "test", Leaks.ALLOW)
    path = written(tmp_path, f"{open_pair.a.text},{open_pair.b.text},train")

    pairs_import(dataset=dataset, path=path)

    assert (dataset.pairs.get(external_id="open").split, known.split) == ("train", "train")
    assert leaks_now(dataset) == []


def test_what_a_published_file_shares_is_told_and_imported(dataset, tmp_path, capsys) -> None:
    path = written(tmp_path, "A boat sinks.,It is gone.,train", "A boat sinks.,It is wet.,test")

    call_command("import_pairs", str(path), "--dataset", dataset.slug, "--dry-run")
    told = capsys.readouterr().out
    outcome = pairs_import(dataset=dataset, path=path)

    assert "After the import: 1 of the 1 pairs of the split “test” share a sentence with “train”." in told
    assert outcome.added == 2


def test_the_command_says_what_counts_the_leaks_that_it_did_not_count(
    dataset, tmp_path, capsys, monkeypatch
) -> None:
    monkeypatch.setattr("curation.exchange.import_leaks.MOST_ON_A_PAGE", 1)
    path = written(tmp_path, "A boat sinks.,It is gone.,train", "A boat sinks.,It is wet.,test")

    call_command("import_pairs", str(path), "--dataset", dataset.slug, "--dry-run")

    assert f"count them with semblance split_pairs {dataset.slug}." in capsys.readouterr().out


def test_the_command_allows_leaks_by_name(dataset, two_pairs, tmp_path) -> None:
    known, open_pair = two_pairs
    Pair.objects.filter(pk=known.pk).update(split="")
    set_split(open_pair, "train")
    path = written(tmp_path, "A boat sinks.,It is gone.,test")
    given = ["import_pairs", str(path), "--dataset", dataset.slug]

    with pytest.raises(Error, match="or allow these leaks"):
        call_command(*given)
    call_command(*given, "--leaks", "allow")

    assert dataset.pairs.count() == 4


# Snapshots


def test_a_snapshot_whose_own_splits_leak_is_refused_and_leaves_no_file(dataset, two_pairs, home) -> None:
    set_split(two_pairs[1], "test", Leaks.ALLOW)

    with pytest.raises(LeaksError, match="share a sentence"):
        snapshot_create(dataset=dataset)
    files = list((home / "snapshots").rglob("*.parquet"))
    allowed = snapshot_create(dataset=dataset, leaks=Leaks.ALLOW)

    assert (files, allowed.number) == ([], 1)
    assert leaks_of_snapshot(allowed)[0] == Leak("test", "train", 1, 2, own=1)


def test_a_snapshot_knows_what_was_set_here_when_it_was_made(dataset, two_pairs) -> None:
    entry = set_split(two_pairs[1], "test", Leaks.ALLOW)
    made = snapshot_create(dataset=dataset, leaks=Leaks.ALLOW)
    edit_undo(entry=entry, by=None)

    assert leaks_of_snapshot(made)[0].own == 1
    assert snapshot_create(dataset=dataset).number == 2


def test_the_page_of_snapshots_asks_for_the_permission_and_the_api_takes_it(
    dataset, two_pairs, curator, client_of
) -> None:
    set_split(two_pairs[1], "test", Leaks.ALLOW)
    client, address = client_of(curator), f"/datasets/{dataset.slug}/snapshots/"
    form = {"source": "", "split": "", "origin": "", "generated_pairs": "all but rejected"}

    refused = squeezed(client.post(address, form).content.decode())
    client.post(address, {**form, "leaks": "allow"})
    answers = [
        client.post(f"/api/v1{address}", sent, content_type="application/json").status_code
        for sent in ({}, {"leaks": "allow"})
    ]

    assert '<input type="checkbox" name="leaks" value="allow" required>' in refused
    assert answers == [400, 201]
    assert Snapshot.objects.count() == 2


def test_a_preview_that_is_out_of_date_is_refused_before_leaks_are_counted(dataset, two_pairs) -> None:
    with pytest.raises(UserError, match="Look at the preview again"):
        edit_apply(dataset=dataset, edit=Edit("split", "test"), by=None, state="old")
