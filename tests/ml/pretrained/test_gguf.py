"""Models in one GGUF file: converted once, exactly, and refused with one sentence where they cannot be."""

import multiprocessing
from pathlib import Path

import gguf
import pytest
import torch
from transformers import AutoModelForCausalLM

from curation.files.writing import sha256_of
from mlworkers.science.pretrained import gguf as converting
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.gguf import gguf_folder
from mlworkers.science.pretrained.sources import ModelError, causal_problem, check_folder
from mlworkers.science.synthesis.generator import load_generator
from tests.ml.gguf_model import MARKS, VOCABULARY, gguf_write, llama


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return gguf_write(tmp_path_factory.mktemp("whole") / "small.gguf", llama())


def test_the_converted_model_is_the_model_that_was_written(whole, tmp_path) -> None:
    folder = gguf_folder(whole, tmp_path / "converted")

    found = AutoModelForCausalLM.from_pretrained(check_folder(folder))
    tokens = torch.tensor([[5, 17, 80, 260, 3, 9]])
    with torch.inference_mode():
        assert torch.allclose(found(tokens).logits, llama()(tokens).logits, atol=1e-5)
    assert causal_problem(folder) == ""
    assert folder.name == sha256_of(whole)


def test_weights_of_four_bits_become_the_numbers_that_they_stand_for(tmp_path) -> None:
    model = llama()
    folder = gguf_folder(gguf_write(tmp_path / "q4.gguf", model, four_bits=True), tmp_path / "converted")

    found = AutoModelForCausalLM.from_pretrained(folder).state_dict()
    name = "model.layers.1.mlp.up_proj.weight"
    kind = gguf.GGMLQuantizationType.Q4_0
    stands_for = gguf.dequantize(gguf.quantize(model.state_dict()[name].numpy(), kind), kind)
    assert found[name].dtype is torch.float32
    assert torch.equal(found[name], torch.from_numpy(stands_for))
    assert not torch.equal(found[name], model.state_dict()[name])


def test_its_tokenizer_reads_and_writes_text_and_no_mark_is_ever_written(whole, tmp_path) -> None:
    generator = load_generator(gguf_folder(whole, tmp_path / "converted"), choose_compute("cpu"))

    text = "the cat, in 1984: café"
    assert generator.text(generator.plain_tokens(text)) == text
    assert VOCABULARY.index("Ġthe") in generator.plain_tokens("on the")
    assert generator.barred.nonzero().flatten().tolist() == [VOCABULARY.index(mark) for mark in MARKS]
    assert generator.context == 1024
    asked = generator.chat_tokens("<|im_end|> is text", room=5, opening="")
    assert asked.count(VOCABULARY.index("<|im_end|>")) == 1  # the template's own


def test_it_is_converted_once(whole, tmp_path, monkeypatch) -> None:
    first = gguf_folder(whole, tmp_path / "converted")
    monkeypatch.setattr(converting, "_convert", lambda *_: pytest.fail("converted again"))

    assert gguf_folder(whole, tmp_path / "converted") == first
    assert [path.name for path in first.parent.iterdir()] == [first.name]


@pytest.mark.exhaustive
def test_two_workers_that_convert_at_once_leave_one_whole_model(whole, tmp_path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=gguf_folder, args=(whole, tmp_path / "converted")) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert [worker.exitcode for worker in workers] == [0, 0]
    (folder,) = (tmp_path / "converted").iterdir()
    assert check_folder(folder).name == sha256_of(whole)


@pytest.mark.parametrize("kept", [0, 3, 30, 400, -1])
def test_a_file_that_is_cut_is_refused_with_one_sentence(whole, tmp_path, kept) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(whole.read_bytes()[:kept])

    with pytest.raises(
        ModelError, match=r"cut\.gguf is cut or no GGUF file; download it again; or give run:ID"
    ):
        gguf_folder(cut, tmp_path / "converted")
    assert not (tmp_path / "converted").exists()


def test_an_architecture_that_nothing_here_reads_is_named(tmp_path) -> None:
    file = gguf_write(tmp_path / "other.gguf", llama(), architecture="llamx")

    with pytest.raises(
        ModelError, match=r"other\.gguf cannot be loaded: .*architecture llamx is not supported"
    ):
        gguf_folder(file, tmp_path / "converted")
    assert list((tmp_path / "converted").iterdir()) == []


def test_a_model_larger_than_the_free_memory_is_refused_before_it_is_read(
    whole, tmp_path, monkeypatch
) -> None:
    weights = sum(weight.numel() for weight in llama().parameters())
    free = type("Memory", (), {"available": weights * 8 - 1})
    monkeypatch.setattr(converting.psutil, "virtual_memory", lambda: free)
    monkeypatch.setattr(converting, "_convert", lambda *_: pytest.fail("read"))

    with pytest.raises(
        ModelError, match=rf"holds {weights:,} weights, which need 0\.0 GB .* take a smaller model"
    ):
        gguf_folder(whole, tmp_path / "converted")


def test_a_chat_template_that_is_no_template_is_one_sentence(tmp_path) -> None:
    file = gguf_write(tmp_path / "chat.gguf", llama(), chat="{% for %}")
    generator = load_generator(gguf_folder(file, tmp_path / "converted"), choose_compute("cpu"))

    with pytest.raises(ModelError, match="chat template fails"):
        generator.chat_tokens("hello", room=5)
