"""A surrogate: an encoder that is trained so that its own cosines are the similarities that a model gave."""

from dataclasses import asdict

import numpy as np
import pytest

from curation.exchange.exporting import snapshot_create
from curation.models import ScoreSet
from mlworkers.pipelines.encoder_data import training_rows_of
from mlworkers.plans.kinds import kind_named, plan_from
from mlworkers.runs.storage import artifact_path
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.encoders.plan import Weighting
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from tests.factories import PairFactory, RunFactory, ScoreSetFactory, SentenceFactory
from tests.runs import run_execute

pytestmark = pytest.mark.django_db
WHO, DOES, WHERE = ("dog", "cat", "bird", "child"), ("runs", "sits", "sings"), ("tree", "wall", "river")
NAME = "run 9: contexts, centred"


@pytest.fixture
def centred(dataset) -> ScoreSet:
    """Similarities from -0.75 to 1, as `score_contexts` publishes them: by what two scenes have in common."""
    made = ScoreSetFactory(dataset=dataset, name=NAME, kind="model", low=-1, high=1)
    texts = [(who, does, where) for who in WHO for does in DOES for where in WHERE]
    for number, first in enumerate(texts):
        second = texts[(7 * number + 5) % len(texts)]
        a, b = (SentenceFactory(dataset=dataset, text=f"The {' '.join(each)}, {side}.") for each, side in
                ((first, f"first {number}"), (second, f"second {number}")))  # fmt: skip
        common = sum(one == other for one, other in zip(first, second, strict=True))
        made.scores.create(
            pair=PairFactory(dataset=dataset, a=a, b=b, split="train"), value=-0.75 + 0.5 * common
        )
    return made


def plan_of(dataset, model, **settings: object):
    values = {"dataset": dataset.slug, "model": str(model), "scores": NAME, "device": "cpu", "batch_size": 8}
    return plan_from(kind_named("train_encoder"), {**values, **settings})


def test_the_targets_are_the_similarities_themselves(dataset, centred, encoder_folder) -> None:
    snapshot = snapshot_create(dataset=dataset)

    rows = training_rows_of(plan_of(dataset, encoder_folder), snapshot, weightings=[Weighting.PLAIN]).rows

    given = dict(centred.scores.values_list("pair_id", "value"))
    assert rows.values.tolist() == pytest.approx([given[number] for number in rows.numbers.tolist()])
    assert rows.values.min() < 0


def test_scores_that_people_gave_on_such_a_scale_are_still_brought_to_one_from_zero(
    dataset, centred, encoder_folder
) -> None:
    ScoreSet.objects.update(kind="human")
    snapshot = snapshot_create(dataset=dataset)

    rows = training_rows_of(plan_of(dataset, encoder_folder), snapshot, weightings=[Weighting.PLAIN]).rows

    given = dict(centred.scores.values_list("pair_id", "value"))
    assert rows.values.tolist() == pytest.approx(
        [(given[number] + 1) / 2 for number in rows.numbers.tolist()]
    )


def test_a_surrogate_s_cosines_come_near_to_the_similarities(dataset, centred, encoder_folder) -> None:
    plan = plan_of(dataset, encoder_folder, epochs=12, learning_rate=0.003)
    run = RunFactory(kind="train_encoder", dataset=dataset, queue="gpu", plan=asdict(plan))

    run_execute(run, "succeeded")
    scores = list(centred.scores.values_list("pair__a__text", "pair__b__text", "value"))
    first, second, given = (list(column) for column in zip(*scores, strict=True))
    compute = choose_compute("cpu")

    def distance(folder) -> float:
        cosines = pair_cosines(load_encoder(folder, compute), first, second, compute).values
        return float(np.mean((cosines - np.array(given)) ** 2))

    assert distance(artifact_path(run.artifacts.get())) < 0.5 * distance(encoder_folder)
