"""Runs of every kind that takes long, tiny: each is carried out once undisturbed, and has a twin that is killed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from tests.integration.mlworkers.installation import Installation

ENCODER = "the tiny encoder"  # stands for its folder
GENERATOR = {"layers": 1, "width": 32, "vocabulary": 300, "context": 128, "batch": 8, "steps": 60}
GENERATION = {"model": "run:1", "sources": 12, "samples": 2, "shard_sources": 2, "max_tokens": 24}
REALISM = {"run": 2, "model": ENCODER, "folds": 3}
FINE_TUNED = {**REALISM, "classifier": "fine-tuned", "epochs": 1, "batch_size": 8, "checkpoint_steps": 2}
TRAINING = {"model": ENCODER, "snapshot": 1, "epochs": 2, "batch_size": 8, "learning_rate": 0.001}
COMPARISON = {
    "scores": "run 2: target",
    "realism": "run 3: p_D",
    "weightings": "plain,realism",
    "controls": False,
    "seeds": 1,
}
CONSISTENCY = {"scores": "run 2: target", "human_scores": "reference", "model": ENCODER, "folds": 3}


@dataclass(frozen=True)
class Long:
    """A kind of run, what its plan says, and where its worker is killed: when it says `message` and has done at least
    that share.

    Later ones name earlier ones by their place: the first is run 1. The evaluation makes snapshot 1.
    """

    name: str
    kind: str
    plan: Mapping[str, Any]
    message: str
    share: float


LONG = [
    Long(
        "bootstrap",
        "bootstrap_generator",
        {"score_set": "reference", **GENERATOR},
        "Training the generator",
        0.9,
    ),
    Long("generation", "generate_pairs", GENERATION, "Writing sentences", 0.5),
    Long("realism", "score_realism", REALISM, "Encoding sentences", 0.1),
    Long("fine-tuned realism", "score_realism", FINE_TUNED, "Training the classifiers", 0.5),
    Long(
        "evaluation",
        "evaluate_encoder",
        {"model": ENCODER, "score_set": "reference"},
        "Encoding sentences",
        0.1,
    ),
    Long("training", "train_encoder", {"scores": "reference", **TRAINING}, "Training", 0.5),
    Long(
        "comparison",
        "compare_weightings",
        {"test_score_set": "reference", **TRAINING, **COMPARISON},
        "Training and evaluating",
        0.5,
    ),
    Long("consistency", "score_consistency", CONSISTENCY, "Scoring pairs", 0.1),
    Long("export", "export_dataset", {}, "", 0.5),  # last: it writes what the others added
]
FILES = "SELECT kind, sha256 FROM mlworkers_artifact WHERE run_id = {} ORDER BY path"
FIGURES = (
    "SELECT label, metric, n, seed, value, low, high FROM mlworkers_evaluation WHERE run_id = {} ORDER BY id"
)
QUEUE = "UPDATE mlworkers_run SET state = 'queued' WHERE id = {}"
STATE = "SELECT state, message FROM mlworkers_run WHERE id = {}"

# Rows of runs that wait for nobody, until a test lets them.
PREPARE = """
import json, sys
from dataclasses import asdict
from pathlib import Path
from django.conf import settings
from django.core.management import call_command
from curation.models import Dataset
from mlworkers.models import Run
from mlworkers.plans.kinds import kind_named, plan_from
home = settings.SEMBLANCE_HOME
call_command("migrate", verbosity=0)
call_command("import_pairs", str(home / "pairs.tsv"), dataset="scenes", create=True, scale=[0.0, 5.0])
for kind, plan in json.loads((home / "runs.json").read_text()) * 2:
    kind = kind_named(kind)
    plan = asdict(plan_from(kind, {"dataset": "scenes", **plan}))
    Run.objects.create(kind=kind.name, plan=plan, queue="gpu", dataset=Dataset.objects.get(), state="cancelled")
"""


def prepare(installed: Installation, encoder: Path) -> None:
    """A dataset of scenes, and two runs of each that are not yet queued."""
    (installed.home / "pairs.tsv").write_text("\n".join(lines()))
    runs = json.dumps([(long.kind, dict(long.plan)) for long in LONG])
    (installed.home / "runs.json").write_text(runs.replace(ENCODER, str(encoder)))
    installed.manage("shell", "-v", "0", given=PREPARE)


def lines() -> list[str]:
    """Pairs of little scenes: the nearer the verbs, the higher the score; train and test share no sentence."""
    scenes = product(("dog", "cat", "bird", "child"), ("grass", "mat", "tree"), ("runs", "sits", "sings"))
    rows = ["sentence1\tsentence2\tscore\tsplit"]
    for number, (who, where, does) in enumerate(scenes):
        split = "test" if who == "child" else "train"
        rows.append(f"The {who} {does} on the {where}.\tA {who} {does} near a {where}.\t5\t{split}")
        rows.append(f"The {who} {does} by the {where}.\tA {who} is with a {where}.\t{number % 4}\t{split}")
    return rows


def carry_out(installed: Installation, run: int) -> list[tuple[Any, ...]]:
    """Queue the run, wait until a worker has ended it, and return its outcome."""
    queue(installed, run)
    return outcome(installed, run)


def queue(installed: Installation, run: int) -> None:
    installed.write(QUEUE.format(run))


def outcome(installed: Installation, run: int) -> list[tuple[Any, ...]]:
    """How the run ended, and what it made and measured."""
    installed.eventually(STATE.format(run), lambda found: found[0][0] not in {"queued", "running"})
    return [row for query in (STATE, FILES, FIGURES) for row in installed.rows(query.format(run))]


def twin(name: str) -> int:
    """The run that is killed, of the same plan as the one that was not."""
    return len(LONG) + number(name)


def number(name: str) -> int:
    return [long.name for long in LONG].index(name) + 1
