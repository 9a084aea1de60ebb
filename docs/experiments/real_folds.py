"""Cross-validation on the STS benchmark: the STR paper's tables 5 and 6, with folds that leak and folds that do not.

    make real-folds DATA=FOLDER [MINUTES=60]        (FOLDER/stsb: the published files)
    python docs/experiments/real_folds.py FOLDER --splits test --epochs 1           (smaller: see --help)

Dice, input embeddings, and all-MiniLM-L6-v2 pooled in three ways, and fine-tuned on five random folds and on five
component folds, with 2 or 4 epochs by an inner split and any number of seeds. With --genres the pairs have their genre
(captions, forums, news) as their source, so that --protocols can name `sources`: each genre is left out once. The run
is one of a site of its own in HOME (the folder that FOLDS_HOME names, or var/real-folds). Each fold is kept when it is
trained, and a training leaves checkpoints, so the work can be done in parts: each call ends after MINUTES, with the
status 3 where they are over before all is done.
"""

import argparse
import csv
import os
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("FOLDS_HOME", ROOT / "var" / "real-folds")).resolve()
sys.path.insert(0, str(ROOT))
for variable in ("DATABASE_URL", "REDIS_URL"):  # a site of its own, beside any other
    os.environ.pop(variable, None)
os.environ |= {"DJANGO_SETTINGS_MODULE": "semblance.settings", "SEMBLANCE_HOME": str(HOME)}

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402
from stages import NOT_OVER, carried_out, run_of  # noqa: E402

from curation.results.estimates import Estimate  # noqa: E402
from mlworkers.kinds.encoders.cross_validation import (  # noqa: E402
    cross_validation_stored,
    what_the_folds_show,
    what_to_cite,
)
from mlworkers.models import Run  # noqa: E402

KIND = "cross_validate_encoder"
PLAN = {"score_set": "reference"}
SPLITS = "train,dev,test"
PROTOCOLS = "random,components"  # the files name no source
GENRES = ("captions", "forums", "news")
GENRE_ENDS = {"train": (2_000, 2_450), "dev": (625, 1_000), "test": (625, 879)}
"""The files are in the order of GENRES. Here is where the first two end, by the counts of genres in the paper of the
STS benchmark (Cer and others, SemEval-2017 Task 1): 2,000, 450 and 3,299 pairs of train, 625, 375 and 500 of dev, 625,
254 and 500 of test."""
METHODS = "dice,static,mean,max,cls,fine-tuned"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with stsb/")
    parser.add_argument("--minutes", type=float, default=60.0, help="end after so many; default: %(default)s")
    parser.add_argument("--model", default="packaged:all-MiniLM-L6-v2", help="default: %(default)s")
    parser.add_argument("--splits", default=SPLITS, help="the files to take; default: %(default)s")
    parser.add_argument("--methods", default=METHODS, help="default: %(default)s")
    parser.add_argument("--epochs", default="2,4", help="to choose from; default: %(default)s")
    parser.add_argument("--seeds", type=int, default=1, help="of training; default: %(default)s")
    parser.add_argument("--folds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--protocols", default=PROTOCOLS, help="default: %(default)s")
    parser.add_argument("--genres", action="store_true", help="the genre of a pair is its source")
    asked = parser.parse_args()
    splits = asked.splits.split(",")
    dataset = "stsb" if asked.splits == SPLITS else f"stsb-{'-'.join(splits)}"
    dataset += "-genres" if asked.genres else ""
    call_command("migrate", verbosity=0)
    columns = ["--no-header", "--a", "1", "--b", "2", "--score", "3", "--scale", "0", "5"]
    for split in splits:
        file = asked.data / "stsb" / f"stsb-en-{split}.csv"
        more = []
        if asked.genres:
            file, more = with_genres(file, split), ["--source", "4"]
        call_command("import_pairs", str(file), "--dataset", dataset, "--create", *columns, *more)
    names = ("model", "methods", "epochs", "seeds", "folds", "protocols")
    chosen = {"dataset": dataset, **{name: getattr(asked, name) for name in names}}
    run = run_of(KIND, {**PLAN, **chosen})
    if carried_out(asked.minutes, lambda carries: carries.awaited(run)) is None:
        return NOT_OVER
    print("\n".join(table(run)))
    return 0


def with_genres(file: Path, split: str) -> Path:
    """A copy of a published file in HOME, with the genre of each row as its fourth column."""
    copy = HOME / "genres" / file.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    with (
        file.open(encoding="utf-8", newline="") as rows,
        copy.open("w", encoding="utf-8", newline="") as written,
    ):
        writer = csv.writer(written)
        for number, row in enumerate(csv.reader(rows)):
            writer.writerow([*row, GENRES[sum(number >= end for end in GENRE_ENDS[split])]])
    return copy


def table(run: Run) -> Iterator[str]:
    """In Markdown: each method's mean over folds on all pairs and on unseen ones, with its interval, and what leaks."""
    found = cross_validation_stored(run.result)
    if found is None:
        return
    columns = found.columns
    yield f"{what_the_folds_show(found)} {what_to_cite(found)}"
    yield ""
    yield "| method | " + " | ".join(f"{one.label} (n {one.pairs:,})" for one in columns) + " |"
    yield "|---|" + "---|" * len(columns)
    for label, means in found.labelled_rows:
        yield f"| {label} | " + " | ".join(figure(one) for _column, one in means) + " |"
    leaks = (
        f"{one.table.leakage:.1%} ({one.table.lowest:.1%}–{one.table.highest:.1%})" if one.all_pairs else "0"
        for one in columns
    )
    yield "| share a sentence with training | " + " | ".join(leaks) + " |"


def figure(one: Estimate) -> str:
    if one.value is None or one.low is None or one.high is None:
        return "–"
    sd = "" if one.sd is None else f" ± {one.sd:.3f}"
    return f"{one.value:.3f}{sd} ({one.low:.3f}–{one.high:.3f})"


if __name__ == "__main__":
    raise SystemExit(main())
