"""Paraphrasers: trained on selected pairs, saved so that transformers loads them, and decoded many rows at a time."""

import json
import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
    T5Config,
    T5ForConditionalGeneration,
)

from curation.files.writing import sha256_of
from mlworkers.models import Run
from mlworkers.runs.storage import artifact_path, home_relative, run_folder
from mlworkers.science.encoders.saving import seen_by
from mlworkers.science.paraphrasing.decoding import Request, paraphrases_decoded, search_arguments
from mlworkers.science.paraphrasing.denoising import DROPPED, sentences_to_write_again
from mlworkers.science.paraphrasing.disclosure import benchmark_behind
from mlworkers.science.paraphrasing.paraphraser import (
    Paraphraser,
    SourceError,
    TaggedPair,
    Target,
    load_paraphraser,
    paraphraser_further,
    paraphraser_initialised,
    tag_tokens,
    tagged_text,
)
from mlworkers.science.paraphrasing.paraphraser_plan import ParaphraserPlan
from mlworkers.science.paraphrasing.paraphraser_training import paraphraser_trained, warmed_up
from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.paraphrasing.writing_plan import Decoding, Sampling
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.learned_tokenizer import tokenizer_learned
from mlworkers.science.pretrained.sources import ModelError
from tests.factories import ArtifactFactory, DatasetFactory, PairFactory, RunFactory
from tests.runs import run_execute, run_plan

SIZE = {"layers": 1, "width": 32, "vocabulary": 300, "context": 48, "batch_size": 8}
NEAR, FAR = Target("SIM95", "BLEU40"), Target("SIM95", "BLEU0_5")
COMPUTE = choose_compute("cpu")
SOURCES = [
    f"the {who} {does} on the {where}"
    for who, does, where in product(("dog", "cat", "man"), ("runs", "sits"), ("grass", "mat", "old tree"))
]
PAIRS = [
    TaggedPair(
        source, source.replace("on the", "near a") if target is NEAR else f"there {source[4:]} it is", target
    )
    for source in SOURCES
    for target in (NEAR, FAR)
]


def plan(**settings: object) -> ParaphraserPlan:
    return ParaphraserPlan(**{"dataset": "news", "selection": 1, **SIZE, **settings})


def initial(**settings: object) -> Paraphraser:
    texts = [text for pair in PAIRS for text in pair[:2]]
    return paraphraser_initialised(texts, TagBounds(), plan(**settings), COMPUTE)


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """A paraphraser that has learned a little."""
    folder = tmp_path_factory.mktemp("paraphraser")
    paraphraser_trained(initial(), PAIRS, PAIRS[:6], plan(epochs=4), rate=3e-3, folder=folder)
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    """A BART without tags."""
    folder = tmp_path_factory.mktemp("bart")
    made = initial()
    config = BartConfig(**{**made.model.config.to_dict(), "vocab_size": 300})
    BartForConditionalGeneration(config).save_pretrained(folder)
    special = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>"}
    tokenizer_learned(SOURCES, vocabulary=300, longest=48, special=special).save_pretrained(folder)
    return folder


def test_transformers_alone_loads_it_and_reads_the_tags_as_tokens(trained) -> None:
    tokenizer = AutoTokenizer.from_pretrained(trained)
    model = AutoModelForSeq2SeqLM.from_pretrained(trained)

    read = tokenizer(tagged_text(SOURCES[0], FAR))["input_ids"]
    alone = tokenizer(SOURCES[0])["input_ids"]

    assert tokenizer.convert_ids_to_tokens(read[1:3]) == ["<SIM95>", "<BLEU0_5>"]
    assert [read[0], *read[3:]] == alone
    written = model.generate(torch.tensor([read]), max_new_tokens=8)
    assert not any(
        tag in tokenizer.decode(written[0], skip_special_tokens=True) for tag in tag_tokens(TagBounds())
    )


def test_new_rows_are_the_mean_of_all_rows_before(base) -> None:
    before = AutoModelForSeq2SeqLM.from_pretrained(base).get_input_embeddings().weight.detach()
    known = len(AutoTokenizer.from_pretrained(base))

    further = paraphraser_further(base, TagBounds(), COMPUTE)

    rows = further.model.get_input_embeddings().weight.detach()[known : known + 14]
    assert torch.allclose(rows, before[:known].mean(0).expand(14, -1))
    assert len(further.tokenizer) == known + 14


def test_a_fresh_model_begins_with_waves_as_positions() -> None:
    model = initial().model

    for part in (model.get_encoder(), model.get_decoder()):
        table = part.embed_positions.weight.detach() / (model.config.init_std * 2**0.5)
        # Vaswani et al. 2017, section 3.5, by hand: the sines and cosines of place / 10000^(2i / width).
        assert table[3, :4].tolist() == pytest.approx(
            [math.sin(3), math.cos(3), math.sin(3 / 10_000 ** (2 / 32)), math.cos(3 / 10_000 ** (2 / 32))],
            abs=1e-5,
        )
        near, far = (table[10] @ table[10 + distance] for distance in (1, 15))
        assert near > far


def test_a_t5_takes_the_tags_too(tmp_path, base) -> None:
    config = T5Config(
        vocab_size=310, d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2, pad_token_id=1, eos_token_id=2,
        decoder_start_token_id=1,
    )  # fmt: skip
    T5ForConditionalGeneration(config).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(base).save_pretrained(tmp_path)

    further = paraphraser_further(tmp_path, TagBounds(), COMPUTE)

    assert paraphrases_decoded(further, [Request(SOURCES[0], FAR)], Decoding(2))[0]


@pytest.fixture
def apart(tmp_path, base) -> Path:
    """A model whose encoder and decoder have tokens of their own."""
    config = MarianConfig(
        vocab_size=300, decoder_vocab_size=200, share_encoder_decoder_embeddings=False, d_model=32, encoder_layers=1,
        decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32,
        max_position_embeddings=48, pad_token_id=1, eos_token_id=2, decoder_start_token_id=1, tie_word_embeddings=False,
    )  # fmt: skip
    MarianMTModel(config).save_pretrained(tmp_path / "apart")
    AutoTokenizer.from_pretrained(base).save_pretrained(tmp_path / "apart")
    return tmp_path / "apart"


def test_a_decoder_that_cannot_take_new_tokens_is_refused_in_one_sentence(apart) -> None:
    with pytest.raises(
        ModelError, match="cannot take new tokens; choose one whose encoder and decoder share"
    ):
        paraphraser_further(apart, TagBounds(), COMPUTE)


def test_a_model_without_a_decoder_is_refused(encoder_folder) -> None:
    with pytest.raises(ModelError, match="is not an encoder-decoder"):
        paraphraser_further(encoder_folder / ".", TagBounds(), COMPUTE)


def test_a_model_without_tags_is_refused(base) -> None:
    with pytest.raises(ModelError, match="knows no tag <SIM70>; train it with “Train a paraphraser”"):
        load_paraphraser(base, COMPUTE)


@pytest.mark.exhaustive
def test_many_rows_at_a_time_get_what_generate_gives_each_alone(trained) -> None:
    paraphraser, decoding = load_paraphraser(trained, COMPUTE), Decoding(beams=3, candidates=2)
    requests = [Request(source, target) for source in SOURCES for target in (NEAR, FAR)]

    together = paraphrases_decoded(paraphraser, requests, decoding)

    for request, candidates in zip(requests, together, strict=True):
        read = torch.tensor([paraphraser.input_tokens(*request)])
        content = len(paraphraser.tokenizer(request.source, add_special_tokens=False)["input_ids"])
        alone = paraphraser.model.generate(read, **search_arguments(paraphraser, decoding, content))
        texts = [
            " ".join(paraphraser.tokenizer.decode(one, skip_special_tokens=True).split()) for one in alone
        ]
        assert candidates == list(dict.fromkeys(texts))


def test_the_likeliest_candidate_stays_and_the_others_are_drawn_whatever_is_beside_them(trained) -> None:
    paraphraser = load_paraphraser(trained, COMPUTE)
    drawn = Decoding(beams=3, candidates=6, sampling=Sampling(top_k=50, temperature=2.0), seed=4)
    requests = [Request(source, target) for source in SOURCES[:4] for target in (NEAR, FAR)]

    together = paraphrases_decoded(paraphraser, requests, drawn)

    likeliest = paraphrases_decoded(paraphraser, requests, Decoding(beams=3))
    assert [candidates[0] for candidates in together] == [candidates[0] for candidates in likeliest]
    assert max(map(len, together)) > 3
    assert paraphrases_decoded(paraphraser, requests[5:6], drawn) == together[5:6]
    other_seed = paraphrases_decoded(paraphraser, requests, replace(drawn, seed=5))
    assert other_seed != together


def test_with_one_token_to_draw_from_every_candidate_is_what_greedy_search_finds(trained) -> None:
    paraphraser = load_paraphraser(trained, COMPUTE)
    requests = [Request(source, FAR) for source in SOURCES[:3]]

    drawn = paraphrases_decoded(
        paraphraser, requests, Decoding(beams=1, candidates=3, sampling=Sampling(top_k=1, temperature=1.0))
    )

    assert drawn == paraphrases_decoded(paraphraser, requests, Decoding(beams=1))


def test_the_length_is_bounded_by_the_source_without_its_tags(trained) -> None:
    paraphraser = load_paraphraser(trained, COMPUTE)
    source = SOURCES[2]
    tokens = len(paraphraser.tokenizer(source, add_special_tokens=False)["input_ids"])

    read = torch.tensor([paraphraser.input_tokens(source, FAR)])
    written = paraphraser.model.generate(read, **search_arguments(paraphraser, Decoding(3), tokens))[
        0
    ].tolist()

    content = [token for token in written if token not in (0, 1, 2)]
    assert int(0.75 * tokens) <= len(content) <= int(1.5 * tokens)


@pytest.mark.parametrize(
    ("source", "target", "sentence"),
    [
        (
            "the dog runs",
            Target("SIM97", "BLEU20"),
            "There is no pair of tags “SIM97 BLEU20”; the 48 pairs are SIM70",
        ),
        (
            "the dog runs",
            Target("SIM95", "BLEU5"),
            "There is no pair of tags “SIM95 BLEU5”; the 48 pairs are SIM70",
        ),
        ("  ", FAR, "The sentence is empty"),
        ("Dog", FAR, "“Dog” has one word; a paraphrase needs a sentence of two words or more"),
        ("the dog " * 40, FAR, "the model takes 48"),
    ],
)
def test_what_cannot_be_paraphrased_gets_one_sentence(trained, source, target, sentence) -> None:
    paraphraser = load_paraphraser(trained, COMPUTE)

    with pytest.raises(SourceError, match=sentence):
        paraphrases_decoded(paraphraser, [Request(source, target)], Decoding(2))


class KilledError(Exception):
    pass


def killed_at(step: int):
    def report(done: int, total: int, message: str) -> None:
        if done == step:
            raise KilledError

    return report


@pytest.mark.parametrize("warms_up", [False, True])
def test_a_training_that_was_killed_goes_on_to_the_same_weights(tmp_path, warms_up) -> None:
    settings = plan(epochs=3, patience=1, warm_up_epochs=3)
    seconds = iter(range(0, 10_000, 61))  # a checkpoint at every step
    folders = [tmp_path / name for name in ("whole", "resumed")]
    for folder in folders:
        folder.mkdir()
    kept = {"checkpoints": tmp_path / "checkpoints", "now": lambda: next(seconds)}

    def train(folder: Path, **more: object) -> None:
        if warms_up:
            warmed_up(
                initial(),
                sentences_to_write_again(SOURCES, TagBounds(), seed=7),
                settings,
                folder=folder,
                **more,
            )
        else:
            paraphraser_trained(initial(), PAIRS, PAIRS[:6], settings, rate=1e-3, folder=folder, **more)

    train(folders[0])
    with pytest.raises(KilledError):
        train(folders[1], report=killed_at(5), **kept)
    train(folders[1], **kept)

    first, second = (sha256_of(folder / "model.safetensors") for folder in folders)
    assert first == second


def test_what_is_written_again_lacks_about_a_tenth_of_its_words_and_no_sentence_all(tmp_path) -> None:
    sentences = [f"one two three four five six seven eight nine {number}" for number in range(200)]

    made = sentences_to_write_again([*sentences, "alone"], TagBounds(), seed=7)

    assert [one.paraphrase for one in made] == [*sentences, "alone"]
    kept = sum(len(one.source.split()) for one in made[:-1]) / sum(len(text.split()) for text in sentences)
    assert kept == pytest.approx(1 - DROPPED, abs=0.02)
    assert made[-1].source == "alone"
    for one in made:
        remaining = iter(one.paraphrase.split())
        assert all(word in remaining for word in one.source.split())  # in their order
    assert {one.target for one in made} > {NEAR, FAR}
    assert sentences_to_write_again([*sentences, "alone"], TagBounds(), seed=7) == made


@pytest.mark.exhaustive
def test_a_warm_up_lets_it_write_unseen_sentences_again(tmp_path) -> None:
    unseen, known = SOURCES[::6], [text for place, text in enumerate(SOURCES) if place % 6]
    before = sentences_to_write_again(known * 4, TagBounds(), seed=7)
    rows = [TaggedPair(source, source, NEAR) for source in unseen]
    losses = []
    for epochs in (0, 20):
        model, folder = initial(), tmp_path / str(epochs)
        folder.mkdir()
        if epochs:
            warmed_up(model, before, plan(warm_up_epochs=epochs), folder=folder)
        losses.append(
            paraphraser_trained(model, PAIRS[:2], rows, plan(epochs=1), rate=1e-3, folder=folder).dev_loss
        )
    cold, warm = losses
    assert warm < cold / 2


def test_training_ends_after_so_many_epochs_without_a_lower_loss(tmp_path) -> None:
    # A learning rate this high makes the loss rise after its first epochs.
    result = paraphraser_trained(
        initial(), PAIRS, PAIRS[:6], plan(epochs=40, patience=2), rate=0.5, folder=tmp_path
    )

    per_epoch = -(-len(PAIRS) // 8)
    best = result.training.kept.step
    assert result.training.steps == best + 2 * per_epoch < 40 * per_epoch


@pytest.fixture
def selection(db) -> Run:
    """A run that selected the pairs above."""
    dataset = DatasetFactory(slug="news", licence="CC0-1.0")
    run = RunFactory(kind="select_paraphrases", dataset=dataset, state="succeeded")
    path = run_folder(run.pk) / "1" / "tagged-pairs.jsonl"
    path.parent.mkdir(parents=True)
    rows = [
        {"split": "dev" if place % 6 == 0 else "train", "source": pair.source, "paraphrase": pair.paraphrase,
         "sim_tag": pair.target.similarity, "bleu_tag": pair.target.lexical}
        for place, pair in enumerate(PAIRS)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    ArtifactFactory(
        run=run, kind="tagged pairs", path=home_relative(path), sha256=sha256_of(path),
        card={"tags": TagBounds().as_dict(), "labels_from": "STS-B"},
    )  # fmt: skip
    return run


def carried_out(selection: Run, **settings: object) -> Run:
    values = {"dataset": "news", "selection": selection.pk, "device": "cpu", "epochs": 2, **SIZE, **settings}
    return run_execute(run_plan("train_paraphraser", selection.dataset, values))


@pytest.mark.django_db(transaction=True)
def test_the_learning_rate_with_the_lowest_loss_on_dev_pairs_is_kept(selection) -> None:
    run = carried_out(selection, learning_rates="0.003, 0.00001")

    assert run.state == "succeeded", run.message
    losses = {one["learning_rate"]: one["dev_loss"] for one in run.result["rates"]}
    assert run.result["learning_rate"] == min(losses, key=losses.get) == 0.003
    folder = artifact_path(run.artifacts.get(kind="paraphraser"))
    assert load_paraphraser(folder, COMPUTE).bounds == TagBounds()


@pytest.mark.django_db(transaction=True)
def test_it_warms_up_on_human_sentences_of_the_split_and_on_none_that_is_held_out(selection) -> None:
    dataset = selection.dataset
    held_out = PairFactory(
        dataset=dataset, split="test", a__text="a whale sleeps", b__text="the whale is asleep"
    )
    PairFactory(dataset=dataset, split="train", a=held_out.a, b__text="a heron waits")
    PairFactory(
        dataset=dataset, split="train", a__text="an owl flies", b__text="owls fly", origin="generated"
    )

    run = carried_out(selection, warm_up_epochs=1, learning_rates="0.001, 0.003")

    assert run.state == "succeeded", run.message
    assert run.result["warm_up_sentences"] == 1
    assert run.result["warm_up_loss"] > 0
    assert len(run.result["rates"]) == 2
    seen = seen_by(artifact_path(run.artifacts.get(kind="paraphraser")))
    assert "a heron waits" in seen
    assert "a whale sleeps" not in seen
    assert "an owl flies" not in seen


@pytest.mark.django_db(transaction=True)
def test_a_split_without_sentences_to_warm_up_on_is_refused_in_one_sentence(selection) -> None:
    run = carried_out(selection, warm_up_epochs=1, split="nowhere")

    assert run.state == "failed"
    assert (
        "The split “nowhere” of news has no human sentence to warm up on; name another split." in run.message
    )


@pytest.mark.django_db(transaction=True)
def test_a_run_from_a_decoder_that_cannot_take_new_tokens_ends_with_one_sentence_and_no_model(
    selection, apart
) -> None:
    run = carried_out(selection, model=str(apart))

    assert run.state == "failed"
    assert (
        "cannot take new tokens; choose one whose encoder and decoder share their vocabulary" in run.message
    )
    assert not run.artifacts.exists()


@pytest.mark.django_db(transaction=True)
def test_its_card_says_whose_labels_chose_its_pairs(selection) -> None:
    run = carried_out(selection, learning_rates="0.003")

    folder = artifact_path(run.artifacts.get(kind="paraphraser"))
    card = (folder / "README.md").read_text()
    assert run.result["labels_from"] == benchmark_behind(folder) == "STS-B"
    assert "is evaluated on STS-B, say so beside the figure" in card
    assert f"selection: run {selection.pk}" in card


@pytest.mark.django_db(transaction=True)
def test_a_selection_whose_file_was_changed_is_refused(selection) -> None:
    path = artifact_path(selection.artifacts.get())
    path.write_text(path.read_text() + "\n")

    run = carried_out(selection)

    assert run.state == "failed"
    assert f"The file of the selection {selection.pk} is gone or was changed; select again" in run.message
