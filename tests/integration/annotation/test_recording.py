"""Judgements that were made elsewhere become a campaign: with its dashboard, its scores and its bundle."""

import csv
import json

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.bws.designs.design import design_tuples
from annotation.bws.files.judgement_files import write_judgements
from annotation.bws.judgements import Judgements, tuple_numbers
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements
from annotation.campaigns.services import campaign_resume
from annotation.judging.settling import participation_reinstate, participation_stop
from annotation.models import Campaign, Judgement, Participation, TupleItem
from annotation.results.bundle import bundle_write
from annotation.results.publishing import scores_publish
from curation.foundation.errors import UserError
from curation.models import Dataset, Pair, User
from tests.factories import PairFactory, client_of
from tests.integration.annotation.pages import address, text_of

ITEMS = [f"item {number}" for number in range(40)]


@pytest.fixture(scope="module")
def judgements():
    return simulated_judgements(
        design_tuples(40, seed=1).tuples,
        np.arange(40.0) / 10,
        annotators=[SimulatedAnnotator(0.5)] * 4,
        judgements_per_tuple=3,
        seed=2,
    )


@pytest.fixture
def path(tmp_path, judgements):
    path = tmp_path / "judgements.csv"
    write_judgements(path, ITEMS, judgements, ["W-17", "W-4", "W-8", "W-9"])
    return path


@pytest.fixture
def keep(capsys):
    """Call the command; returns the lines for people and the object for programs."""

    def calling(path, *arguments: str) -> tuple[list[str], dict]:
        call_command("bws", "import", str(path), "--campaign", "Elsewhere", *arguments, "--json")
        *lines, last = capsys.readouterr().out.splitlines()
        return lines, json.loads(last)

    return calling


@pytest.mark.django_db
def test_a_file_becomes_a_closed_campaign_of_a_new_dataset(keep, path) -> None:
    _lines, figures = keep(path, "--dataset", "elsewhere", "--create")

    campaign = Campaign.objects.get(pk=figures["campaign"])
    assert (campaign.state, campaign.tuple_size, campaign.judgements_per_tuple) == ("closed", 4, 3)
    assert (figures["items"], figures["tuples"], figures["judgements"], figures["pairs_made"]) == (
        40,
        80,
        240,
        40,
    )
    assert Judgement.objects.filter(status="collected").count() == 240
    assert sum(campaign.tuples.values_list("collected", flat=True)) == 240
    names = {person.user.first_name for person in campaign.participations.select_related("user")}
    assert names == {"W-17", "W-4", "W-8", "W-9"}
    assert not User.objects.filter(is_active=True).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["counting", "maxdiff"])
def test_its_published_scores_are_those_of_the_file(keep, path, tmp_path, method) -> None:
    _lines, figures = keep(path, "--dataset", "elsewhere", "--create")
    out = tmp_path / "scores.csv"
    call_command("bws", "score", str(path), "--method", method, "--scale", "unit", "--out", str(out))

    published = scores_publish(campaign=Campaign.objects.get(pk=figures["campaign"]), method=method)

    with out.open(newline="") as file:
        of_file = {row["item"]: float(row["score"]) for row in csv.DictReader(file)}
    assert {
        score.pair.external_id: score.value for score in published.scores.select_related("pair")
    } == of_file


@pytest.mark.django_db
def test_its_bundle_is_the_file_again_with_codes_for_names(keep, path, tmp_path) -> None:
    _lines, figures = keep(path, "--dataset", "elsewhere", "--create")

    bundle = bundle_write(
        campaign=Campaign.objects.get(pk=figures["campaign"]), path=tmp_path / "bundle"
    ).path

    original, again = (
        [line.rsplit(",", 1) for line in file.read_text().splitlines()]
        for file in (path, bundle / "judgements.csv")
    )
    assert [row[0] for row in again] == [row[0] for row in original]
    assert {row[1] for row in again[1:]} == {"A001", "A002", "A003", "A004"}


def test_items_that_are_ids_of_pairs_are_those_pairs(keep, path, dataset) -> None:
    for name in ITEMS:
        PairFactory(dataset=dataset, external_id=name)

    _lines, figures = keep(path, "--dataset", dataset.slug)

    assert figures["pairs_made"] == 0
    judged = TupleItem.objects.values_list("pair", flat=True).distinct()
    assert set(judged) == set(Pair.objects.filter(dataset=dataset).values_list("pk", flat=True))


def test_an_item_that_is_the_id_of_pairs_of_two_sources_is_refused(keep, path, dataset) -> None:
    for name in [*ITEMS, ITEMS[0]]:
        PairFactory(dataset=dataset, external_id=name, source=f"source {Pair.objects.count() // 40}")

    with pytest.raises(CommandError, match=r"1 items are ids that pairs of several sources .* “item 0”"):
        keep(path, "--dataset", dataset.slug)

    assert not Campaign.objects.exists()


def test_items_that_a_dataset_does_not_know_are_refused_and_nothing_is_kept(keep, path, dataset) -> None:
    PairFactory(dataset=dataset, external_id=ITEMS[0])

    with pytest.raises(CommandError, match="39 of 40 items are no pair"):
        keep(path, "--dataset", dataset.slug)

    assert not Campaign.objects.exists()
    assert Pair.objects.count() == 1


@pytest.mark.django_db
def test_a_dataset_that_is_not_there_is_made_when_asked_for(keep, path) -> None:
    with pytest.raises(CommandError, match="create it with --create"):
        keep(path, "--dataset", "elsewhere")

    assert not Dataset.objects.exists()


@pytest.mark.django_db
def test_the_same_file_is_kept_once(keep, path) -> None:
    keep(path, "--dataset", "elsewhere", "--create")

    with pytest.raises(CommandError, match="already, as the campaign “Elsewhere”"):
        keep(path, "--dataset", "elsewhere")

    assert Campaign.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("as_cell", ["\n".join, json.dumps, repr], ids=["lines", "JSON", "Python"])
def test_an_item_of_two_texts_is_a_pair_of_two_sentences(keep, tmp_path, judgements, as_cell) -> None:
    texts = [
        as_cell([f"A dog runs past number {number}.", f"An animal passes number {number}."])
        for number in range(40)
    ]
    path = tmp_path / "texts.csv"
    write_judgements(path, texts, judgements)

    _lines, figures = keep(path, "--dataset", "texts", "--create")

    assert figures["single_texts"] == 0
    pair = Pair.objects.select_related("a", "b").order_by("pk").first()
    assert pair.a.text.startswith("A dog runs past number")
    assert pair.b.text.startswith("An animal passes number")


@pytest.mark.django_db
def test_what_the_file_does_not_tell_is_not_known(keep, path, tmp_path, admin) -> None:
    lines, figures = keep(path, "--dataset", "elsewhere", "--create")
    campaign = Campaign.objects.get(pk=figures["campaign"])

    page = text_of(client_of(admin).get(address("campaign_design", campaign)))
    bundle = bundle_write(campaign=campaign, path=tmp_path / "bundle").path
    design = json.loads((bundle / "design.json").read_text())

    assert "the question is not known" in page
    assert "Attention checks, repeated questions and seed not known" in page
    assert (campaign.best_label, campaign.worst_label, campaign.certificate["seed"]) == (
        "Best",
        "Worst",
        None,
    )
    unknown = (
        "question",
        "best_label",
        "worst_label",
        "seed",
        "gold_every",
        "gold_threshold",
        "repeat_every",
    )
    assert [design[name] for name in unknown] == [None] * len(unknown)
    assert (figures["single_texts"], "40 items hold one text and not two" in "".join(lines)) == (40, True)


@pytest.mark.django_db
def test_a_campaign_whose_question_nobody_knows_is_not_opened_again(keep, path) -> None:
    _lines, figures = keep(path, "--dataset", "elsewhere", "--create")

    with pytest.raises(UserError, match="The question of “Elsewhere” is not known"):
        campaign_resume(campaign=Campaign.objects.get(pk=figures["campaign"]))

    assert Campaign.objects.get(pk=figures["campaign"]).state == "closed"


@pytest.mark.django_db
def test_a_question_that_is_known_is_kept(keep, path) -> None:
    with pytest.raises(CommandError, match="The question has 301 characters; at most 300 are possible"):
        keep(path, "--dataset", "elsewhere", "--create", "--question", "?" * 301)

    _lines, figures = keep(path, "--dataset", "elsewhere", "--create", "--question", "Which is ruder?")

    assert Campaign.objects.get(pk=figures["campaign"]).question == "Which is ruder?"


@pytest.mark.django_db
def test_the_page_tells_what_the_reader_of_the_file_should_know(keep, path, admin) -> None:
    path.write_text(path.read_text().replace("item 7,", "item7,", 1))

    _lines, figures = keep(path, "--dataset", "elsewhere", "--create")
    page = text_of(
        client_of(admin).get(address("campaign_design", Campaign.objects.get(pk=figures["campaign"])))
    )

    assert (figures["items"], figures["merged_items"]) == (40, 1)
    fact, option = figures["warnings"][0].split(" Use ")
    assert fact in page
    assert option.split()[0] not in page


@pytest.mark.django_db
def test_rows_the_site_cannot_hold_are_left_out_and_told(keep, path) -> None:
    row = path.read_text().splitlines()[1].split(",")
    twice = [row[0], row[0], *row[2:4], row[0], row[3], "W-4"]
    path.write_text(path.read_text() + ",".join(twice) + "\n" + ",".join(row) + "\n")

    lines, figures = keep(path, "--dataset", "elsewhere", "--create")

    assert (figures["judgements"], figures["repeated_items"], figures["twice_by_one"]) == (240, 1, 1)
    assert figures["left_out"] == 1
    assert any("names an item twice and is left out" in line for line in lines)
    assert any("second judgement of a tuple by the same person" in line for line in lines)


@pytest.mark.django_db
def test_second_judgements_cannot_be_kept(keep, path) -> None:
    with pytest.raises(
        CommandError, match="one judgement of a tuple by each person; leave --keep-repeats out"
    ):
        keep(path, "--dataset", "elsewhere", "--create", "--keep-repeats")


@pytest.mark.django_db
def test_rows_without_a_name_are_judgements_of_unknown_people(keep, path) -> None:
    path.write_text(path.read_text().replace(",W-17\n", ",\n").replace(",W-4\n", ",\n"))

    _lines, figures = keep(path, "--dataset", "elsewhere", "--create")

    people = Participation.objects.filter(campaign=figures["campaign"])
    assert figures["judgements"] == Judgement.objects.count() == 240
    assert sorted(people.values_list("user__first_name", flat=True))[:2] == ["W-8", "W-9"]
    assert figures["annotators"] == people.count() == 4


@pytest.mark.django_db
def test_somebody_of_the_file_can_be_excluded_and_reinstated(keep, path) -> None:
    _lines, figures = keep(path, "--dataset", "elsewhere", "--create")
    person = Participation.objects.filter(campaign=figures["campaign"]).first()
    collected = Judgement.objects.filter(status="collected")

    participation_stop(participation=person, reason="Answers at random.", exclude=True)
    without = collected.count()
    participation_reinstate(participation=person)

    assert (without, collected.count()) == (180, 240)


@pytest.mark.django_db
def test_of_a_file_without_names_no_page_says_anything_of_single_people(
    keep, tmp_path, judgements, admin
) -> None:
    path = tmp_path / "nobody.csv"
    write_judgements(path, ITEMS, judgements)
    _lines, figures = keep(path, "--dataset", "nobody", "--create")
    campaign = Campaign.objects.get(pk=figures["campaign"])

    page = text_of(client_of(admin).get(address("campaign", campaign)))

    assert figures["annotators"] == 3
    assert "a file that does not say who made them" in page
    judged = text_of(client_of(admin).get(address("judgements", campaign)))
    assert "unknown" not in page + judged
    assert "240 / 240" in page
    assert "95 % interval from resampled tuples alone, which leaves out how annotators differ" in page
    bundle = bundle_write(campaign=campaign, path=tmp_path / "bundle").path
    assert (bundle / "judgements.csv").read_text() == path.read_text()
    stated = json.loads((bundle / "reliability.json").read_text())
    assert "who made them" in stated["annotators"]["none"]


@pytest.fixture
def mixed(tmp_path, judgements):
    """The file with every fourth tuple cut down to its best, its worst and one more item."""
    path = tmp_path / "mixed.csv"
    items = judgements.items.copy()
    for row in np.flatnonzero(tuple_numbers(judgements.items) % 4 == 0).tolist():
        others = np.sort(items[row])[:3]  # the same three items in every judgement of the tuple
        items[row] = [*others, -1]
    best, worst = (
        np.where((items == chosen[:, None]).any(axis=1), chosen, -1)
        for chosen in (judgements.best, judgements.worst)
    )
    fits = (best >= 0) & (worst >= 0)
    kept = Judgements(items[fits], best[fits], worst[fits], 40, judgements.people[fits])
    write_judgements(path, ITEMS, kept, ["W-17", "W-4", "W-8", "W-9"])
    return path


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["counting", "maxdiff"])
def test_tuples_of_several_sizes_are_scored_as_in_the_file(keep, mixed, tmp_path, method) -> None:
    lines, figures = keep(mixed, "--dataset", "elsewhere", "--create")
    out = tmp_path / "scores.csv"
    call_command("bws", "score", str(mixed), "--method", method, "--scale", "unit", "--out", str(out))

    published = scores_publish(campaign=Campaign.objects.get(pk=figures["campaign"]), method=method)

    with out.open(newline="") as file:
        of_file = {row["item"]: float(row["score"]) for row in csv.DictReader(file)}
    scores = published.scores.select_related("pair")
    assert {score.pair.external_id: score.value for score in scores} == of_file
    assert any("fewer than 4 items" in line for line in lines)


@pytest.mark.django_db
def test_tuples_of_several_sizes_are_in_the_bundle_and_on_the_page(keep, mixed, tmp_path, admin) -> None:
    _lines, figures = keep(mixed, "--dataset", "elsewhere", "--create")
    campaign = Campaign.objects.get(pk=figures["campaign"])

    page = client_of(admin).get(address("campaign", campaign))
    judged = client_of(admin).get(address("judgements", campaign))
    bundle = bundle_write(campaign=campaign, path=tmp_path / "bundle").path

    assert (page.status_code, judged.status_code) == (200, 200)
    lengths = {len(line.split("\t")) for line in (bundle / "tuples.tsv").read_text().splitlines()}
    assert lengths == {3, 4}
    original, again = (
        [line.rsplit(",", 1)[0] for line in file.read_text().splitlines()]
        for file in (mixed, bundle / "judgements.csv")
    )
    assert again == original


@pytest.mark.django_db
def test_a_campaign_with_tuples_of_several_sizes_is_not_opened_again(keep, mixed) -> None:
    _lines, figures = keep(mixed, "--dataset", "elsewhere", "--create", "--question", "Which is ruder?")

    with pytest.raises(UserError, match="The tuples of “Elsewhere” have several sizes"):
        campaign_resume(campaign=Campaign.objects.get(pk=figures["campaign"]))
