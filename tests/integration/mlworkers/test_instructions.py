"""Instructions of generators: versions that are written, checked and chosen on pages."""

import json
import re
from html import unescape

import pytest
from django.urls import reverse

from curation.foundation.errors import UserError
from curation.models import Dataset
from mlworkers.kinds.generation.instructions import (
    LabelText,
    instructions_latest,
    instructions_save,
    label_texts,
    runs_with,
    versions_of,
)
from mlworkers.models import Instructions
from mlworkers.runs.services import run_start
from mlworkers.science.synthesis.prompts import TASKS, task_named
from tests.factories import PairFactory, SentenceFactory

pytestmark = pytest.mark.django_db
ONE = LabelText("1", 'Say it in other words.\nFirst: "<X1>"\nSecond: "')
NONE = LabelText("0", 'Change the topic.\nFirst: "<X1>"\nSecond: "', ("1",))


def sent(*texts: LabelText, **more: str) -> dict[str, str]:
    """What the browser sends for these texts, with line breaks as browsers send them."""
    data = {"form-TOTAL_FORMS": str(len(texts) + 1), "form-INITIAL_FORMS": "0", "name": "topics", **more}
    for number, text in enumerate((*texts, LabelText("", ""))):
        data[f"form-{number}-label"] = text.label
        data[f"form-{number}-instruction"] = text.instruction.replace("\n", "\r\n")
        data[f"form-{number}-counters"] = ", ".join(text.counters)
    return data


def address(dataset: Dataset, name: str = "") -> str:
    if name:
        return reverse("mlworkers:instructions", args=[dataset.slug, name])
    return reverse("mlworkers:instructions_new", args=[dataset.slug])


@pytest.fixture
def curated(client, dataset, curator):
    client.force_login(curator)
    return client


def test_what_is_saved_is_what_a_plan_is_given(dataset, curator) -> None:
    saved = instructions_save(dataset=dataset, name="topics", texts=[ONE, NONE], by=curator)

    task = task_named(saved.text)

    assert task.name == "topics.v1"
    assert label_texts(task) == [ONE, NONE]
    assert task.prompts("0", "A dog.")[1] == 'Say it in other words.\nFirst: "A dog."\nSecond: "'


def test_each_change_is_a_version_and_says_what_changed(dataset, curator) -> None:
    louder = LabelText("1", 'Shout it.\n"<X1>"\n"')
    for texts in ([ONE], [ONE, NONE], [louder]):
        instructions_save(dataset=dataset, name="topics", texts=texts, by=curator)

    assert [(row.instructions.version, row.changes) for row in versions_of(dataset, "topics")] == [
        (3, "removed: 0; changed: 1"),
        (2, "added: 0"),
        (1, "labels 1"),
    ]
    assert [str(one) for one in instructions_latest(dataset)] == ["topics, version 3"]


def test_a_version_that_says_the_same_is_refused(dataset, curator) -> None:
    instructions_save(dataset=dataset, name="topics", texts=[ONE], by=curator)

    with pytest.raises(UserError, match="Version 1 says the same"):
        instructions_save(dataset=dataset, name="topics", texts=[ONE], note="Again.", by=curator)


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ([], "has no labels"),
        ([ONE, ONE], "Two instructions have the same label"),
        ([LabelText("1", 'Second: "')], "must contain &lt;X1&gt; once, not 0 times"),
        ([LabelText("1", "<X1>")], "does not end in a quote"),
        ([LabelText("2", '<X1> "')], "is not a number from 0 to 1"),
        ([LabelText("1", '<X1> "', ("0",))], "which is not a label of the task"),
    ],
)
@pytest.mark.parametrize("button", [{}, {"check": "1"}])
def test_what_cannot_be_used_is_refused_in_one_sentence_and_kept_on_the_page(
    curated, dataset, texts, says, button
) -> None:
    page = curated.post(address(dataset), sent(*texts, note="Mine", **button)).text

    assert says in page.replace("&#x27;", "'")
    assert 'value="Mine"' in page
    assert not Instructions.objects.exists()


def test_checking_shows_the_prompts_for_a_sentence_of_the_dataset_and_saves_nothing(curated, dataset) -> None:
    a = SentenceFactory(dataset=dataset, text="A <b>dog</b> runs.")
    PairFactory(dataset=dataset, a=a)

    page = curated.post(address(dataset), sent(ONE, NONE, check="1")).text

    assert "These instructions can be used." in page
    assert "First: &quot;A &lt;b&gt;dog&lt;/b&gt; runs.&quot;" in page
    assert not Instructions.objects.exists()


def test_a_page_saves_versions_and_begins_with_the_one_that_is_asked_for(curated, dataset) -> None:
    curated.post(address(dataset), sent(ONE, note="First try"))
    answer = curated.post(address(dataset, "topics"), sent(ONE, NONE), follow=True)

    assert "Saved topics, version 2." in answer.text
    assert [one.version for one in Instructions.objects.order_by("version")] == [1, 2]
    assert label_texts(task_named(Instructions.objects.get(version=2).text)) == [ONE, NONE]
    first = curated.get(address(dataset, "topics"), {"version": 1}).text
    assert "Version 1" in first
    assert 'name="form-0-label" value="1"' in first
    assert "Change the topic." not in first
    assert curated.get(address(dataset, "topics"), {"version": 7}).status_code == 404
    assert curated.get(address(dataset, "nothing")).status_code == 404


def test_a_name_that_is_taken_is_no_new_name(curated, dataset) -> None:
    curated.post(address(dataset), sent(ONE))

    page = curated.post(address(dataset), sent(NONE)).text

    assert "There are instructions with the name “topics” already" in page
    assert Instructions.objects.count() == 1


def test_new_instructions_begin_with_ready_made_ones(curated, dataset) -> None:
    page = unescape(curated.get(address(dataset), {"like": "questions"}).text)

    assert TASKS["questions"].instructions["1"].text in page


def test_the_list_of_a_dataset_without_instructions_says_what_runs_use(curated, dataset) -> None:
    page = curated.get(reverse("mlworkers:instructions_list", args=[dataset.slug])).text

    assert "This dataset has no own instructions." in page
    assert address(dataset) in page


def test_runs_take_the_chosen_version_and_keep_it(client, admin, dataset, curator) -> None:
    saved = instructions_save(dataset=dataset, name="topics", texts=[ONE, NONE], by=curator)
    client.force_login(admin)
    form = reverse("mlworkers:run_start", args=["generate_pairs"])

    page = client.get(form, {"dataset": dataset.slug, "instructions": saved.pk}).text
    (chosen,) = re.findall(r'<option value="([^"]*)" selected>topics, version 1</option>', page)
    plan = {"model": "openai:tiny", "task": unescape(chosen), "labels": "1,0"}
    run = run_start(kind="generate_pairs", plan={"dataset": dataset.slug, **plan}, by=admin)

    assert json.loads(run.plan["task"]) == saved.specification
    assert [row.runs for row in versions_of(dataset, "topics")] == [1]
    instructions_save(dataset=dataset, name="topics", texts=[ONE], by=curator)
    assert list(runs_with(saved)) == [run]
    again = client.get(form, {"dataset": dataset.slug, "again": run.pk}).text
    assert re.search(r'<option value="[^"]*" selected>those of an earlier run</option>', again)


@pytest.mark.parametrize(
    ("who", "reads", "writes"),
    [
        ("curator", 200, 302),
        ("staff", 200, 302),
        ("annotator", 403, 403),
        ("stranger", 404, 404),
    ],
)
def test_curators_and_staff_write_instructions(client, dataset, request, who, reads, writes) -> None:
    client.force_login(request.getfixturevalue(who))

    assert client.get(address(dataset)).status_code == reads
    assert client.post(address(dataset), sent(ONE)).status_code == writes


def test_an_archived_dataset_shows_its_instructions_and_takes_no_more(client, dataset, curator) -> None:
    instructions_save(dataset=dataset, name="topics", texts=[ONE], by=curator)
    client.force_login(curator)
    Dataset.objects.filter(pk=dataset.pk).update(archived=True)

    page = client.get(address(dataset, "topics"))

    assert page.status_code == 200
    assert "Say it in other words." in page.text
    assert "Save as the next version" not in page.text
    client.post(address(dataset, "topics"), sent(NONE))
    assert Instructions.objects.count() == 1
