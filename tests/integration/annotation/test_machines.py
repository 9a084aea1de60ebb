"""Machines beside people: the tuples that they judge, their page, and that nothing of people changes by them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from annotation.campaigns.machine_block import tuples_reserve
from annotation.crowds.selectors import hours_of
from annotation.models import Campaign
from annotation.results.bundle import bundle_write
from annotation.results.dashboard import campaign_dashboard
from annotation.results.machines import block_of
from annotation.results.study import study_make
from curation.datasets.machine_judges import MachineAnswer, machine_judgements_add, tuples_of
from curation.foundation.errors import UserError
from curation.models import AuditEntry, MachineJudge, Pair
from tests.conftest import rolled_back
from tests.factories import CampaignFactory, DatasetFactory, MembershipFactory, UserFactory, client_of
from tests.integration.annotation.crowd import BEGAN, crowd_judge
from tests.integration.annotation.pages import address, text_of
from tests.integration.annotation.test_pages_api import program as program_fixture

program = program_fixture
ORDERS = (False, True)


@pytest.fixture(scope="module")
def judged_once(django_db_setup, django_db_blocker) -> Iterator[Campaign]:
    """40 pairs, each tuple judged by four people: all of the 80 tuples may be drawn."""
    with rolled_back(django_db_blocker):
        yield crowd_judge(DatasetFactory(), each=4)


@pytest.fixture
def curator_of(judged):
    return MembershipFactory(dataset=judged.dataset, role="curator").user


def machine_judge(campaign: Campaign, *, run: int, noise: float, silent: int = 0) -> MachineJudge:
    """A simulated machine that knows the true order of the pairs; it gives no answer to the first `silent` tuples."""
    block = block_of(campaign)
    assert block is not None
    rng = np.random.default_rng(run)
    pairs = Pair.objects.filter(dataset=campaign.dataset).order_by("pk").values_list("pk", flat=True)
    value = {pair: -place / len(pairs) * 2 for place, pair in enumerate(pairs)}
    answers = []
    for place, asked in enumerate(tuples_of(block)):
        for backwards in ORDERS:
            seen = np.array([value[pair] for pair in asked.pairs]) + noise * rng.normal(size=len(asked.pairs))
            chosen = (None, None) if place < silent else (int(seen.argmax()), int(seen.argmin()))
            answers.append(MachineAnswer(place, backwards, *chosen))
    return machine_judgements_add(
        block=block,
        run_ref=run,
        model="simulated:knows-the-order",
        parameters={"way": "simulated"},
        answers=answers,
        by=None,
    )


def test_the_tuples_are_drawn_once_from_the_design_each_in_a_drawn_order(judged) -> None:
    block = tuples_reserve(campaign=judged, number=30)

    tuples = tuples_of(block)
    designed = dict(judged.tuples.for_scores().values_list("number", "pk"))
    assert len({each.number for each in tuples}) == 30
    for each in tuples:
        items = judged.tuples.get(pk=designed[each.number]).items.order_by("slot")
        assert each.pairs == [item.pair_id for item in items]
        assert sorted(each.order) == [0, 1, 2, 3]
    assert len({tuple(each.order) for each in tuples}) > 5
    assert (block.question, block.guidelines) == (judged.question, "Choose by meaning.")
    assert AuditEntry.objects.get(action="tuples_reserved").details["campaign"] == judged.pk
    with pytest.raises(UserError, match="were sampled already"):
        tuples_reserve(campaign=judged, number=40)


@pytest.mark.parametrize("number", [0, 81, -3])
def test_a_number_of_tuples_that_the_campaign_does_not_have_is_refused(judged, number) -> None:
    with pytest.raises(UserError, match="Sample between 1 and 80 tuples"):
        tuples_reserve(campaign=judged, number=number)


def test_a_draft_and_an_imported_campaign_have_no_tuples_for_machines(db, dataset) -> None:
    draft = CampaignFactory(dataset=dataset, state="draft")
    imported = CampaignFactory(dataset=dataset, state="closed", question="", tuples=1)

    for campaign, sentence in ((draft, "is draft"), (imported, "without its question")):
        with pytest.raises(UserError, match=sentence):
            tuples_reserve(campaign=campaign, number=1)


@pytest.mark.exhaustive
def test_nothing_that_people_made_changes_by_a_machine(judged, tmp_path, client, curator_of) -> None:
    """Progress, the study with its reliability, hours, the record of judgements, and every file of the bundle but that
    of machines: the same with and without.
    """
    client.force_login(curator_of)
    pages = ("campaign", "analysis", "scores", "judgements")

    def state() -> tuple[object, ...]:
        study = study_make(campaign=judged, at=BEGAN).figures
        texts = [text_of(client.get(address(page, judged))) for page in pages]
        file = client.get(address("judgements_file", judged)).getvalue()
        hours = list(hours_of(judged.participations.all()))
        return campaign_dashboard(judged, at=BEGAN), study, hours, texts, file

    def files(folder: Path) -> dict[str, bytes]:
        bundle_write(campaign=judged, path=folder)
        return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    before, filed = state(), files(tmp_path / "before")
    tuples_reserve(campaign=judged, number=60)
    machine_judge(judged, run=1, noise=3.0, silent=2)
    machine_judge(judged, run=2, noise=0.1)

    again = files(tmp_path / "after")
    assert state() == before
    assert again.pop("machines.csv").count(b"\n") == 1 + 2 * 2 * 60
    for name in ("manifest.json", "README.md"):  # they name the file
        assert again.pop(name) != filed.pop(name)
    assert again == filed


def test_the_page_compares_machines_with_people(judged, curator_of) -> None:
    site = client_of(curator_of)
    empty = text_of(site.get(address("machines", judged)))
    site.post(address("machines", judged), {"number": 60})
    drawn = text_of(site.get(address("machines", judged)))
    machine_judge(judged, run=1, noise=0.2)
    machine_judge(judged, run=2, noise=50.0, silent=1)

    page = text_of(site.get(address("machines", judged)))

    assert "They are sampled once" in empty
    assert "60 tuples, sampled on" in drawn
    assert "No model has annotated them yet. Staff of the site start one." in drawn
    worse, better = page.split("simulated:knows-the-order")[1:3]
    assert "The model passes the alternative annotator test: it does at least as well as 1.00" in better
    assert "does not pass the alternative annotator test" in worse
    assert "2 of 120" in worse
    assert "240 judgements of people on 60 tuples" in better
    assert "anna" in better


def test_the_penalty_is_chosen_in_the_address_and_anything_else_means_the_usual_one(
    judged, curator_of
) -> None:
    site = client_of(curator_of)
    tuples_reserve(campaign=judged, number=60)
    machine_judge(judged, run=1, noise=0.2)

    def chosen(asked: str) -> float:
        rows = site.get(address("machines", judged), {"penalty": asked}).context["rows"]
        return rows[0][0].comparison.alternative.cost_benefit

    assert [chosen(asked) for asked in ("0.2", "0.1", "9", "")] == [0.2, 0.1, 0.15, 0.15]


def test_only_staff_are_offered_to_start_a_machine(judged) -> None:
    tuples_reserve(campaign=judged, number=10)
    curator = MembershipFactory(dataset=judged.dataset, role="curator", user=UserFactory(is_staff=True)).user

    page = client_of(curator).get(address("machines", judged)).content.decode()

    block = block_of(judged)
    assert block is not None
    assert f"/judge_tuples/?dataset={judged.dataset.slug}&amp;block={block.pk}" in page


@pytest.mark.parametrize(
    ("role", "read", "write"),
    [("curator", 200, 302), ("annotator", 403, 403), ("stranger", 404, 404), ("staff", 200, 403)],
)
def test_who_reads_and_who_draws(role, read, write, campaign, request) -> None:
    site = client_of(request.getfixturevalue(role))

    assert site.get(address("machines", campaign)).status_code == read
    assert site.post(address("machines", campaign), {"number": 2}).status_code == write


def test_a_program_draws_tuples_and_reads_figures(judged, program, curator_of) -> None:
    api = program(curator_of)
    place = f"/api/v1/campaigns/{judged.pk}/machines/"
    before = api.get(place).json()

    drawn = api.post(place, {"tuples": 40}, format="json")
    machine_judge(judged, run=7, noise=0.2)
    after = api.get(place).json()

    assert before == {"block": None, "tuples": 0, "machines": []}
    assert (drawn.status_code, drawn.json()["tuples"]) == (201, 40)
    (machine,) = after["machines"]
    assert (machine["model"], machine["run"]) == ("simulated:knows-the-order", 7)
    agreement = machine["comparison"]["agreement"]
    assert agreement["low"] < agreement["value"] < agreement["high"]
    assert machine["comparison"]["alternative"]["passed"] is True
    assert api.post(place, {"tuples": "x"}, format="json").status_code == 400
