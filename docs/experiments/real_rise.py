"""RISE's whole process on the STS benchmark: do p_D and p_y help an encoder that is trained on generated pairs?

    make real-rise DATA=FOLDER [MODEL=packaged:SmolLM2-135M-Instruct]

FOLDER/stsb and FOLDER/snli hold the published files. The language model that MODEL names writes pairs from the human
sentences of the training split; where none is named, a small one that learns from the human pairs. p_D and p_y of the
pairs are cross-fitted. Under each weighting, all-MiniLM-L6-v2 is trained on them five times, and measured on the test
split of the STS benchmark and on a sample of SNLI (entailed or not). Nobody reviews anything: verdicts are not
simulated.

Every stage is a run of a site of its own in HOME (the folder that RISE_HOME names, or var/real-rise, and beside it one
for each MODEL). A stage that has succeeded is not done again, and one that was interrupted goes on where it was, so the
work can be done in parts: each call ends after MINUTES, with the status 3 where they are over before all is done. The
tables are printed, and written to HOME/tables.md.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
MODEL = os.environ.get("RISE_MODEL", "")
PLACE = "-".join(["real-rise", *MODEL.replace(":", " ").replace("/", " ").split()])
HOME = Path(os.environ.get("RISE_HOME", ROOT / "var" / PLACE)).resolve()
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

from django.core.management import call_command  # noqa: E402
from stages import NOT_OVER, Stages, carried_out  # noqa: E402

from curation.models import ReviewDecision  # noqa: E402
from mlworkers.kinds.comparisons.comparison import SIGNIFICANT, ordered_labels  # noqa: E402
from mlworkers.kinds.language.language import language_report  # noqa: E402
from mlworkers.kinds.reader import Reader  # noqa: E402
from mlworkers.models import Run  # noqa: E402

BASE = "packaged:all-MiniLM-L6-v2"
SNLI_PAIRS = 1_000  # of each split; all of them would be most of the work
SNLI_SEED = 11
SOURCES = 420  # human sentences; they give a little more than 3,000 pairs
WEIGHTINGS = "plain,filter,random,shuffle,constant,realism,consistency,shuffle-consistency,product"


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
    runs = carried_out(asked.minutes, stages)
    if runs is None:
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


def stages(carries: Stages) -> dict[str, Run]:
    """The runs by their kind."""
    runs: dict[str, Run] = {}

    def done(kind: str, **plan: Any) -> Run:
        runs[kind] = carries.done(kind, dataset="stsb", **plan)
        return runs[kind]

    model = MODEL
    if not model:
        model = f"run:{done('bootstrap_generator', score_set='reference', minutes=60.0).pk}"
    generated = done("generate_pairs", model=model, sources=SOURCES)
    targets = generated.result["score_set"]
    p_d = done("score_realism", run=generated.pk, model=BASE).result["score_set"]
    p_y = done("score_consistency", scores=targets, human_scores="reference", model=BASE).result["score_set"]
    done("analyse_language", split="train", realism=p_d, targets=targets)
    done(
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
    return runs


def tables(runs: Mapping[str, Run]) -> Iterable[str]:

    told_of = ("bootstrap_generator", "generate_pairs", "score_realism", "score_consistency")
    for kind in (kind for kind in told_of if kind in runs):
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
    for heading, table in language_report(
        run, Reader(lambda _kind, _dataset: False, lambda _dataset, _right: False, Run.objects.all(), {})
    ).tables:
        yield f"Language, {heading}"
        yield table.markdown(str)


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
