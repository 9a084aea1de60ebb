"""A scoring of realism from rows to rows: what is drawn, what is published, and what a successor makes of it."""

import csv
from dataclasses import asdict
from uuid import uuid4

import numpy as np
import pytest
from django.utils.timezone import now

from curation.models import PairScore, ReviewDecision, ScoreSet, Sentence, SentenceScore
from curation.review.queue import waiting_of
from mlworkers import tasks
from mlworkers.kinds.realism import realism
from mlworkers.kinds.realism.scored_sentences import SentencesToScore, scored_sentences
from mlworkers.models import Run
from mlworkers.pipelines import publishing
from mlworkers.plans.fields import PlanError
from mlworkers.runs.storage import Curve, home_path, kept_folder
from mlworkers.science.realism.plan import ClassifierKind, RealismPlan
from tests.factories import DatasetFactory, PairFactory, RunFactory, ScoreSetFactory, SentenceFactory
from tests.ml.tiny import WORDS, tiny_encoder
from tests.runs import run_execute

pytestmark = pytest.mark.django_db
PEOPLE, SOURCES = 40, 15
RESULT_KEYS = {
    "characters_auc",
    "words_auc",
    "auc",
    "auc_low",
    "auc_high",
    "accuracy",
    "median_p_human",
    "median_p_machine",
    "temperature",
    "ece_before",
    "ece_after",
    "spearman_p_target",
    "score_set",
    "humans",
    "machines",
}


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory) -> str:
    return str(tiny_encoder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture
def generation(dataset) -> Run:
    return generated(dataset)


def generated(dataset, *, seed: int = 1) -> Run:
    """Pairs that people wrote, and pairs of which a machine that says “mat” a lot wrote the second sentence."""
    rng = np.random.default_rng(seed)
    run = RunFactory(dataset=dataset, kind="generate_pairs", plan={"dataset": dataset.slug, "split": "train"})
    target = ScoreSetFactory(dataset=dataset, kind="target", high=1.0, run_ref=run.pk, name="intended")
    people = [
        PairFactory(
            dataset=dataset,
            split="train",
            **{f"{side}__text": f"{' '.join(rng.choice(WORDS, 6))} {number}{side}." for side in "ab"},
        )
        for number in range(PEOPLE)
    ]
    for number, pair in enumerate(people[:SOURCES]):
        for intended in (0.1, 0.9):
            text = f"{' '.join(rng.choice(WORDS, 4))} mat mat {number} {intended}"
            machine_pair(run, target, pair.a, text, intended)
    return run


def machine_pair(run, target, source, text: str, intended: float, **facts):
    sentence = SentenceFactory(dataset=run.dataset, text=text, origin="machine", run_ref=run.pk)
    pair = PairFactory(
        dataset=run.dataset, a=source, b=sentence, origin="generated", run_ref=run.pk, split="train", **facts
    )
    PairScore.objects.create(score_set=target, pair=pair, value=intended)
    return pair


def scoring(generation: Run, encoder_folder: str, **plan) -> Run:
    settings = {"dataset": generation.dataset.slug, "run": generation.pk, "model": encoder_folder, "folds": 3}
    return RunFactory(dataset=generation.dataset, kind="score_realism", plan={**settings, **plan})


def test_every_sentence_and_every_generated_pair_gets_its_p_d(generation, encoder_folder) -> None:
    run = run_execute(scoring(generation, encoder_folder))

    assert run.state == "succeeded", run.message
    assert set(run.result) >= RESULT_KEYS
    # People and machines do not use the same words here, so that words alone tell them apart.
    assert run.result["words_auc"] > run.result["auc_low"]
    assert "the words that occur" in run.result["warnings"][0]
    score_set = ScoreSet.objects.get(kind="realism")
    assert (score_set.name, score_set.run_ref) == (f"run {run.pk}: p_D", run.pk)
    assert score_set.sentence_scores.count() == 2 * PEOPLE + 2 * SOURCES
    by_sentence = dict(score_set.sentence_scores.values_list("sentence", "value"))
    by_pair = score_set.scores.values_list("pair__b", "value")
    assert len(by_pair) == 2 * SOURCES
    assert all(by_sentence[sentence] == value for sentence, value in by_pair)


@pytest.mark.parametrize("kind", ["translate_round_trip", "write_paraphrases"])
def test_sentences_of_translation_and_of_paraphrasers_are_scored_and_reviewed_as_generated_ones(
    dataset, encoder_folder, kind: str
) -> None:
    written = generated(dataset)
    Run.objects.filter(pk=written.pk).update(kind=kind)
    ScoreSet.objects.filter(kind="target").delete()

    run = run_execute(scoring(written, encoder_folder))

    assert run.state == "succeeded", run.message
    assert run.result["spearman_p_target"] is None
    assert ScoreSet.objects.get(kind="realism").scores.count() == 2 * SOURCES
    assert waiting_of(dataset) == 2 * SOURCES


def test_a_pair_that_a_machine_wrote_alone_has_the_lower_p_d_of_its_sentences(
    generation, encoder_folder
) -> None:
    target = ScoreSet.objects.get(kind="target")
    sources = [
        SentenceFactory(dataset=generation.dataset, text=f"The {word} sings mat {word}.", origin="machine")
        for word in WORDS[:8]
    ]
    pairs = [machine_pair(generation, target, each, f"A {each.text} grass", 0.5) for each in sources]

    run = run_execute(scoring(generation, encoder_folder))

    score_set = ScoreSet.objects.get(kind="realism")
    by_sentence = dict(score_set.sentence_scores.values_list("sentence", "value"))
    by_pair = dict(score_set.scores.values_list("pair", "value"))
    lower = {pair.pk: min(by_sentence[pair.a_id], by_sentence[pair.b_id]) for pair in pairs}
    assert {number: by_pair[number] for number in lower} == lower
    assert any(by_pair[pair.pk] == by_sentence[pair.a_id] for pair in pairs)
    assert run.result["machines"] == 2 * SOURCES + 16
    assert score_set.parameters["first_sentences"] == "written"


def test_a_fine_tuned_classifier_leaves_the_same_things(generation, encoder_folder) -> None:
    plan = {"classifier": "fine-tuned", "epochs": 1, "batch_size": 16, "learning_rate": 1e-3}

    run = run_execute(scoring(generation, encoder_folder, **plan))

    assert run.state == "succeeded", run.message
    assert set(run.result) >= RESULT_KEYS
    assert SentenceScore.objects.count() == 2 * PEOPLE + 2 * SOURCES
    lines = Curve(run.pk).read()
    assert {line.get("fold", line.get("training")) for line in lines} == {0, 1, 2, "all"}
    assert all(line["loss"] > 0 for line in lines)


# What is drawn


def drawn(generation: Run, **plan) -> SentencesToScore:
    return scored_sentences(RealismPlan(generation.dataset.slug, generation.pk, **plan), generation.dataset)


def test_sentences_of_dev_and_test_are_no_human_examples(generation) -> None:
    held_out = PairFactory(dataset=generation.dataset, split="test", a__text="A held out man sleeps.")
    double = PairFactory(dataset=generation.dataset, split="train", a__text="a held-out man sleeps")
    shared = PairFactory(dataset=generation.dataset, split="train", a=held_out.b)

    numbers = set(drawn(generation).numbers)

    assert not {held_out.a_id, held_out.b_id, double.a_id} & numbers
    assert {double.b_id, shared.b_id} <= numbers


def test_pairs_that_were_rejected_or_retired_are_not_scored(generation) -> None:
    pairs = list(generation.dataset.pairs.filter(origin="generated").order_by("pk"))
    for pair, status in zip(pairs, ["rejected", "retired", "pending"], strict=False):
        generation.dataset.pairs.filter(pk=pair.pk).update(status=status)

    scored = {pair.pair for pair in drawn(generation).pairs}

    assert scored == {pair.pk for pair in pairs[2:]}


def test_what_a_person_had_written_is_scored_as_human_and_never_as_a_machine_s(generation) -> None:
    target = generation.dataset.score_sets.get()
    known = Sentence.objects.filter(dataset=generation.dataset, origin="human").first()
    held_out = PairFactory(dataset=generation.dataset, split="dev").a
    source = generation.dataset.pairs.filter(origin="imported").first().a
    for sentence in (known, held_out):
        pair = PairFactory(
            dataset=generation.dataset,
            a=source,
            b=sentence,
            origin="generated",
            run_ref=generation.pk,
            split="train",
        )
        PairScore.objects.create(score_set=target, pair=pair, value=0.5)

    scored = drawn(generation)

    places = [scored.numbers.index(sentence.pk) for sentence in (known, held_out)]
    assert [scored.human[place] for place in places] == [True, True]
    assert [scored.usable[place] for place in places] == [True, False]
    assert {pair.index for pair in scored.pairs} >= set(places)


def test_a_machine_s_sentence_hangs_on_the_source_it_was_written_for_and_on_no_drawn_partner(
    generation,
) -> None:
    target = generation.dataset.score_sets.get()
    first, *_, last = generation.dataset.pairs.filter(origin="generated").order_by("pk")
    partner = PairFactory(
        dataset=generation.dataset,
        a=last.a,
        b=first.b,
        origin="generated",
        run_ref=generation.pk,
        split="train",
    )
    PairScore.objects.create(score_set=target, pair=partner, value=0.0)

    scored = drawn(generation)

    linked = [(scored.numbers[left], scored.numbers[right]) for left, right in scored.links]
    assert (first.a_id, first.b_id) in linked
    assert (last.a_id, first.b_id) not in linked
    assert scored.pairs[-1].target == 0.0


def test_no_more_human_sentences_are_drawn_than_asked_for(generation) -> None:
    scored = drawn(generation, most_humans=30)

    assert sum(scored.human) == 30
    assert len(scored.pairs) == 2 * SOURCES
    assert drawn(generation, most_humans=30) == scored
    assert drawn(generation, most_humans=30, seed=1) != scored


# Bad input


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"run": 999_999}, "There is no run 999999; name one that generated pairs"),
        ({"temperature": -0.5}, "“Temperature” is -0.5; it must be at least 0.0"),
        ({"folds": 2}, "“Folds” is 2; it must be at least 3"),
        ({"warmup": -0.1}, "“Warm-up” is -0.1; it must be at least 0.0"),
        ({"checkpoint_steps": 0}, "“Steps between checkpoints” is 0; it must be at least 1"),
        ({"classifier": "tree"}, "“Classifier” is “tree”; choose one of head and fine-tuned"),
        ({"model": "/no/such/folder"}, "/no/such/folder does not exist"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_one_sentence(
    generation, encoder_folder, plan, message: str
) -> None:
    run = run_execute(scoring(generation, encoder_folder, **plan))

    assert run.state == "failed"
    assert message in run.message
    assert not ScoreSet.objects.filter(kind="realism").exists()


def test_a_run_of_another_dataset_is_refused(generation, encoder_folder) -> None:
    other = generated(DatasetFactory(), seed=2)

    run = run_execute(scoring(generation, encoder_folder, run=other.pk))

    assert f"Run {other.pk} does not belong to {generation.dataset.slug}" in run.message


def test_a_run_that_generated_nothing_is_refused(generation, encoder_folder) -> None:
    run = run_execute(scoring(generation, encoder_folder, run=RunFactory(dataset=generation.dataset).pk))

    assert "has no generated pairs that were not rejected" in run.message


def test_a_dataset_without_human_sentences_is_refused(generation, encoder_folder) -> None:
    generation.dataset.pairs.exclude(origin="generated").update(split="test")

    run = run_execute(scoring(generation, encoder_folder))

    assert run.state == "failed"
    assert "no human sentences outside dev and test" in run.message


def test_too_few_machine_sentences_are_refused(generation, encoder_folder) -> None:
    written = generation.dataset.pairs.filter(origin="generated").order_by("pk")
    written.filter(pk__gt=written[18].pk).update(status="rejected")

    run = run_execute(scoring(generation, encoder_folder))

    assert run.state == "failed"
    assert "19 distinct machine sentences that no person wrote are too few" in run.message


# Being taken up again


class KilledError(BaseException):
    """The worker's process is gone, in the middle of a line."""


def taken_up(run: Run) -> Run:
    """Once more, as the successor of a worker that was killed."""
    Run.objects.filter(pk=run.pk).update(heartbeat_at=None)
    return run_execute(run)


def outcome(run: Run) -> tuple:
    scores = SentenceScore.objects.filter(score_set__run_ref=run.pk).order_by("sentence")
    files = {artifact.name: artifact.sha256 for artifact in run.artifacts.all()}
    facts = {name: value for name, value in run.result.items() if name != "score_set"}
    return list(scores.values_list("sentence", "value", "logit_human", "fold")), files, facts


PLANS = {
    "head": {},
    "fine-tuned": {"classifier": "fine-tuned", "epochs": 1, "batch_size": 16},
}


@pytest.mark.parametrize(
    ("classifier", "killed_in"),
    [
        ("head", "sdi_data"),
        ("head", "encode"),
        ("head", "score_set_publish"),
        ("fine-tuned", "fine_tune"),
        ("fine-tuned", "score_set_publish"),
    ],
)
@pytest.mark.exhaustive
def test_a_scoring_that_was_killed_ends_as_if_it_had_run_once(
    generation, encoder_folder, monkeypatch, classifier: str, killed_in: str
) -> None:
    monkeypatch.setattr(realism, "SENTENCES_IN_SHARD", 40)
    undisturbed = run_execute(scoring(generation, encoder_folder, **PLANS[classifier]))
    run = scoring(generation, encoder_folder, **PLANS[classifier])
    room = publishing if killed_in == "score_set_publish" else realism
    does, calls = getattr(room, killed_in), []

    def killed(*args, **kwargs):
        calls.append(args)
        # Shards: the first is whole, the second is lost.
        if len(calls) == 2 or killed_in in ("sdi_data", "score_set_publish"):
            does(*args, **kwargs)
            raise KilledError
        return does(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(room, killed_in, killed)
        with pytest.raises(KilledError):
            tasks.execute(run.pk)
    assert not ScoreSet.objects.filter(run_ref=run.pk).exists()
    # Meanwhile somebody reviews: what was drawn is drawn.
    generation.dataset.pairs.filter(origin="generated").update(status="rejected")
    run = taken_up(run)

    assert (run.state, run.attempt) == ("succeeded", 2), run.message
    assert outcome(run) == outcome(undisturbed)
    assert ScoreSet.objects.filter(run_ref=run.pk).count() == 1
    assert not kept_folder(run.pk).exists()


def test_what_is_written_to_trace_scores_by_holds_every_sentence(generation, encoder_folder) -> None:
    run = run_execute(scoring(generation, encoder_folder))

    path = home_path(run.artifacts.get(kind="sentence scores").path)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    stored = dict(SentenceScore.objects.values_list("sentence", "value"))
    assert {int(row["sentence"]): pytest.approx(float(row["p_human"])) for row in rows} == stored
    assert {row["origin"] for row in rows} == {"human", "machine"}


# What is learned from verdicts


@pytest.fixture
def judged(generation, curator) -> list[ReviewDecision]:
    """A p_D set of the generation, and blind verdicts on a random sample: every third sentence is rejected."""
    score_set = ScoreSetFactory(
        dataset=generation.dataset,
        kind="realism",
        name="p_D",
        parameters={"generation": generation.pk},
        high=1.0,
    )
    pairs = generation.dataset.pairs.filter(origin="generated").order_by("pk")
    decisions = []
    for number, pair in enumerate(pairs):
        PairScore.objects.create(score_set=score_set, pair=pair, value=0.01 * number)
        rejected = number % 3 == 0
        decisions.append(
            ReviewDecision(
                pair=pair, sentence=pair.b, reviewer=curator, score_set=score_set, frame="random", blind=True,
                verdict="reject" if rejected else "keep", reasons=["logic"] if rejected else [], decided_at=now(),
                client_id=uuid4(),
            )
        )  # fmt: skip
    return ReviewDecision.objects.bulk_create(decisions)


def test_rejected_sentences_are_learned_from_though_their_pairs_are_gone(generation, judged) -> None:
    gone = judged[0].pair
    type(gone).objects.filter(pk=gone.pk).update(status="rejected")

    scored = drawn(generation, learn_from_verdicts=True)

    assert len(scored.verdicts) == len(judged)
    assert gone.b_id in scored.numbers
    assert gone.pk not in {pair.pair for pair in scored.pairs}
    assert SentencesToScore.from_json(asdict(scored)) == scored


def test_a_run_that_learns_from_verdicts_says_what_that_changed(generation, judged, encoder_folder) -> None:
    run = run_execute(scoring(generation, encoder_folder, learn_from_verdicts=True))

    assert run.state == "succeeded", run.message
    result = run.result
    assert (result["verdicts_kept"], result["verdicts_rejected"]) == (
        sum(each.verdict == "keep" for each in judged), sum(each.verdict == "reject" for each in judged)
    )  # fmt: skip
    change = result["verdict_auc_after"] - result["verdict_auc_before"]
    assert result["verdict_auc_change"] == pytest.approx(change)
    assert result["verdict_auc_change_low"] <= change <= result["verdict_auc_change_high"]
    assert "learning from" in run.message


def test_too_few_verdicts_to_learn_from_are_refused(generation, judged, encoder_folder) -> None:
    ReviewDecision.objects.filter(pk__in=[each.pk for each in judged[9:]]).delete()

    run = run_execute(scoring(generation, encoder_folder, learn_from_verdicts=True))

    assert run.state == "failed"
    assert "in blind review and rejected 3. Learning from decisions needs at least 10 of each" in run.message


def test_a_fine_tuned_classifier_learns_from_no_verdicts() -> None:
    with pytest.raises(PlanError, match="needs the classifier “head”"):
        RealismPlan("scenes", 1, classifier=ClassifierKind.FINE_TUNED, learn_from_verdicts=True)
