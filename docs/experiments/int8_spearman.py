"""What rounding to 8 bits costs: Spearman's correlation on the STS benchmark in float32, in our int8, and in torch's.

    SEMBLANCE_REAL_DATA=$DATA python docs/experiments/int8_spearman.py [dev|test]

One thread, so that the processor time of each says how fast it is whatever else the machine does.
"""

import csv
import os
import sys
import warnings
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from time import process_time

import torch
from torch import nn
from torch.ao.quantization import per_channel_dynamic_qconfig, quantize_dynamic

from curation.statistics.correlation import spearman
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.pretrained.hub import hub_folder
from mlworkers.science.pretrained.sources import model_folder, parse_source

FILE = Path(os.environ.get("SEMBLANCE_REAL_DATA", "")) / "stsb"


def no_run(run_id: int, part: str) -> Path:
    raise ValueError(f"There is no run {run_id} here.")


def main(split: str) -> None:
    warnings.simplefilter("ignore")  # torch's own quantisation is deprecated
    torch.set_num_threads(1)
    folder = model_folder(parse_source("packaged:all-MiniLM-L6-v2"), run_folder=no_run, hub_folder=hub_folder)
    compute = replace(choose_compute("cpu"), workers=1)
    whole = load_encoder(folder, compute)
    encoders = {
        "float32": whole,
        "int8, a scale for each token and row of weights": load_encoder(
            folder, choose_compute("cpu", "int8")
        ),
        "torch.ao, one scale": quantize_dynamic(deepcopy(whole), {nn.Linear}),
        "torch.ao, a scale for each row of weights": quantize_dynamic(
            deepcopy(whole), {nn.Linear: per_channel_dynamic_qconfig}
        ),
    }
    with (FILE / f"stsb-en-{split}.csv").open(newline="", encoding="utf-8") as lines:
        first, second, scores = zip(*csv.reader(lines), strict=True)
    for name, encoder in encoders.items():
        started = process_time()
        cosines = pair_cosines(encoder, first, second, compute).values
        seconds = process_time() - started
        agreement = spearman(cosines, [float(score) for score in scores])
        print(f"{split}, {name}: {agreement:.4f}, {seconds:.2f} s of processor time", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "test")
