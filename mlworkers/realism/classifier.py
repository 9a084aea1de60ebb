"""A classifier as a folder: classifier.json says what it is, safetensors files hold its numbers."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save
from sentence_transformers import SentenceTransformer

from curation.files.writing import replacing
from mlworkers.compute import Compute
from mlworkers.encoders.backbone import load_encoder
from mlworkers.encoders.encoding import encode
from mlworkers.realism.calibration import Floats, probabilities
from mlworkers.realism.fine_tuned import FineTuned
from mlworkers.realism.head import Head
from mlworkers.realism.logistic import Logistic
from mlworkers.realism.plan import ClassifierKind
from mlworkers.realism.text import alike

_ABOUT, _HEAD, _ENCODER = "classifier.json", "head.safetensors", "encoder"
_HEAD_TENSORS = ("mean", "scale", "coefficients", "intercept")


class ClassifierError(ValueError):
    """The folder holds no classifier that can be loaded."""


@dataclass(frozen=True)
class About:
    """What a classifier is: its kind, the encoder's source as a plan names it, and its temperature."""

    kind: ClassifierKind
    encoder: str
    temperature: float


@dataclass(frozen=True)
class Classifier:
    """A classifier that was loaded: scores sentences that it was not trained on."""

    about: About
    logits_of: Callable[[Sequence[str]], Floats]

    def logits(self, sentences: Sequence[str]) -> Floats:
        """Logits of machine and human, (n, 2), of n sentences as they are."""
        return self.logits_of([alike(sentence) for sentence in sentences])

    def p_human(self, sentences: Sequence[str]) -> Floats:
        """p_D, (n,) in 0..1."""
        return probabilities(self.logits(sentences), self.about.temperature)


def write_about(folder: Path, about: About) -> None:
    with replacing(folder / _ABOUT) as file:
        file.write(json.dumps(asdict(about), indent=1).encode())


def save_head(folder: Path, head: Head) -> None:
    tensors = {
        "mean": head.mean,
        "scale": head.scale,
        "coefficients": head.logistic.coefficients,
        "intercept": np.array([head.logistic.intercept]),
    }
    with replacing(folder / _HEAD) as file:
        file.write(save(tensors, {"penalty": repr(head.penalty)}))


def save_fine_tuned(folder: Path, model: FineTuned) -> None:
    """Raises OSError or FileError where the disk is full."""
    model.encoder.save(str(folder / _ENCODER), create_model_card=False)
    tensors = {name: weight.detach().cpu().numpy() for name, weight in model.head.named_parameters()}
    with replacing(folder / _HEAD) as file:
        file.write(save(tensors))


def load_classifier(
    folder: Path, compute: Compute, *, encoder_of: Callable[[str], SentenceTransformer]
) -> Classifier:
    """The classifier in a folder. encoder_of: from the source that a head names to its encoder.

    Raises ClassifierError where the folder holds none, and ModelError where its encoder cannot be loaded.
    """
    about = _about_in(folder)
    try:
        tensors = load_file(folder / _HEAD)
    except (OSError, SafetensorError) as error:
        raise ClassifierError(f"{folder / _HEAD} cannot be read; score realism anew.") from error
    if about.kind is ClassifierKind.FINE_TUNED:
        model = FineTuned(load_encoder(folder / _ENCODER, compute))
        model.take_head(tensors)
        return Classifier(about, lambda texts: model.logits(texts, compute))
    head, encoder = _head(folder, tensors), encoder_of(about.encoder)

    def logits_of(texts: Sequence[str]) -> Floats:
        return head.logits(encode(encoder, texts, compute).astype(np.float64))

    return Classifier(about, logits_of)


def _about_in(folder: Path) -> About:
    try:
        stored = json.loads((folder / _ABOUT).read_text("utf-8"))
        return About(**{**stored, "kind": ClassifierKind(stored["kind"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ClassifierError(
            f"{folder} holds no classifier that scores realism; name one that does."
        ) from error


def _head(folder: Path, tensors: dict[str, Floats]) -> Head:
    missing = [name for name in _HEAD_TENSORS if name not in tensors]
    if missing:
        raise ClassifierError(f"{folder / _HEAD} lacks {', '.join(missing)}; score realism anew.")
    logistic = Logistic(tensors["coefficients"], float(tensors["intercept"][0]))
    return Head(tensors["mean"], tensors["scale"], logistic, penalty=float("nan"))
