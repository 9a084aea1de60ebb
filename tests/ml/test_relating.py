"""The worker's side of the playground: a cosine, its place among a dataset's test pairs, one encoder in memory."""

import shutil

import pytest

from mlworkers.kinds.encoders import relating
from mlworkers.models import Artifact
from mlworkers.runs.services import run_start
from mlworkers.runs.storage import run_folder
from mlworkers.science.encoders.encoding import pair_cosines
from tests.factories import ArtifactFactory, PairFactory, RunFactory, SentenceFactory
from tests.runs import run_execute

pytestmark = pytest.mark.django_db
FIRST, SECOND = "the dog runs on grass", "a cat sits in the tree"


@pytest.fixture(autouse=True)
def nothing_loaded() -> None:
    relating._kept.clear()


@pytest.fixture
def artifact(dataset, encoder_folder) -> Artifact:
    return made(RunFactory(kind="train_encoder", dataset=dataset, state="succeeded", plan={}), encoder_folder)


def made(run, encoder_folder) -> Artifact:
    shutil.copytree(encoder_folder, run_folder(run.pk) / "1" / "encoder")
    return ArtifactFactory(run=run)


def related(artifact: Artifact, first: str = FIRST, second: str = SECOND):
    plan = {"first": first, "second": second, "artifact": artifact.pk}
    run = run_start(kind="relate_sentences", plan=plan, by=None, dataset=artifact.run.dataset)
    return run_execute(run)


def test_the_cosine_is_the_encoder_s_own(artifact, encoder) -> None:
    run = related(artifact)

    expected = float(encoder.similarity(*encoder.encode([FIRST, SECOND])))
    assert run.state == "succeeded", run.message
    assert run.result == {"cosine": pytest.approx(expected, abs=1e-5)}


def test_the_place_counts_the_human_test_pairs_that_the_encoder_finds_less_alike(artifact, encoder) -> None:
    texts = [
        ("the dog runs", "a dog runs"),
        ("the bird sings", "a man sits"),
        ("the mat", "a tree is on grass"),
    ]
    for a, b in texts:
        pair(artifact, a, b, split="test")
    pair(artifact, "the child plays", "a ball", split="train")
    pair(artifact, "the woman sits", "a mat", split="test", origin="generated")

    run = related(artifact)

    compute = relating._kept[0].compute
    cosines = pair_cosines(encoder, *zip(*texts, strict=True), compute).values
    assert run.result["pairs"] == 3
    assert run.result["below"] == int((cosines < run.result["cosine"]).sum())


def pair(artifact: Artifact, a: str, b: str, **facts: str) -> None:
    dataset = artifact.run.dataset
    sentences = {name: SentenceFactory(dataset=dataset, text=text) for name, text in (("a", a), ("b", b))}
    PairFactory(dataset=dataset, **sentences, **facts)


def test_the_encoder_stays_loaded_until_another_is_asked(artifact, dataset, encoder_folder) -> None:
    related(artifact)
    first = relating._kept[0].encoder
    related(artifact, "the man sings", SECOND)
    again = relating._kept[0].encoder

    other = made(
        RunFactory(kind="train_encoder", dataset=dataset, state="succeeded", plan={}), encoder_folder
    )
    related(other)

    assert again is first
    assert len(relating._kept) == 1
    assert relating._kept[0].encoder is not first


def test_a_model_that_is_no_encoder_is_refused_in_one_sentence(dataset) -> None:
    generator = ArtifactFactory(kind="generator", run__dataset=dataset, run__plan={})

    run = related(generator)

    assert run.state == "failed"
    assert run.message == f"There is no encoder number {generator.pk}; choose one on the models page."


def test_an_encoder_whose_files_are_gone_is_refused_in_one_sentence(artifact) -> None:
    shutil.rmtree(run_folder(artifact.run_id))

    run = related(artifact)

    assert run.state == "failed"
    assert "are missing" in run.message
