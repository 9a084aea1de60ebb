"""Instructions as chat messages, and the sentence in a chat model's answer."""

import re
from enum import StrEnum

from curation.files.json_text import json_from
from mlworkers.science.synthesis.prompts import QUOTE

MARKS = 24  # tokens of an answer besides its sentence: the quotes, or the JSON around it
_FENCED = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL)
_STRAIGHT = re.compile(r'"([^"]*)"')
_TYPOGRAPHIC = re.compile("“([^“”]*)”")


class AnswerForm(StrEnum):
    """How a chat model is asked to mark the sentence that it writes."""

    JSON = "json"
    QUOTED = "quoted"


_REQUESTS = {
    AnswerForm.JSON: (
        "Write only the missing sentence, as a JSON object with the single field “sentence”, such as "
        '{"sentence": "…"}, and nothing before or after it.'
    ),
    AnswerForm.QUOTED: "Write only the missing sentence, in double quotes, and nothing before or after it.",
}


def question_of(prompt: str, form: AnswerForm) -> str:
    """The message that asks for what a plain language model would write after the prompt's last quote."""
    return f"{prompt.removesuffix(QUOTE).rstrip()}\n\n{_REQUESTS[form]}"


def sentence_in(answer: str, form: AnswerForm) -> str | None:
    """The sentence in an answer of that form; None where the answer is anything else, or has anything beside it."""
    answer = answer.strip()
    if form is not AnswerForm.JSON:
        # The whole answer: anything beside the quotes is another form.
        quoted = _STRAIGHT.fullmatch(answer) or _TYPOGRAPHIC.fullmatch(answer)
        return quoted[1] if quoted else None
    fenced = _FENCED.fullmatch(answer)
    try:
        value = json_from(fenced[1] if fenced else answer)
    except ValueError:
        return None
    if not isinstance(value, dict) or list(value) != ["sentence"] or not isinstance(value["sentence"], str):
        return None
    return value["sentence"]
