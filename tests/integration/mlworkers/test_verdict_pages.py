"""The page that compares p_D with the verdicts of people: what it says, who sees it, and its files."""

import csv
import io
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.urls import reverse

from curation.models import ReviewDecision
from mlworkers.kinds.realism.verdicts import verdict_report
from tests.factories import GeneratedPairFactory, PairFactory, UserFactory, client_of, run_score_set
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def p_d(dataset):
    return run_score_set(dataset, "realism", "p_D")


@pytest.fixture
def sentences(dataset, p_d):
    """Forty generated pairs with p_D .01, .02 and so on."""
    return [
        GeneratedPairFactory(dataset=dataset, p_d=number / 100, b__text=f"Sentence {number}.")
        for number in range(1, 41)
    ]


@pytest.fixture
def judge(p_d, curator):
    """A verdict as a queue leaves it."""

    def judge(pair, *, kept: bool, frame: str = "random", **given):
        told = {"verdict": "keep"} if kept else {"verdict": "reject", "reasons": ["grammar"]}
        values = {
            "blind": True, "reviewer": curator, "score_set": p_d, "binding": not given.get("second"), **told, **given,
        }  # fmt: skip
        sentence = given.pop("sentence", pair.b)
        return ReviewDecision.objects.create(
            pair=pair, frame=frame, client_id=uuid4(), decided_at=AT, **{"sentence": sentence, **values}
        )

    return judge


def page(client, user, p_d, name: str = "verdicts", **query):
    client.force_login(user)
    return client.get(reverse(f"mlworkers:{name}", args=[p_d.pk]), query)


def test_without_verdicts_the_page_is_empty_and_leads_to_the_queue(client, curator, p_d, sentences) -> None:
    shown = squeezed(page(client, curator, p_d).text)

    assert "No person has reviewed these sentences yet" in shown
    assert "no reviewer has decided on any of the 40 machine-written sentences" in shown
    assert "About 100 blind decisions of a random sample are a good start" in shown
    assert "AUC" not in shown
    assert f"?set={p_d.pk}&amp;frame=random&amp;size=100" in shown


def test_the_page_answers_in_a_sentence(client, curator, p_d, sentences, judge) -> None:
    for number, pair in enumerate(sentences):
        judge(pair, kept=number >= 12 or number == 3)

    shown = squeezed(page(client, curator, p_d).text)

    # 29 kept, 11 rejected: of 319 twos, 8 are in the wrong order, those of p_D .04 with .05 to .12. AUC 311/319.
    assert "In the random sample p_D ranks kept above rejected sentences with probability 0.97 (" in shown
    assert "That is better than chance" in shown


def test_too_few_rejected_sentences_are_said_to_be_too_few(client, curator, p_d, sentences, judge) -> None:
    for number, pair in enumerate(sentences[:14]):
        judge(pair, kept=number >= 6)

    shown = squeezed(page(client, curator, p_d).text)

    assert "reviewers kept 8 sentences and rejected 6. That is too few for an answer" in shown
    assert "About 10 more decisions are needed for an answer" in shown


def test_a_set_that_is_too_small_for_an_answer_says_so(client, curator, p_d, sentences, judge) -> None:
    for number, pair in enumerate(sentences[:30]):
        judge(pair, kept=number >= 2)

    shown = squeezed(page(client, curator, p_d).text)

    assert "The set has 10 sentences without such a decision, which are too few for an answer." in shown


def test_verdicts_of_people_who_saw_p_d_are_set_aside(client, curator, p_d, sentences, judge) -> None:
    judge(sentences[0], kept=False, blind=False)
    judge(sentences[1], kept=False, frame="chosen")

    report = verdict_report(p_d)
    shown = squeezed(page(client, curator, p_d).text)

    assert (report.judged, report.seen, report.chosen) == (0, 1, 1)
    assert "1 decision of a reviewer who saw p_D is excluded." in shown


def test_verdicts_of_simulated_reviewers_are_none_of_people(client, curator, p_d, sentences, judge) -> None:
    judge(sentences[0], kept=False, reviewer=UserFactory(simulated=True))

    report = verdict_report(p_d)
    shown = squeezed(page(client, curator, p_d).text)

    assert (report.empty, report.simulated, report.rejected) == (True, 1, [])
    assert "No person has reviewed these sentences yet" in shown
    assert "1 decision of a simulated reviewer is excluded. No person made it." in shown


def test_frames_are_never_put_together(p_d, sentences, judge) -> None:
    for frame, part in (("lowest", sentences[:15]), ("random", sentences[15:20])):
        for pair in part:
            judge(pair, kept=frame == "random", frame=frame)

    report = verdict_report(p_d)

    assert [(each.frame, each.sample.kept_n, each.sample.rejected_n) for each in report.frames] == [
        ("random", 5, 0), ("lowest", 0, 15),
    ]  # fmt: skip
    assert report.main.frame == "random"


def test_a_stratified_sample_is_weighted_by_the_size_of_its_tenths(p_d, sentences, judge) -> None:
    judge(sentences[0], kept=False, frame="stratified", stratum=1)
    judge(sentences[1], kept=True, frame="stratified", stratum=1)
    judge(sentences[39], kept=True, frame="stratified", stratum=10)

    (report,) = verdict_report(p_d).frames

    assert report.sample.weights.tolist() == pytest.approx([0.75, 0.75, 1.5])
    assert report.sample.missing_share == pytest.approx(0.8)


def test_human_sentences_and_second_reviewers_are_told_apart(dataset, p_d, sentences, judge) -> None:
    human = PairFactory(dataset=dataset)
    judge(human, kept=False, sentence=human.a, binding=False)
    for number, pair in enumerate(sentences[:6]):
        judge(pair, kept=number > 1)
        judge(pair, kept=number > 2, second=True)

    report = verdict_report(p_d)

    assert (report.humans.kept, report.humans.n) == (1, 1)
    # Agreed about 5 of 6; chance agreement is (2·3 + 4·3)/36 = .5: kappa (5/6 - .5)/.5.
    assert report.kappa.value == pytest.approx(2 / 3)
    assert report.judged == 6


def test_rejected_and_kept_sentences_of_low_p_d_are_listed(client, curator, p_d, sentences, judge) -> None:
    judge(sentences[0], kept=False)
    judge(sentences[1], kept=True)
    judge(sentences[2], kept=True, blind=False)
    judge(sentences[20], kept=False)

    report = verdict_report(p_d)
    shown = squeezed(page(client, curator, p_d).text)
    rejected = list(csv.DictReader(io.StringIO(page(client, curator, p_d, "verdict_rejected_csv").text)))
    kept = list(csv.DictReader(io.StringIO(page(client, curator, p_d, "verdict_kept_csv").text)))

    assert report.lowest_p_d == pytest.approx(0.04)
    assert "Sentence 1." in shown
    assert "Sentence 21." not in shown
    assert [(row["text"], row["reasons"]) for row in rejected] == [("Sentence 1.", "grammar")]
    assert [row["text"] for row in kept] == ["Sentence 2."]


def test_the_file_has_the_figures_of_each_frame(client, curator, p_d, sentences, judge) -> None:
    for number, pair in enumerate(sentences):
        judge(pair, kept=number >= 12)

    answer = page(client, curator, p_d, "verdict_figures_csv")

    rows = {(row["frame"], row["figure"]): row for row in csv.DictReader(io.StringIO(answer.text))}
    assert float(rows["random", "auc"]["value"]) == 1.0
    assert rows["random", "auc"]["rejected"] == "12"
    assert rows["two reviewers", "kappa"]["verdicts"] == "0"


def test_the_sliders_work_with_and_without_a_script(client, curator, p_d, sentences, judge) -> None:
    for number, pair in enumerate(sentences):
        judge(pair, kept=number >= 20)

    whole = squeezed(page(client, curator, p_d, reject="0.25", keep="0.5").text)
    client.force_login(curator)
    part = client.get(
        reverse("mlworkers:verdicts", args=[p_d.pk]),
        {"reject": "0.25", "keep": "0.5"},
        headers={"HX-Request": "true"},
    ).text

    sentence = "30 of 40 sentences (75%) are decided automatically. 10 are left for people."
    assert sentence in whole
    assert sentence in squeezed(part)
    assert "<html" not in part
    assert "Reviewers would reject 100% of them too (72% to 100%)." in whole


@pytest.mark.parametrize("query", [{"reject": "nonsense"}, {"reject": "7"}, {"keep": "nan"}])
def test_an_address_with_nonsense_shows_the_page(client, curator, p_d, sentences, judge, query) -> None:
    judge(sentences[0], kept=True)

    assert page(client, curator, p_d, **query).status_code == 200


def test_shares_of_more_than_all_sentences_are_refused(client, curator, p_d, sentences, judge) -> None:
    judge(sentences[0], kept=True)

    shown = squeezed(page(client, curator, p_d, reject="0.6", keep="0.6").text)

    assert "The two shares are more than all sentences together." in shown


@pytest.mark.parametrize(
    "name", ["verdicts", "verdict_figures_csv", "verdict_rejected_csv", "verdict_kept_csv"]
)
def test_only_readers_of_the_dataset_see_it(client, annotator, stranger, p_d, name) -> None:
    assert page(client, stranger, p_d, name).status_code == 404
    assert page(client, annotator, p_d, name).status_code == 403


def test_a_score_set_of_another_kind_has_no_such_page(client, curator, dataset) -> None:
    assert page(client, curator, run_score_set(dataset, "target", "target")).status_code == 404


def test_the_list_of_score_sets_leads_to_it(curator, dataset, p_d, sentences) -> None:
    shown = client_of(curator).get(reverse("curation:dataset", args=[dataset.slug])).text

    assert reverse("mlworkers:verdicts", args=[p_d.pk]) in shown
