"""The configuration of the demonstration, and how its stages show their progress and wait for their runs."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from curation.files.progress import Report
from curation.foundation.errors import UserError
from curation.models import User
from mlworkers.models import Run
from mlworkers.runs.services import run_start
from mlworkers.science.encoders.plan import SEEDS_TO_JUDGE

LATENT = "latent relatedness"  # the score set with the truth of the grammar

Stage = Callable[[str], AbstractContextManager[Report]]
Wait = Callable[[Run, Report], Run]

# How long each stage takes on two quiet cores: what the time left follows from.
SECONDS = {
    "Import pairs": 2.0,
    "Design campaign": 1.0,
    "Annotate (simulated annotators)": 8.0,
    "Publish scores": 2.0,
    "Initialise a small encoder": 5.0,
    "Train on the published scores": 35.0,
    "Train generator": 80.0,
    "Generate pairs": 8.0,
    "Score human-likeness (p_D)": 15.0,
    "Review (simulated curators)": 1.0,
    "Compare encoders (MiniLM)": 85.0,
    "Compare encoders (small)": 40.0,
    "Export": 3.0,
}


@dataclass(frozen=True)
class DemoPlan:
    """Every number that shapes the demonstration. All are choices of ours."""

    pairs: int = 120
    judgements_per_tuple: int = 3
    annotators: int = 6
    noise: float = 0.12  # standard deviation, on the latent scale of 0..1
    careless_annotators: int = 2
    careless: float = 0.9  # share of answers given at random
    golds: int = 14
    gold_every: int = 6
    gold_minimum: int = 10
    repeat_every: int = 12
    labelled: int = 1_500  # further pairs of known relatedness, which the generator learns from
    held_out: int = 400  # pairs that share no sentence with the others, for the encoders' test
    generator_layers: int = 3
    generator_width: int = 192
    generator_steps: int = 850
    sources: int = 70  # sentences that pairs are generated from
    most_rows: int = 500
    reviewed_share: float = 0.1  # of the generated pairs, those of the lowest p_D
    small_layers: int = 1
    small_width: int = 64
    small_epochs: int = 5  # a random start needs more steps and longer ones than MiniLM
    people_epochs: int = 20  # of the few pairs that people judged
    small_rate: float = 2e-3
    small_seeds: int = SEEDS_TO_JUDGE
    curators: int = 2
    reviewer_slips: float = 0.05  # share of verdicts of a simulated curator that are wrong
    seed: int = 13


@dataclass(frozen=True)
class Stages:
    """open: a progress bar with a title, which gives its report. wait: until a run has ended."""

    open: Stage
    wait: Wait

    def run(self, title: str, *, kind: str, by: User, **plan: Any) -> Run:
        """A stage that is one run. Raises UserError where it does not succeed."""
        with self.open(title) as report:
            return self.finished(kind=kind, by=by, report=report, **plan)

    def finished(self, *, kind: str, by: User, report: Report, **plan: Any) -> Run:
        run = self.wait(run_start(kind=kind, plan=plan, by=by), report)
        if run.state != Run.State.SUCCEEDED:
            raise UserError(f"Run {run.pk} ({run.kind}) ended as {run.state}: {run.message}")
        return run
