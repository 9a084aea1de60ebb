"""What writes the shards of generated rows: a model that this worker loads, or one behind an endpoint."""

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import asdict
from functools import cached_property
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any, Self

from django.conf import settings

from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.writing import replacing
from mlworkers.kinds.generation.answers import answer_place
from mlworkers.pipelines.models import folder_of_model
from mlworkers.science.pretrained.compute import Compute, Fitting, choose_compute
from mlworkers.science.pretrained.loading import quiet
from mlworkers.science.synthesis.asking import Asked, rows_asked
from mlworkers.science.synthesis.endpoint import ChatClient, endpoint_of
from mlworkers.science.synthesis.generator import Generator, PromptTooLongError, load_generator
from mlworkers.science.synthesis.plan import GenerationPlan
from mlworkers.science.synthesis.rows import Source, WrittenRow
from mlworkers.science.synthesis.writing import check_length, rows_written


class ShardWriter(ABC):
    """Writes shards of the sources. seconds, rows: of the shards that this worker wrote."""

    def __init__(self, plan: GenerationPlan, report: Report, known: Sequence[Mapping[str, Any]] = ()) -> None:
        self.plan = plan
        self._known = {answer_place(line): line for line in known}
        self.seconds, self.rows = 0.0, 0
        self.parts: list[Sequence[Source]] = []
        self._report = report

    def of(self, plan: GenerationPlan, sources: Sequence[Source]) -> Self:
        """A writer of these sources, with the model that this one has loaded."""
        other = copy(self)
        size = plan.shard_sources
        other.plan, other.seconds, other.rows = plan, 0.0, 0
        other.parts = [sources[start : start + size] for start in range(0, len(sources), size)]
        return other

    def runs_of(self, rows: Iterable[WrittenRow]) -> Counter[int]:
        """How many of the rows are answers of earlier runs, by the number of the run."""
        texts = {source.id: source.text for part in self.parts for source in part}
        places = ((self.plan.stage, texts[row.source], row.label, row.sample) for row in rows)
        return Counter(self._known[place]["run"] for place in places if place in self._known)

    @property
    def sizes(self) -> list[int]:
        """Rows of each shard."""
        return [len(part) * self.plan.samples * len(self.plan.label_list) for part in self.parts]

    def prepare(self) -> None:  # noqa: B027 - most need nothing
        """Do what is done once, so that `seconds` are of writing alone."""

    def write(self, number: int, path: Path, report: Report) -> None:
        """One shard, a line for each row and for each refusal."""
        started = monotonic()
        rows, refused = self._written(self.parts[number], path, report)
        lines_write(path, [*(asdict(row) for row in rows), *({"refused": sentence} for sentence in refused)])
        self.seconds += monotonic() - started
        self.rows += len(rows)

    @abstractmethod
    def _written(self, sources: Sequence[Source], path: Path, report: Report) -> Asked: ...


class ModelWriter(ShardWriter):
    """Loads the model for the first shard that it has to do."""

    @cached_property
    def _generator(self) -> Generator:
        folder = folder_of_model(self.plan.model, kind="generator", report=self._report)
        return load_generator(folder, self._compute)

    @cached_property
    def _compute(self) -> Compute:
        return choose_compute(self.plan.device, self.plan.precision)

    @cached_property
    def _fitting(self) -> Fitting:
        return Fitting()

    def prepare(self) -> None:
        _loaded = self._generator

    def _written(self, sources: Sequence[Source], path: Path, report: Report) -> Asked:
        sources_that_fit, refused = [], []
        for source in sources:
            try:
                check_length(self._generator, source, self.plan)
            except PromptTooLongError as error:  # it does not fit into the model's context
                refused.append(str(error))
            else:
                sources_that_fit.append(source)
        rows = rows_written(
            self._generator, sources_that_fit, self.plan, self._compute, fitting=self._fitting, report=report
        )
        return Asked(rows, refused)


class EndpointWriter(ShardWriter):
    """Asks the endpoint of the worker's own environment. A shard's answers are kept beside it until it is whole."""

    def write(self, number: int, path: Path, report: Report) -> None:
        super().write(number, path, report)
        _answers_of(path).unlink(missing_ok=True)

    def _written(self, sources: Sequence[Source], path: Path, report: Report) -> Asked:
        endpoint = endpoint_of(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)
        client = ChatClient(
            endpoint, self.plan.endpoint_model, timeout=self.plan.timeout, attempts=self.plan.attempts
        )
        answers = _answers_of(path)
        if not answers.exists():
            earlier = []  # what an earlier run was answered, as rows of these sources
            for source, label, sample in product(sources, self.plan.label_list, range(self.plan.samples)):
                line = self._known.get((self.plan.stage, source.text, label, sample))
                if line:
                    given = (line[name] for name in ("text", "tokens", "prompt_tokens", "finish"))
                    earlier.append(asdict(WrittenRow(source.id, label, sample, *given)))
            lines_write(answers, earlier)
            self.rows -= len(earlier)
        with quiet("httpx2", "httpcore2"):  # their log lines hold the address
            try:
                return rows_asked(client, sources, self.plan, answers=answers, report=report)
            finally:
                client.close()


def writer_for(plan: GenerationPlan, report: Report, known: Sequence[Mapping[str, Any]] = ()) -> ShardWriter:
    """A writer without sources, which `ShardWriter.of` gives it. known: answers of earlier runs (`answers.py`)."""
    return (EndpointWriter if plan.endpoint_model else ModelWriter)(plan, report, known)


def _answers_of(shard: Path) -> Path:
    return shard.with_name(f"{shard.name}.answers")


def rows_read(paths: Iterable[Path]) -> Asked:
    """The rows and refusals that shards hold."""
    lines = [json_from(line) for path in paths for line in path.read_text("utf-8").split("\n")[:-1]]
    refused = [line["refused"] for line in lines if "refused" in line]
    return Asked([WrittenRow(**line) for line in lines if "refused" not in line], refused)


def lines_write(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    with replacing(path) as file:
        file.writelines(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
