"""Many questions to a model behind an endpoint, several at a time, with every answer kept as it comes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from curation.files.json_text import json_from
from curation.files.progress import Report, silent
from mlworkers.science.synthesis.endpoint import ChatClient, EndpointError, RequestRefusedError

SECONDS_BETWEEN_REPORTS = 1.0  # a run that was cancelled is noticed by a report
REFUSED_SUBJECTS = 3  # before the first answer; then there is something wrong with all requests

Place = tuple[Any, ...]


class Question(NamedTuple):
    """text: of the message. sampling: further fields of the request. place: says which question it is, in a fixed order
    of names; the first is what it is about, such as a source.
    """

    place: Mapping[str, Any]
    text: str
    sampling: Mapping[str, Any]


def answers_collected(
    client: ChatClient,
    questions: Sequence[Question],
    *,
    answers: Path,
    concurrency: int,
    message: str,
    report: Report = silent,
) -> list[dict[str, Any]]:
    """A line for each question: its place with `text`, `tokens`, `prompt_tokens` and `finish`, or with `refused`, a
    sentence. report counts lines.

    answers: a file to which each line is added at once. A call with the same file asks only for what it lacks. Raises
    EndpointError, and then closes the client.
    """
    names = tuple(questions[0].place) if questions else ()

    def key(line: Mapping[str, Any]) -> Place:
        return tuple(line[name] for name in names)

    def asked(question: Question) -> dict[str, Any]:
        try:
            answer = client.answer(question.text, **question.sampling)
        except RequestRefusedError as error:
            return {**question.place, "refused": str(error)}
        figures = {"tokens": answer.tokens, "prompt_tokens": answer.prompt_tokens, "finish": answer.finish}
        return {**question.place, "text": answer.text, **figures}

    known = {key(line): line for line in _lines_read(answers)}
    missing = [each for each in questions if key(each.place) not in known]
    with answers.open("ab") as file, _pool(client, concurrency) as pool:
        file.write(b"\n")  # a worker that was killed may have left half a line
        jobs = (pool.submit(asked, each) for each in missing)
        waiting = set(islice(jobs, 2 * concurrency))  # twice as many: no thread waits for this one
        while waiting:
            done, waiting = wait(waiting, timeout=SECONDS_BETWEEN_REPORTS, return_when=FIRST_COMPLETED)
            for line in (each.result() for each in done):
                known[key(line)] = line
                file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            _check_refusals(known)
            waiting |= set(islice(jobs, len(done)))
            report(len(known), len(questions), message)
    return [known[key(each.place)] for each in questions]


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


def _check_refusals(known: Mapping[Place, dict[str, Any]]) -> None:
    """Raises EndpointError where several subjects were refused and none was answered: the fault is not a subject's."""
    if any("refused" not in line for line in known.values()):
        return
    if len({place[0] for place in known}) >= REFUSED_SUBJECTS:  # distinct sources, not requests
        raise EndpointError(next(iter(known.values()))["refused"])


def _lines_read(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file, without those that a killed worker left unfinished."""
    for text in path.read_text("utf-8", "replace").split("\n") if path.exists() else ():
        try:
            line = json_from(text)
        except ValueError:
            continue
        if isinstance(line, dict):
            yield line
