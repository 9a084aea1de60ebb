"""A generator trained on a dataset's pairs, and the pairs that a generator writes."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from time import monotonic
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.exchange.generated import GeneratedRow, generated_pairs_add
from curation.files.writing import folder_replacing
from curation.foundation.errors import UserError
from curation.models import Dataset
from mlworkers.kinds.generation.answers import answers_found
from mlworkers.kinds.generation.estimates import requests_in_words
from mlworkers.kinds.generation.shard_writers import ShardWriter, lines_write, rows_read, writer_for
from mlworkers.pipelines.encoder_data import judges_results
from mlworkers.pipelines.human_sentences import held_out_of, labelled_pairs, sources_drawn
from mlworkers.pipelines.snapshots import started_by
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.science.encoders.saving import learned_save
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.synthesis.asking import Asked
from mlworkers.science.synthesis.bootstrap import generator_trained
from mlworkers.science.synthesis.estimates import cost_of, estimate_of
from mlworkers.science.synthesis.first_sentences import orders_of, plan_of_first, row_counts, sources_of
from mlworkers.science.synthesis.plan import BootstrapPlan, GenerationPlan
from mlworkers.science.synthesis.postprocessing import (
    ProcessedRows,
    Row,
    first_sentences_processed,
    postprocessed,
)
from mlworkers.science.synthesis.prompts import LabelledPair, examples_written, label_counts, task_named
from mlworkers.science.synthesis.rows import Source, WrittenRow

METHOD = "DINO: similarity that the instruction asks for"
OUTCOMES = ("written", "kept")  # of first sentences; the other counts are of reasons
ENDPOINT_METHOD = "Chat model behind an endpoint, not self-debiased: similarity that the instruction asks for"


def bootstrap_generator(plan: BootstrapPlan, job: Job) -> Outcome:
    kept = job.drawn_once("pairs.json", lambda: _pairs_to_learn(plan, job))
    pairs = [LabelledPair(*pair) for pair in kept["pairs"]]
    judges = judges_results(kept.get("judges", ""))  # not among pairs that an earlier version drew
    task = task_named(plan.task)
    started = monotonic()
    folder = job.folder / "generator"
    with folder_replacing(folder) as beside:
        trained = generator_trained(
            list(examples_written(pairs, task)),
            plan,
            choose_compute(plan.device),
            folder=beside,
            checkpoints=job.kept / "checkpoints",
            report=job.report,
            note=lambda point: job.curve.write(point.step, loss=point.loss),
            expired=lambda: monotonic() - started > plan.minutes * 60,
        )
        learned_save(beside, (text for pair in pairs for text in (pair.a, pair.b)))
    result = {
        "pairs": len(pairs),
        "held_out": kept["held_out"],
        "labels": label_counts(pairs, task),
        "seconds": round(monotonic() - started, 1),
        "steps": trained.steps,
        "steps_planned": plan.steps,
        "stopped_by_time": not trained.finished,
        "examples": trained.examples,
        "too_long": trained.too_long,
        "parameters": trained.parameters,
        "tokens": trained.tokens,
        "loss": trained.loss,
        **judges,
    }
    words = {name: intcomma(result[name]) for name in ("parameters", "steps", "steps_planned")}
    if trained.finished:
        message = _("%(parameters)s parameters, %(steps)s steps, loss %(loss).2f")
    else:
        message = _("%(parameters)s parameters; its time ended after %(steps)s of %(steps_planned)s steps")
    card = {"parameters": trained.parameters, "task": plan.task, "loss": trained.loss, "steps": trained.steps}
    made = [NewArtifact("generator", folder, {**card, **judges})]
    return Outcome(message % {**words, "loss": trained.loss}, result, made)


def generate_pairs(plan: GenerationPlan, job: Job) -> Outcome:
    dataset = job.dataset_of(plan.dataset)
    known: Sequence[Mapping[str, Any]] = ()
    if plan.endpoint_model:
        known = job.drawn_once("answers.json", lambda: {"answers": answers_found(plan, dataset)})["answers"]
    any_writer = writer_for(plan, job.report, known)
    if plan.writes_first_sentences:
        # Sources that the model writes, and every row that it wrote for them, as `drawn_once` keeps them.
        writer = any_writer.of(plan_of_first(plan), orders_of(plan))
        paths = job.shards.all(
            writer.plan.stage, writer.sizes, writer.write, message=_("Writing first sentences")
        )

        def chosen() -> dict[str, Any]:
            asked = rows_read(paths)
            return first_sentences_chosen(plan, dataset, asked) | {
                "first_earlier": writer.runs_of(asked.rows)
            }

        drawn = job.drawn_once("sources.json", chosen)
    else:
        drawn = job.drawn_once("sources.json", lambda: sources_to_continue(plan, dataset))
    sources = [Source(*source) for source in drawn["sources"]]
    if plan.endpoint_model:
        job.report(0, 1, requests_in_words(estimate_of([source.text for source in sources], plan)))
    writer = any_writer.of(plan, sources)
    paths = job.shards.all(plan.stage, writer.sizes, writer.write, message=_("Writing sentences"))
    written, refused = rows_read(paths)
    if not written:
        raise UserError(refused[0])
    processed = postprocessed(written, sources, plan, held_out=held_out_of(dataset, plan.split))
    facts = _tokens(written, drawn, plan) | {
        "refused": len(refused),
        "refused_because": list(refused[:3]),
    }
    runs = writer.runs_of(written) + Counter(
        {int(run): n for run, n in drawn.get("first_earlier", {}).items()}
    )
    if runs:
        facts["earlier_answers"] = {
            _("run %(run)s") % {"run": run}: count for run, count in sorted(runs.items())
        }
        facts["answers"] = len(written) + len(drawn.get("first_rows", ()))
    return _stored(processed, drawn, job, writer, facts)


def first_sentences_chosen(plan: GenerationPlan, dataset: Dataset, asked: Asked) -> dict[str, Any]:
    """The first sentences of those that were written. Raises UserError where none can be kept."""
    if not asked.rows:
        raise UserError(asked.refused[0])
    rows = first_sentences_processed(asked.rows, plan, held_out=held_out_of(dataset, plan.split))
    counts = row_counts(rows)
    if not counts["kept"]:
        reasons = ", ".join(f"{reason} {count}" for reason, count in counts.items() if reason not in OUTCOMES)
        sentence = _(
            "No first sentence could be kept (%(reasons)s); take a larger model, or human first sentences."
        )
        raise UserError(sentence, reasons=reasons)
    first = {
        "first_sentences": counts,
        "first_rows": [asdict(row) for row in rows],
        "first_refused": len(asked.refused),
        "first_tokens_read": sum(row.prompt_tokens for row in asked.rows),
        "first_tokens_written": sum(row.tokens for row in asked.rows),
    }
    return {"sources": sources_of(rows), **first}


def _stored(
    processed: ProcessedRows,
    drawn: Mapping[str, Any],
    job: Job,
    writer: ShardWriter,
    facts: Mapping[str, Any],
) -> Outcome:
    plan, kept = writer.plan, processed.kept
    if not kept:
        reasons = ", ".join(f"{reason} {count}" for reason, count in processed.dropped.items() if count)
        sentence = _("No row could be kept (%(reasons)s); take a larger model, or train it for longer.")
        raise UserError(sentence, reasons=reasons)
    path = job.folder / "rows.jsonl"
    lines_write(path, [asdict(row) for row in processed.rows])
    # A first sentence that the model wrote is not a row of the dataset yet, so it goes by its text.
    firsts: dict[int, str] = {}
    if plan.writes_first_sentences:
        firsts = {number: text for number, text, _group in drawn["sources"]}
    result = {**_figures(processed, writer), **facts}
    words = {name: intcomma(result[name]) for name in ("written", "generated", "sources", "sampled")}
    message = _("%(written)s of %(generated)s written rows kept, for %(sources)s sentences") % words
    if result["sampled"]:
        message += _("; %(sampled)s sampled partners added") % words
    if not plan.debiases:
        message += _("; not self-debiased")
    if firsts:
        message += _("; first sentences written by the model too")
    if "earlier_answers" in facts:
        message += _("; %(earlier)s of %(answers)s answers come from %(runs)s") % {
            "earlier": intcomma(sum(facts["earlier_answers"].values())),
            "answers": intcomma(facts["answers"]),
            "runs": ", ".join(facts["earlier_answers"]),
        }
    if facts.get("draws") is False:
        message += _(
            "; the endpoint gave the same answer to all samples of each source and label, so it does not draw at random"
        )
    card = {
        "rows": len(processed.rows),
        "kept": len(kept),
        "model": plan.model,
        "self_debiased": plan.debiases,
    }
    made = [NewArtifact("generated rows", path, card)]
    if firsts:
        path = job.folder / "first-sentences.jsonl"
        lines_write(path, drawn["first_rows"])
        made.append(NewArtifact("first sentences", path, {"kept": len(firsts), "model": plan.model}))
        result |= {"first_sentences": drawn["first_sentences"], "first_refused": drawn["first_refused"]}
    return Outcome(message, result, made, publish=partial(_pairs_added, plan, job, kept, firsts))


def _pairs_added(
    plan: GenerationPlan, job: Job, kept: Sequence[Row], firsts: Mapping[int, str]
) -> dict[str, Any]:
    added = generated_pairs_add(
        dataset=job.dataset_of(plan.dataset),
        run_ref=job.run_id,
        rows=[GeneratedRow(firsts.get(row.source, row.source), row.text, row.target or 0.0) for row in kept],
        split=plan.split,
        method=ENDPOINT_METHOD if plan.endpoint_model else METHOD,
        parameters={
            "model": plan.model,
            "task": plan.task,
            "smoothing": plan.smoothing,
            "seed": plan.seed,
            "self_debiased": plan.debiases,
            "first_sentences": plan.first_sentences.value,
        },
        by=started_by(job),
    )
    return {"score_set": added.score_set.name, "pairs": added.pairs, "human_sentences": added.human}


def _figures(processed: ProcessedRows, writer: ShardWriter) -> dict[str, Any]:
    generated = [row for row in processed.rows if not row.sampled]
    kept = processed.kept
    labels = Counter(row.label for row in kept if not row.sampled)
    share = labels.total() / len(generated)
    return {
        "sources": len({row.source for row in generated}),
        "generated": len(generated),
        "kept": len(kept),
        "written": labels.total(),
        "sampled": len(kept) - labels.total(),
        "partners_not_found": processed.missing,
        "labels": {label: labels[label] for label in writer.plan.label_list},
        "dropped": {reason: count for reason, count in processed.dropped.items() if count},
        # Of kept rows, sampled ones not counted; None where other workers or attempts wrote everything.
        "rows_per_second": round(writer.rows * share / writer.seconds, 1) if writer.seconds else None,
    }


def _tokens(written: Sequence[WrittenRow], drawn: Mapping[str, Any], plan: GenerationPlan) -> dict[str, Any]:
    """What the endpoint counted, its cost where prices are known, and what was expected."""
    marked: dict[str, Any] = {"self_debiased": plan.debiases}
    if not plan.endpoint_model:
        return marked
    read = sum(row.prompt_tokens for row in written) + drawn.get("first_tokens_read", 0)
    wrote = sum(row.tokens for row in written) + drawn.get("first_tokens_written", 0)
    spent = cost_of(read, wrote, plan)
    expected = asdict(estimate_of([text for _number, text, _group in drawn["sources"]], plan))

    # Whether any two samples of a source and label differ; None where none has two. Some servers always take the
    # likeliest token, whatever temperature is asked for.
    texts: dict[tuple[int, str], list[str]] = defaultdict(list)
    for row in written:
        texts[row.source, row.label].append(row.text)
    several = [each for each in texts.values() if len(each) > 1]
    figures = {
        "tokens_read": read,
        "tokens_written": wrote,
        "cost": spent,
        "estimate": _known(expected),
        "draws": (any(len(set(each)) > 1 for each in several) if several else None),
    }

    return marked | _known(figures)


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _pairs_to_learn(plan: BootstrapPlan, job: Job) -> dict[str, Any]:
    dataset = job.dataset_of(plan.dataset)
    score_set = dataset.score_sets.filter(name=plan.score_set).first()
    if score_set is None:
        raise UserError(_("The score set “%(name)s” is gone; choose another."), name=plan.score_set)
    pairs, held_out = labelled_pairs(dataset, plan.split, score_set)
    if not pairs:
        sentence = _(
            "No pair of the split “%(split)s” has a score in “%(name)s”; choose another split or score set."
        )
        raise UserError(sentence, split=plan.split, name=plan.score_set)
    return {"pairs": pairs, "held_out": held_out, "judges": score_set.judged_by}


def sources_to_continue(plan: GenerationPlan, dataset: Dataset) -> dict[str, Any]:
    """The human sentences that the plan draws, as `drawn_once` keeps them. Raises UserError where there is none."""
    sources = sources_drawn(dataset, plan.split, most=plan.sources, seed=plan.seed)
    if not sources:
        sentence = _(
            "The split “%(split)s” of %(dataset)s has no human sentence that is not held out; name another split."
        )
        raise UserError(sentence, split=plan.split, dataset=dataset.slug)
    return {"sources": sources}
