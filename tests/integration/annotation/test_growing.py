"""Pairs that join a running campaign by bridge tuples."""

import json
import re

import numpy as np
import pytest
from django.core.management import call_command

from annotation.campaigns import growing
from annotation.campaigns.adapting import adaptive_phase, adaptive_spend, block_make
from annotation.campaigns.growing import campaign_grow, growth_preview
from annotation.campaigns.selectors import pairs_new
from annotation.campaigns.services import campaign_close
from annotation.judging.settling import participation_stop
from annotation.models import Tuple, TupleItem
from annotation.results.bundle import bundle_write
from annotation.results.figures import score_page
from annotation.results.publishing import scores_publish
from annotation.results.record import rounds_of
from curation.foundation.errors import UserError
from curation.models import Dataset, Pair
from tests.factories import PairFactory, client_of
from tests.integration.annotation.pages import address, text_of
from tests.integration.annotation.test_figures import judge_all


@pytest.fixture
def dataset(judged) -> Dataset:
    return judged.dataset


@pytest.fixture
def newcomers(judged, dataset):
    return PairFactory.create_batch(8, dataset=dataset)


def members(tuple_: Tuple) -> set[int]:
    return set(tuple_.items.values_list("pair", flat=True))


def exclude_all(campaign) -> None:
    for person in campaign.participations.all():
        participation_stop(participation=person, reason="Answers at random.", exclude=True)


def test_new_pairs_join_in_a_round_of_bridge_tuples_beside_scored_ones(judged, newcomers) -> None:
    known = set(TupleItem.objects.filter(tuple__campaign=judged).values_list("pair", flat=True))
    new = {pair.pk for pair in newcomers}

    growth = campaign_grow(campaign=judged)

    bridges = list(judged.tuples.filter(phase="bridge"))
    assert (growth.pairs, growth.anchors, growth.tuples, growth.judgements) == (8, 8, 32, 64)
    assert len(bridges) == 32
    assert {(row.round, row.required, row.collected) for row in bridges} == {(2, 2, 0)}
    assert sorted(row.number for row in bridges) == list(range(81, 113))
    for row in bridges:
        assert members(row) & new
        assert members(row) & known
    judged.refresh_from_db()
    assert judged.rounds == 2
    assert not pairs_new(judged).exists()


def test_every_newcomer_stands_in_as_many_tuples_as_the_first_pairs(judged, newcomers) -> None:
    campaign_grow(campaign=judged)

    assert {pair.tuple_items.count() for pair in newcomers} == {8}


def test_the_certificate_keeps_its_own_and_the_bridges_with_their_seed(judged, newcomers) -> None:
    before = judged.certificate

    campaign_grow(campaign=judged)

    judged.refresh_from_db()
    (extension,) = judged.certificate.pop("extensions")
    assert judged.certificate == before
    assert (extension["phase"], extension["round"], extension["pairs"]) == ("bridge", 2, 8)
    assert extension["seed"] == extension["certificate"]["seed"] != judged.seed
    assert extension["certificate"]["shared_sentences"] == 0


def test_a_preview_says_what_is_added_and_adds_nothing(judged, newcomers) -> None:
    preview = growth_preview(campaign=judged, number=5)

    assert not judged.tuples.filter(phase="bridge").exists()
    assert (preview.fitting, preview.pairs) == (8, 5)
    assert campaign_grow(campaign=judged, number=5) == preview
    assert judged.tuples.filter(phase="bridge").count() == preview.tuples
    assert pairs_new(judged).count() == 3


def test_only_pairs_that_fit_the_campaign_join(judged, newcomers) -> None:
    Pair.objects.filter(pk=newcomers[0].pk).update(status=Pair.Status.RETIRED)
    Pair.objects.filter(pk=newcomers[1].pk).update(split="test")
    judged.pair_filter = {"split": newcomers[2].split}
    judged.save()
    expected = {pair.pk for pair in newcomers[2:]} if newcomers[2].split else {p.pk for p in newcomers[1:]}

    campaign_grow(campaign=judged)

    bridged = TupleItem.objects.filter(tuple__phase="bridge", pair__in=newcomers)
    assert set(bridged.values_list("pair", flat=True)) == expected


@pytest.mark.exhaustive
def test_judged_bridges_give_newcomers_scores(judged, newcomers, at, answer) -> None:
    campaign_grow(campaign=judged)
    for person in judged.participations.order_by("pk")[:2]:
        judge_all(person, at, answer)

    assert score_page(judged).page.paginator.count == 48
    assert judged.tuples.filter(collected=2).count() == 112


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda campaign: Pair.objects.filter(tuple_items=None).delete(),
            "are in it already. Import more pairs first",
        ),
        (exclude_all, "No pair has a score yet"),
        (lambda campaign: campaign_close(campaign=campaign), "is closed"),
    ],
    ids=["nothing new", "nothing scored", "closed"],
)
def test_where_nothing_can_join_a_sentence_says_why(judged, newcomers, change, sentence) -> None:
    change(judged)
    judged.refresh_from_db()

    with pytest.raises(UserError, match=sentence):
        campaign_grow(campaign=judged)

    assert not judged.tuples.filter(phase="bridge").exists()


@pytest.mark.parametrize(("number", "sentence"), [(3, "between 4 and"), (9, "9 pairs are asked for")])
def test_too_few_and_too_many_are_told(judged, newcomers, number, sentence) -> None:
    with pytest.raises(UserError, match=sentence):
        campaign_grow(campaign=judged, number=number)


def test_of_two_who_add_the_same_pairs_at_once_one_does(judged, newcomers, monkeypatch) -> None:
    design = growing.bridge_design

    def while_somebody_else_adds(*args, **kwargs):
        monkeypatch.setattr(growing, "bridge_design", design)
        campaign_grow(campaign=judged)
        return design(*args, **kwargs)

    monkeypatch.setattr(growing, "bridge_design", while_somebody_else_adds)

    with pytest.raises(UserError, match="in the meantime"):
        campaign_grow(campaign=judged)

    assert judged.tuples.filter(phase="bridge").count() == 32


def test_growing_takes_as_many_queries_for_many_pairs_as_for_few(
    judged, dataset, django_assert_max_num_queries
) -> None:
    for pairs in (4, 40):
        PairFactory.create_batch(pairs, dataset=dataset)
        judged.refresh_from_db()
        with django_assert_max_num_queries(20):
            campaign_grow(campaign=judged)


def test_pairs_can_join_after_the_adaptive_phase_began(judged, dataset) -> None:
    adaptive_spend(campaign=judged, judgements=5)
    block_make(adaptive_phase(judged.pk))
    PairFactory.create_batch(8, dataset=dataset)
    judged.refresh_from_db()

    campaign_grow(campaign=judged)

    judged.refresh_from_db()
    rounds = dict(judged.tuples.values_list("phase", "round"))
    assert rounds == {"balanced": 1, "adaptive": 2, "bridge": 3}
    assert [row["phase"] for row in judged.certificate["extensions"]] == ["adaptive", "bridge"]


def test_a_curator_sees_what_is_added_and_adds_it(judged, newcomers, curator) -> None:
    site = client_of(curator)

    page = site.get(address("grow", judged), {"number": "6"})
    assert "Pairs that join 6" in text_of(page)
    assert 'value="6"' in page.content.decode()
    after = text_of(site.post(address("grow", judged), {"number": "6"}, follow=True))

    assert "6 pairs joined, in 24 tuples." in after
    assert re.search(r"0 of 48 judgements of tuples with linking items", after)


@pytest.fixture
def grown(judged, newcomers, at, answer):
    """The campaign when the bridges were judged too: the newcomers were mostly best."""
    campaign_grow(campaign=judged)
    for person in judged.participations.order_by("pk")[:2]:
        judge_all(person, at, answer, reverse=True)
    judged.refresh_from_db()
    return judged


@pytest.mark.exhaustive
def test_a_bundle_of_a_campaign_that_has_grown_gives_its_scores_again_to_the_last_byte(
    grown, tmp_path, capsys
) -> None:
    bundle = bundle_write(campaign=grown, path=tmp_path / "bundle").path
    readme, again = (bundle / "README.md").read_text(), tmp_path / "again.csv"
    (command,) = re.findall(r"semblance (bws score .*--method maxdiff.*) --out", readme)
    name, verb, judgements, *options = command.split()
    options[options.index("groups.csv")] = str(bundle / "groups.csv")

    call_command(name, verb, str(bundle / judgements), *options, "--out", str(again), "--json")

    assert again.read_bytes() == (bundle / "scores" / "maxdiff.csv").read_bytes()
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    stated = json.loads((bundle / "scores" / "scores.json").read_text())
    assert stated["maxdiff"] == {fact: figures[fact] for fact in stated["maxdiff"]}
    assert "prior_means" not in stated["counting"]
    means = stated["maxdiff"]["prior_means"]
    assert means["2"] > means["1"]


@pytest.mark.exhaustive
def test_maxdiff_is_published_with_a_prior_mean_per_round_as_the_bundle_has_it(
    grown, tmp_path, curator
) -> None:
    bundle = bundle_write(campaign=grown, path=tmp_path / "bundle").path
    stated = json.loads((bundle / "scores" / "scores.json").read_text())["maxdiff"]

    published = scores_publish(campaign=grown, method="maxdiff")
    alike = scores_publish(campaign=grown, method="maxdiff", mean_per_round=False)

    assert published.parameters["prior_means"] == stated["prior_means"]
    assert "prior_means" not in alike.parameters
    newcomer = grown.dataset.pairs.order_by("-pk").first()
    value, pulled = (each.scores.get(pair=newcomer).value for each in (published, alike))
    assert value > pulled
    page = text_of(client_of(curator).get(address("scores", grown)))
    assert "prior means by the round in which pairs joined" in page
    assert "scores of pairs with few judgements are pulled towards the mean" in page


@pytest.mark.parametrize("method", ["counting", "bradley-terry"])
def test_other_methods_have_no_prior_mean_per_round(grown, method) -> None:
    assert "prior_means" not in scores_publish(campaign=grown, method=method).parameters
    with pytest.raises(UserError, match="Only the MaxDiff model has a prior mean per round"):
        scores_publish(campaign=grown, method=method, mean_per_round=True)


def test_pairs_of_one_round_have_one_prior_mean(grown, newcomers) -> None:
    new = {pair.pk for pair in newcomers}
    pairs = np.unique(grown.tuples.filter(is_gold=False).values_list("items__pair", flat=True))

    rounds = rounds_of(grown, pairs)

    assert rounds.names == ("1", "2")
    assert {pair for pair, number in zip(pairs.tolist(), rounds.numbers, strict=True) if number} == new
    assert rounds_of(grown, pairs[rounds.numbers == 1]) is None


@pytest.mark.parametrize(
    ("fields", "has"),
    [({"method": "maxdiff", "mean_per_round": "on"}, True), ({"method": "maxdiff"}, False)],
)
def test_the_form_decides_whether_each_round_has_a_prior_mean(grown, curator, fields, has) -> None:
    site = client_of(curator)
    form = site.get(address("publish", grown)).content.decode()
    assert re.search(r'<input[^>]*name="mean_per_round"[^>]* checked', form)

    site.post(address("publish", grown), fields)

    (published,) = grown.dataset.score_sets.all()
    assert ("prior_means" in published.parameters) == has


def test_a_campaign_that_has_not_grown_offers_no_prior_mean_per_round(judged, curator) -> None:
    assert "mean_per_round" not in client_of(curator).get(address("publish", judged)).content.decode()


NOT_COMPARABLE = "Counting scores are not comparable between the first pairs"


@pytest.mark.exhaustive
def test_a_campaign_that_has_grown_says_what_counting_is_worth_wherever_scores_leave_it(
    judged, newcomers, curator, tmp_path
) -> None:
    site = client_of(curator)
    pages = [address(name, judged) for name in ("campaign_design", "scores", "publish")]
    before = [NOT_COMPARABLE in text_of(site.get(page)) for page in pages]
    growth = {"phase": "bridge", "pairs": 8}  # the note of a round of bridges; its tuples change no page here
    judged.certificate = {**judged.certificate, "extensions": [growth]}
    judged.save()

    after = [NOT_COMPARABLE in text_of(site.get(page)) for page in pages]
    bundle_write(campaign=judged, path=tmp_path / "bundle")

    assert (before, after) == ([False] * 3, [True] * 3)
    assert NOT_COMPARABLE in (tmp_path / "bundle" / "README.md").read_text()


def test_the_form_of_publishing_proposes_maxdiff_for_a_campaign_that_has_grown(judged, curator) -> None:
    judged.certificate = {**judged.certificate, "extensions": [{"phase": "bridge"}]}
    judged.save()

    form = client_of(curator).get(address("publish", judged)).content.decode()

    assert re.search(r'<option value="maxdiff" selected>', form)


def test_the_page_says_when_nothing_is_new(judged, curator) -> None:
    assert "Import more pairs first" in text_of(client_of(curator).get(address("grow", judged)))
