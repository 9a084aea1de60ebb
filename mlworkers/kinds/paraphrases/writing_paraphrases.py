"""Paraphrases of a dataset's human sentences at chosen tags, measured, as generated pairs."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.exchange.generated import GeneratedRow, generated_pairs_add
from curation.files.json_text import json_from
from curation.files.progress import Report, silent
from curation.files.writing import replacing
from curation.foundation.errors import UserError
from curation.models import Dataset, Pair
from mlworkers.kinds.encoders.scoring_pairs import scorer_of
from mlworkers.kinds.generation.shard_writers import lines_write
from mlworkers.kinds.paraphrases.labelling import label_to_publish
from mlworkers.kinds.paraphrases.sources import sources_fitting
from mlworkers.pipelines.human_sentences import held_out_of
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.snapshots import started_by
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.paraphrasing.controllability import AimFigures, Controllability, controllability
from mlworkers.science.paraphrasing.decoding import Request, paraphrases_decoded
from mlworkers.science.paraphrasing.disclosure import benchmark_behind
from mlworkers.science.paraphrasing.lexical import bleu_signature
from mlworkers.science.paraphrasing.measured import Measured, Similarity, measure, nearest_first, tags_named
from mlworkers.science.paraphrasing.outcomes import ParaphraseRow, rows_judged
from mlworkers.science.paraphrasing.paraphraser import Paraphraser, Target, load_paraphraser
from mlworkers.science.paraphrasing.profile import profile_of
from mlworkers.science.paraphrasing.tags import TOP, Label, Tag, TagBounds
from mlworkers.science.paraphrasing.writing_plan import WritingPlan
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.sources import SCORERS

METHOD = "ConPGS: similarity in the middle of the tag that was asked for"


def write_paraphrases(plan: WritingPlan, job: Job) -> Outcome:
    dataset = job.dataset_of(plan.dataset)
    writer = _Writer(plan, job.report)
    # Before the sentences are drawn: this refuses tags that the paraphraser does not know.
    bounds = writer.paraphraser.bounds
    drawn = job.drawn_once("sources.json", lambda: _sources(plan, dataset, writer, job.report))
    sources = [(int(number), str(text)) for number, text in drawn["sources"]]
    starts = range(0, len(sources), plan.shard_sources)
    shards = [sources[start : start + plan.shard_sources] for start in starts]

    def write(number: int, path: Path, report: Report) -> None:
        lines = writer.written(shards[number], report)
        with replacing(path) as file:
            file.writelines(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)

    sizes = [len(shard) * len(plan.tag_pairs) for shard in shards]
    paths = job.shards.all("paraphrases", sizes, write, message=_("Writing paraphrases"))
    lines = [json_from(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    texts = dict(sources)
    rows = [_row(line, texts, chosen=True) for line in lines]
    held_out = held_out_of(dataset, plan.split)
    tags = tags_named(bounds)
    rows_judged(rows, tags, near_copy=plan.near_copy, keep_misses=plan.keep_misses, held_out=held_out)
    kept = [row for row in rows if not row.dropped]
    dropped = Counter(row.dropped for row in rows if row.dropped)
    if not kept and plan.add_pairs:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(dropped.items()))
        raise UserError(
            _("No paraphrase could be kept (%(reasons)s); train the paraphraser for longer."), reasons=reasons
        )
    path = job.folder / "paraphrases.jsonl"
    lines_write(path, [asdict(row) for row in rows])
    facts = writer.facts()
    likeliest = [_row(line, texts, chosen=False) for line in lines] if plan.rerank else None
    measure_all = partial(_controllability, plan, job.report, bounds)
    measured = measure_all(rows, likeliest)
    result = {
        "sources": len(sources),
        "written": len(rows),
        "kept": len(kept),
        "dropped": dict(dropped),
        "sources_left_out": drawn["left_out"],
        "copies": sum(row.dropped.startswith(("copy", "near copy")) for row in rows),
        "numbers_changed": sum(row.numbers_changed for row in kept),
        "names_changed": sum(row.names_changed for row in kept),
        **_figures(measured.whole),
        "chance": measured.chance,
        **facts,
        "profile": _profile(measured, bounds, rows, likeliest),
    }
    if likeliest is not None:
        result["without_reranking"] = _figures(measure_all(likeliest, None).whole)
        result["measured_by_another_labeller"] = bool(plan.measured_by)
    words = {"kept": intcomma(len(kept)), "written": intcomma(len(rows)), "sources": intcomma(len(sources))}
    message = _message(words, measured)
    made = [NewArtifact("paraphrases", path, {"rows": len(rows), "kept": len(kept), **facts})]
    if not plan.add_pairs:
        return Outcome(message, result, made)
    publish = partial(_publish, plan, job, dataset, kept=kept, facts=facts, tags=tags)
    return Outcome(message, result, made, publish=publish)


def _message(words: Mapping[str, str], measured: Controllability) -> str:
    message = _("%(kept)s of %(written)s paraphrases kept, of %(sources)s sentences; ") % words
    message += _("%(hits).0f %% in the cell that was asked for (chance %(chance).1f %%)") % {
        "hits": 100 * (measured.whole.hits.value or 0.0),
        "chance": 100 * measured.chance,
    }
    return message


@dataclass(frozen=True)
class _Writer:
    """What writes and measures the paraphrases of a shard; models are loaded where a shard has to be done."""

    plan: WritingPlan
    report: Report

    @cached_property
    def folders(self) -> tuple[Path, Path, Path]:
        """Of the paraphraser, the labeller that chooses, and the one that measures."""
        plan = self.plan
        paraphraser = folder_of_model(plan.model, kind="paraphraser", report=self.report)
        chooses, measures = (
            folder_of_model(name, kind="encoder", also=SCORERS, report=self.report)
            for name in (plan.labeller, plan.measured_by or plan.labeller)
        )
        return paraphraser, chooses, measures

    @cached_property
    def paraphraser(self) -> Paraphraser:
        loaded = load_paraphraser(self.folders[0], choose_compute(self.plan.device))
        for pair in self.plan.tag_pairs:
            loaded.check_target(Target(*pair))
        return loaded

    @cached_property
    def _chooses(self) -> Similarity:
        return _similarity(self.folders[1], self.plan.device)

    @cached_property
    def _measures(self) -> Similarity:
        return _similarity(self.folders[2], self.plan.device) if self.plan.measured_by else self._chooses

    def facts(self) -> dict[str, Any]:
        paraphraser, chooses, measures = self.folders
        behind = (benchmark_behind(folder) for folder in self.folders)
        return {
            "model": self.plan.model,
            "model_sha256": content_of(paraphraser)[0],
            "labeller": self.plan.labeller,
            "labeller_sha256": content_of(chooses)[0],
            "measured_by": self.plan.measured_by or self.plan.labeller,
            "measured_by_sha256": content_of(measures)[0],
            "bleu_signature": bleu_signature(),
            "tags": self.paraphraser.bounds.as_dict(),
            "labels_from": ", ".join(dict.fromkeys(filter(None, behind))),
        }

    def written(self, sources: Sequence[tuple[int, str]], report: Report) -> list[dict[str, Any]]:
        """Lines of each source and pair of tags, the best first: the chosen text, and the text of the same place
        among the likeliest, with their labels.
        """
        requests = [
            (number, Request(text, Target(*tags))) for number, text in sources for tags in self.plan.tag_pairs
        ]
        decoded = paraphrases_decoded(
            self.paraphraser, [request for _number, request in requests], self.plan.decoding, report=report
        )
        # The places of each request's candidates, nearest to the tags first; without reranking the likeliest first.
        chosen = [list(range(len(candidates))) for candidates in decoded]
        if self.plan.rerank:
            tags = tags_named(self.paraphraser.bounds)
            owners = [place for place, candidates in enumerate(decoded) for _text in candidates]
            every = [text for candidates in decoded for text in candidates]
            found = measure([requests[place][1].source for place in owners], every, self._chooses)
            of_request: list[list[tuple[float, float]]] = [[] for _ in requests]
            for place, *pair in zip(owners, found.similarity, found.bleu, strict=True):
                of_request[place].append((float(pair[0]), float(pair[1])))
            chosen = [
                nearest_first(tags[request.target.similarity], tags[request.target.lexical], candidates)
                for (_number, request), candidates in zip(requests, of_request, strict=True)
            ]
        kept = [
            (place, candidates[best], candidates[rank])
            for place, candidates in enumerate(decoded)
            for rank, best in enumerate(chosen[place][: self.plan.best])
        ]
        texts = [text for _place, *both in kept for text in both]
        twice = [requests[place][1].source for place, *both in kept for _text in both]
        labels = measure(twice, texts, self._measures)
        lines = []
        for line, (place, *_both) in enumerate(kept):
            number, request = requests[place]
            lines.append(
                {
                    "source": number,
                    "sim_tag": request.target.similarity,
                    "bleu_tag": request.target.lexical,
                    "chosen": _labelled(texts, labels, 2 * line),
                    "likeliest": _labelled(texts, labels, 2 * line + 1),
                }
            )
        return lines


def _similarity(folder: Path, device: str) -> Similarity:
    score = scorer_of(folder, device)
    return lambda first, second: score(first, second, silent)


def _labelled(texts: Sequence[str], labels: Measured, place: int) -> dict[str, Any]:
    values = (float(side[place]) for side in (labels.similarity, labels.bleu))
    similarity, bleu = (None if np.isnan(value) else value for value in values)
    return {"text": texts[place], "similarity": similarity, "bleu": bleu}


def _row(line: Mapping[str, Any], texts: Mapping[int, str], *, chosen: bool) -> ParaphraseRow:
    told = line["chosen" if chosen else "likeliest"]
    target = Target(line["sim_tag"], line["bleu_tag"])
    return ParaphraseRow(
        line["source"], texts[line["source"]], target, told["text"], told["similarity"], told["bleu"]
    )


def _sources(plan: WritingPlan, dataset: Dataset, writer: _Writer, report: Report) -> dict[str, Any]:
    sentence = _(
        "The split “%(split)s” of %(dataset)s has no human sentence that can be paraphrased (%(reasons)s); name "
        "another split, or change the bounds of length or the language."
    )
    return sources_fitting(
        plan,
        dataset,
        language=plan.language.strip().lower(),
        check=writer.paraphraser.check_source,
        refusal=sentence,
        words={},
        report=report,
    )


def _controllability(
    plan: WritingPlan,
    report: Report,
    bounds: TagBounds,
    rows: Sequence[ParaphraseRow],
    likeliest: Sequence[ParaphraseRow] | None,
) -> Controllability:
    return controllability(
        [row.target for row in rows],
        [row.source for row in rows],
        _labels(rows),
        bounds,
        likeliest=None if likeliest is None else _labels(likeliest),
        resamples=plan.bootstrap,
        seed=plan.seed,
        report=report,
    )


def _labels(rows: Sequence[ParaphraseRow]) -> Measured:
    similarity, bleu = (
        np.array([np.nan if value is None else value for value in column], dtype=np.float64)
        for column in zip(*((row.similarity, row.bleu) for row in rows), strict=True)
    )
    return Measured(similarity, bleu)


def _profile(
    measured: Controllability,
    bounds: TagBounds,
    rows: Sequence[ParaphraseRow],
    likeliest: Sequence[ParaphraseRow] | None,
) -> dict[str, Any]:
    """What the page of the run shows: figures of every tag, and how the paraphrases spread over the full range."""
    told: dict[str, Any] = {
        "rows": [
            {"similarity_tag": one.aim.similarity, "bleu_tag": one.aim.lexical, **_figures(one)}
            for one in (measured.whole, *measured.rows)
        ],
        "requested": [[*target, count] for target, count in Counter(row.target for row in rows).items()],
        "measured": _spread(rows, bounds),
    }
    return told if likeliest is None else {**told, "likeliest": _spread(likeliest, bounds)}


def _spread(rows: Sequence[ParaphraseRow], bounds: TagBounds) -> list[list[int]]:
    """Row and column of each filled square of `Profile.full`, and its number of paraphrases."""
    labels = _labels(rows)
    full = profile_of(labels.similarity, labels.bleu, bounds).full
    return [[int(row), int(column), int(full[row, column])] for row, column in np.argwhere(full)]


def _figures(one: AimFigures) -> dict[str, Any]:
    """Figures and their intervals; what is undefined is left out."""
    figures = {
        "hit_rate": one.hits,
        "near_rate": one.near,
        "gain_of_reranking": one.gain,
        "times_by_reranking": one.times,
        "error_of_similarity": one.similarity_error,
        "error_of_bleu": one.bleu_error,
        "spearman_similarity": one.spearman_similarity,
        "spearman_bleu": one.spearman_bleu,
        "mean_similarity": one.mean_similarity,
        "mean_bleu": one.mean_bleu,
    }
    return {
        "paraphrases": one.n,
        **{
            f"{name}{end}": value
            for name, figure in figures.items()
            for end, value in zip(("", "_low", "_high"), figure, strict=True)
            if value is not None
        },
    }


def _publish(
    plan: WritingPlan,
    job: Job,
    dataset: Dataset,
    *,
    kept: Sequence[ParaphraseRow],
    facts: Mapping[str, Any],
    tags: Mapping[str, Tag],
) -> dict[str, Any]:
    """The pairs with their target similarities, and both labels as score sets like those of “Label paraphrases”."""

    def target(row: ParaphraseRow) -> float:
        tag = tags[row.target.similarity]
        return (tag.low + tag.high) / (2 * TOP)

    asked = [f"{similarity} {lexical}" for similarity, lexical in plan.tag_pairs]
    added = generated_pairs_add(
        dataset=dataset,
        run_ref=job.run_id,
        # The subset is the pair of tags that was asked for; what was met, the labels say.
        rows=[GeneratedRow(row.source, row.text, target(row), subset=" ".join(row.target)) for row in kept],
        split=plan.split,
        method=METHOD,
        parameters={**facts, "asked": asked},
        by=started_by(job),
    )
    pairs = Pair.objects.filter(dataset=dataset, run_ref=job.run_id, origin=Pair.Origin.GENERATED)
    numbers = dict(pairs.values_list("external_id", "pk"))
    ways = {
        Label.SIMILARITY: _("scorer, without symbols, × 100"),
        Label.BLEU: _("sentence BLEU against the source, without symbols"),
    }
    names = []
    for label, method in ways.items():
        values = enumerate((getattr(row, label.value) for row in kept), 1)
        scores = [(numbers[f"g{job.run_id}-{number}"], one) for number, one in values if one is not None]
        publish = label_to_publish(job, dataset, label, method=method, about=facts, scores=scores)
        names.append(publish()["score_set"])
    return {"score_set": added.score_set.name, "score_sets": names, "human_sentences": added.human}
