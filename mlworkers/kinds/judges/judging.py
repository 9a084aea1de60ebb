"""A machine judges the block of tuples of a campaign, each in two orders."""

import json
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.datasets.machine_judges import (
    BlockTuple,
    MachineAnswer,
    machine_judgements_add,
    texts_of,
    tuples_of,
)
from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.writing import replacing
from curation.foundation.errors import UserError
from curation.models import TupleBlock
from mlworkers.kinds.encoders.scoring_pairs import scorer_of, way_of_scoring
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.snapshots import started_by
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.encoders.saving import seen_by
from mlworkers.science.judges.asking import Asking, Choice, choice_by_scores, choice_in, tuple_question
from mlworkers.science.judges.plan import ANSWERING, JudgingPlan
from mlworkers.science.judges.writing import WritingJudge
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.loading import quiet
from mlworkers.science.pretrained.sources import is_causal
from mlworkers.science.synthesis.collecting import Question, answers_collected
from mlworkers.science.synthesis.endpoint import ChatClient, endpoint_of
from mlworkers.science.synthesis.generator import load_generator

ORDERS = (False, True)  # as drawn, and reversed
Pairs = list[tuple[str, str]]


def judge_tuples(plan: JudgingPlan, job: Job) -> Outcome:
    """Let a model judge the tuples of a campaign, each in two orders, beside the people who judge them.

    A language model is asked in words, behind an endpoint or on this machine; an encoder's scores choose. Answers of a
    shard are kept. Publishes a machine judge; judgements of people do not change. Raises UserError where the tuples are
    gone, or no answer has the form that was asked for.
    """
    dataset = job.dataset_of(plan.dataset)
    block = dataset.tuple_blocks.filter(pk=plan.block).first()
    if block is None:
        raise UserError(_("The tuples of the campaign no longer exist; choose others."))
    machine = _ChatJudge(plan, block) if plan.endpoint_model else _judge_of_folder(plan, block, job)
    starts = range(0, len(machine.tuples), plan.shard_tuples)
    parts = [range(start, min(start + plan.shard_tuples, len(machine.tuples))) for start in starts]

    def write(number: int, path: Path, report: Report) -> None:
        answers = [list(answer) for answer in machine.judged(parts[number], path, report)]
        with replacing(path) as file:
            file.write(json.dumps(answers).encode())
        path.with_name(f"{path.name}.answers").unlink(missing_ok=True)

    message = _("Annotating tuples")
    paths = job.shards.all("judging", [len(ORDERS) * len(part) for part in parts], write, message=message)
    answers = [MachineAnswer(*answer) for path in paths for answer in json_from(path.read_text("utf-8"))]
    given = sum(answer.best_slot is not None for answer in answers)
    if not given:
        raise UserError(
            _(
                "“%(model)s” gave no answer in the form that was asked for; take another model or longer answers."
            ),
            model=plan.model,
        )
    about = machine.about()

    def publish() -> dict[str, Any]:
        judge = machine_judgements_add(
            block=block,
            run_ref=job.run_id,
            model=plan.model,
            parameters=about,
            answers=answers,
            by=started_by(job),
        )
        return {"judge": judge.pk}

    result = {"tuples": len(machine.tuples), "answered": given, "unanswered": len(answers) - given, **about}
    words = {"answers": intcomma(given), "questions": intcomma(len(answers)), "campaign": block.name}
    return Outcome(
        _("%(answers)s of %(questions)s questions of “%(campaign)s” answered") % words,
        result | {"campaign": block.campaign_ref},
        publish=publish,
    )


def _answer(place: int, tuple_: BlockTuple, backwards: bool, choice: Choice | None) -> MachineAnswer:
    order = tuple_.shown(backwards=backwards)
    slots = (None, None) if choice is None else (order[choice.best], order[choice.worst])
    return MachineAnswer(place, backwards, *slots)


def _judge_of_folder(plan: JudgingPlan, block: TupleBlock, job: Job) -> "_ScoringJudge | _LanguageModel":
    folder = folder_of_model(plan.model, kind="encoder", also=ANSWERING, report=job.report)
    judge = _LanguageModel if is_causal(folder) else _ScoringJudge
    return judge(plan, block, folder)


class _ScoringJudge:
    """An encoder or a cross-encoder: the choice follows from the scores of the pairs."""

    def __init__(self, plan: JudgingPlan, block: TupleBlock, folder: Path) -> None:
        self.tuples, self._texts, self._folder = tuples_of(block), texts_of(block), folder
        self._scorer = cache(lambda: scorer_of(self._folder, plan.device))

    def judged(self, places: range, _path: Path, report: Report) -> Iterator[MachineAnswer]:
        pairs = [pair for place in places for pair in self._texts[place]]
        first, second = ([pair[side] for pair in pairs] for side in (0, 1))

        def in_questions(done: int, total: int, message: str) -> None:
            report(len(ORDERS) * len(places) * done // max(total, 1), len(ORDERS) * len(places), message)

        scores = self._scorer()(first, second, in_questions)
        sizes = [len(self._texts[place]) for place in places]
        for place, own in zip(places, np.split(scores, np.cumsum(sizes)[:-1]), strict=True):
            for backwards in ORDERS:
                asked = self.tuples[place]
                yield _answer(
                    place, asked, backwards, choice_by_scores(own[asked.shown(backwards=backwards)])
                )

    def about(self) -> dict[str, Any]:
        seen = seen_by(self._folder)
        pairs = {pair for each in self._texts for pair in each}
        return {
            "way": way_of_scoring(self._folder),
            "model_sha256": content_of(self._folder)[0],
            # Its answers about these pairs are not an independent opinion of them.
            "pairs_with_training_sentences": sum(a in seen or b in seen for a, b in pairs),
        }


class _LanguageModel:
    """A causal language model of this machine: the choice is the answer that the pairs make most probable."""

    def __init__(self, plan: JudgingPlan, block: TupleBlock, folder: Path) -> None:
        self.tuples, self._texts, self._folder = tuples_of(block), texts_of(block), folder
        self._asking = _asking_of(plan, block)
        self._judge = cache(
            lambda: WritingJudge(load_generator(folder, choose_compute(plan.device)), self._asking)
        )

    def judged(self, places: range, _path: Path, report: Report) -> Iterator[MachineAnswer]:
        asked = list(product(places, ORDERS))
        for done, (place, backwards) in enumerate(asked):
            report(done, len(asked), _("Annotating tuples"))
            shown = _pairs_shown(self.tuples[place], self._texts[place], backwards)
            yield _answer(place, self.tuples[place], backwards, self._judge().choice(shown))

    def about(self) -> dict[str, Any]:
        return {
            "way": _("calibrated answer of a language model"),
            "model_sha256": content_of(self._folder)[0],
            "guidelines_shown": bool(self._asking.guidelines),
        }


def _pairs_shown(tuple_: BlockTuple, texts: Pairs, backwards: bool) -> Pairs:
    return [texts[slot] for slot in tuple_.shown(backwards=backwards)]


def _asking_of(plan: JudgingPlan, block: TupleBlock) -> Asking:
    guidelines = block.guidelines if plan.guidelines else ""
    return Asking(block.question, block.best_label, block.worst_label, guidelines)


class _ChatJudge:
    """A chat model behind the endpoint of the worker's own environment."""

    def __init__(self, plan: JudgingPlan, block: TupleBlock) -> None:
        self.tuples, self._texts, self._plan = tuples_of(block), texts_of(block), plan
        self._asking = _asking_of(plan, block)

    def judged(self, places: range, path: Path, report: Report) -> Iterator[MachineAnswer]:
        plan = self._plan
        endpoint = endpoint_of(settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)
        client = ChatClient(endpoint, plan.endpoint_model, timeout=plan.timeout, attempts=plan.attempts)
        sampling = {"max_tokens": plan.max_tokens, "temperature": 0}
        questions = []
        for place, backwards in product(places, ORDERS):
            shown = _pairs_shown(self.tuples[place], self._texts[place], backwards)
            key = {"place": place, "reversed": backwards}
            questions.append(Question(key, tuple_question(self._asking, shown), sampling))
        with quiet("httpx2", "httpcore2"):  # their log lines hold the address
            try:
                lines = answers_collected(
                    client,
                    questions,
                    answers=path.with_name(f"{path.name}.answers"),
                    concurrency=plan.concurrency,
                    message=_("Annotating tuples"),
                    report=report,
                )
            finally:
                client.close()
        for line in lines:
            asked = self.tuples[line["place"]]
            choice = choice_in(line.get("text", ""), len(asked.pairs))
            yield _answer(line["place"], asked, line["reversed"], choice)

    def about(self) -> dict[str, Any]:
        return {"way": _("chat model behind an endpoint"), "guidelines_shown": bool(self._asking.guidelines)}
