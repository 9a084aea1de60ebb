"""Source sentences and labels into what a language model wrote for them."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from curation.files.progress import Report, silent
from mlworkers.science.pretrained.compute import Compute, Fitting, side_by_side
from mlworkers.science.synthesis.chat import AnswerForm, question_of
from mlworkers.science.synthesis.decoding import Prompts, continued
from mlworkers.science.synthesis.draws import uniform_draws
from mlworkers.science.synthesis.generator import Generator
from mlworkers.science.synthesis.plan import GenerationPlan
from mlworkers.science.synthesis.rows import Source, WrittenRow

# Lines of the model at a time: what keeps one processor core busy, and a GPU.
_LINES = {"cpu": 160, "mps": 512, "cuda": 2048}


class _Work(NamedTuple):
    label: str
    places: list[int]  # of the sources
    prompts: list[Prompts]
    noise: Tensor


def rows_written(
    generator: Generator,
    sources: Sequence[Source],
    plan: GenerationPlan,
    compute: Compute,
    *,
    fitting: Fitting | None = None,
    report: Report = silent,
) -> list[WrittenRow]:
    """`plan.samples` rows for every source and label, in that order. report counts rows. fitting: what remembers, from
    one call to the next, how many rows fit into memory.

    The draws of a row follow from the plan's seed, the source's text, the label and the sample alone, so that a row
    does not depend on what else is written with it. On a processor each batch is computed on one core, so that the rows
    are the same however many cores there are. Raises PromptTooLongError.
    """
    if not sources:
        return []
    total = len(sources) * len(plan.label_list) * plan.samples  # rows

    def decoded(batch: _Work) -> list[list[int]]:
        return continued(generator, batch.prompts, batch.noise, plan)

    def written(lines: int) -> list[WrittenRow]:
        rows: dict[tuple[int, str, int], WrittenRow] = {}
        work = list(_batches(generator, sources, plan, lines=lines))
        with closing(side_by_side(decoded, work, workers=compute.workers)) as results:
            for batch, rows_of_tokens in zip(work, results, strict=True):
                for number, tokens in enumerate(rows_of_tokens):
                    # Rows are source by source.
                    index, sample = batch.places[number // plan.samples], number % plan.samples
                    text = generator.text(tokens)
                    row = WrittenRow(sources[index].id, batch.label, sample, text, len(tokens))
                    rows[index, batch.label, sample] = row
                report(len(rows), total, "Writing sentences")
        return [rows[key] for key in product(range(len(sources)), plan.label_list, range(plan.samples))]

    lines = plan.rows_at_a_time or _LINES[compute.device.type]
    return (fitting or Fitting()).within(written, lines, partial(report, 0, total))


def check_length(generator: Generator, source: Source, plan: GenerationPlan) -> None:
    """Raises PromptTooLongError where one of the source's prompts does not fit into the model's context."""
    for label in plan.label_list:
        _prompts(generator, plan, label, source)


def _batches(
    generator: Generator, sources: Sequence[Source], plan: GenerationPlan, *, lines: int
) -> Iterator[_Work]:
    """The labels with the most counter prompts first, each with prompts of like length."""
    by_label = [
        (label, [_prompts(generator, plan, label, source) for source in sources]) for label in plan.label_list
    ]
    by_label.sort(key=lambda each: -len(each[1][0]))  # (label, prompts), by falling 1 + C
    for label, prompts in by_label:
        # A source takes (1 + C) · samples lines of the model.
        at_a_time = max(1, lines // (len(prompts[0]) * plan.samples))
        # By tokens of the own prompt: little padding.
        order = sorted(range(len(sources)), key=lambda index: len(prompts[index][0]))
        for start in range(0, len(order), at_a_time):
            places = order[start : start + at_a_time]
            # (sources x samples, max_tokens), uniform in [0, 1).
            rows = (
                uniform_draws(plan.max_tokens, seed=plan.seed, source=source.text, label=label, sample=sample)
                for source, sample in product([sources[index] for index in places], range(plan.samples))
            )
            noise = torch.stack([torch.from_numpy(row) for row in rows])
            yield _Work(label, places, [prompts[index] for index in places], noise)


def _prompts(generator: Generator, plan: GenerationPlan, label: str, source: Source) -> Prompts:
    texts = plan.instructions.prompts(label, source.text)
    wanted = texts if plan.debiases else texts[:1]  # C = 0 without self-debiasing
    if plan.chat_template:
        messages = (question_of(text, AnswerForm.QUOTED) for text in wanted)
        return tuple(generator.chat_tokens(message, room=plan.max_tokens) for message in messages)
    return tuple(generator.prompt_tokens(text, room=plan.max_tokens) for text in wanted)
