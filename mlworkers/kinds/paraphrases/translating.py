"""A dataset's human sentences translated into another language and back, as generated pairs."""

import importlib
import importlib.util
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.exchange.generated import GeneratedRow, generated_pairs_add
from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.tables import write_table
from curation.foundation.errors import UserError
from curation.models import Dataset
from mlworkers.kinds.generation.shard_writers import lines_write
from mlworkers.kinds.paraphrases.sources import sources_fitting
from mlworkers.pipelines.human_sentences import held_out_of
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.snapshots import started_by
from mlworkers.runs.candidates import CANDIDATE_COLUMNS, CANDIDATES
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.paraphrasing.round_trip_plan import Engine, RoundTripPlan
from mlworkers.science.paraphrasing.round_trips import (
    Candidate,
    JudgedCandidate,
    candidates_judged,
    round_trips,
)
from mlworkers.science.paraphrasing.sources import languages_known
from mlworkers.science.paraphrasing.translation import (
    Language,
    ModelTranslator,
    Translator,
    check_circle,
    language_read,
)
from mlworkers.science.pretrained.compute import Compute, ComputeError, choose_compute

METHOD = "round-trip translation: both sentences are meant to say the same"
TARGET = 1.0


def translate_round_trip(plan: RoundTripPlan, job: Job) -> Outcome:
    dataset = job.dataset_of(plan.dataset)
    translators = _Translators(plan, job)
    check_circle(*translators.languages)
    drawn = job.drawn_once("sources.json", lambda: _sources(plan, dataset, translators, job.report))
    sources = [(int(number), str(text)) for number, text in drawn["sources"]]
    starts = range(0, len(sources), plan.shard_sources)
    shards = [[text for _number, text in sources[start : start + plan.shard_sources]] for start in starts]

    def write(number: int, path: Path, report: Report) -> None:
        texts = shards[number]

        def reported(done: int, total: int, message: str) -> None:
            report(done * len(texts) * plan.candidates // total, len(texts) * plan.candidates, message)

        found = round_trips(*translators.both, texts, plan.trips, seed=plan.seed, report=reported)
        lines_write(path, [candidate._asdict() for candidate in found])

    sizes = [len(texts) * plan.candidates for texts in shards]
    paths = job.shards.all("round trips", sizes, write, message=_("Translating there and back"))
    found = [
        candidate._replace(source=candidate.source + start)
        for start, path in zip(starts, paths, strict=True)
        for candidate in (Candidate(**json_from(line)) for line in path.read_text("utf-8").splitlines())
    ]
    judged = candidates_judged(
        found,
        [text for _number, text in sources],
        near_copy=plan.near_copy,
        held_out=held_out_of(dataset, plan.split),
    )
    kept = [row for row in judged if not row.dropped]
    dropped = Counter(row.dropped for row in judged if row.dropped)
    if not kept:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(dropped.items()))
        raise UserError(
            _("No candidate could be kept (%(reasons)s); choose other settings or other models."),
            reasons=reasons,
        )
    path = job.folder / "candidates.parquet"
    write_table(path, "parquet", CANDIDATE_COLUMNS, _rows(judged, sources))
    facts = translators.facts()
    result = {
        "sources": len(sources),
        "written": len(judged),
        "kept": len(kept),
        "dropped": dict(dropped),
        "sources_left_out": drawn["left_out"],
        "cut_off": sum(row.candidate.cut_off for row in judged),
        "numbers_changed": sum(row.numbers_changed for row in kept),
        "names_changed": sum(row.names_changed for row in kept),
        "settings": [_figures(trip.name, judged) for trip in plan.trips],
        **facts,
    }
    words = {"kept": intcomma(len(kept)), "written": intcomma(len(judged)), "sources": intcomma(len(sources))}
    message = _("%(kept)s of %(written)s candidates kept, of %(sources)s sentences") % words
    made = [NewArtifact(CANDIDATES, path, {"rows": len(judged), "kept": len(kept), **facts})]
    publish = partial(_publish, plan, job, dataset, kept=kept, sources=sources, facts=facts)
    return Outcome(message, result, made, publish=publish)


@dataclass(frozen=True)
class _Translators:
    """Both models, loaded where a shard has to be done."""

    plan: RoundTripPlan
    job: Job

    @cached_property
    def folders(self) -> tuple[Path, Path]:
        there, back = (
            folder_of_model(name, kind="translator", report=self.job.report)
            for name in (self.plan.forward, self.plan.backward)
        )
        return there, back

    @cached_property
    def languages(self) -> tuple[Language, Language]:
        there, back = map(language_read, self.folders)
        return there, back

    @cached_property
    def _compute(self) -> Compute:
        return choose_compute(self.plan.device)

    @cached_property
    def engine(self) -> str:
        """What the run's first attempt found: all of its shards are translated by the same."""
        drawn = self.job.drawn_once("engine.json", lambda: {"engine": _engine(self.plan, self._compute)})
        engine = str(drawn["engine"])
        if engine.startswith(Engine.CTRANSLATE2) and engine != _ctranslate2():
            raise ComputeError(
                f"The run began with {engine}, which this worker does not have; install it here."
            )
        return engine

    @cached_property
    def both(self) -> tuple[Translator, Translator]:
        if self.engine == Engine.TRANSFORMERS:
            there, back = (ModelTranslator(language, self._compute) for language in self.languages)
            return there, back
        int8: Any = importlib.import_module("mlworkers.science.paraphrasing.translation_int8")
        self.job.report(0, 1, _("Converting the models"))
        names = ("there", "back")
        first, second = (
            int8.Int8Translator(language, int8.converted(language, self.job.kept / f"{name}-int8"))
            for name, language in zip(names, self.languages, strict=True)
        )
        return first, second

    def facts(self) -> dict[str, Any]:
        there, back = self.languages
        sampled = {
            "forward_settings": self.plan.forward_settings,
            "backward_settings": self.plan.backward_settings,
        }
        searched = {
            "beams": self.plan.beams,
            "best": self.plan.best,
            "shortest": self.plan.shortest,
            "longest": self.plan.longest,
        }
        return {
            "forward": self.plan.forward,
            "forward_sha256": content_of(there.folder)[0],
            "backward": self.plan.backward,
            "backward_sha256": content_of(back.folder)[0],
            "languages": [there.source, there.target],
            "search": self.plan.search.value,
            **(sampled if self.plan.search == "sampling" else searched),
            "seed": self.plan.seed,
            "engine": self.engine,
        }


def _engine(plan: RoundTripPlan, compute: Compute) -> str:
    """The engine that a plan names, with its version. Raises ComputeError."""
    processor = compute.device.type == "cpu"
    if plan.engine is Engine.TRANSFORMERS or (
        plan.engine is Engine.AUTO and not (processor and _ctranslate2())
    ):
        return Engine.TRANSFORMERS.value
    if not processor:
        raise ComputeError(
            "CTranslate2 is used on a processor; choose the device cpu, or the engine transformers."
        )
    if not _ctranslate2():
        raise ComputeError(
            "CTranslate2 is not installed; install Semblance with the extra translation, or choose the engine "
            "transformers."
        )
    return _ctranslate2()


def _ctranslate2() -> str:
    """Its name and version; "" where it is not installed."""
    if importlib.util.find_spec("ctranslate2") is None:
        return ""
    library: Any = importlib.import_module("ctranslate2")
    return f"{Engine.CTRANSLATE2} {library.__version__}"


def _sources(
    plan: RoundTripPlan, dataset: Dataset, translators: _Translators, report: Report
) -> dict[str, Any]:
    language = translators.languages[0]
    code = language.source if plan.check_language else ""
    if code and code not in languages_known():
        sentence = _(
            "The language “%(code)s”, which the first model translates from, cannot be recognised here; switch off "
            "“Check the language”."
        )
        raise UserError(sentence, code=code)
    sentence = _(
        "The split “%(split)s” of %(dataset)s has no human sentence in %(language)s that can be translated "
        "(%(reasons)s); name another split, other models, or change the bounds of length."
    )
    return sources_fitting(
        plan,
        dataset,
        language=code,
        check=language.check_source,
        refusal=sentence,
        words={"language": language.source},
        report=report,
    )


def _rows(judged: Sequence[JudgedCandidate], sources: Sequence[tuple[int, str]]) -> list[list[object]]:
    """Under CANDIDATE_COLUMNS: the source is its number in the dataset, the pair the one that holds the text."""
    rows: list[list[object]] = []
    for row in judged:
        number, text = sources[row.candidate.source]
        about = (row.candidate.trip, row.candidate.rank, row.number, row.dropped)
        marks = (int(row.candidate.cut_off), int(row.numbers_changed), int(row.names_changed))
        rows.append([number, *about, *marks, text, row.candidate.pivot, row.candidate.text])
    return rows


def _figures(name: str, judged: Sequence[JudgedCandidate]) -> dict[str, Any]:
    """Of one setting."""
    own = [row for row in judged if row.candidate.trip == name]
    return {
        "setting": name,
        "written": len(own),
        "kept": sum(not row.dropped for row in own),
        "cut_off": sum(row.candidate.cut_off for row in own),
        "dropped": dict(Counter(row.dropped for row in own if row.dropped)),
    }


def _publish(
    plan: RoundTripPlan,
    job: Job,
    dataset: Dataset,
    *,
    kept: Sequence[JudgedCandidate],
    sources: Sequence[tuple[int, str]],
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    added = generated_pairs_add(
        dataset=dataset,
        run_ref=job.run_id,
        rows=[
            GeneratedRow(sources[row.candidate.source][0], row.candidate.text, TARGET, row.candidate.trip)
            for row in kept
        ],
        split=plan.split,
        method=METHOD,
        parameters=facts,
        by=started_by(job),
    )
    return {"score_set": added.score_set.name, "human_sentences": added.human}
