"""What only a GPU shows: its random numbers after a kill, its memory when it is full, and its lower precisions."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from curation.files.progress import silent
from mlworkers.science.encoders.encoding import encode, pair_cosines
from mlworkers.science.encoders.plan import EncoderPlan, Loss
from mlworkers.science.encoders.rows import Rows
from mlworkers.science.encoders.scorers import bert_scores
from mlworkers.science.encoders.training import base_encoder, encoder_train, learner_of
from mlworkers.science.pretrained.compute import ComputeError, choose_compute, release_memory
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.synthesis import decoding
from mlworkers.science.synthesis.generator import Generator
from mlworkers.science.synthesis.plan import GenerationPlan
from mlworkers.science.synthesis.rows import Source
from mlworkers.science.synthesis.writing import rows_written
from mlworkers.science.training.checkpoints import Checkpoints
from mlworkers.science.training.loop import train
from tests.ml.devices import CPU, without_dropout
from tests.ml.tiny import WORDS
from tests.ml.tiny_generator import TEXTS, tiny_generator

pytestmark = pytest.mark.gpu

PRECISIONS = ["float32", "bfloat16", "float16"]
PLAN = EncoderPlan("d", "m", "s", "p", batch_size=8, epochs=3, learning_rate=1e-3, device="cuda", seed=3)


def rows_made(count: int, *, longest: int = 12) -> Rows:
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(2, longest))) for _ in range(2 * count)]
    first, second = (np.array(side, dtype=object) for side in (texts[:count], texts[count:]))
    numbers = np.arange(count)
    scores, realism = rng.uniform(size=count), rng.uniform(size=count)
    return Rows(numbers, 2 * numbers, 2 * numbers + 1, first, second, scores, realism)


ROWS = rows_made(30)


class Stopped(Exception):  # noqa: N818
    """The worker is killed."""


def stopping_at(step: int) -> Callable[[int, int, str], None]:
    def report(done: int, total: int, message: str) -> None:
        if done == step:
            raise Stopped

    return report


def trained(
    folder: Path, rows: Rows, plan: EncoderPlan, *, kept: Path | None = None, report: Any = silent
) -> tuple[list[float], dict[str, Tensor]]:
    """The losses of the curve and the weights. kept: where checkpoints are, one after every second step."""
    compute, losses = choose_compute("cuda", plan.precision), list[float]()
    encoder = base_encoder(folder, plan, compute)
    train(
        learner_of(encoder, rows, rows.realism, compute, plan),
        plan.schedule(len(rows)),
        plan.loop(),
        checkpoints=Checkpoints(kept, about={}, every_steps=2) if kept else None,
        report=report,
        note=lambda point: losses.append(point.loss),
    )
    return losses, {name: weight.detach().cpu() for name, weight in encoder.named_parameters()}


def furthest(left: dict[str, Tensor], right: dict[str, Tensor]) -> float:
    """The largest difference of two weights, but for biases of keys, whose gradients are rounding alone."""
    return max(
        float((left[name] - right[name]).abs().max()) for name in left if not name.endswith("key.bias")
    )


@pytest.mark.parametrize(("precision", "within"), [("float32", 1e-5), ("bfloat16", 5e-5)])
@pytest.mark.parametrize("loss", [Loss.COSINE, Loss.COSENT])
def test_a_training_that_was_stopped_goes_on_with_the_dropout_it_would_have_had(
    encoder_folder, tmp_path, loss, precision, within
) -> None:
    plan = replace(PLAN, loss=loss, precision=precision)
    losses, weights = trained(encoder_folder, ROWS, plan)
    with pytest.raises(Stopped):
        trained(encoder_folder, ROWS, plan, kept=tmp_path, report=stopping_at(5))

    resumed, others = trained(encoder_folder, ROWS, plan, kept=tmp_path)

    assert len(resumed) == 12
    assert resumed == pytest.approx(losses, rel=within)
    assert furthest(weights, others) < within


def test_another_dropout_is_further_away_than_that(encoder_folder, monkeypatch, tmp_path) -> None:
    _losses, weights = trained(encoder_folder, ROWS, PLAN)
    with pytest.raises(Stopped):
        trained(encoder_folder, ROWS, PLAN, kept=tmp_path, report=stopping_at(5))
    # As if the checkpoint held the processor's random numbers alone.
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: None)

    _resumed, others = trained(encoder_folder, ROWS, PLAN, kept=tmp_path)

    assert furthest(weights, others) > 1e-4


def bytes_needed(work: Callable[[], object]) -> tuple[int, int]:
    """On the GPU, before the work and at its peak. What is done once, such as setting up libraries, comes before."""
    work()
    release_memory()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    work()
    return before, torch.cuda.max_memory_allocated()


@contextmanager
def short_of_memory(work: Callable[[], object]) -> Iterator[None]:
    """With about half of the memory that the work needs."""
    before, peak = bytes_needed(work)
    assert peak - before > 2**26  # otherwise the size of the allocator's blocks would decide
    release_memory()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((before + 0.55 * (peak - before)) / total)
    try:
        yield
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


class Heard:
    """What a report says of memory."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def __call__(self, done: int, total: int, message: str) -> None:
        if "Memory" in message:
            self.sentences.append(message)


@pytest.mark.parametrize("loss", list(Loss))
def test_a_batch_that_does_not_fit_is_learned_in_halves_with_the_same_losses(
    encoder_folder, tmp_path, loss
) -> None:
    folder, rows = without_dropout(encoder_folder, tmp_path / "still"), rows_made(2048, longest=40)
    plan, heard = replace(PLAN, loss=loss, batch_size=2048, epochs=6, warmup=0.0), Heard()
    losses, _weights = trained(folder, rows, plan)

    with short_of_memory(lambda: trained(folder, rows, replace(plan, epochs=1))):
        halved, _others = trained(folder, rows, plan, report=heard)

    assert heard.sentences[0] == "Memory ran short: going on with 1024 rows at a time"
    assert halved == pytest.approx(losses, rel=1e-3)
    assert abs(losses[-1] / losses[0] - 1) > 1e-2  # they do change from step to step


def test_sentences_that_do_not_fit_are_encoded_in_halves(encoder_folder) -> None:
    compute = replace(choose_compute("cuda"), tokens_per_batch=10**6)
    encoder, heard = load_encoder(encoder_folder, compute), Heard()
    sentences = [" ".join(text.split()) for text in rows_made(15_000, longest=40).first]
    whole = encode(encoder, sentences, compute)

    with short_of_memory(lambda: encode(encoder, sentences, compute)):
        halved = encode(encoder, sentences, compute, report=heard)

    assert heard.sentences
    assert np.abs(halved - whole).max() < 1e-5


@pytest.mark.parametrize(("precision", "within"), [("float32", 1e-5), ("bfloat16", 0.05), ("float16", 0.005)])
def test_scores_are_near_those_of_a_processor_in_float32(encoder_folder, precision, within) -> None:
    found = []
    for compute in (CPU, choose_compute("cuda", precision)):
        encoder = load_encoder(encoder_folder, compute)
        first, second = ROWS.first.tolist(), ROWS.second.tolist()
        cosines = pair_cosines(encoder, first, second, compute).values
        found.append((cosines, bert_scores(encoder, first, second, compute, report=silent)))

    for expected, scores in zip(*found, strict=True):
        assert np.abs(scores - expected).max() < within  # no NaN passes
        assert np.ptp(expected) > 0.1


def on_the_gpu(generator: Generator, precision: str) -> Generator:
    model: Any = generator.model
    compute = choose_compute("cuda", precision)
    ends, barred = (tensor.to(compute.device) for tensor in (generator.ends, generator.barred))
    return replace(generator, model=model.to(compute.device, compute.dtype), ends=ends, barred=barred)


@pytest.mark.parametrize(("precision", "within"), [("float32", 1e-5), ("bfloat16", 0.02), ("float16", 0.004)])
@torch.inference_mode()
def test_the_next_token_is_as_likely_as_on_a_processor(precision, within) -> None:
    plain = tiny_generator()
    prompts = [tuple(plain.prompt_tokens(text, room=16) for text in TEXTS)]
    own, counters = decoding._Batch(plain, prompts, samples=1).logits
    kept = ~plain.barred

    found = decoding._Batch(on_the_gpu(tiny_generator(), precision), prompts, samples=1).logits

    for expected, logits in zip((own, counters), found, strict=True):
        chances = torch.softmax(expected[..., kept], dim=-1)
        assert float((torch.softmax(logits.cpu()[..., kept], dim=-1) - chances).abs().max()) < within
        assert float(chances.max()) > 3 * within  # the tolerance does not swallow the figures


@pytest.mark.parametrize("precision", PRECISIONS)
def test_sentences_are_written_in_every_precision(precision) -> None:
    plan = GenerationPlan(dataset="scenes", model="tiny", samples=4, max_tokens=12)
    sources = [Source(number, text, number) for number, text in enumerate(["A dog runs.", "Two women play."])]

    plain, generator = tiny_generator(), on_the_gpu(tiny_generator(), precision)
    expected = rows_written(plain, sources, plan, CPU)
    rows = rows_written(generator, sources, plan, choose_compute("cuda", precision))

    assert [(row.source, row.label, row.sample) for row in rows] == [
        (row.source, row.label, row.sample) for row in expected
    ]
    same = sum(left.text == right.text for left, right in zip(rows, expected, strict=True))
    assert same >= (0.9 if precision == "float32" else 0.3) * len(rows)


def test_an_encoder_trained_on_a_gpu_gives_a_processor_the_same_cosines(encoder_folder, tmp_path) -> None:
    plan = replace(PLAN, precision="bfloat16")
    first, second = ROWS.first.tolist(), ROWS.second.tolist()

    fitted = encoder_train(encoder_folder, ROWS, plan)
    fitted.encoder.save(str(tmp_path / "trained"), create_model_card=False)

    there = pair_cosines(fitted.encoder, first, second, choose_compute("cuda")).values
    here = pair_cosines(load_encoder(tmp_path / "trained", CPU), first, second, CPU).values
    before = pair_cosines(load_encoder(encoder_folder, CPU), first, second, CPU).values
    assert np.abs(there - here).max() < 1e-5
    assert np.abs(before - here).max() > 1e-3


def test_int8_on_a_gpu_is_refused_with_what_to_choose() -> None:
    with pytest.raises(ComputeError) as refused:
        choose_compute("cuda", "int8")

    assert str(refused.value) == "int8 is for processors; choose the device cpu, or float32 on cuda."


def test_the_automatic_precision_of_a_gpu_that_has_it_is_bfloat16() -> None:
    expected = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32

    assert choose_compute("cuda", "auto").dtype == expected
