"""The quiz before the first tuple: an owner writes it, people answer until all is right, and nobody is stopped."""

import json

import pytest

from annotation.campaigns.cloning import campaign_clone
from annotation.campaigns.quiz import Options, options_read, question_add
from annotation.judging.assignment import tuple_claim
from annotation.judging.choosing import NoTupleReason
from annotation.judging.quiz import quiz_answer
from annotation.models import Campaign, Judgement, Participation, QuizResult
from annotation.results.bundle import bundle_write
from curation.foundation.errors import UserError
from tests.factories import TupleFactory, client_of
from tests.integration.annotation.pages import address, text_of
from tests.integration.annotation.test_pages_api import program as program_fixture

program = program_fixture
WHY = "Related is wider than similar."


@pytest.fixture
def quizzed(campaign) -> Campaign:
    """Two questions: the first option of one is right, the second of the other."""
    question_add(
        campaign=campaign, text="Are *cat* and *milk* related?", options=Options(("yes", "no"), 0), why=WHY
    )
    question_add(campaign=campaign, text="May you choose one pair twice?", options=Options(("yes", "no"), 1))
    return Campaign.objects.get(pk=campaign.pk)


def test_an_owner_writes_a_question_with_a_star_before_the_right_option() -> None:
    assert options_read("yes\n* no \n\nperhaps") == Options(("yes", "no", "perhaps"), 1)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("* yes", "2 to 8 options"),
        ("\n".join(map(str, range(9))), "there are 9"),
        ("yes\nno", "0 lines have one"),
        ("*yes\n*no", "2 lines have one"),
        ("yes\n*yes", "Each option needs a text"),
        ("yes\n*", "Each option needs a text"),
    ],
)
def test_options_that_cannot_be_asked_are_refused_in_a_sentence(text, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        options_read(text)


def test_nobody_gets_a_tuple_before_the_quiz_and_everybody_after_it(quizzed, annotator) -> None:
    site = client_of(annotator)
    first = site.get(address("judge", quizzed))
    page = site.get(first.headers["Location"])
    wrong = site.post(address("quiz", quizzed), {"question-1": 1, "question-2": 1})
    right = site.post(address("quiz", quizzed), {"question-1": 0, "question-2": 1})

    assert first.headers["Location"] == address("quiz", quizzed)
    assert "<em>cat</em>" in page.content.decode()
    assert f"This is not the expected answer. {WHY}" in text_of(wrong)
    assert right.headers["Location"] == address("judge", quizzed)
    assert site.get(address("judge", quizzed)).status_code == 200
    result = QuizResult.objects.get()
    assert (result.right, result.asked, result.tries) == (1, 2, 2)
    assert result.participation.state == "active"


def test_a_question_without_an_answer_is_no_try(quizzed, annotator) -> None:
    page = client_of(annotator).post(address("quiz", quizzed), {"question-1": 0})

    assert "Choose an answer." in text_of(page)
    assert not QuizResult.objects.exists()


def test_who_has_got_a_tuple_is_not_asked_and_who_passed_is_asked_once(campaign, anna, ben, at) -> None:
    tuple_claim(participation=anna, at=at)
    question_add(campaign=campaign, text="Ready?", options=Options(("yes", "no"), 0))
    anna, ben = (Participation.objects.get(pk=person.pk) for person in (anna, ben))

    before = tuple_claim(participation=ben, at=at)
    quiz_answer(participation=ben, chosen={1: 0}, at=at)

    assert before is NoTupleReason.QUIZ
    assert not isinstance(tuple_claim(participation=anna, at=at), NoTupleReason)
    assert not isinstance(tuple_claim(participation=ben, at=at), NoTupleReason)


def test_without_questions_again_nobody_is_asked(quizzed, curator, annotator) -> None:
    site = client_of(curator)
    for number in (1, 2):
        site.post(address("quiz_remove", quizzed, number))

    assert client_of(annotator).get(address("judge", quizzed)).status_code == 200


def test_a_curator_writes_the_quiz_and_reads_how_people_answered(quizzed, curator, anna, ben, at) -> None:
    quiz_answer(participation=anna, chosen={1: 1, 2: 1}, at=at)
    quiz_answer(participation=anna, chosen={1: 0, 2: 1}, at=at)
    quiz_answer(participation=ben, chosen={1: 0, 2: 1}, at=at)
    site = client_of(curator)
    refused = site.post(address("quiz_edit", quizzed), {"text": "Why?", "options": "yes\nno"})
    site.post(address("quiz_edit", quizzed), {"text": "Why?", "options": "*so\nnot so"})

    page = text_of(site.get(address("quiz_edit", quizzed)))

    assert "Put a star (*) before the one right option" in text_of(refused)
    assert quizzed.quiz.count() == 3
    assert "2 people tried it, and 2 answered everything as expected in the end." in page
    assert "yes right chosen first by 1 person no chosen first by 1 person" in page


@pytest.mark.parametrize(("role", "status"), [("annotator", 403), ("stranger", 404), ("staff", 403)])
def test_others_write_no_quiz(quizzed, role, status, request) -> None:
    site = client_of(request.getfixturevalue(role))

    assert site.post(address("quiz_edit", quizzed), {"text": "?", "options": "*a\nb"}).status_code == status
    assert site.post(address("quiz_remove", quizzed, 1)).status_code == status
    assert quizzed.quiz.count() == 2


def test_a_quiz_has_an_end(campaign) -> None:
    for number in range(20):
        question_add(campaign=campaign, text=f"{number}?", options=Options(("a", "b"), 0))

    with pytest.raises(UserError, match="at most 20 questions"):
        question_add(campaign=campaign, text="One more?", options=Options(("a", "b"), 0))


def test_a_program_reads_and_answers_the_quiz(quizzed, program, annotator) -> None:
    api, place = program(annotator), f"/api/v1/campaigns/{quizzed.pk}/"

    claimed = api.post(f"{place}claim/").json()
    shown = api.get(f"{place}quiz/").json()
    wrong = api.post(f"{place}quiz/", {"answers": {"1": 1, "2": 1}}, format="json").json()
    api.post(f"{place}quiz/", {"answers": {"1": 0, "2": 1}}, format="json")

    assert (claimed["lease"], claimed["nothing"]) == (None, "quiz")
    assert shown["due"] is True
    assert "right" not in json.dumps(shown)
    assert [each["right"] for each in wrong] == [False, True]
    assert api.post(f"{place}claim/").json()["lease"]


def test_the_bundle_and_a_copy_have_the_quiz(judged, tmp_path, at) -> None:
    question_add(campaign=judged, text="Ready?", options=Options(("no", "yes"), 1), why="You are.")
    anna = judged.participations.get(user__username="anna")
    anna.campaign.refresh_from_db()
    quiz_answer(participation=anna, chosen={1: 0}, at=at)

    bundle_write(campaign=judged, path=tmp_path / "bundle")
    copy = campaign_clone(campaign=judged)

    question = {"number": 1, "text": "Ready?", "options": ["no", "yes"], "right": 1, "why": "You are."}
    assert json.loads((tmp_path / "bundle" / "quiz.json").read_text()) == {"questions": [question]}
    columns, first, *_others = (tmp_path / "bundle" / "annotators.csv").read_text().splitlines()
    found = dict(zip(columns.split(","), first.split(","), strict=True))
    assert (found["annotator"], found["quiz_right"], found["quiz_asked"]) == ("A001", "0", "1")
    assert (copy.quiz.get().text, Campaign.objects.get(pk=copy.pk).has_quiz) == ("Ready?", True)
    assert Judgement.objects.filter(participation=anna).exists()


def test_questions_are_text_of_users(campaign, annotator) -> None:
    TupleFactory(campaign=campaign)
    question_add(
        campaign=campaign,
        text="<script>alert(1)</script>",
        options=Options(("<b>a</b>", "b"), 0),
        why="<i>x</i>",
    )

    page = client_of(annotator).post(address("quiz", campaign), {"question-1": 1}).content.decode()

    assert "<script>alert" not in page
    assert "<b>a</b>" not in page
    assert "&lt;i&gt;x" in page
