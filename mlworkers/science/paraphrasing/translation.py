"""Translation of many sentences by an FSMT or a Marian model: by beam search, or by sampling.

Sentences with equally many tokens go through the model together: they need no padding, and have the same bounds of
length. A sentence is drawn with its own random numbers, so that it does not matter what is translated beside it.
"""

import importlib.util
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer

from curation.files.progress import Report, silent
from curation.pairs.text import normalise
from mlworkers.science.paraphrasing.drawn_tokens import Drawn
from mlworkers.science.paraphrasing.languages import language_code
from mlworkers.science.paraphrasing.paraphraser import SourceError
from mlworkers.science.paraphrasing.round_trip_plan import Way
from mlworkers.science.paraphrasing.writing_plan import Sampling
from mlworkers.science.pretrained.compute import Compute, Fitting
from mlworkers.science.pretrained.loading import (
    LOADING_FAILS,
    check_loaded,
    loading_failed,
    quiet_transformers,
)
from mlworkers.science.pretrained.sources import ModelError, check_folder
from mlworkers.science.synthesis.draws import uniform_draws

# What the tokenizer of each architecture needs beside transformers.
_NEEDS = {"fsmt": ("sacremoses",), "marian": ("sentencepiece", "sacremoses")}
_ROOM = 10  # tokens by which a sampled translation may exceed twice its source
_NO_LIMIT = 1_000_000


class Sentence(NamedTuple):
    """What is translated. stream, of: name its random numbers: what they are for, and the sentence of the dataset that
    the translation belongs to. No two translations of a run share both.
    """

    text: str
    stream: str
    of: str


class Translation(NamedTuple):
    """cut_off: whether it ended at the most tokens that it could have."""

    text: str
    cut_off: bool


@dataclass(frozen=True)
class Language:
    """What the folder of a translation model says of its texts. source, target: codes of languages, such as en."""

    folder: Path
    kind: str
    config: Any
    tokenizer: Any
    source: str
    target: str

    @cached_property
    def context(self) -> int:
        """The most tokens of an input and of a translation, with the mark at its end."""
        # Both count the mark at the end; a translation has one at its beginning too (`bounds`).
        limits = (self.config.max_position_embeddings, self.tokenizer.model_max_length)
        return min(limit or _NO_LIMIT for limit in limits)

    @cached_property
    def end(self) -> str:
        """The mark at the end of a sentence."""
        return str(self.tokenizer.sep_token if self.kind == "fsmt" else self.tokenizer.eos_token)

    @cached_property
    def written_tokens(self) -> dict[str, int]:
        """The numbers of the tokens that the model writes."""
        if self.kind == "fsmt":
            return {token: number for number, token in self.tokenizer.decoder.items()}
        target = self.tokenizer.target_encoder if self.tokenizer.separate_vocabs else self.tokenizer.encoder
        return dict(target)

    def tokens(self, text: str) -> list[str]:
        """The sentence as the model reads it, with the mark at its end."""
        return [*self.tokenizer.tokenize(text), self.end]

    def text_of(self, numbers: Sequence[int]) -> str:
        return normalise(self.tokenizer.decode(list(numbers), skip_special_tokens=True))

    def check_source(self, text: str) -> None:
        """Raises SourceError for a sentence that is empty, has one word, or does not fit into the context."""
        count = len(text.split())
        if count < 2:
            shown = f"“{text.strip()}” has one word" if count else "The sentence is empty"
            raise SourceError(f"{shown}; a round trip needs a sentence of two words or more.")
        if not self.fits(text):
            raise SourceError(
                f"The sentence has {len(self.tokens(text)):,} tokens; the model takes {self.context:,}. Shorten it."
            )

    def fits(self, text: str) -> bool:
        return len(self.tokens(text)) <= self.context

    def bounds(self, content: int, way: Way) -> tuple[int, int]:
        """The fewest and the most tokens of the translation of so many, marks left out."""
        # A sample may wander: 2 · content + 10 bounds what a high temperature can cost.
        least, most = (1, 2 * content + _ROOM) if isinstance(way, Sampling) else way.bounds(content)
        room = self.context - 2  # the mark that begins a search, and the one at its end
        return min(least, room), min(most, room)


class Translator(ABC):
    """Translates sentences, by the transformers library (`ModelTranslator`) or with weights rounded to int8
    (`translation_int8.Int8Translator`).

    language: what the folder of the model says of its texts.
    threads: of the processor, for one translation.
    """

    def __init__(self, language: Language, *, threads: int) -> None:
        self.language, self.threads = language, threads

    @abstractmethod
    def translated(
        self, sentences: Sequence[Sentence], way: Way, *, seed: int, report: Report = silent
    ) -> list[list[Translation]]:
        """The translations of each of n sentences, the likeliest first: one by sampling, `candidates` by beam search.

        A sentence that is empty or does not fit into the context gets none. report counts sentences.
        """


class ModelTranslator(Translator):
    """By the transformers library."""

    def __init__(self, language: Language, compute: Compute) -> None:
        super().__init__(language, threads=torch.get_num_threads())
        # The model, from safetensors alone. Raises ModelError.
        loader: Any = AutoModelForSeq2SeqLM
        with quiet_transformers():
            try:
                model, told = loader.from_pretrained(
                    language.folder,
                    output_loading_info=True,
                    local_files_only=True,
                    trust_remote_code=False,
                    use_safetensors=True,
                    dtype=torch.float32,  # a lower precision could let another beam win
                )
                check_loaded(model.state_dict().keys(), told)
            except LOADING_FAILS as error:
                raise loading_failed(language.folder, error) from error
        self._model, self._compute, self._fitting = model.to(compute.device).eval(), compute, Fitting()

    def translated(
        self, sentences: Sequence[Sentence], way: Way, *, seed: int, report: Report = silent
    ) -> list[list[Translation]]:
        found: list[list[Translation]] = [[] for _ in sentences]
        # Lines of the decoder for each sentence.
        done, width = 0, 1 if isinstance(way, Sampling) else way.beams

        def written(part: Sequence[int]) -> list[list[Translation]]:
            return self._generated([sentences[place] for place in part], way, seed)

        for length, places in of_equal_length(self.language, sentences):
            # The budget counts the tokens of the input once for each beam.
            most = max(1, self._compute.tokens_per_batch // (length * width))  # sentences at a time
            for batch in (places[start : start + most] for start in range(0, len(places), most)):
                for place, row in zip(batch, chain(*self._fitting.parts(written, batch)), strict=True):
                    found[place] = row
                done += len(batch)
                report(done, len(sentences), "Translating")
        return found

    def _generated(self, sentences: Sequence[Sentence], way: Way, seed: int) -> list[list[Translation]]:
        tokenizer, device = self.language.tokenizer, self._compute.device
        read = torch.tensor(
            [tokenizer(one.text, verbose=False)["input_ids"] for one in sentences], device=device
        )
        least, most = self.language.bounds(read.shape[1] - 1, way)  # without the mark at the end
        arguments: dict[str, Any] = {"num_beams": 1}
        if isinstance(way, Sampling):
            # (b, most + 1): a row for each sentence, which follows from its own stream alone.
            noise = np.stack(
                [
                    # One number for each token, the mark at the end included.
                    uniform_draws(most + 1, seed=seed, source=one.of, label=one.stream, sample=0)
                    for one in sentences
                ]
            )
            arguments["logits_processor"] = [Drawn(way, torch.from_numpy(noise))]
        else:
            arguments = {
                "num_beams": way.beams,
                "num_return_sequences": way.candidates,
                "early_stopping": way.beams > 1,
                # Σ log p / length^1, the mean log-probability of a token.
                "length_penalty": 1.0,
            }
        with torch.inference_mode(), quiet_transformers():
            written: Any = self._model.generate(
                input_ids=read,
                attention_mask=torch.ones_like(read),
                do_sample=False,
                min_new_tokens=least,
                max_new_tokens=most + 1,  # the mark at the end comes on top
                max_length=None,
                min_length=None,
                forced_eos_token_id=self._model.config.eos_token_id,
                **arguments,
            )  # (b × candidates, u)
        each = 1 if isinstance(way, Sampling) else way.candidates
        # One that ends by itself after exactly so many tokens counts too: its last token is a mark as well.
        # At least `most` tokens: the search ended at its bound and not at a mark.
        rows = [
            Translation(self.language.text_of(numbers), self._content(numbers) >= most)
            for numbers in written.tolist()
        ]
        return [rows[start : start + each] for start in range(0, len(rows), each)]

    def _content(self, numbers: Sequence[int]) -> int:
        """Tokens that were written, without marks at the beginning and at the end."""
        marks = {self._model.config.pad_token_id, self._model.config.eos_token_id}
        return sum(number not in marks for number in numbers)


def of_equal_length(language: Language, sentences: Sequence[Sentence]) -> Iterator[tuple[int, list[int]]]:
    """The numbers of tokens of sentences, and the places of all that have so many, the longest first. Left out are
    those that are empty or do not fit.
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for place, sentence in enumerate(sentences):
        length = len(language.tokens(sentence.text)) if sentence.text.strip() else 1  # the mark included
        if 1 < length <= language.context:
            groups[length].append(place)  # 1 is the mark alone: an empty sentence
    yield from sorted(groups.items(), reverse=True)


def language_read(folder: Path) -> Language:
    """What a model translates from and to, without its weights. Raises ModelError."""
    check_folder(folder)
    with quiet_transformers():
        try:
            config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            kind = str(config.model_type)
            if kind not in _NEEDS:
                raise ModelError(
                    f"The model in {folder} is of the kind {kind}; name an FSMT or a Marian model, such as "
                    "facebook/wmt19-en-de or Helsinki-NLP/opus-mt-en-de."
                )
            for library in _NEEDS[kind]:
                if importlib.util.find_spec(library) is None:
                    raise ModelError(
                        f"The model in {folder} needs {library}, which is not installed; install Semblance "
                        "with the extra translation."
                    )
            tokenizer: Any = AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
        except ModelError:
            raise
        except LOADING_FAILS as error:
            raise loading_failed(folder, error) from error
    source, target = _languages(folder, kind, tokenizer)
    return Language(folder, kind, config, tokenizer, source, target)


def _languages(folder: Path, kind: str, tokenizer: Any) -> tuple[str, str]:
    if kind == "fsmt":
        return language_code(tokenizer.src_lang), language_code(tokenizer.tgt_lang)
    several = tokenizer.supported_language_codes
    if len(several) > 1:
        raise ModelError(
            f"The model in {folder} translates into {len(several)} languages; name one that translates into a single "
            "language."
        )
    if not tokenizer.source_lang or not tokenizer.target_lang:
        raise ModelError(
            f"The model in {folder} does not say its languages; give source_lang and target_lang in "
            "tokenizer_config.json."
        )
    return language_code(tokenizer.source_lang), language_code(tokenizer.target_lang)


def check_circle(forward: Language, backward: Language) -> None:
    """Raises ModelError where the second model does not translate back what the first one wrote."""
    if (forward.source, forward.target) != (backward.target, backward.source):
        raise ModelError(
            f"The models do not close a circle: one translates {forward.source} to {forward.target}, the other "
            f"{backward.source} to {backward.target}; name a model from {forward.target} to {forward.source}."
        )
