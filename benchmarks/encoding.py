"""Pairs of sentences into cosines: ours against sentence-transformers encoding each side by itself.

Sentences are made of English words and are as long as captions and headlines (a median of 11 words, a few of 40 and
more); one in thirteen stands twice, as in the STS benchmark. The model is all-MiniLM-L6-v2 where its package is
installed, and otherwise one of that size with random weights, which takes as long.
"""

import tempfile
from pathlib import Path

import numpy as np
from _compare import alternate, is_quick, print_comparison, rates_compared
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from mlworkers.encoders.encoding import pair_cosines
from mlworkers.pretrained.compute import Compute, choose_compute
from mlworkers.pretrained.encoder import load_encoder
from mlworkers.pretrained.hub import hub_folder
from mlworkers.pretrained.sources import ModelError, model_folder, parse_source

WORDS = (
    "a the of and in on with is are man woman child dog cat bird horse car street house river mountain game ball "
    "red green small large old young plays runs sits stands holds eats drinks reads writes sings walks jumps near "
    "under behind market government minister company police report country people city water bread music evening"
)
SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
BASELINE = "SentenceTransformer.encode of each side, batches of 32"


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


def main() -> None:
    pairs, rounds = (200, 2) if is_quick(__doc__) else (1_000, 3)
    compute = choose_compute()
    encoder, model = encoder_found(compute)
    first, second = pairs_made(pairs, seed=1)

    def ours() -> np.ndarray:
        return pair_cosines(encoder, first, second, compute).values

    def baseline() -> np.ndarray:
        left, right = (encoder.encode(side, show_progress_bar=False) for side in (first, second))
        return encoder.similarity_pairwise(left, right).numpy()

    assert np.allclose(ours(), baseline(), atol=1e-5), "the two disagree; no speed makes up for that"
    seconds, baseline_seconds = alternate(ours, baseline, rounds=rounds)
    print_comparison(
        rates_compared(
            "encoding",
            work=pairs,
            unit="pairs/s",
            seconds=seconds,
            baseline=BASELINE,
            baseline_seconds=baseline_seconds,
            device=str(compute),
            notes=f"{model}, {pairs} pairs of {len({*first, *second})} distinct sentences, best of {rounds} rounds",
        )
    )


if __name__ == "__main__":
    main()
