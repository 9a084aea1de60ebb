"""What makes pairs related, from pairs to page: what is computed, who sees it, what the page and the file say."""

import csv
import io
import random

import numpy as np
import pytest
import spacy
from django.urls import reverse

from curation.foundation.errors import UserError
from curation.models import PairScore
from curation.pairs.overlap import dice
from mlworkers.models import Run
from mlworkers.runs.services import run_start
from tests.factories import PairFactory, RunFactory, ScoreSetFactory, SentenceFactory, client_of
from tests.markup import squeezed
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db
ANIMALS, VERBS = ("cat", "dog", "horse", "bird"), ("runs", "sits", "sings", "eats")


@pytest.fixture
def scenes(dataset):
    """Sixty pairs of little scenes, each with a score that goes with their words in common."""
    draw = random.Random(4)
    scores = ScoreSetFactory(dataset=dataset, name="gold", kind="human")

    def sentence(number: int) -> str:
        return f"The {draw.choice(ANIMALS)} {draw.choice(VERBS)} near {number} trees"

    for number in range(60):
        a, b = (SentenceFactory(dataset=dataset, text=sentence(2 * number + side)) for side in range(2))
        score = min(1.0, max(0.0, dice(a.text, b.text) + draw.uniform(-0.1, 0.1)))
        PairScore.objects.create(score_set=scores, pair=PairFactory(dataset=dataset, a=a, b=b), value=score)
    return dataset


@pytest.fixture
def pipeline_folder(tmp_path):
    """A small pipeline that tags by rule and has word vectors."""
    made = spacy.blank("en")
    ruler = made.add_pipe("attribute_ruler")
    for words, tag in ((ANIMALS, "NOUN"), (VERBS, "VERB")):
        ruler.add([[{"LOWER": {"IN": list(words)}}]], {"POS": tag})
    rng = np.random.default_rng(2)
    for word in (*ANIMALS, *VERBS, "near", "trees"):
        made.vocab.set_vector(word, rng.normal(size=8).astype(np.float32))
    made.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


def carried_out(dataset, **settings: object) -> Run:
    values = {"dataset": dataset.slug, "score_set": "gold", "resamples": 100, **settings}
    return run_execute(run_plan("analyse_relatedness", dataset, values))


def page(user, name: str, run: Run):
    return client_of(user).get(reverse(f"mlworkers:{name}", args=[run.pk]))


def test_the_table_has_the_questions_of_the_paper(curator, scenes, pipeline_folder) -> None:
    run = carried_out(scenes, pipeline=str(pipeline_folder))

    shown = squeezed(page(curator, "relatedness", run).text)

    assert run.state == "succeeded", run.message
    assert [one["name"] for one in run.result["features"]] == [
        "Dice", "all words", "NOUN", "VERB", "noun group", "verb group",
    ]  # fmt: skip
    assert run.result["common_pairs"] == 60
    assert "subjects and objects were left out" in shown
    assert "Related words of one part of speech" in shown
    assert "On the 60 pairs that have all main features" in shown


def test_the_file_has_a_row_for_each_feature(curator, scenes, pipeline_folder) -> None:
    run = carried_out(scenes, pipeline=str(pipeline_folder))

    rows = list(csv.DictReader(io.StringIO(page(curator, "relatedness_csv", run).text)))

    overlap = next(row for row in rows if row["feature"] == "Dice")
    assert len(rows) == 6
    assert float(overlap["low"]) < float(overlap["spearman"]) < float(overlap["high"])
    assert (overlap["pairs"], overlap["partial"]) == ("60", "")
    assert float(overlap["coefficient_low"]) > 0


def test_a_file_of_vectors_serves_without_a_pipeline(curator, scenes, tmp_path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("cat 1 0\ndog 0 1\ntrees 1 1\nnear 1 2\nruns 3 1\n")

    run = carried_out(scenes, vectors=str(path))

    assert [one["name"] for one in run.result["features"]] == ["Dice", "all words"]
    assert "No spaCy pipeline was named" in squeezed(page(curator, "relatedness", run).text)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"pipeline": "xx_none"}, "There is no spaCy pipeline “xx_none”"),
        ({"vectors": "./none.txt"}, "There is no file of word vectors at none.txt"),
        ({"split": "dev"}, "No pair of the split “dev”"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(scenes, given, says) -> None:
    run = carried_out(scenes, **given)

    assert run.state == "failed"
    assert says in run.message


@pytest.mark.parametrize("name", ["pipeline", "vectors"])
def test_a_person_reads_no_file_outside_the_folders_of_models(staff, scenes, name) -> None:
    values = {"dataset": scenes.slug, "score_set": "gold", name: "/etc/passwd"}

    with pytest.raises(UserError, match="outside the folders"):
        run_start(kind="analyse_relatedness", plan=values, by=staff)


@pytest.mark.parametrize("name", ["relatedness", "relatedness_csv"])
@pytest.mark.parametrize(("person", "status"), [("stranger", 404), ("annotator", 403), ("curator", 200)])
def test_who_sees_an_analysis_of_relatedness(request, dataset, name, person, status) -> None:
    run = RunFactory(kind="analyse_relatedness", dataset=dataset, plan={"dataset": dataset.slug})

    assert page(request.getfixturevalue(person), name, run).status_code == status
