"""Models in one GGUF file, llama.cpp's format: converted once to a folder of safetensors, by transformers' own reader.

Weights of fewer bits become the numbers that they stand for, in float32. What was cut, is of an architecture that
transformers does not read, or would not fit into the memory is refused before a tensor is read.
"""

from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import psutil
from gguf import GGUFReader
from transformers import AutoModelForCausalLM, AutoTokenizer

from curation.files.progress import Report, silent
from curation.files.writing import folder_replacing, sha256_of
from mlworkers.science.pretrained.loading import LOADING_FAILS, loading_failed, quiet_transformers
from mlworkers.science.pretrained.sources import Kind, unavailable

_FLOAT = 4  # bytes
_COPIES = 2  # of all weights at a time: as they are read, and in the model
_READER_FAILS = (*LOADING_FAILS, MemoryError, OverflowError)


def gguf_folder(file: Path, converted: Path, *, report: Report = silent) -> Path:
    """The folder below `converted` that holds a GGUF file's model in safetensors, made where it is not there yet.

    Its name is the SHA-256 of the file, so that another file of the same name is another model. Raises ModelError.
    """
    folder = converted / sha256_of(file)
    if folder.is_dir():
        return folder
    _check_file(file)
    report(0, 1, f"Converting {file.name}")
    converted.mkdir(parents=True, exist_ok=True)
    with folder_replacing(folder, once=True) as beside:
        _convert(file, beside)
    return folder


def _check_file(file: Path) -> None:
    """Raises ModelError for a file that is cut or no GGUF file, or a model that is larger than the free memory."""
    try:
        weights = sum(int(tensor.n_elements) for tensor in GGUFReader(file).tensors)
    except _READER_FAILS as error:
        raise unavailable(f"{file} is cut or no GGUF file; download it again", Kind.PATH) from error
    if not weights:
        raise unavailable(f"{file} holds a vocabulary and no weights; name the file of a model", Kind.PATH)
    needed, free = weights * _FLOAT * _COPIES, psutil.virtual_memory().available
    if needed > free:
        raise unavailable(
            f"{file} holds {weights:,} weights, which need {needed / 1e9:,.1f} GB of memory to be converted, and "
            f"{free / 1e9:,.1f} GB are free; take a smaller model or a worker with more memory",
            Kind.PATH,
        )


def _convert(file: Path, folder: Path) -> None:
    with quiet_transformers(), redirect_stderr(StringIO()):  # the reader's bar of progress asks nobody
        try:
            where: Any = {"gguf_file": file.name, "local_files_only": True, "trust_remote_code": False}
            tokenizer = AutoTokenizer.from_pretrained(file.parent, **where)
            model: Any = AutoModelForCausalLM.from_pretrained(file.parent, **where)
            # What was read has all its bits again: nothing is quantized any more, and may be saved.
            model.hf_quantizer, model.config.quantization_config = None, None
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
        except LOADING_FAILS as error:
            raise loading_failed(file, error) from error
