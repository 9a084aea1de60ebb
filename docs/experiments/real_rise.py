"""RISE's whole process on the STS benchmark: do p_D and p_y help an encoder that is trained on generated pairs?

    make real-rise DATA=FOLDER        (FOLDER/stsb and FOLDER/snli: the published files)

A small language model learns from the human pairs of the training split and writes pairs. p_D and p_y of these are
cross-fitted. Under each weighting, all-MiniLM-L6-v2 is trained on them five times, and measured on the test split
of the STS benchmark and on a sample of SNLI (entailed or not). Nobody reviews anything: verdicts are not simulated.

Every stage is a run of a site of its own in HOME (the folder that RISE_HOME names, or var/real-rise). A stage that has
succeeded is not done again, and one that was interrupted goes on where it was, so the work can be done in parts: each
call ends after MINUTES, with the status 3 where they are over before all is done. The tables are printed, and written
to HOME/tables.md.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("RISE_HOME", ROOT / "var" / "real-rise")).resolve()
SUITES = HOME / "suites"
sys.path.insert(0, str(ROOT))
for variable in ("DATABASE_URL", "REDIS_URL"):  # a site of its own, beside any other
    os.environ.pop(variable, None)
os.environ |= {
    "DJANGO_SETTINGS_MODULE": "semblance.settings",
    "SEMBLANCE_HOME": str(HOME),
    "SUITES_FOLDER": str(SUITES),
}

import django  # noqa: E402

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402

from curation.models import ReviewDecision  # noqa: E402
from mlworkers.models import Run  # noqa: E402
from mlworkers.plans.kinds import QUEUES, kind_named, plan_from  # noqa: E402
from mlworkers.registry.comparison import SIGNIFICANT, ordered_labels  # noqa: E402
from mlworkers.registry.language import Figure, families_stored  # noqa: E402
from mlworkers.runs.services import run_start  # noqa: E402
from semblance.serving.processes import Group  # noqa: E402
from semblance.serving.programs import workers  # noqa: E402

BASE = "packaged:all-MiniLM-L6-v2"
SNLI_PAIRS = 1_000  # of each split; all of them would be most of the work
SNLI_SEED = 11
SOURCES = 420  # human sentences; they give a little more than 3,000 pairs
WEIGHTINGS = "plain,filter,random,shuffle,constant,realism,consistency,product"
LOOK_EVERY = 1.0  # seconds
NOT_OVER = 3  # exit status: the minutes are over, and there is more to do


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with stsb/ and snli/")
    parser.add_argument("--minutes", type=float, default=60.0, help="end after so many; default: %(default)s")
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    call_command("migrate", verbosity=0)
    snli_sample(asked.data / "snli", SUITES / "snli")
    stsb_import(asked.data / "stsb")
    group = Group(workers(",".join(QUEUES)), folder=settings.BASE_DIR, write=lambda line: None)
    with group.running():
        runs = stages(until=time.monotonic() + 60 * asked.minutes, ended=group.ended)
    if runs is None:
        print("The minutes are over. Call again to go on.")
        return NOT_OVER
    text = "\n\n".join(tables(runs))
    (HOME / "tables.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


def snli_sample(source: Path, target: Path) -> None:
    """A seeded sample of both splits, in the layout of the published files."""
    target.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(("snli-dev.tsv", "snli-test.tsv")):
        lines = (source / name).read_text(encoding="utf-8").splitlines(keepends=True)
        drawn = np.random.default_rng([SNLI_SEED, number]).choice(len(lines), SNLI_PAIRS, replace=False)
        (target / name).write_text("".join(lines[line] for line in sorted(drawn)), encoding="utf-8")


def stsb_import(folder: Path) -> None:
    """The three splits; what is there already stays as it is."""
    columns = ["--no-header", "--a", "1", "--b", "2", "--score", "3", "--scale", "0", "5"]
    for split in ("train", "dev", "test"):
        call_command(
            "import_pairs", str(folder / f"stsb-en-{split}.csv"), "--dataset", "stsb", "--create", *columns
        )


def stages(*, until: float, ended: Callable[[], object]) -> dict[str, Run] | None:
    """The runs by their kind; None where time is over before all have ended."""
    runs: dict[str, Run] = {}

    def done(kind: str, **plan: Any) -> bool:
        run = run_of(kind, {"dataset": "stsb", **plan})
        while not run.ended and time.monotonic() < until:
            if ended():
                raise SystemExit("A worker has ended by itself.")
            time.sleep(LOOK_EVERY)
            run.refresh_from_db()
        if not run.ended:
            return False
        if run.state != Run.State.SUCCEEDED:
            raise SystemExit(f"Run {run.pk} ({kind}) ended as {run.state}: {run.message}")
        if run.started_at and run.finished_at:
            seconds = (run.finished_at - run.started_at).total_seconds()
            print(f"{kind}: run {run.pk}, {seconds:.0f} s", flush=True)
        runs[kind] = run
        return True

    human = {"score_set": "reference"}
    if not done("bootstrap_generator", **human, minutes=60.0):
        return None
    generator = runs["bootstrap_generator"].pk
    if not done("generate_pairs", model=f"run:{generator}", sources=SOURCES):
        return None
    targets = runs["generate_pairs"].result["score_set"]
    if not done("score_realism", run=runs["generate_pairs"].pk, model=BASE):
        return None
    p_d = runs["score_realism"].result["score_set"]
    if not done("score_consistency", scores=targets, human_scores="reference", model=BASE):
        return None
    p_y = runs["score_consistency"].result["score_set"]
    if not done("analyse_language", split="train", realism=p_d, targets=targets):
        return None
    compared = done(
        "compare_weightings",
        model=BASE,
        scores=targets,
        realism=p_d,
        consistency=p_y,
        weightings=WEIGHTINGS,
        controls=False,  # each further shuffle would be five more trainings
        test_score_set="reference",
        suites="snli",
        epochs=1,
        seeds=5,
    )
    return runs if compared else None


def run_of(kind: str, plan: Mapping[str, Any]) -> Run:
    """The run of this plan that has succeeded or goes on; else a new one."""

    values = asdict(plan_from(kind_named(kind), plan))
    states = [Run.State.SUCCEEDED, Run.State.RUNNING, Run.State.QUEUED]
    usable = Run.objects.filter(kind=kind, state__in=states)
    same = (run for run in usable.order_by("pk") if run.plan == values)
    return next(same, None) or run_start(kind=kind, plan=values, by=None)


def tables(runs: Mapping[str, Run]) -> Iterable[str]:

    for kind in ("bootstrap_generator", "generate_pairs", "score_realism", "score_consistency"):
        yield f"{kind}: {told(runs[kind].result)}"
    blind = ReviewDecision.objects.filter(blind=True).count()
    yield f"Blind verdicts of people: {blind}. Without them nothing can be said about whether p_D agrees with people."
    yield from language_tables(runs["analyse_language"])
    yield from comparison_tables(runs["compare_weightings"])


def told(result: Mapping[str, Any]) -> str:
    """The plain figures of a result."""
    plain = ((name, value) for name, value in result.items() if not isinstance(value, dict | list))
    return ", ".join(
        f"{name} {value:.4f}" if isinstance(value, float) else f"{name} {value}" for name, value in plain
    )


def language_tables(run: Run) -> Iterable[str]:
    """The paper's Tables 1 and 4: all generated pairs, then those of each target."""

    for family in families_stored(run.result):
        of = "all generated pairs" if family.target is None else f"target {family.target:g}"
        titles = [f"{group.label} ({group.pairs:,})" for group in family.groups]
        rows = [
            [
                name,
                *(
                    f"{one.value:.3f} ({one.low:.3f}–{one.high:.3f})" if known(one) else "–"
                    for one in figures
                ),
            ]
            for name, figures in [*family.summary, *family.details]
        ]
        yield f"Language, {of}, {family.budget:,} tokens of each group"
        yield markdown(["measure", *titles], rows)


def known(figure: Figure) -> bool:
    return None not in (figure.value, figure.low, figure.high)


def comparison_tables(run: Run) -> Iterable[str]:
    """One table for each test and metric: the mean over seeds, and the differences with their adjusted p-values."""

    result = run.result
    yield f"compare_weightings: {told(result)}"
    for entry in result["table"]:
        title = f"{entry['suite'] or 'stsb'}, {entry['metric']}, {entry['pairs']:,} pairs"
        rows = [
            [
                label,
                f"{figures['value']:.4f} ({figures['low']:.4f}–{figures['high']:.4f})",
                "" if figures["sd"] is None else f"{figures['sd']:.4f}",
                difference(entry["from_plain"].get(label)),
                difference(entry["from_shuffle"].get(label)),
                *(f"{result[name][label]:.3g}" if label in result[name] else "" for name in WEIGHT_FIGURES),
            ]
            for label in ordered_labels(set(entry["encoders"]))
            for figures in [entry["encoders"][label]]
        ]
        yield title
        yield markdown(
            [
                "encoder",
                "mean (over pairs)",
                "sd over seeds",
                "from plain",
                "from its shuffle",
                *WEIGHT_FIGURES,
            ],
            rows,
        )


WEIGHT_FIGURES = ("effective_pairs", "mean_weight")


def difference(found: Mapping[str, float] | None) -> str:
    """With its interval over pairs and seeds; in bold where the adjusted p-value is below .05."""
    if found is None:
        return ""
    value = f"{found['difference']:+.4f}"
    if found["p_holm"] is not None and found["p_holm"] < SIGNIFICANT:
        value = f"**{value}**"
    return f"{value} ({found['difference_low']:+.4f} to {found['difference_high']:+.4f}), p {found['p_holm']:.3f}"


def markdown(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
