"""Source sentences and labels into what a model behind an endpoint answered, with every answer kept as it comes."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

from curation.files.json_text import json_from
from curation.files.progress import Report, silent
from mlworkers.synthesis.chat import MARKS, question_of
from mlworkers.synthesis.draws import row_seed
from mlworkers.synthesis.endpoint import ChatClient, EndpointError, RequestRefusedError
from mlworkers.synthesis.plan import GenerationPlan
from mlworkers.synthesis.rows import Source, WrittenRow

SECONDS_BETWEEN_REPORTS = 1.0  # a run that was cancelled is noticed by a report
REFUSED_SOURCES = 3  # before the first answer; then there is something wrong with all requests

Place = tuple[int, str, int]  # a source's number, label and sample


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

    answers: a file to which each answer is added at once. A call with the same file asks only for what it
    lacks. Raises EndpointError, and then closes the client.
    """
    wanted = list(product(sources, plan.label_list, range(plan.samples)))
    known = _answers_read(answers)
    missing = [each for each in wanted if (each[0].id, *each[1:]) not in known]

    def asked(source: Source, label: str, sample: int) -> dict[str, Any]:
        place = {"source": source.id, "label": label, "sample": sample}
        try:
            answer = client.answer(
                question_of(plan.instructions.instructions[label].prompt(source.text), plan.answer_form),
                **_sampling(plan, source, label, sample),
            )
        except RequestRefusedError as error:
            return {**place, "refused": str(error)}
        return asdict(
            WrittenRow(
                source.id, label, sample, answer.text, answer.tokens, answer.prompt_tokens, answer.finish
            )
        )

    with answers.open("ab") as file, _pool(client, plan.concurrency) as pool:
        file.write(b"\n")  # a worker that was killed may have left half a line
        jobs = (pool.submit(asked, *each) for each in missing)
        waiting = set(islice(jobs, 2 * plan.concurrency))
        while waiting:
            done, waiting = wait(waiting, timeout=SECONDS_BETWEEN_REPORTS, return_when=FIRST_COMPLETED)
            for line in (each.result() for each in done):
                known[_place(line)] = line
                file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            _check_refusals(known)
            waiting |= set(islice(jobs, len(done)))
            report(len(known), len(wanted), "Writing sentences")
    lines = [known[source.id, label, sample] for source, label, sample in wanted]
    return Asked(
        [WrittenRow(**line) for line in lines if "refused" not in line],
        [line["refused"] for line in lines if "refused" in line],
    )


def _sampling(plan: GenerationPlan, source: Source, label: str, sample: int) -> dict[str, Any]:
    """Fields that every OpenAI-compatible server takes; top k and self-debiasing are not among them."""
    seed = row_seed(seed=plan.seed, source=source.text, label=label, sample=sample)
    nucleus = {} if plan.top_p == 1 else {"top_p": plan.top_p}
    return {"max_tokens": plan.max_tokens + MARKS, "temperature": 1, "seed": seed, **nucleus}


@contextmanager
def _pool(client: ChatClient, size: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that nobody waits for where the work fails or the run is cancelled."""
    pool = ThreadPoolExecutor(size)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        client.close()
        raise
    pool.shutdown()


def _check_refusals(known: dict[Place, dict[str, Any]]) -> None:
    """Raises EndpointError where several sources were refused and none was answered: the fault is not a source's."""
    if any("refused" not in line for line in known.values()):
        return
    if len({source for source, _label, _sample in known}) >= REFUSED_SOURCES:
        raise EndpointError(next(iter(known.values()))["refused"])


def _answers_read(path: Path) -> dict[Place, dict[str, Any]]:
    """The answers in a file, without lines that a killed worker left unfinished."""
    known: dict[Place, dict[str, Any]] = {}
    if path.exists():
        for text in path.read_text("utf-8", "replace").split("\n"):
            try:
                line = json_from(text)
            except ValueError:
                continue
            if isinstance(line, dict):
                known[_place(line)] = line
    return known


def _place(line: dict[str, Any]) -> Place:
    return line["source"], line["label"], line["sample"]
