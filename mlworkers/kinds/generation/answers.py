"""Answers of an endpoint outlive a run that failed or was cancelled, because they cost money and time.

They become a file of that run, so that nothing removes them unasked. A later run of the same dataset that would ask the
same questions takes them from there.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.db import transaction

from curation.files.json_text import json_from
from curation.files.writing import replacing
from curation.foundation.shared_files import shared_put
from curation.models import Dataset
from mlworkers.models import Artifact, Run
from mlworkers.runs.kept import kept_fetch
from mlworkers.runs.storage import artifact_path, content_of, home_relative, kept_folder, run_folder
from mlworkers.science.synthesis.chat import AnswerForm, sentence_in
from mlworkers.science.synthesis.plan import FIRST, SECOND, GenerationPlan

KIND = "answers"
# What shapes an answer, besides the source, the label and the sample.
SHAPING = ("model", "task", "top_p", "max_tokens", "answer_form", "seed")
_UNFINISHED = ("length", "content_filter")


def answers_save(run: Run) -> None:
    """Make the answers that a run's shards hold a file of the run, once, and unless it succeeded."""
    plan = run.plan
    if not str(plan.get("model")).startswith("openai:"):
        return
    with transaction.atomic():
        locked = Run.objects.select_for_update().get(pk=run.pk)
        if locked.state == Run.State.SUCCEEDED or locked.artifacts.filter(kind=KIND).exists():
            return
        kept_fetch(run.pk, shards=True)
        lines = [json.dumps(line).encode() + b"\n" for line in _usable(kept_folder(run.pk), plan)]
        if not lines:
            return
        path = run_folder(run.pk) / "answers.jsonl"
        with replacing(path) as file:
            file.writelines(lines)
        shared_put(path)
        sha256, size = content_of(path)
        about = {
            "kind": KIND,
            "path": home_relative(path),
            "card": {"rows": len(lines), "model": plan["model"]},
        }
        Artifact.objects.create(run=run, sha256=sha256, size=size, **about)


def answers_found(plan: GenerationPlan, dataset: Dataset) -> list[dict[str, Any]]:
    """The answers of earlier runs to questions that this plan may ask; of several to one question, the newest.

    Each has the number of its run, and in the place of its source's number the text: numbers may change between runs.
    """
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    files = Artifact.objects.filter(kind=KIND, run__dataset=dataset).select_related("run").order_by("-run")
    for artifact in files:
        if any(artifact.run.plan.get(name) != getattr(plan, name) for name in SHAPING):
            continue
        try:
            lines = artifact_path(artifact).read_text("utf-8").splitlines()
        except (OSError, ValueError):  # somebody removed the file
            continue
        for line in map(json_from, lines):
            found.setdefault(answer_place(line), {**line, "run": artifact.run_id})
    return list(found.values())


def answer_place(line: Mapping[str, Any]) -> tuple[str, str, str, int]:
    return line["stage"], line["source"], line["label"], line["sample"]


def _usable(kept: Path, plan: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The answers that hold a sentence: a run that failed for its bad answers must not get them again."""
    form = AnswerForm(plan["answer_form"])
    drawn = kept / "sources.json"
    sources = json_from(drawn.read_text("utf-8"))["sources"] if drawn.is_file() else []
    texts = {number: text for number, text, _group in sources}
    for stage in (FIRST, SECOND):
        for line in _lines(kept / "shards" / stage):
            # An order of a first sentence has its number for a text (`first_sentences`).
            text = str(line["source"]) if stage == FIRST else texts.get(line["source"])
            fit = line["finish"] not in _UNFINISHED and sentence_in(line["text"], form)
            if text is not None and fit:
                yield {**line, "stage": stage, "source": text}


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    """The answers of every shard, whole or not, without refusals and what a killed worker left unfinished."""
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        for text in path.read_text("utf-8", "replace").split("\n"):
            try:
                line = json_from(text)
            except ValueError:
                continue
            if isinstance(line, dict) and "text" in line:
                yield line
