"""Decoding many prompts at once gives each row what it would have got alone."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close
from transformers import PreTrainedConfig

from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.synthesis import decoding
from mlworkers.science.synthesis.debiasing import debiased, drawn, nucleus
from mlworkers.science.synthesis.decoding import continued
from mlworkers.science.synthesis.generator import Generator, PromptTooLongError
from mlworkers.science.synthesis.plan import GenerationPlan
from mlworkers.science.synthesis.rows import Source
from mlworkers.science.synthesis.writing import check_length, rows_written
from tests.ml.tiny_generator import KINDS, tiny_generator

HOW = GenerationPlan(dataset="scenes", model="tiny", samples=3, max_tokens=16)
TEXTS = (
    ('Write: "', 'A dog "', 'Two women are playing: "'),
    ('Task: Write two sentences that mean the same thing. "', 'x "', 'the park "'),
    ('A man is singing in the park "', 'Sentence 2: "', 'grass "'),
)
SOURCES = [
    Source(number, text, number)
    for number, text in enumerate(["A dog runs.", "Two women play in the park.", "x"])
]


@pytest.fixture(scope="module")
def generator() -> Generator:
    return tiny_generator()


def prompts_of(generator: Generator) -> list[tuple[list[int], ...]]:
    return [tuple(generator.prompt_tokens(text, room=HOW.max_tokens) for text in texts) for texts in TEXTS]


def noise_of(rows: int, *, seed: int = 1) -> torch.Tensor:
    return torch.rand(
        rows, HOW.max_tokens, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )


def plainly(
    generator: Generator, prompts: tuple[list[int], ...], noise: torch.Tensor, how: GenerationPlan
) -> list[int]:
    """One row, token by token, each from the whole text anew: no padding, no cache, no batch."""
    tokens: list[int] = []
    for step in range(how.max_tokens):
        logits = []
        for prompt in prompts:
            with torch.inference_mode():
                last = generator.model(torch.tensor([prompt + tokens])).logits[:, -1]
            logits.append(last.masked_fill(generator.barred, -torch.inf))
        log_p = debiased(logits[0], torch.stack(logits[1:]), decay=how.decay, floor=how.floor)
        token = int(drawn(*nucleus(log_p, top_k=how.top_k, top_p=how.top_p), noise[step : step + 1]))
        tokens.append(token)
        if generator.ends[token]:
            break
    return tokens


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_a_padded_batch_are_those_written_alone(kind: type[PreTrainedConfig]) -> None:
    generator = tiny_generator(kind)
    prompts, noise = prompts_of(generator), noise_of(9)

    together = continued(generator, prompts, noise, HOW)

    alone = [plainly(generator, prompts[row // 3], noise[row], HOW) for row in range(9)]
    assert together == alone


def test_the_logits_of_a_padded_batch_are_those_of_each_prompt_alone(generator: Generator) -> None:
    prompts = prompts_of(generator)
    batch = decoding._Batch(generator, prompts, samples=1)

    own, counters = batch.logits

    for row, (text, *others) in enumerate(prompts):
        for tokens, found in ((text, own[row]), *zip(others, counters[:, row], strict=True)):
            alone = generator.model(torch.tensor([tokens])).logits[0, -1].detach()
            assert_close(found[~generator.barred], alone[~generator.barred], atol=1e-5, rtol=1e-5)


def test_rows_that_end_leave_the_batch_without_changing_the_others(generator: Generator, monkeypatch) -> None:
    many_end = replace(generator, ends=torch.arange(len(generator.ends)) % 5 == 0)
    prompts, noise = prompts_of(generator), noise_of(9, seed=4)
    leaving = continued(many_end, prompts, noise, HOW)
    monkeypatch.setattr(decoding, "COMPACT_BELOW", 0.0)

    staying = continued(many_end, prompts, noise, HOW)

    assert leaving == staying == [plainly(many_end, prompts[row // 3], noise[row], HOW) for row in range(9)]
    assert len({len(row) for row in leaving}) > 3  # they did end at different times


def test_a_row_ends_with_the_first_token_that_holds_a_quote_or_a_line_break(generator: Generator) -> None:
    texts = [generator.text([token]) for token in range(len(generator.tokenizer))]

    ends = [text for text, end in zip(texts, generator.ends.tolist(), strict=False) if end]

    assert {'"', ' "', '."', "\n"} <= set(ends)
    assert all('"' in text or "\n" in text for text in ends)


def test_the_end_of_a_text_is_never_drawn(generator: Generator) -> None:
    log_p = debiased(*decoding._Batch(generator, prompts_of(generator), 1).logits, decay=100.0, floor=0.01)

    assert (log_p[:, generator.tokenizer.eos_token_id] == -torch.inf).all()


def plan(**settings) -> GenerationPlan:
    return GenerationPlan(dataset="scenes", model="run:1", **({"max_tokens": 12, "samples": 2} | settings))


def test_rows_come_by_source_label_and_sample(generator: Generator) -> None:
    rows = rows_written(generator, SOURCES, plan(labels="1,0"), choose_compute("cpu"))

    assert [(row.source, row.label, row.sample) for row in rows] == [
        (source.id, label, sample) for source in SOURCES for label in ("1", "0") for sample in (0, 1)
    ]


@pytest.mark.parametrize("lines", [1, 7, 1000])
def test_a_row_does_not_depend_on_how_many_are_written_at_a_time(generator: Generator, lines: int) -> None:
    compute = choose_compute("cpu")

    rows = rows_written(generator, SOURCES, plan(rows_at_a_time=lines), compute)

    assert rows == rows_written(generator, SOURCES, plan(), compute)


def test_the_same_shard_is_the_same_on_one_core_and_on_two(generator: Generator) -> None:
    one, two = (replace(choose_compute("cpu"), workers=workers) for workers in (1, 2))

    assert rows_written(generator, SOURCES, plan(), one) == rows_written(generator, SOURCES, plan(), two)


def test_another_seed_writes_other_rows(generator: Generator) -> None:
    first, other = (
        rows_written(generator, SOURCES, plan(seed=seed), choose_compute("cpu")) for seed in (1, 2)
    )

    assert first != other


@pytest.mark.parametrize("fewer", [{"labels": "1,0.5"}, {"samples": 1}])
def test_a_row_does_not_depend_on_the_other_sources_labels_and_samples(
    generator: Generator, fewer: dict
) -> None:
    compute = choose_compute("cpu")
    together = {
        (row.source, row.label, row.sample): row for row in rows_written(generator, SOURCES, plan(), compute)
    }

    apart = [
        row
        for source in reversed(SOURCES)
        for row in rows_written(generator, [source], plan(**fewer), compute)
    ]

    assert apart == [together[row.source, row.label, row.sample] for row in apart]


def test_a_row_follows_from_the_text_of_its_source_and_not_from_its_number(generator: Generator) -> None:
    compute = choose_compute("cpu")
    renumbered = [source._replace(id=source.id + 100, group=7) for source in SOURCES]

    texts, again = (
        [row.text for row in rows_written(generator, sources, plan(), compute)]
        for sources in (SOURCES, renumbered)
    )

    assert texts == again


def test_self_debiasing_changes_labels_with_counters_alone(generator: Generator) -> None:
    compute = choose_compute("cpu")

    debiased_rows, plain = (
        rows_written(generator, SOURCES, plan(self_debiasing=on), compute) for on in (True, False)
    )

    def texts(rows, label: str) -> list[str]:
        return [row.text for row in rows if row.label == label]

    assert texts(debiased_rows, "1") == texts(plain, "1")
    assert texts(debiased_rows, "0") != texts(plain, "0")


def test_a_source_longer_than_the_context_is_refused_with_a_sentence(generator: Generator) -> None:
    long = Source(1, "A dog runs in the park. " * 30, 1)

    with pytest.raises(
        PromptTooLongError, match="exceed the model's context of 128; leave the sentence out"
    ) as error:
        check_length(generator, long, plan())

    assert len(str(error.value)) < 300


def test_where_memory_runs_short_fewer_rows_are_written_at_a_time(generator: Generator, monkeypatch) -> None:
    said: list[str] = []
    forward = generator.model.forward

    def cramped(tokens: torch.Tensor, **settings):
        if tokens.shape[0] > 9:
            raise torch.OutOfMemoryError("no room")
        return forward(tokens, **settings)

    expected = rows_written(generator, SOURCES, plan(), choose_compute("cpu"))
    monkeypatch.setattr(generator.model, "forward", cramped)

    rows = rows_written(
        generator,
        SOURCES,
        plan(),
        choose_compute("cpu"),
        report=lambda _d, _o, text: said.append(text),
    )

    assert rows == expected
    assert any(text.startswith("Memory ran short") for text in said)
