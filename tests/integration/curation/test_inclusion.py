"""Which generated pairs an export, a snapshot and the API include: all but rejected, kept only, human only."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command

from curation.datasets.inclusion import inclusion_choices, inclusion_counts, snapshot_inclusion
from curation.datasets.selectors import PairFilter, pairs_matching
from curation.exchange.dataset_card import dataset_card
from curation.exchange.exporting import ACTIVE, pairs_export, snapshot_create, snapshot_path
from curation.models import Pair, ReviewDecision, Snapshot
from curation.pairs.inclusion import Inclusion
from curation.review.verdicts import review_decide, review_undo
from tests.factories import GeneratedPairFactory, PairFactory, SentenceFactory

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def decide(curator):
    def decide(pair: Pair, verdict: str, **given) -> ReviewDecision:
        reasons = ["grammar"] if verdict == "reject" else []
        return review_decide(
            pair=pair, verdict=verdict, reasons=reasons, client_id=uuid4(), by=curator, at=AT, **given
        )

    return decide


@pytest.fixture
def pairs(dataset, decide) -> dict[str, Pair]:
    """A pair of each kind, by what became of it; `edit` is the pair that the edit made."""
    made = {"people": PairFactory(dataset=dataset), "sampled": PairFactory(dataset=dataset, origin="sampled")}
    made |= {name: GeneratedPairFactory(dataset=dataset) for name in ("waits", "keep", "reject", "edit")}
    decide(made["keep"], "keep")
    decide(made["reject"], "reject")
    made["edit"] = decide(made["edit"], "edit", text="A dog is running.").replacement
    return made


BY_CHOICE = [
    (Inclusion.ALL_BUT_REJECTED, ["people", "sampled", "waits", "keep", "edit"]),
    (Inclusion.KEPT, ["people", "sampled", "keep", "edit"]),
    (Inclusion.HUMAN, ["people", "sampled"]),
]
by_choice = pytest.mark.parametrize(("choice", "names"), BY_CHOICE)


@by_choice
def test_a_choice_includes_what_its_name_says(dataset, pairs, choice, names) -> None:
    chosen = pairs_matching(dataset, PairFilter(status="active", generated_pairs=choice))

    assert set(chosen) == {pairs[name] for name in names}
    assert inclusion_counts(dataset)[choice] == len(names)


def test_a_verdict_that_was_undone_keeps_nothing(dataset, pairs, curator) -> None:
    review_undo(decision=ReviewDecision.objects.get(pair=pairs["keep"]), by=curator, at=AT)

    assert inclusion_counts(dataset) == {
        Inclusion.ALL_BUT_REJECTED: 5,
        Inclusion.KEPT: 3,
        Inclusion.HUMAN: 2,
    }


def test_a_later_pair_with_a_sentence_that_was_kept_waits_for_its_own_verdict(dataset, pairs) -> None:
    later = GeneratedPairFactory(dataset=dataset, b=pairs["keep"].b)

    assert later not in pairs_matching(dataset, PairFilter(generated_pairs="kept only"))


def test_a_generated_pair_whose_sentence_a_person_had_written_is_no_pair_of_people(dataset) -> None:
    GeneratedPairFactory(dataset=dataset, b=SentenceFactory(dataset=dataset))

    assert list(inclusion_counts(dataset).values()) == [1, 0, 0]


def test_the_choices_show_how_many_pairs_each_gives(dataset, pairs) -> None:
    assert [label for _value, label in inclusion_choices(inclusion_counts(dataset))] == [
        "all but rejected: 5 pairs",
        "kept only: 4 pairs",
        "human only: 2 pairs",
    ]


@by_choice
def test_a_snapshot_holds_the_choice_and_says_so(dataset, pairs, choice, names) -> None:
    snapshot = snapshot_create(dataset=dataset, filter=PairFilter(status="active", generated_pairs=choice))

    table = pq.read_table(snapshot_path(snapshot))
    about = json.loads(table.schema.metadata[b"semblance"])
    assert set(table["pair"].to_pylist()) == {pairs[name].pk for name in names}
    assert about["filter"] == {"status": "active", "generated_pairs": choice.value}
    assert snapshot_inclusion(Snapshot.objects.get(pk=snapshot.pk)) == choice


def test_the_digest_changes_with_the_choice_even_where_the_pairs_are_the_same(dataset) -> None:
    PairFactory(dataset=dataset)

    digests = {
        snapshot_create(dataset=dataset, filter=PairFilter(status="active", generated_pairs=choice)).sha256
        for choice in Inclusion
    }

    assert len(digests) == 3


def test_a_snapshot_from_before_the_choice_meant_all_but_rejected(dataset) -> None:
    old = Snapshot(dataset=dataset, number=1, filter={"status": "active"}, rows=4)

    assert snapshot_inclusion(old) == Inclusion.ALL_BUT_REJECTED
    assert ACTIVE.generated_pairs == Inclusion.ALL_BUT_REJECTED


@by_choice
def test_an_export_holds_the_choice_and_its_card_counts_what_nobody_reviewed(
    dataset, pairs, tmp_path, choice, names
) -> None:
    outcome = pairs_export(dataset=dataset, path=tmp_path / "out.csv", format="csv", generated_pairs=choice)

    card = dataset_card(dataset, outcome)
    generated = set(names) & {"waits", "keep", "edit"}
    assert outcome.rows == len(names)
    assert f"Generated pairs included: {choice.value}." in card
    assert "* pairs that people made: 2" in card
    assert f"* generated pairs that a curator kept or edited: {len(generated - {'waits'})}" in card
    assert f"* generated pairs without a decision: {len(generated & {'waits'})}" in card
    assert "* Licence: not stated; ask whoever holds the data" in card


def test_the_command_exports_the_choice_and_warns_of_what_nobody_reviewed(
    dataset, pairs, tmp_path, capsys
) -> None:
    def exported(*more: str) -> str:
        call_command(
            "export_dataset", dataset.slug, "--format", "csv", "--out", str(tmp_path / "o.csv"), *more
        )
        return capsys.readouterr().out

    assert "5 pairs" in (every := exported())
    assert "1 of them is a generated pair that nobody has reviewed." in every
    assert "4 pairs" in (kept := exported("--generated-pairs", "kept only"))
    assert "reviewed" not in kept


def test_the_pages_of_export_and_snapshots_choose_nothing_where_the_answers_differ(
    dataset, pairs, curator, client_of
) -> None:
    for name in ("export", "snapshots"):
        page = client_of(curator).get(f"/datasets/{dataset.slug}/{name}/").content.decode()
        assert "kept only: 4 pairs" in page
        assert "checked" not in page


def test_the_pages_choose_for_a_dataset_without_generated_pairs(dataset, curator, client_of) -> None:
    PairFactory(dataset=dataset)

    page = client_of(curator).get(f"/datasets/{dataset.slug}/export/").content.decode()

    assert page.count("checked") == 1


def test_a_snapshot_without_a_choice_is_refused_on_the_page(dataset, pairs, curator, client_of) -> None:
    client, address = client_of(curator), f"/datasets/{dataset.slug}/snapshots/"

    refused = client.post(address, {"split": ""}).content.decode()
    taken = client.post(address, {"generated_pairs": "kept only"}, follow=True).content.decode()

    assert "Choose which generated pairs are included." in refused
    assert "generated pairs: kept only" in taken
    assert Snapshot.objects.get().rows == 4


def test_the_api_lists_the_pairs_of_a_choice(dataset, pairs, curator, client_of) -> None:
    address = f"/api/v1/datasets/{dataset.slug}/pairs/"

    kept = client_of(curator).get(address, {"generated_pairs": "human only"}).json()
    wrong = client_of(curator).get(address, {"generated_pairs": "some"})

    assert kept["count"] == 2
    assert wrong.status_code == 400


def test_a_card_without_generated_pairs_does_not_explain_the_choice(dataset, tmp_path) -> None:
    PairFactory.create_batch(3, dataset=dataset)

    card = dataset_card(dataset, pairs_export(dataset=dataset, path=tmp_path / "out.csv", format="csv"))

    assert "No pair is recorded as generated by a model: all 3 were imported or sampled." in card
    assert "Generated pairs included" not in card
