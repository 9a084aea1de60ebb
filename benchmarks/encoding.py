"""Pairs of sentences into cosines: ours against sentence-transformers encoding each side by itself.

Sentences are made of English words and are as long as captions and headlines (a median of 11 words, a few of 40 and
more). The figure is for pairs whose sentences occur eight times each, as in generated data; the notes have the
ratio for distinct sentences, and that of int8, or on a GPU bfloat16, to float32. The model is all-MiniLM-L6-v2 where
its package is installed, and otherwise one of that size with random weights, which takes as long.
"""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import torch
from _compare import every_round, is_quick, print_comparison, rates_compared, spread_of_ratios
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.pretrained.compute import Compute, choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.pretrained.hub import hub_folder
from mlworkers.science.pretrained.sources import ModelError, model_folder, parse_source

WORDS = (
    "a the of and in on with is are man woman child dog cat bird horse car street house river mountain game ball "
    "red green small large old young plays runs sits stands holds eats drinks reads writes sings walks jumps near "
    "under behind market government minister company police report country people city water bread music evening"
)
SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
BASELINE = "SentenceTransformer.encode of each side"


def pairs_made(count: int, *, seed: int) -> tuple[list[str], list[str]]:
    generator = np.random.default_rng(seed)
    distinct = 2 * count * 12 // 13
    lengths = np.exp(generator.normal(np.log(11), 0.45, size=distinct)).astype(int).clip(3, 60)
    sentences = [" ".join(generator.choice(WORDS.split(), size=length)) for length in lengths]
    sentences += sentences[: 2 * count - distinct]
    shuffled = [sentences[place] for place in generator.permutation(len(sentences))]
    return shuffled[:count], shuffled[count:]


def no_run(run_id: int, part: str) -> Path:
    raise ModelError(f"A benchmark looks up no run, and not {run_id}.")


def encoder_found(compute: Compute) -> tuple[SentenceTransformer, str]:
    try:
        source = parse_source("packaged:all-MiniLM-L6-v2")
        return load_encoder(
            model_folder(source, run_folder=no_run, hub_folder=hub_folder), compute
        ), source.name
    except ModelError:
        with tempfile.TemporaryDirectory() as folder:
            return load_encoder(random_model(Path(folder)), compute), "random weights of MiniLM's size"


def random_model(folder: Path) -> Path:
    vocabulary = {word: place for place, word in enumerate([*SPECIAL.values(), *WORDS.split()])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, SPECIAL["unk_token"]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIAL).save_pretrained(folder)
    size = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
    BertModel(BertConfig(vocab_size=30_522, **size)).save_pretrained(folder)
    return folder


def repeated_pairs(pairs: int, *, times: int, seed: int) -> tuple[list[str], list[str]]:
    """Pairs of sentences that each occur so many times."""
    first, second = pairs_made(-(-pairs // times), seed=seed)
    sentences = list(dict.fromkeys((*first, *second))) * times
    order = np.random.default_rng(seed).permutation(len(sentences))[: 2 * pairs]
    drawn = [sentences[place] for place in order]
    return drawn[: len(drawn) // 2], drawn[len(drawn) // 2 : 2 * (len(drawn) // 2)]


def distinct_pairs(pairs: int, *, seed: int) -> tuple[list[str], list[str]]:
    first, second = pairs_made(2 * pairs, seed=seed)
    distinct = list(dict.fromkeys((*first, *second)))[: 2 * pairs]
    return distinct[:pairs], distinct[pairs:]


def main() -> None:
    quick, compute = is_quick(__doc__), choose_compute()
    on_gpu = compute.device.type == "cuda"
    pairs, rounds = (160, 2) if quick else (8_000 if on_gpu else 1_000, 3)
    batch = 1024 if on_gpu else 32  # the library's own is 32, of which a GPU would be idle most of the time
    encoder, model = encoder_found(compute)
    lower = choose_compute("cuda", "bfloat16") if on_gpu else choose_compute("cpu", "int8")
    small, _model = encoder_found(lower)

    def ours(sides: tuple[list[str], list[str]]) -> np.ndarray:
        return pair_cosines(encoder, *sides, compute).values

    def rounded(sides: tuple[list[str], list[str]]) -> np.ndarray:
        return pair_cosines(small, *sides, lower).values

    def baseline(sides: tuple[list[str], list[str]]) -> np.ndarray:
        left, right = (encoder.encode(side, batch_size=batch, show_progress_bar=False) for side in sides)
        return encoder.similarity_pairwise(left, right).numpy()

    repeated, distinct = repeated_pairs(pairs, times=8, seed=1), distinct_pairs(pairs // 4, seed=2)
    assert np.allclose(ours(repeated), baseline(repeated), atol=1e-5), (
        "the two disagree; no speed makes up for that"
    )
    on_repeated = every_round(partial(ours, repeated), partial(baseline, repeated), rounds=rounds)
    on_distinct = every_round(partial(ours, distinct), partial(baseline, distinct), rounds=rounds)
    of_rounded = every_round(partial(rounded, distinct), partial(ours, distinct), rounds=rounds)
    precision = str(lower).rpartition(", ")[2]
    print_comparison(
        rates_compared(
            "encoding",
            work=len(repeated[0]),
            unit="pairs/s",
            seconds=min(on_repeated[0]),
            baseline=f"{BASELINE}, batches of {batch}",
            baseline_seconds=min(on_repeated[1]),
            device=f"{torch.cuda.get_device_name()}, float32" if on_gpu else str(compute),
            notes=f"{model}, {len(repeated[0])} pairs of {len({*repeated[0], *repeated[1]})} distinct sentences, best "
            f"of {rounds} rounds; {spread_of_ratios(on_repeated)}; on {len(distinct[0])} pairs of distinct sentences "
            f"{spread_of_ratios(on_distinct)}; {precision} against our float32 there {spread_of_ratios(of_rounded)}",
        )
    )


if __name__ == "__main__":
    main()
