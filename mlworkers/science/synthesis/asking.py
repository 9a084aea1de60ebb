"""Source sentences and labels into what a model behind an endpoint answered."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from curation.files.progress import Report, silent
from mlworkers.science.synthesis.chat import MARKS, question_of
from mlworkers.science.synthesis.collecting import Question, answers_collected
from mlworkers.science.synthesis.draws import row_seed
from mlworkers.science.synthesis.endpoint import ChatClient
from mlworkers.science.synthesis.plan import GenerationPlan
from mlworkers.science.synthesis.rows import Source, WrittenRow


class Asked(NamedTuple):
    """The rows that were answered, and a sentence for each request that was refused, by source, label and sample."""

    rows: list[WrittenRow]
    refused: list[str]


def rows_asked(
    client: ChatClient,
    sources: Sequence[Source],
    plan: GenerationPlan,
    *,
    answers: Path,
    report: Report = silent,
) -> Asked:
    """One answer for every source, label and sample; `plan.concurrency` requests at a time. report counts answers.

    answers: as `answers_collected` keeps them. Raises EndpointError, and then closes the client.
    """
    questions = [
        Question(
            {"source": source.id, "label": label, "sample": sample},
            question_of(plan.instructions.instructions[label].prompt(source.text), plan.answer_form),
            {
                "max_tokens": plan.max_tokens + MARKS,  # the sentence and what marks it
                "temperature": 1,  # the model's own distribution, as DINO samples
                # 31 bits that follow from the row; a server may ignore them.
                "seed": row_seed(seed=plan.seed, source=source.text, label=label, sample=sample),
                **({} if plan.top_p == 1 else {"top_p": plan.top_p}),
            },
        )
        for source, label, sample in product(sources, plan.label_list, range(plan.samples))
    ]
    message = "Writing sentences"
    lines = answers_collected(
        client, questions, answers=answers, concurrency=plan.concurrency, message=message, report=report
    )
    return Asked(
        [WrittenRow(**line) for line in lines if "refused" not in line],
        [line["refused"] for line in lines if "refused" in line],
    )
