"""Encoders: trained on scored pairs, and measured on pairs that people scored."""

from collections.abc import Iterable
from time import monotonic
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from sentence_transformers import SentenceTransformer

from curation.foundation.errors import errors_shown
from curation.pairs.leaks import Leaks
from curation.statistics.correlation import Scores
from mlworkers.models import Evaluation
from mlworkers.pipelines.disclosure import (
    dataset_names,
    disclosure_of_model,
    suite_names_of,
)
from mlworkers.pipelines.encoder_data import (
    LONGEST_NAME,
    EncoderData,
    agreement_figures,
    agreement_rows,
    curve_note,
    encoder_card,
    encoder_store,
    judges_results,
    suite_words,
    training_figures,
    training_rows_of,
)
from mlworkers.pipelines.experiment import Tests
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.seen import (
    left_out_in_words,
    seen_by_model,
    seen_in_words,
    training_leaks_refuse,
)
from mlworkers.pipelines.snapshots import snapshot_of_plan
from mlworkers.pipelines.suites import (
    ceiling_in,
    ceiling_results,
    evaluation_of,
    seen_before,
    suite_files,
    suite_results,
    suites_of_run,
)
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.science.encoders.encoding import pair_cosines, sentence_vectors
from mlworkers.science.encoders.evaluation import Agreement, measure_agreement
from mlworkers.science.encoders.plan import (
    EncoderPlan,
    EvaluationPlan,
)
from mlworkers.science.encoders.seen import ALL, UNSEEN, Seen
from mlworkers.science.encoders.suites.catalogue import Suite
from mlworkers.science.encoders.suites.evaluating import suite_evaluated
from mlworkers.science.encoders.suites.figures import METRIC_NAMES, Figure, years_figures
from mlworkers.science.encoders.training import encoder_train
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder


def train_encoder(plan: EncoderPlan, job: Job) -> Outcome:
    """One encoder, from a snapshot's pairs."""
    started = monotonic()
    # The model first: a name that leads nowhere leaves no snapshot behind.
    base = folder_of_model(plan.model, kind="encoder", report=job.report)
    snapshot = snapshot_of_plan(plan, job)
    if plan.leaks == Leaks.REFUSE:
        training_leaks_refuse(snapshot, trained=plan.split)
    training = training_rows_of(plan, snapshot, weightings=[plan.weighting])
    data = EncoderData(snapshot, training, base)
    folder = job.folder / "encoder"
    trained = encoder_train(
        base,
        data.training.rows,
        plan,
        checkpoints=job.kept / "checkpoints",
        now=monotonic,
        report=job.report,
        note=curve_note(job.curve),
    )
    encoder_store(trained, plan, data, folder)
    seconds = round(monotonic() - started, 1)
    result = {
        **training_figures(data.training, trained),
        **judges_results(data.training.judges),
        "snapshot": snapshot.number,
        "seconds": seconds,
    }
    if training.held_out:
        result["warnings"] = [left_out_in_words(training.held_out)]
    if trained.validation:
        # What the kept weights were chosen by, in words.
        scores = snapshot.dataset.score_sets.filter(name=plan.scores).first()
        result["dev_set"] = (
            _("synthetic: generated pairs with their target similarities, of sentences not trained on")
            if scores is not None and scores.kind == scores.Kind.TARGET
            else _("human scores of pairs of sentences not trained on")
        )
    message = ngettext(
        "Trained on %(pairs)s pairs in %(steps)s step",
        "Trained on %(pairs)s pairs in %(steps)s steps",
        trained.training.steps,
    ) % {"pairs": intcomma(len(trained.rows)), "steps": intcomma(trained.training.steps)}
    card = {**encoder_card(plan, data), "training_pairs": len(trained.rows), "seconds": seconds}
    return Outcome(message, result, [NewArtifact("encoder", folder, card)])


def evaluate_encoder(plan: EvaluationPlan, job: Job) -> Outcome:
    """An encoder's cosines against the scores that people gave, and on published test suites."""
    model = folder_of_model(plan.model, kind="encoder", report=job.report)
    suites = suites_of_run(job, plan.suite_names)
    compute = choose_compute(plan.device, plan.precision)
    encoder = load_encoder(model, compute)
    result: dict[str, Any] = {"warnings": []}
    rows: list[Evaluation] = []
    seen = seen_by_model(plan.model, model)
    if plan.score_set:
        result, rows = _evaluated_on_dataset(plan, job, seen, encoder)
    warnings: list[str] = result.pop("warnings")
    figures: list[Figure] = []
    for suite, read in suites:
        with errors_shown():
            found = suite_evaluated(
                suite,
                read,
                lambda texts: sentence_vectors(encoder, texts, compute, report=job.report),
                resamples=plan.bootstrap,
                seed=plan.seed,
                seen=seen,
            )
        figures += found.figures
        warnings += [f"{suite.label}: {note}" for note in found.notes]
        if pairs := seen_before(read, seen):
            warnings.append(
                _("%(suite)s: %(seen)s test pairs hold a sentence that the encoder was trained on.")
                % {"suite": suite.label, "seen": intcomma(pairs)}
            )
    tested = suite_names_of(suite for suite, _read in suites)
    if plan.score_set:
        dataset = job.dataset_of(plan.dataset)
        tested[suite_words(plan.dataset, plan.score_set, plan.split, judges="")] = dataset_names(dataset)
    disclosed = disclosure_of_model(model, tested)
    warnings += disclosed.notes
    result |= disclosed.result
    figures += years_figures(figures)
    rows += [evaluation_of(figure, model=plan.model[:LONGEST_NAME]) for figure in figures]
    if figures:
        result |= {**suite_results(figures), "files": suite_files(suites)}
    words = []
    if plan.score_set:
        spearman = result["spearman"]
        value = _("undefined") if spearman is None else f"{spearman:.4f}"
        words.append(
            _("Spearman %(value)s on %(pairs)s pairs") % {"value": value, "pairs": intcomma(result["pairs"])}
        )
    words += [f"{suite.label}: {_first_of(figures, suite)}" for suite, _read in suites]
    message = "; ".join(words)
    result |= {"training_data": seen_in_words(seen), "warnings": warnings}
    return Outcome(message, result, evaluations=[(row, None) for row in rows])


def _evaluated_on_dataset(
    plan: EvaluationPlan, job: Job, seen: Seen, encoder: SentenceTransformer
) -> tuple[dict[str, Any], list[Evaluation]]:
    """The figures of the pairs that the encoder has not seen and, where it is known what it has seen, of all pairs."""
    snapshot = snapshot_of_plan(plan, job)
    tests = Tests(snapshot, plan.score_set, plan.split, seen)
    if plan.leaks == Leaks.REFUSE:
        tests.seen_refuse()
    every, tested, unseen = tests.every, tests.rows, tests.unseen
    compute = choose_compute(plan.device, plan.precision)
    sides = every.first.tolist(), every.second.tolist()
    cosines = pair_cosines(encoder, *sides, compute, report=job.report).values

    def agreement_of(chosen: Scores, human: Scores) -> Agreement:
        return measure_agreement(chosen, human, resamples=plan.bootstrap, seed=plan.seed)

    agreement = agreement_of(cosines[unseen], tested.values)
    rows = agreement_rows(agreement, model=plan.model, suite=tests.name)
    result = {
        **agreement_figures(agreement),
        **judges_results(tests.judges),
        **ceiling_results(ceiling_in(snapshot.dataset, plan.score_set)),
        "pairs": agreement.pairs,
        "left_out": tests.left_out,
        "snapshot": snapshot.number,
        "warnings": list(agreement.warnings),
        "furthest": tests.furthest([cosines[unseen]]),
    }
    if seen.known:
        of_all = agreement_of(cosines, every.values)
        rows += agreement_rows(of_all, model=plan.model, suite=tests.name, part=ALL)
        both = {ALL: of_all, UNSEEN: agreement}
        result["all_and_unseen"] = {
            part: {"pairs": one.pairs, **agreement_figures(one)} for part, one in both.items()
        }
    return result, rows


def _first_of(figures: Iterable[Figure], suite: Suite) -> str:
    """The suite's first figure, in words."""
    measured = next(one.measured for one in figures if one.suite == suite.name)
    value = _("undefined") if measured.value is None else f"{measured.value:.4f}"
    return f"{METRIC_NAMES[measured.metric]} {value}"
