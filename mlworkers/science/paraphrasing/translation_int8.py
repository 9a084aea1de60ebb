"""Translation by CTranslate2, with weights in 8 bits: two to four times as fast on a processor. Needs the package
ctranslate2, so that nothing imports this module unless it is there.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ctranslate2
import torch
from ctranslate2.converters.transformers import BartLoader, TransformersConverter, register_loader
from ctranslate2.specs import common_spec, transformer_spec

from curation.files.progress import Report, silent
from curation.files.writing import folder_replacing
from mlworkers.science.paraphrasing.round_trip_plan import Way
from mlworkers.science.paraphrasing.translation import (
    Language,
    Sentence,
    Translation,
    Translator,
    of_equal_length,
)
from mlworkers.science.paraphrasing.writing_plan import Sampling
from mlworkers.science.pretrained.loading import LOADING_FAILS, loading_failed, quiet_transformers
from mlworkers.science.synthesis.draws import row_seed

VERSION = str(ctranslate2.__version__)
_TOKENS_AT_ONCE = 2048


@register_loader("FSMTConfig")
class FSMTLoader(BartLoader):  # type: ignore[misc]
    """FSMT's weights in the library's layout, which it has for fairseq's own files alone."""

    architecture_name = "FSMTForConditionalGeneration"

    def get_model_spec(self, model: Any) -> Any:
        config = model.config
        spec = transformer_spec.TransformerSpec.from_config(
            (config.encoder_layers, config.decoder_layers),
            config.encoder_attention_heads,
            pre_norm=False,  # FSMT has LayerNorm after each block, as Vaswani et al. 2017
            activation=getattr(common_spec.Activation, config.activation_function.upper()),
        )
        self.set_encoder(spec.encoder, model.model.encoder)
        self.set_decoder(spec.decoder, model.model.decoder)
        self.set_linear(spec.decoder.projection, model.model.decoder.output_projection)
        return spec

    def set_position_encodings(self, spec: Any, module: Any) -> None:
        spec.encodings = module.weight[
            module.padding_idx + 1 :
        ]  # the first position comes after that of padding

    def get_vocabulary(self, model: Any, tokenizer: Any) -> tuple[list[str], list[str]]:
        sides = (tokenizer.encoder, {token: number for number, token in tokenizer.decoder.items()})
        source, target = (sorted(side, key=side.__getitem__) for side in sides)
        return source, target

    def set_vocabulary(self, spec: Any, tokens: tuple[list[str], list[str]]) -> None:
        spec.register_source_vocabulary(tokens[0])
        spec.register_target_vocabulary(tokens[1])

    def set_config(self, config: Any, model: Any, tokenizer: Any) -> None:
        config.bos_token = tokenizer.bos_token
        config.eos_token = tokenizer.sep_token
        config.unk_token = tokenizer.unk_token
        config.decoder_start_token = tokenizer.sep_token  # of fairseq's models


def converted(language: Language, folder: Path, *, quantization: str | None = "int8") -> Path:
    """Write the model into `folder` as CTranslate2 reads it, unless it is there. Raises ModelError."""
    if folder.is_dir():
        return folder
    with quiet_transformers():
        try:
            with folder_replacing(folder, once=True) as beside:
                TransformersConverter(str(language.folder)).convert(
                    str(beside), quantization=quantization, force=True
                )
        except LOADING_FAILS as error:
            raise loading_failed(language.folder, error) from error
    return folder


class Int8Translator(Translator):
    """By CTranslate2, with the model that `converted` wrote.

    The library draws by one stream of random numbers for all sentences of a call. It begins again with every call, so
    that a call's translations follow from its sentences, their order and the seed.
    """

    def __init__(self, language: Language, folder: Path, *, threads: int | None = None) -> None:
        super().__init__(language, threads=threads or torch.get_num_threads())
        self._folder = folder

    def translated(
        self, sentences: Sequence[Sentence], way: Way, *, seed: int, report: Report = silent
    ) -> list[list[Translation]]:
        found: list[list[Translation]] = [[] for _ in sentences]
        if not sentences:
            return found
        first = sentences[0]
        # A thread takes the seed when it begins to draw, and keeps its stream: a new translator has new threads.
        # 31 bits of the first sentence's stream.
        ctranslate2.set_random_seed(row_seed(seed=seed, source=first.of, label=first.stream, sample=0))
        translator = ctranslate2.Translator(
            str(self._folder), device="cpu", inter_threads=1, intra_threads=self.threads
        )
        known = self.language.written_tokens
        unknown = known[self.language.tokenizer.unk_token]
        done = 0
        for length, places in of_equal_length(self.language, sentences):
            least, most = self.language.bounds(length - 1, way)  # without the mark at the end
            results = translator.translate_batch(
                [self.language.tokens(sentences[place].text) for place in places],
                max_batch_size=_TOKENS_AT_ONCE,
                batch_type="tokens",
                max_input_length=0,
                min_decoding_length=least,
                max_decoding_length=most,
                **{"beam_size": 1, "sampling_topk": way.top_k, "sampling_temperature": way.temperature}
                # Length penalty 1: beams are compared by their mean log-probability of a token.
                if isinstance(way, Sampling)
                else {"beam_size": way.beams, "num_hypotheses": way.candidates, "length_penalty": 1.0},
            )
            for place, result in zip(places, results, strict=True):
                # The library writes tokens as text.
                found[place] = [
                    Translation(
                        self.language.text_of([known.get(token, unknown) for token in tokens]),
                        len(tokens) >= most,
                    )
                    for tokens in result.hypotheses
                ]
            done += len(places)
            report(done, len(sentences), "Translating")
        return found
