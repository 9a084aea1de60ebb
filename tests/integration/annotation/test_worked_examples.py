"""Worked examples: a curator writes tuples with their answer, and annotators read them with the guidelines."""

import json
import re

import pytest

from annotation.campaigns.cloning import campaign_clone
from annotation.campaigns.examples import (
    WorkedExample,
    example_add,
    example_remove,
    examples_of,
    pairs_judged_too,
)
from annotation.campaigns.quiz import Options, question_add
from annotation.campaigns.services import guideline_save
from annotation.models import Judgement
from annotation.results.bundle import bundle_write
from curation.foundation.errors import UserError
from tests.factories import MembershipFactory, client_of
from tests.integration.annotation.pages import address, text_of
from tests.integration.annotation.test_pages_api import program as program_fixture

program = program_fixture
PAIRS = (
    ("A cat naps.", "A cat sleeps."),
    ("It rains.", "Tax is due."),
    ("I eat.", "I cook."),
    ("Go.", "No."),
)
EXAMPLE = WorkedExample(PAIRS, best=0, worst=1, why="One pair says the same, one shares nothing.")
SENT = {
    f"{side}-{place}": pair[number] for place, pair in enumerate(PAIRS) for number, side in enumerate("ab")
} | {
    "best": 0,
    "worst": 1,
    "why": EXAMPLE.why,
}


@pytest.fixture
def guided(campaign):
    guideline_save(campaign=campaign, text="Read **both** sentences.")
    example_add(campaign=campaign, example=EXAMPLE)
    return campaign


def test_a_curator_writes_an_example_and_takes_it_out_again_and_each_is_a_version(campaign, curator) -> None:
    site = client_of(curator)
    guideline_save(campaign=campaign, text="Read.")
    added = site.post(address("example_new", campaign), SENT)
    site.post(address("guidelines", campaign), {"text": "Read twice."})
    shown = text_of(site.get(address("guidelines", campaign)))
    site.post(address("example_remove", campaign, 1))

    assert added.headers["Location"] == address("guidelines", campaign)
    assert f"Pair 1 A cat naps. A cat sleeps. ▲ {campaign.best_label} Pair 2 It rains." in shown
    versions = campaign.guidelines.order_by("version")
    assert [(each.text, len(each.examples)) for each in versions] == [
        ("Read.", 0),
        ("Read.", 1),
        ("Read twice.", 1),
        ("Read twice.", 0),
    ]


def test_annotators_see_it_in_the_dialog_and_above_the_quiz_and_judgements_keep_the_version(
    guided, annotator, curator, anna, answer
) -> None:
    answer(anna)
    dialog = client_of(annotator).get(address("judge", guided)).content.decode()
    question_add(campaign=guided, text="Ready?", options=Options(("yes", "no"), 0))
    quiz = text_of(client_of(curator).get(address("quiz", guided)))

    inside = dialog[dialog.index('<dialog id="guidelines"') :].partition("</dialog>")[0]
    assert re.findall(r"expected-(best|worst)", inside) == ["best", "worst"]
    assert EXAMPLE.why in inside
    assert EXAMPLE.why in quiz
    assert examples_of(Judgement.objects.get().guideline) == [EXAMPLE]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"a-0": " "}, "This field is required."),
        ({"worst": 0}, "Choose two different pairs"),
        ({"worst": 4}, "Select a valid choice"),
        ({"best": ""}, "Choose the pair for “Most related”."),
        ({"a-1": "A cat naps.", "b-1": "A  cat sleeps."}, "are the same"),
    ],
)
def test_an_example_without_one_answer_is_refused_and_kept_in_the_form(
    campaign, curator, change, sentence
) -> None:
    page = client_of(curator).post(address("example_new", campaign), SENT | change)

    assert sentence in text_of(page)
    assert "Tax is due." in text_of(page) or "a-1" in change
    assert not campaign.guidelines.exists()


def test_a_draft_of_another_size_refuses_the_example(campaign) -> None:
    with pytest.raises(UserError, match="needs 4 pairs; 3 are given"):
        example_add(campaign=campaign, example=WorkedExample(PAIRS[:3], 0, 1))


def test_guidelines_have_ten_examples_at_most_and_removing_what_is_gone_says_so(guided) -> None:
    for _number in range(9):
        example_add(campaign=guided, example=EXAMPLE)

    with pytest.raises(UserError, match="at most 10 worked examples"):
        example_add(campaign=guided, example=EXAMPLE)
    with pytest.raises(UserError, match="no worked example 11"):
        example_remove(campaign=guided, number=11)


def test_a_pair_that_people_judge_brings_a_warning(campaign, curator) -> None:
    pair = campaign.tuples.first().items.first().pair
    pairs = (*PAIRS[:3], (pair.b.text, pair.a.text))

    page = client_of(curator).post(
        address("example_new", campaign), SENT | {"a-3": pair.a.text, "b-3": pair.b.text}, follow=True
    )

    assert pairs_judged_too(campaign, WorkedExample(pairs, 0, 1)) == [4]
    assert "Pair 4 of the example is annotated in this campaign" in text_of(page)


@pytest.mark.parametrize(("role", "status"), [("annotator", 403), ("stranger", 404), ("staff", 403)])
def test_others_write_no_examples(guided, role, status, request) -> None:
    site = client_of(request.getfixturevalue(role))

    assert site.post(address("example_new", guided), SENT).status_code == status
    assert site.post(address("example_remove", guided, 1)).status_code == status
    assert guided.guidelines.count() == 2


def test_examples_are_text_of_users(campaign, annotator) -> None:
    pairs = (("<b>bold</b>", "B."), *PAIRS[1:])
    example_add(campaign=campaign, example=WorkedExample(pairs, 0, 1, "<i>why</i>"))

    page = client_of(annotator).get(address("judge", campaign)).content.decode()

    assert "&lt;b&gt;bold" in page
    assert "<b>bold" not in page
    assert "<i>why" not in page


def test_programs_the_bundle_and_a_copy_have_the_examples(judged, program, tmp_path) -> None:
    reader = MembershipFactory(dataset=judged.dataset, role="annotator").user
    guideline_save(campaign=judged, text="Read.")
    example_add(campaign=judged, example=EXAMPLE)

    said = program(reader).get(f"/api/v1/campaigns/{judged.pk}/guidelines/").json()
    bundle_write(campaign=judged, path=tmp_path / "bundle")
    copy = campaign_clone(campaign=judged)

    newest = judged.guidelines.first().version
    file = tmp_path / "bundle" / "guidelines" / f"version-{newest}-examples.json"
    assert said[0]["examples"][0]["pairs"][0] == ["A cat naps.", "A cat sleeps."]
    assert said[1]["examples"] == []
    assert json.loads(file.read_text())["examples"][0]["why"] == EXAMPLE.why
    assert examples_of(copy.guidelines.get()) == [EXAMPLE]
