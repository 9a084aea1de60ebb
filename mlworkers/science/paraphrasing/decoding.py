"""Paraphrases by beam search, many rows at a time.

Rows whose sources have equally many tokens go through the model together: they need no padding, and they have the same
bounds of length, so that each row gets what `generate` would give it alone. Several tags of one source are in one batch
and share its pass through the encoder. A search ends when `beams` paraphrases are complete (early stopping). Candidates
that are drawn have their own random numbers, so that it does not matter what is written beside them.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from curation.files.progress import Report, silent
from curation.pairs.text import normalise
from mlworkers.science.paraphrasing.drawn_tokens import Drawn
from mlworkers.science.paraphrasing.paraphraser import Paraphraser, Target
from mlworkers.science.paraphrasing.writing_plan import Decoding
from mlworkers.science.pretrained.compute import Fitting
from mlworkers.science.pretrained.loading import quiet_transformers
from mlworkers.science.synthesis.draws import uniform_draws


class Request(NamedTuple):
    """A sentence, and the tags that its paraphrase is to have."""

    source: str
    target: Target


class _Row(NamedTuple):
    place: int
    tokens: list[int]
    request: Request


def paraphrases_decoded(
    paraphraser: Paraphraser, requests: Sequence[Request], decoding: Decoding, *, report: Report = silent
) -> list[list[str]]:
    """Of each of n requests its candidates, the likeliest first; those with the same text once. report counts requests.

    Raises SourceError for a source or tags that the model cannot take.
    """
    for request in requests:
        paraphraser.check_target(request.target)
        paraphraser.check_source(request.source)
    found: list[list[str]] = [[] for _ in requests]
    done, fitting = 0, Fitting()
    for content, rows in _of_equal_length(paraphraser, requests):
        # Memory grows with the lines of the decoder: `width` of them for each row of the batch.
        width = max(decoding.beams, decoding.candidates)
        # Rows × tokens × lines within the budget.
        most = max(1, paraphraser.compute.tokens_per_batch // (len(rows[0].tokens) * width))

        def written(part: Sequence[_Row], content: int = content) -> list[list[str]]:
            return _generated(paraphraser, part, decoding, content)

        for batch in (rows[start : start + most] for start in range(0, len(rows), most)):
            for row, candidates in zip(batch, chain(*fitting.parts(written, batch)), strict=True):
                found[row.place] = list(dict.fromkeys(candidates))
            done += len(batch)
            report(done, len(requests), "Writing paraphrases")
    return found


def _of_equal_length(
    paraphraser: Paraphraser, requests: Sequence[Request]
) -> Iterator[tuple[int, list[_Row]]]:
    """The tokens of a source without its tags and marks, and the rows of all sources with so many. The longest come
    first, so that what will not fit in memory fails at once.
    """
    groups: dict[tuple[int, int], list[_Row]] = defaultdict(list)
    contents: dict[str, int] = {}
    for place, request in enumerate(requests):
        if request.source not in contents:
            contents[request.source] = len(paraphraser.sentence_tokens(request.source)) - paraphraser.marks
        tokens = paraphraser.input_tokens(request.source, request.target)
        # Equal content too: it decides the bounds of length, which a call of `generate` has one of.
        groups[len(tokens), contents[request.source]].append(_Row(place, tokens, request))
    for (_length, content), rows in sorted(groups.items(), reverse=True):
        yield content, rows


def _generated(
    paraphraser: Paraphraser, rows: Sequence[_Row], decoding: Decoding, content: int
) -> list[list[str]]:
    arguments = search_arguments(paraphraser, decoding, content)
    # All rows are equally long, so the mask is all ones and positions need no shift.
    read = torch.tensor([row.tokens for row in rows], device=paraphraser.compute.device)  # (b, t)
    with torch.inference_mode(), quiet_transformers():
        found = _texts(paraphraser, arguments, input_ids=read, attention_mask=torch.ones_like(read))
        others = decoding.candidates - 1
        if decoding.sampling is None or not others:
            return _cut(found, decoding.candidates)
        # One uniform number for each token that may be written: noise is (b × others, most).
        most = int(arguments["max_new_tokens"])
        noise = [
            _noise(row.request, most, seed=decoding.seed, sample=n) for row in rows for n in range(others)
        ]
        twice = read.repeat_interleave(others, dim=0)  # (b × others, t)
        # One beam and no sampling by the library: `Drawn` leaves one possible token at each step.
        drawn = _texts(
            paraphraser,
            {**arguments, "num_beams": 1, "num_return_sequences": 1, "early_stopping": False},
            input_ids=twice,
            attention_mask=torch.ones_like(twice),
            logits_processor=[Drawn(decoding.sampling, torch.from_numpy(np.stack(noise)))],
        )
    # The one of the beams first.
    return [[*one, *more] for one, more in zip(_cut(found, 1), _cut(drawn, others), strict=True)]


def _noise(request: Request, most: int, *, seed: int, sample: int) -> NDArray[np.float64]:
    return uniform_draws(
        most, seed=seed, source=request.source, label=" ".join(request.target), sample=sample
    )


def _texts(paraphraser: Paraphraser, arguments: Mapping[str, Any], **more: Any) -> list[str]:
    written: Any = paraphraser.model.generate(**arguments, **more)  # (b × candidates, u)
    return [normalise(text) for text in paraphraser.tokenizer.batch_decode(written, skip_special_tokens=True)]


def _cut(texts: list[str], each: int) -> list[list[str]]:
    return [texts[start : start + each] for start in range(0, len(texts), each)]


def search_arguments(paraphraser: Paraphraser, decoding: Decoding, content: int) -> dict[str, Any]:
    """What `generate` is called with for sources of so many tokens without tags and marks.

    The model also writes the tokenizer's marks, of which the last one ends the paraphrase.
    """
    least, most = decoding.bounds(content)  # tokens without marks
    marks = paraphraser.marks
    room = paraphraser.context - 1  # the mark that begins every search takes a place
    return {
        "num_beams": decoding.beams,
        "num_return_sequences": 1 if decoding.sampling else decoding.candidates,
        # EOS is forbidden before min_new_tokens tokens. With m marks, m - 1 of them come before EOS, so that
        # min_new_tokens = least + m - 1 asks for `least` tokens of content, and max_new_tokens = most + m
        # allows `most` of them and all marks.
        "min_new_tokens": min(least + marks - 1, room),
        "max_new_tokens": min(most + marks, room),
        # A model that was trained a little may leave out the mark that begins a sentence; it counts in the bounds.
        "forced_bos_token_id": paraphraser.first_mark,
        "early_stopping": decoding.beams > 1,
        "do_sample": False,
        "max_length": None,
        "min_length": None,
        # A beam's score is Σ log p / length^1: the mean log-probability of a token.
        "length_penalty": 1.0,
    }
