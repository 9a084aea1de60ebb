"""Splits of a dataset: what they share, drawing them, going back; on the page, by command, and over the API."""

import json

import numpy as np
import pytest
from django.core.management import call_command

from curation.datasets.splits import (
    Drawing,
    last_change,
    splits_apply,
    splits_now,
    splits_preview,
    splits_undo,
)
from curation.foundation.command import Error
from curation.foundation.errors import UserError
from curation.models import Pair, PairScore
from tests.factories import MembershipFactory, PairFactory, ScoreSetFactory, SentenceFactory
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
HALVES = {"train": 0.5, "test": 0.5}
FORM = {"train": 80, "dev": 10, "test": 10, "seed": 7, "replace": "yes", "by_source": "on"}


@pytest.fixture
def chain(dataset):
    """Twelve pairs in three sources; the first four share sentences in a row."""
    shared = [SentenceFactory(dataset=dataset) for _ in range(5)]
    pairs = [
        PairFactory(dataset=dataset, external_id=f"chain-{n}", a=shared[n], b=shared[n + 1], source="news")
        for n in range(4)
    ]
    pairs += [PairFactory(dataset=dataset, external_id=f"alone-{n}", source="forums") for n in range(8)]
    return pairs


@pytest.fixture
def scored(dataset, chain):
    """A score set from 0 to 5; pair n has the score .45 n."""
    scores = ScoreSetFactory(dataset=dataset)
    for number, pair in enumerate(chain):
        PairScore.objects.create(score_set=scores, pair=pair, value=0.45 * number)
    return scores


def applied(dataset, drawing, by=None):
    preview = splits_preview(dataset, drawing)
    return splits_apply(dataset=dataset, drawing=drawing, state=preview.state, by=by)


def splits_of(dataset) -> dict[str, str]:
    return dict(dataset.pairs.values_list("external_id", "split"))


def test_pairs_that_share_a_sentence_come_into_one_split(dataset, chain, curator) -> None:
    change = applied(dataset, Drawing(HALVES), by=curator)

    splits = splits_of(dataset)
    assert len({splits[f"chain-{n}"] for n in range(4)}) == 1
    assert sorted(splits.values()).count("train") in range(4, 9)
    assert splits_now(dataset).leaks == []
    assert (change.pairs, change.created_by) == (12, curator)


@pytest.mark.exhaustive
def test_the_preview_shows_how_the_scores_of_each_split_spread(
    dataset, chain, scored, curator, client_of
) -> None:
    preview = splits_preview(dataset, Drawing(HALVES), scored)
    page = client_of(curator).post(f"/datasets/{dataset.slug}/splits/", FORM).content.decode()
    answer = client_of(curator).get(f"/api/v1/datasets/{dataset.slug}/splits/").json()

    values = dict(scored.scores.values_list("pair__external_id", "value"))
    train = next(row for row in splits_preview(dataset, Drawing({"train": 1.0}), scored).splits.rows)
    assert train.counts == tuple(np.histogram(list(values.values()), bins=10, range=(0, 5))[0].tolist())
    assert sum(map(sum, (row.counts for row in preview.splits.rows))) == 12
    assert "Mean scores lie between" in page
    assert page.count("<figure") == 1
    assert (len(answer["edges"]), sum(answer["splits"][0]["counts"])) == (11, 12)


def test_without_scores_no_chart_is_drawn(dataset, chain, curator, client_of) -> None:
    page = client_of(curator).get(f"/datasets/{dataset.slug}/splits/").content.decode()

    assert "<figure" not in page


def test_the_same_pairs_and_seed_give_the_same_splits_and_another_seed_others(dataset, chain) -> None:
    one, again, other = (splits_preview(dataset, Drawing(HALVES, seed=seed)) for seed in (1, 1, 2))

    assert one.splits == again.splits
    applied(dataset, Drawing(HALVES, seed=1))
    first = splits_of(dataset)
    applied(dataset, Drawing(HALVES, seed=other.drawing.seed, replace=True))
    assert splits_of(dataset) != first
    applied(dataset, Drawing(HALVES, seed=1, replace=True))
    assert splits_of(dataset) == first


def test_a_split_that_a_pair_has_is_kept_and_its_neighbours_join_it(dataset, chain) -> None:
    Pair.objects.filter(external_id="chain-2").update(split="dev")

    applied(dataset, Drawing(HALVES))

    splits = splits_of(dataset)
    assert {splits[f"chain-{n}"] for n in range(4)} == {"dev"}
    assert {splits[f"alone-{n}"] for n in range(8)} == {"train", "test"}


def test_the_preview_changes_nothing_and_says_what_would_change(dataset, chain) -> None:
    preview = splits_preview(dataset, Drawing(HALVES))

    assert set(splits_of(dataset).values()) == {""}
    assert (preview.changed, preview.largest, preview.divided) == (12, 4, 12)


def test_near_copies_of_a_sentence_come_into_one_split_and_count_as_shared(dataset) -> None:
    for number, text in enumerate(("A dog runs.", "a dog runs", "A dog runs!")):
        sentence = SentenceFactory(dataset=dataset, text=text)
        PairFactory(
            dataset=dataset, external_id=f"copy-{number}", a=sentence, split="train" if number else "test"
        )

    leaks = splits_now(dataset).leaks
    applied(dataset, Drawing(HALVES, replace=True))

    assert [(leak.split, leak.pairs, leak.of) for leak in leaks] == [("test", 1, 1), ("train", 2, 2)]
    assert len(set(splits_of(dataset).values())) == 1


def test_pairs_that_are_not_active_do_not_leak_once_they_come_back(dataset, chain) -> None:
    Pair.objects.filter(external_id="chain-1").update(status="rejected")

    applied(dataset, Drawing(HALVES))
    Pair.objects.update(status="active")

    assert splits_now(dataset).leaks == []


def test_undo_gives_back_what_each_pair_had(dataset, chain, curator) -> None:
    Pair.objects.filter(external_id="alone-1").update(split="dev")
    before = splits_of(dataset)
    change = applied(dataset, Drawing(HALVES, replace=True))

    splits_undo(change=change, by=curator)

    assert splits_of(dataset) == before
    assert last_change(dataset) is None
    with pytest.raises(UserError, match="undone before"):
        splits_undo(change=change, by=curator)


def test_undo_does_not_overwrite_what_came_later(dataset, chain) -> None:
    change = applied(dataset, Drawing(HALVES))
    Pair.objects.filter(external_id="alone-1").update(split="held back")

    with pytest.raises(UserError, match="1 of the pairs have got another split"):
        splits_undo(change=change, by=None)
    assert splits_of(dataset)["alone-1"] == "held back"


def test_the_newest_splits_are_undone_first(dataset, chain) -> None:
    first = applied(dataset, Drawing(HALVES, seed=1))
    applied(dataset, Drawing(HALVES, seed=2, replace=True))

    with pytest.raises(UserError, match="Undo those first"):
        splits_undo(change=first, by=None)


def test_what_changed_after_the_preview_is_not_divided_unseen(dataset, chain) -> None:
    preview = splits_preview(dataset, Drawing(HALVES))
    PairFactory(dataset=dataset)

    with pytest.raises(UserError, match="Look at the preview again"):
        splits_apply(dataset=dataset, drawing=preview.drawing, state=preview.state, by=None)


def test_splits_that_change_places_do_not_clash_where_ids_repeat(dataset) -> None:
    """Two pairs called 1, in train and in test: swapping them must not have both in one split on the way."""
    for split in ("train", "test"):
        PairFactory(dataset=dataset, external_id="1", source="file", split=split)
    drawn = {
        seed: splits_preview(dataset, Drawing(HALVES, seed=seed, replace=True)).changed for seed in range(12)
    }
    swapping = next(seed for seed, changed in drawn.items() if changed == 2)

    applied(dataset, Drawing(HALVES, seed=swapping, replace=True))

    assert sorted(dataset.pairs.values_list("split", flat=True)) == ["test", "train"]


def test_an_id_that_would_name_two_pairs_is_an_error(dataset) -> None:
    for split in ("one", "two", "three"):
        PairFactory(dataset=dataset, external_id="7", source="file", split=split)

    with pytest.raises(UserError, match="such as “7”"):
        splits_preview(dataset, Drawing(HALVES, replace=True))


@pytest.mark.parametrize(
    "shares", [{}, {"train": 1.5}, {"train": 0.5}, {"": 1.0}, {"x" * 21: 1.0}, {"train": 1.2, "test": -0.2}]
)
def test_shares_that_make_no_splits_are_refused(shares) -> None:
    with pytest.raises(UserError):
        Drawing(shares)


def test_the_page_shows_a_preview_then_applies_it_and_undoes_it(dataset, chain, curator, client_of) -> None:
    client, address = client_of(curator), f"/datasets/{dataset.slug}/splits/"

    preview = client.post(address, FORM).content.decode()
    state = preview.split('name="state" value="')[1].split('"')[0]
    after = client.post(address, FORM | {"state": state, "apply": "yes"}, follow=True).content.decode()
    undone = client.post(f"{address}{last_change(dataset).pk}/undo/", follow=True).content.decode()

    assert "Preview: nothing has changed yet" in preview
    assert "12 pairs got another split." in after
    assert "No split shares a sentence with another." in after
    assert "The pairs have the splits back" in undone
    assert set(splits_of(dataset).values()) == {""}


def test_the_page_says_which_splits_share_sentences(dataset, chain, curator, client_of) -> None:
    Pair.objects.filter(external_id__in=["chain-0", "chain-2"]).update(split="train")
    Pair.objects.filter(external_id__in=["chain-1", "alone-0"]).update(split="test")

    page = squeezed(client_of(curator).get(f"/datasets/{dataset.slug}/splits/").content.decode())

    assert "1 of the 2 pairs of test (50 %) share a sentence with train." in page
    assert "2 of the 2 pairs of train (100 %) share a sentence with test." in page


@pytest.mark.parametrize("wrong", [{"train": 70}, {"train": "x"}, {"seed": ""}, {"dev": 120}])
def test_a_form_that_is_wrong_says_so_and_shows_no_preview(dataset, chain, curator, client_of, wrong) -> None:
    page = client_of(curator).post(f"/datasets/{dataset.slug}/splits/", FORM | wrong).content.decode()

    assert "Preview: nothing has changed yet" not in page
    assert "errorlist" in page
    assert page.count('id="preview"') == 1  # where the browser scrolls to


def test_who_only_reads_can_draw_nothing(dataset, chain, staff, client_of) -> None:
    client, address = client_of(staff), f"/datasets/{dataset.slug}/splits/"
    change = applied(dataset, Drawing(HALVES))

    assert "Draw splits" not in client.get(address).content.decode()
    assert client.post(address, FORM).status_code == 403
    assert client.post(f"{address}{change.pk}/undo/").status_code == 403


def test_a_change_of_another_dataset_cannot_be_undone_through_ones_own(
    dataset, chain, stranger, client_of
) -> None:
    change = applied(dataset, Drawing(HALVES))
    own = MembershipFactory(user=stranger, role="owner").dataset

    assert client_of(stranger).post(f"/datasets/{own.slug}/splits/{change.pk}/undo/").status_code == 404


def test_the_command_draws_splits_and_prints_what_they_hold(dataset, chain, capsys) -> None:
    call_command("split_pairs", dataset.slug, "--ratios", "train=.5,test=.5", "--dry-run", "--json")
    dry = json.loads(capsys.readouterr().out.splitlines()[-1])
    call_command("split_pairs", dataset.slug, "--ratios", "train=.5,test=.5", "--json")
    done = json.loads(capsys.readouterr().out.splitlines()[-1])

    assert (dry["changed"], done["changed"], done["leaks"]) == (12, 12, [])
    assert sum(done["splits"].values()) == 12
    assert set(splits_of(dataset).values()) == {"train", "test"}


@pytest.mark.parametrize("ratios", ["train", "train=.5", "train=x,test=.5"])
def test_ratios_that_make_no_sense_are_one_sentence(dataset, chain, ratios) -> None:
    with pytest.raises(Error):
        call_command("split_pairs", dataset.slug, "--ratios", ratios)


def test_a_page_too_large_to_be_drawn_names_the_command(
    dataset, chain, curator, client_of, monkeypatch
) -> None:
    monkeypatch.setattr("curation.datasets.splits.MOST_ON_A_PAGE", 11)

    page = client_of(curator).get(f"/datasets/{dataset.slug}/splits/").content.decode()

    assert f"semblance split_pairs {dataset.slug}" in page
