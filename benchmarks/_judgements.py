"""Judgements to measure on: Ruddit's where SEMBLANCE_REAL_DATA names them, and otherwise simulated ones as many."""

import os
from pathlib import Path

import numpy as np

from annotation.bws.designs.design import design_tuples
from annotation.bws.files.judgement_files import read_judgements
from annotation.bws.files.settling import BestIsWorst
from annotation.bws.judgements import Judgements
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements

RUDDIT = Path("ruddit", "Ruddit_individual_annotations.csv")


def judgements_found() -> tuple[Judgements, str]:
    """The judgements and where they are from."""
    file = Path(os.environ.get("SEMBLANCE_REAL_DATA", "")) / RUDDIT
    if file.is_file():
        return read_judgements(file, best_is_worst=BestIsWorst.COUNT).judgements, "Ruddit"
    latent = np.random.default_rng(1).standard_normal(6000)
    tuples = design_tuples(6000, factor=2.2).tuples
    people = [SimulatedAnnotator(noise=1.3)] * 60
    judged = simulated_judgements(tuples, latent, annotators=people, judgements_per_tuple=6, seed=1)
    return judged, "simulated, 6,000 items"
