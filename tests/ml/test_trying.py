"""The worker's side of a paraphraser's playground: paraphrases with measured labels, and models that stay loaded."""

import shutil

import numpy as np
import pytest

from mlworkers.kinds.paraphrases import trying
from mlworkers.models import Artifact
from mlworkers.runs.services import run_start
from mlworkers.runs.storage import run_folder
from mlworkers.science.paraphrasing.measured import measure
from mlworkers.science.paraphrasing.paraphraser import paraphraser_initialised
from mlworkers.science.paraphrasing.paraphraser_plan import ParaphraserPlan
from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.pretrained.compute import choose_compute
from tests.factories import ArtifactFactory, RunFactory
from tests.ml.tiny import tiny_cross_encoder
from tests.runs import run_execute

pytestmark = pytest.mark.django_db
TEXTS = ["the dog runs on the grass", "a cat sits on the mat", "the man sings in the tree"]


@pytest.fixture(autouse=True)
def nothing_loaded() -> None:
    trying._kept.clear()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Of a paraphraser with random weights, and of a labeller."""
    plan = ParaphraserPlan(dataset="news", selection=1, layers=1, width=32, vocabulary=300, context=24)
    folder = tmp_path_factory.mktemp("paraphraser")
    paraphraser_initialised(TEXTS, TagBounds(), plan, choose_compute("cpu")).save(folder)
    return folder, tiny_cross_encoder(tmp_path_factory.mktemp("labeller"))


@pytest.fixture
def models(dataset, folders) -> tuple[Artifact, Artifact]:
    made = []
    for kind, folder in zip(("paraphraser", "labeller"), folders, strict=True):
        run = RunFactory(kind=f"train_{kind}", dataset=dataset, state="succeeded", plan={})
        shutil.copytree(folder, run_folder(run.pk) / "1" / kind)
        card = {"tags": TagBounds().as_dict()} if kind == "paraphraser" else {}
        path = f"runs/{run.pk}/1/{kind}"
        made.append(ArtifactFactory(run=run, kind=kind, card=card, path=path))
    return made[0], made[1]


def tried(models, source: str = TEXTS[0], **changes: object):
    paraphraser, labeller = models
    asked = {"source": source, "similarity": "SIM95", "bleu": "BLEU40", "model": f"run:{paraphraser.run_id}"}
    plan = {**asked, "labeller": f"run:{labeller.run_id}/labeller", **changes}
    run = run_start(kind="try_paraphraser", plan=plan, by=None, dataset=paraphraser.run.dataset)
    return run_execute(run)


def test_every_paraphrase_has_the_labels_that_a_run_would_give_it(models) -> None:
    run = tried(models)

    assert run.state == "succeeded", run.message
    rows = run.result["paraphrases"]
    assert 1 <= len(rows) <= 5
    texts = [row["text"] for row in rows]
    expected = measure([TEXTS[0]] * len(rows), texts, trying._kept[0].similarity)
    for name in ("similarity", "bleu"):
        found = np.array([row[name] for row in rows], dtype=float)
        assert found == pytest.approx(getattr(expected, name), nan_ok=True)
    assert not any(row["copy"] for row in rows)


def test_what_says_the_same_as_the_sentence_is_marked(models, monkeypatch) -> None:
    tried(models)
    monkeypatch.setattr(
        trying, "paraphrases_decoded", lambda *_args, **_more: [["The dog runs, on the grass!"]]
    )

    [row] = tried(models).result["paraphrases"]

    assert row["copy"] is True
    assert row["in_cell"] is False  # its BLEU is 100, which is above BLEU40


@pytest.mark.minilm
def test_the_models_stay_loaded_until_others_are_asked(models) -> None:
    tried(models)
    first = trying._kept[0].paraphraser
    tried(models, TEXTS[1])
    again = trying._kept[0].paraphraser
    tried(models, labeller="packaged:all-MiniLM-L6-v2")

    assert again is first
    assert len(trying._kept) == 1
    assert trying._kept[0].paraphraser is not first


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"source": "Dog"}, "“Dog” has one word; a paraphrase needs a sentence of two words or more."),
        ({"source": "the dog runs on " * 20}, "tokens with its tags; the model takes 24. Shorten it."),
        ({"similarity": "SIM97"}, "There is no pair of tags “SIM97 BLEU40”; the 48 pairs are SIM70 BLEU0_5,"),
        ({"model": "run:10000"}, "10000"),
        ({"labeller": "run:10000"}, "10000"),
    ],
)
def test_what_cannot_be_tried_is_refused_in_one_sentence(models, changes, sentence) -> None:
    run = tried(models, **changes)

    assert run.state == "failed"
    assert sentence in run.message
    assert not run.result
