"""The instructions, and what is refused of those that people write themselves."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlworkers.science.synthesis.plan import BootstrapPlan, GenerationPlan, PlanError
from mlworkers.science.synthesis.prompts import (
    QUOTE,
    TASKS,
    TaskError,
    labels_listed,
    task_checked,
    task_named,
    typographic,
)

DINO = TASKS["sentences"]


def spec(**changes) -> dict:
    label = {"instruction": 'Say the same as "<X1>": "', "counter_labels": [], **changes}
    return {"task_name": "sts", "labels": {"1": label}}


def generation(**settings) -> GenerationPlan:
    return GenerationPlan(dataset="scenes", model="run:1", **settings)


def test_the_prompt_of_a_label_is_dinos_with_the_source_in_it() -> None:
    prompts = DINO.prompts("0.5", "A dog runs.")

    assert prompts == (
        'Task: Write two sentences that are somewhat similar.\nSentence 1: "A dog runs."\nSentence 2: "',
        'Task: Write two sentences that mean the same thing.\nSentence 1: "A dog runs."\nSentence 2: "',
    )


def test_a_label_counters_every_higher_one() -> None:
    counters = {label: instruction.counters for label, instruction in DINO.instructions.items()}

    assert counters == {"1": (), "0.5": ("1",), "0": ("1", "0.5")}


def test_questions_are_asked_for_as_questions() -> None:
    prompt, *_ = TASKS["questions"].prompts("1", "Who runs?")

    assert prompt == (
        'Task: Write two questions that mean the same thing.\nquestion 1: "Who runs?"\nquestion 2: "'
    )


def test_quotes_in_a_source_become_typographic() -> None:
    assert typographic('"Run," he said ("now").') == "“Run,” he said (“now”)."


@given(st.text())
def test_a_prompt_holds_its_own_quotes_and_none_of_the_source(source: str) -> None:
    bare = DINO.prompts("1", "")[0]

    prompt = DINO.prompts("1", source)[0]

    assert prompt.endswith(QUOTE)
    assert prompt.count(QUOTE) == bare.count(QUOTE) == 3
    assert len(prompt) == len(bare) + len(source)


@given(st.text(alphabet='"<X1> a', max_size=12))
def test_a_source_that_names_the_place_of_the_source_is_put_in_once(source: str) -> None:
    prompt = DINO.prompts("1", source)[0]

    assert len(prompt) == len(DINO.prompts("1", "")[0]) + len(source)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (spec(instruction='Say "<X1>": '), "does not end in a quote"),
        (spec(instruction='Say: "'), "must contain <X1> once, not 0 times"),
        (spec(instruction='"<X1>" or "<X1>": "'), "must contain <X1> once, not 2 times"),
        (spec(instruction=7), "does not end in a quote"),
        (spec(counter_labels=["1"]), "counters itself"),
        (spec(counter_labels=["0.5"]), "is not a label of the task"),
        (spec(counter_labels="0.5"), "is not a list of labels"),
        (spec(temperature=1), "has the field 'temperature'"),
        ({"task_name": "sts", "labels": {}}, "has no labels"),
        ({"task_name": "sts", "labels": ["1"]}, "is not an object"),
        ({"task_name": "s t s", "labels": spec()["labels"]}, "must consist of letters"),
        ({"task_name": "sts", "labels": {"2": spec()["labels"]["1"]}}, "is not a number from 0 to 1"),
        ({"task_name": "sts", "labels": {"same": spec()["labels"]["1"]}}, "is not a number from 0 to 1"),
        ({"task_name": "sts", "labels": {"nan": spec()["labels"]["1"]}}, "is not a number from 0 to 1"),
        ("labels", "is not an object"),
    ],
)
def test_a_task_that_cannot_be_used_is_refused_with_a_sentence(wrong, says: str) -> None:
    with pytest.raises(TaskError, match=says) as error:
        task_checked(wrong)

    assert str(error.value).endswith(".")


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=14), inner, max_size=3),
    )
)
def test_anything_else_is_refused_as_well(anything) -> None:
    for wrong in (anything, {"task_name": "sts", "labels": anything}, spec(counter_labels=[anything])):
        with pytest.raises(TaskError):
            task_checked(wrong)


def test_a_task_of_ones_own_is_given_as_json() -> None:
    assert task_named(json.dumps(spec())).instructions["1"].prompt("x") == 'Say the same as "x": "'


@pytest.mark.parametrize("text", ["phrases", "", "{", '{"task_name": 3}'])
def test_a_text_that_is_no_task_is_refused(text: str) -> None:
    with pytest.raises(TaskError):
        task_named(text)


def test_labels_are_read_from_a_list() -> None:
    assert labels_listed(" 1,0.5 ", DINO) == ("1", "0.5")


def test_an_empty_list_means_all_labels() -> None:
    assert labels_listed(" ", DINO) == tuple(DINO.instructions)


@pytest.mark.parametrize("text", [",", "1,1", "0.7", "1.0", "1;0"])
def test_labels_that_the_task_lacks_are_refused(text: str) -> None:
    with pytest.raises(TaskError):
        labels_listed(text, DINO)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"labels": "0,2"}, "has no label '2'"),
        ({"task": "poems"}, "There is no task 'poems'"),
        ({"split": "test"}, "is held out"),
        ({"split": "Validation"}, "is held out"),
    ],
)
def test_a_plan_refuses_what_its_task_does_not_know(wrong: dict, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        generation(**wrong)


def test_a_generators_width_is_made_of_whole_heads() -> None:
    with pytest.raises(PlanError, match="multiple of 32"):
        BootstrapPlan(dataset="scenes", score_set="gold", width=100)
