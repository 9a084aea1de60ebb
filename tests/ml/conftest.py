"""Tiny models, saved once for all tests."""

from pathlib import Path

import pytest
from sentence_transformers import SentenceTransformer

from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from tests.ml.tiny import tiny_encoder


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session")
def encoder(encoder_folder) -> SentenceTransformer:
    return load_encoder(encoder_folder, choose_compute("cpu"))
