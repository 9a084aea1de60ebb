"""The adaptive phase: blocks of tuples where scores are least certain, left out of counting and reliability."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.core.management import call_command

from annotation.bws.designs.design import DesignError
from annotation.bws.scores.scoring import METHODS
from annotation.campaigns import adapting
from annotation.campaigns.adapting import (
    adaptive_phase,
    adaptive_spend,
    adaptive_withdraw,
    block_make,
    blocks_make,
)
from annotation.campaigns.services import campaign_pause
from annotation.judging import assignment
from annotation.judging.assignment import participation_join, tuple_claim
from annotation.judging.choosing import NoTupleReason
from annotation.judging.settling import participation_stop
from annotation.models import Lease, Tuple, TupleItem
from annotation.results.bundle import bundle_write
from annotation.results.dashboard import campaign_dashboard
from annotation.results.figures import scores_now
from annotation.results.publishing import scores_publish
from annotation.results.record import campaign_judgements
from annotation.results.selectors import phase_sums
from annotation.results.study import study_make
from annotation.tasks import expire_leases
from curation.foundation.errors import UserError
from curation.models import Dataset, Pair
from tests.factories import DatasetFactory, PairFactory, UserFactory, client_of
from tests.integration.annotation.crowd import BEGAN, STEADY, crowd_judge
from tests.integration.annotation.pages import address, text_of
from tests.integration.annotation.test_figures import judge_all

OTHERS = {"eve": STEADY, "finn": STEADY, "gus": STEADY, "hal": STEADY}


@pytest.fixture
def dataset(judged) -> Dataset:
    return judged.dataset


@pytest.fixture
def spending(judged):
    return adaptive_spend(campaign=judged, judgements=12)


@pytest.fixture
def anna(judged):
    return judged.participations.get(user__username="anna")


def blocks(campaign) -> list[int]:
    """How many tuples each adaptive round has."""
    rounds = campaign.tuples.filter(phase="adaptive").values_list("round", flat=True)
    return np.unique(list(rounds), return_counts=True)[1].tolist()


def sets_of(campaign) -> list[tuple[int, ...]]:
    rows = TupleItem.objects.filter(tuple__campaign=campaign, tuple__is_gold=False)
    pairs = list(rows.order_by("tuple", "pair").values_list("pair", flat=True))
    return [tuple(pairs[start : start + 4]) for start in range(0, len(pairs), 4)]


def test_a_block_follows_a_judged_design_and_is_a_round_of_its_own(spending) -> None:
    assert expire_leases() == 0

    rows = list(spending.tuples.filter(phase="adaptive"))
    assert len(rows) == 5
    assert {(row.round, row.required) for row in rows} == {(2, 1)}
    spending.refresh_from_db()
    (extension,) = spending.certificate["extensions"]
    assert extension.pop("seed") != spending.seed
    assert extension == {"phase": "adaptive", "round": 2, "tuples": 5, "judgements": 160}


def test_the_next_block_waits_until_this_one_is_nearly_judged(spending) -> None:
    assert [blocks_make(), blocks_make()] == [1, 0]

    spending.tuples.filter(phase="adaptive").update(collected=1)

    assert blocks_make() == 1
    assert blocks(spending) == [5, 5]


def test_no_block_before_the_design_is_nearly_judged(spending, anna, at) -> None:
    participation_stop(participation=anna, reason="Answers at random.", exclude=True)

    assert blocks_make() == 0
    assert adaptive_phase(spending.pk).designed is False


def test_whoever_finds_nothing_left_gets_the_next_block_until_the_judgements_are_spent(
    spending, anna, at, answer
) -> None:
    judge_all(anna, at, answer)

    assert blocks(spending) == [5, 5, 2]
    assert phase_sums(spending)["adaptive"].collected == 12
    assert tuple_claim(participation=anna, at=at) is NoTupleReason.JUDGED
    assert len(set(sets_of(spending))) == len(sets_of(spending)) == 92


def test_pairs_in_doubt_are_asked_for_beside_their_likes(spending) -> None:
    blocks_make()

    ranks = {pair: rank for rank, pair in enumerate(scores_now(spending).pairs)}
    values = scores_now(spending).values
    spreads = {phase: [] for phase in ("balanced", "adaptive")}
    for row in spending.tuples.prefetch_related("items"):
        scores = [values[ranks[item.pair_id]] for item in row.items.all()]
        spreads[row.phase].append(max(scores) - min(scores))
    assert np.mean(spreads["adaptive"]) < np.mean(spreads["balanced"]) / 2


def test_what_is_wanted_again_of_the_design_comes_first(spending, anna, at) -> None:
    blocks_make()
    ben = spending.participations.get(user__username="ben")
    participation_stop(participation=ben, reason="Answers at random.", exclude=True)

    assert tuple_claim(participation=anna, at=at).tuple.phase == "balanced"


def test_a_block_too_large_for_a_page_is_left_to_the_worker(spending, anna, at, monkeypatch) -> None:
    monkeypatch.setattr(adapting, "MOST_AT_ONCE", 10)

    assert tuple_claim(participation=anna, at=at) is NoTupleReason.CHOOSING
    assert blocks_make() == 1
    assert isinstance(tuple_claim(participation=anna, at=at), Lease)


def test_of_two_who_choose_the_next_block_at_once_one_writes_it(spending) -> None:
    first, second = adaptive_phase(spending.pk), adaptive_phase(spending.pk)

    assert [block_make(first), block_make(second)] == [5, 0]


def test_a_person_who_comes_second_gets_a_tuple_of_the_block_that_is_there(
    spending, anna, at, monkeypatch
) -> None:
    look = assignment.adaptive_phase

    def while_somebody_else_chooses(campaign_pk):
        monkeypatch.setattr(assignment, "adaptive_phase", look)
        found = look(campaign_pk)
        block_make(look(campaign_pk))
        return found

    monkeypatch.setattr(assignment, "adaptive_phase", while_somebody_else_chooses)

    assert isinstance(tuple_claim(participation=anna, at=at), Lease)
    assert blocks(spending) == [5]


def test_a_campaign_that_is_paused_while_somebody_asks_says_so(spending, anna, at, monkeypatch) -> None:
    look = assignment.adaptive_phase

    def while_a_curator_pauses(campaign_pk):
        found = look(campaign_pk)
        campaign_pause(campaign=spending)
        return found

    monkeypatch.setattr(adapting, "MOST_AT_ONCE", 10)
    monkeypatch.setattr(assignment, "adaptive_phase", while_a_curator_pauses)

    assert tuple_claim(participation=anna, at=at) is NoTupleReason.PAUSED


def test_a_paused_campaign_chooses_nothing(spending) -> None:
    waiting = adaptive_phase(spending.pk)
    campaign_pause(campaign=spending)

    assert block_make(waiting) == 0
    assert adaptive_phase(spending.pk) is None


def test_where_no_new_tuple_can_be_chosen_the_phase_ends(spending, monkeypatch) -> None:
    monkeypatch.setattr(
        adapting, "adaptive_block", lambda utilities, errors, **settings: np.array([[0, 1, 2, 3]])
    )

    assert [blocks_make(), block_make(adaptive_phase(spending.pk))] == [1, 0]

    spending.refresh_from_db()
    assert spending.adaptive_budget == 1


def test_a_campaign_whose_block_cannot_be_made_keeps_no_other_waiting(spending, monkeypatch, caplog) -> None:
    other = adaptive_spend(campaign=crowd_judge(DatasetFactory(), people=OTHERS), judgements=12)
    choose = adapting._block_chosen

    def broken_for_one(campaign):
        if campaign == spending:
            raise RuntimeError("not foreseen")
        return choose(campaign)

    monkeypatch.setattr(adapting, "_block_chosen", broken_for_one)

    assert blocks_make() == 1
    assert (blocks(spending), len(blocks(other))) == ([], 1)
    assert "not foreseen" in caplog.text


@pytest.mark.exhaustive
def test_a_phase_that_ends_by_itself_says_so_on_the_page_until_more_is_asked_for(
    spending, curator, monkeypatch
) -> None:
    def impossible(_utilities, _errors, **_settings):
        raise DesignError("Too few pairs are left.")

    monkeypatch.setattr(adapting, "adaptive_block", impossible)
    site, page = client_of(curator), address("campaign_design", spending)

    blocks_make()
    told = text_of(site.get(page))
    site.post(address("spend", spending), {"judgements": 5})
    later = text_of(site.get(page))

    assert "It stopped after 0 of the 12 judgements" in told
    assert "Too few pairs are left." in told
    assert "No extra judgements are asked for" not in told
    assert "It ended by itself" not in later


def test_retired_pairs_are_not_asked_for_again(spending) -> None:
    gone = set(Pair.objects.order_by("pk").values_list("pk", flat=True)[10:30])
    Pair.objects.filter(pk__in=gone).update(status=Pair.Status.RETIRED)

    blocks_make()

    asked = TupleItem.objects.filter(tuple__phase="adaptive").values_list("pair", flat=True)
    assert not gone & set(asked)


@pytest.mark.parametrize(
    ("judgements", "sentence"), [(0, "above 0"), (100_000, "make only 91,?310 more different tuples")]
)
def test_a_budget_that_cannot_be_spent_is_refused(judged, judgements, sentence) -> None:
    with pytest.raises(UserError, match=sentence):
        adaptive_spend(campaign=judged, judgements=judgements)


def test_withdrawing_takes_back_what_nobody_judged_or_holds(spending, anna, at, answer) -> None:
    answer(anna)
    held = tuple_claim(participation=anna, at=at)

    adaptive_withdraw(campaign=spending)

    spending.refresh_from_db()
    assert spending.adaptive_budget == 2
    assert spending.tuples.filter(phase="adaptive", required=1).count() == 2
    answer.submit(anna, held.tuple_id)
    assert blocks_make() == 0
    assert tuple_claim(participation=anna, at=at) is NoTupleReason.JUDGED


@pytest.fixture
def spent(spending, anna, at, answer):
    judge_all(anna, at, answer)
    spending.refresh_from_db()
    return spending


@pytest.mark.exhaustive
def test_counting_and_reliability_stay_as_the_design_left_them(judged, anna, at, answer) -> None:
    before = scores_now(judged), campaign_dashboard(judged, at=at).reliability
    figures = study_make(campaign=judged, at=BEGAN).figures
    adaptive_spend(campaign=judged, judgements=12)
    judge_all(anna, at, answer)

    after = scores_now(judged), campaign_dashboard(judged, at=at).reliability

    assert after[0].values.tolist() == before[0].values.tolist()
    assert after[1] == before[1]
    again = study_make(campaign=judged, at=BEGAN).figures
    assert {name: again[name] for name in again if name != "seconds"} == {
        name: figures[name] for name in figures if name != "seconds"
    }


def test_models_use_what_the_adaptive_phase_asked(spent) -> None:
    sets = {
        method: scores_publish(campaign=spent, method=method)
        for method in ("counting", "maxdiff", "bradley-terry")
    }

    facts = {method: found.parameters for method, found in sets.items()}
    assert {method: row["judgements"] for method, row in facts.items()} == {
        "counting": 160,
        "maxdiff": 172,
        "bradley-terry": 172,
    }
    assert facts["maxdiff"]["adaptive_judgements"] == 12
    assert "adaptive_judgements" not in facts["counting"]
    assert facts["maxdiff"]["reliability"] == facts["counting"]["reliability"]


def test_the_file_of_judgements_holds_the_adaptive_ones_where_they_are_asked_for(spent, curator) -> None:
    site = client_of(curator)

    plain, every = (
        b"".join(site.get(address("judgements_file", spent), asked).streaming_content).decode().splitlines()
        for asked in ({}, {"adaptive": "1"})
    )

    assert (len(plain), len(every)) == (161, 173)
    assert set(plain) < set(every)


@pytest.mark.parametrize("method", ["counting", "bradley-terry", "maxdiff"])
def test_the_command_gives_the_scores_of_a_bundle_with_an_adaptive_phase(spent, tmp_path, method) -> None:
    bundle = bundle_write(campaign=spent, path=tmp_path / "bundle").path
    readme = (bundle / "README.md").read_text()
    line = next(line for line in readme.splitlines() if f"--method {method} " in line)
    again = tmp_path / "again.csv"

    call_command("bws", "score", str(bundle / line.split()[3]), "--method", method, "--out", str(again))

    assert again.read_bytes() == (bundle / "scores" / f"{method}.csv").read_bytes()


def test_a_bundle_says_of_which_phase_each_tuple_is(spent, tmp_path, capsys) -> None:
    bundle = bundle_write(campaign=spent, path=tmp_path / "bundle").path

    with (bundle / "phases.csv").open() as file:
        phases = [row["phase"] for row in csv.DictReader(file)]
    assert phases == ["balanced"] * 80 + ["adaptive"] * 12
    rows = pq.read_table(bundle / "judgements.parquet").to_pylist()
    assert [row["phase"] for row in rows].count("adaptive") == 12
    call_command("bws", "reliability", str(bundle / "judgements.csv"), "--json")
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    stated = json.loads((bundle / "reliability.json").read_text())["judgements"]
    assert found["spearman_mean"] == stated["spearman_mean"]


def test_choosing_a_block_takes_as_many_queries_for_many_pairs_as_for_few(
    dataset, django_assert_num_queries
) -> None:
    for pairs, name in ((12, "small"), (60, "large")):
        given = PairFactory.create_batch(pairs, dataset=dataset)
        Pair.objects.exclude(pk__in=[pair.pk for pair in given]).update(status=Pair.Status.RETIRED)
        campaign = crowd_judge(dataset, given=given, each=2, name=name)
        adaptive_spend(campaign=campaign, judgements=3)
        waiting = adaptive_phase(campaign.pk)
        with django_assert_num_queries(11):
            assert block_make(waiting) == min(3, pairs // 8)


def test_rounds_that_are_done_cost_a_claim_no_query(
    judged, at, no_gold_due, django_assert_num_queries
) -> None:
    for rounds in (2, 12):
        last = judged.tuples.order_by("-number").first().number
        for number in range(judged.rounds + 1, rounds + 1):
            Tuple.objects.create(
                campaign=judged,
                number=last + number,
                priority=last + number,
                round=number,
                required=0,
                phase="adaptive",
            )
        judged.rounds = rounds
        judged.save()
        Tuple.objects.filter(campaign=judged, round=rounds).update(required=1)
        person = participation_join(campaign=judged, user=UserFactory())
        with django_assert_num_queries(9):
            assert tuple_claim(participation=person, at=at).tuple.round == rounds
        Tuple.objects.filter(campaign=judged, round=rounds).update(required=0, leased=0)


def test_a_curator_spends_judgements_and_withdraws_the_rest(judged, curator) -> None:
    site = client_of(curator)

    page = site.post(address("spend", judged), {"judgements": "20"}, follow=True)
    assert "0 of 20 extra judgements" in text_of(page)
    assert "The tuples for 20 of them are still to be chosen" in text_of(
        site.get(address("campaign_design", judged))
    )
    blocks_make()
    page = site.post(address("withdraw", judged), follow=True)

    assert "No extra judgements were asked for." in text_of(page)


@pytest.mark.parametrize(
    ("given", "sentence"), [("0", "greater than or equal to 1"), ("100000", "make only")]
)
def test_a_wrong_number_is_said_at_its_field_and_kept(judged, curator, given, sentence) -> None:
    page = client_of(curator).post(address("spend", judged), {"judgements": given})

    assert sentence in text_of(page)
    assert f'value="{given}"' in page.content.decode()


def test_before_the_design_is_judged_the_page_says_when_the_phase_begins(judged, curator) -> None:
    adaptive_spend(campaign=judged, judgements=5)
    judged.tuples.update(collected=1)

    page = text_of(client_of(curator).get(address("campaign_design", judged)))

    assert "It begins when 90 % of the designed judgements are collected. Now it is 50 %." in page


def test_counting_and_reliability_leave_the_adaptive_phase_out_and_the_models_do_not(spent) -> None:
    record = campaign_judgements(spent)

    fed = {method: int(record.feeding(method).sum()) for method in (*METHODS, "reliability")}

    assert fed == {"counting": 160, "reliability": 160, "maxdiff": 172, "bradley-terry": 172}


def test_a_request_chooses_no_block_for_more_pairs_than_it_can_weigh(spending, monkeypatch) -> None:
    assert adaptive_phase(spending.pk).quick

    monkeypatch.setattr(adapting, "MOST_PAIRS_AT_ONCE", 39)

    assert not adaptive_phase(spending.pk).quick
