"""What a generation through an endpoint will ask for, before the first request is sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from mlworkers.science.synthesis.chat import MARKS, question_of
from mlworkers.science.synthesis.first_sentences import orders_of, plan_of_first
from mlworkers.science.synthesis.plan import GenerationPlan

CHARACTERS_PER_TOKEN = 4  # of English, a rule of thumb; other languages need more tokens
TEMPLATE_TOKENS = 8  # of a chat template around one message
PER_PRICE = 1_000_000  # tokens


@dataclass(frozen=True)
class Requests:
    """Requests, the tokens that the model will read, and at most write. most_cost: None without prices."""

    requests: int
    tokens_read: int
    most_tokens_written: int
    most_cost: float | None


def estimate_of(sources: Sequence[str], plan: GenerationPlan) -> Requests:
    """For these source sentences, and for writing them where the plan says so."""
    parts = [_requests_of(sources, plan)]
    if plan.writes_first_sentences:
        parts.append(_requests_of([order.text for order in orders_of(plan)], plan_of_first(plan)))
    requests, read, written = map(sum, zip(*parts, strict=True))
    return Requests(requests, read, written, cost_of(read, written, plan))


def longest_sources(plan: GenerationPlan) -> list[str]:
    """In the place of first sentences that are not written yet: texts as long as they may be."""
    return ["x" * CHARACTERS_PER_TOKEN * plan.max_tokens] * plan.sources


def _requests_of(sources: Sequence[str], plan: GenerationPlan) -> tuple[int, int, int]:
    """Requests, tokens that are read, and tokens that are written at most."""
    # Counter prompts are not asked: an endpoint gives no probabilities of all tokens.
    questions = [
        question_of(plan.instructions.instructions[label].prompt(source), plan.answer_form)
        for label in plan.label_list
        for source in sources
    ]
    requests = len(questions) * plan.samples  # sources · labels · samples
    # Each sample is a separate request, in which the model reads the whole question again.
    read = plan.samples * sum(
        ceil(len(question) / CHARACTERS_PER_TOKEN) + TEMPLATE_TOKENS for question in questions
    )
    # An upper bound: every answer as long as the request allows.
    written = requests * (plan.max_tokens + MARKS)
    return requests, read, written


def cost_of(tokens_read: int, tokens_written: int, plan: GenerationPlan) -> float | None:
    """In the currency of the plan's prices; None where it has none."""
    if not plan.price_in and not plan.price_out:
        return None
    return (tokens_read * plan.price_in + tokens_written * plan.price_out) / PER_PRICE
