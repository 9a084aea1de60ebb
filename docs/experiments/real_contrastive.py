"""What paraphrases add to SimCSE and to STILTs on SNLI and the STS benchmark, with all-MiniLM-L6-v2 and from random.

    make real-contrastive DATA=FOLDER [MINUTES=60]     (FOLDER/stsb, snli and wikisplit: the published files)
    python docs/experiments/real_contrastive.py FOLDER --size small    (fewer premises, epochs and paraphrases: an hour)
    python docs/experiments/real_contrastive.py FOLDER --size tiny     (a trial of a minute; its figures mean nothing)
    ... --labeller FOLDER --paraphraser FOLDER --tags "SIM85 BLEU0_5, SIM85 BLEU40"   (models of real_paraphrase.py)
    ... --parts triplets,tasks      (some parts alone: sentences and triplets are SimCSE, tasks is STILTs)

A labeller learns from the training pairs of the STS benchmark and labels pairs of SNLI (entailments), of the STS
benchmark (training pairs of 4 or more) and of WikiSplit. A small encoder-decoder from random weights learns to write
paraphrases from a balanced selection of them, and writes some of SNLI's sentences at every pair of TAGS, reranked. Then

* unsupervised SimCSE, from MiniLM and from a small random encoder: dropout, and paraphrases as positives;
* supervised SimCSE on triplets: the original ones, and with a copy of each;
* STILTs: inference, with copies and without, then the scores of the STS benchmark, and inference itself

are compared with five seeds on the dev and test pairs of the STS benchmark. SNLI's dev and test files are one corpus
here, divided by premises into train, dev and test. No dev pair chooses weights of SimCSE, so that its figures on dev
pairs are not biased; of STILTs they choose the tags. The paraphrases were chosen by labels from the STS benchmark: the
tables say so.

With a labeller and a paraphraser from elsewhere, inference is no task of STILTs: the paraphraser may have learned
from its test pairs.

Every stage is a run of a site of its own in HOME (the folder that CONTRASTIVE_HOME names, or var/real-contrastive). A
stage that has succeeded is not done again, and one that was interrupted goes on where it was: each call ends after
MINUTES, with the status 3 where they are over before all is done. The tables of what is done are printed, and
written to HOME/tables.md.
"""

import argparse
import csv
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("CONTRASTIVE_HOME", ROOT / "var" / "real-contrastive")).resolve()
SUITES, FILES = HOME / "suites", HOME / "files"
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

from curation.models import Pair  # noqa: E402
from mlworkers.kinds.comparisons.augmentations import augmentations_of, what_they_show  # noqa: E402
from mlworkers.kinds.comparisons.comparison import Cell  # noqa: E402
from mlworkers.kinds.comparisons.pre_fine_tuning import pre_fine_tunings_of  # noqa: E402
from mlworkers.kinds.comparisons.pre_fine_tuning import what_they_show as what_stilts_show  # noqa: E402
from mlworkers.models import Run  # noqa: E402

BASE = "packaged:all-MiniLM-L6-v2"
SNLI_CLASSES = {"0": "entailment", "1": "neutral", "2": "contradiction"}
PREMISES_SEED = 11
SHARES = (0.8, 0.9)  # where train and dev end among the premises
BOUNDS = {"sim_above": 50, "sim_width": 10, "bleu_first": 10, "bleu_width": 5, "bleu_most": 45}
TAGS = tuple(f"SIM{sim} BLEU{bleu}" for sim in (60, 80) for bleu in ("0_5", 20, 40))
PARTS = ("sentences", "triplets", "tasks")
LEAST_SHARE = 0.3  # of the sources: what a pair of tags must have paraphrases of to be compared


@dataclass(frozen=True)
class Size:
    """How much is done. 0: all there is. rows, wikisplit: of each file of the STS benchmark and
    of WikiSplit. task_rows, task_dev: training
    and dev rows of the STS benchmark that STILTs fine-tunes on. complete: whether all rows of
    a comparison learn from the same examples. candidates: that
    reranking chooses from; 0 for none. minilm: settings of comparisons that begin with MiniLM and
    differ from those of a random encoder, each of whose trainings takes a twentieth of the time.
    """

    rows: int = 0
    wikisplit: int = 0
    premises: int = 0
    labellers: int = 3
    labeller_epochs: int = 4
    selected: int = 400
    warm_up: int = 20
    epochs: int = 40
    width: int = 256
    layers: int = 3
    sources: int = 20_000
    candidates: int = 10
    seeds: int = 5
    random_epochs: int = 5
    triplet_epochs: int = 3
    task_rows: int = 0
    task_dev: int = 0
    stilts_epochs: int = 0
    stilts_rate: float = 2e-5
    stilts_batch: int = 32
    complete: bool = False
    batch: int = 64
    resamples: int = 1000
    least_share: float = LEAST_SHARE
    minilm: Mapping[str, str] = field(default_factory=dict)


TINY = Size(
    rows=160, wikisplit=160, task_rows=100, premises=40, labellers=1, labeller_epochs=1, selected=6, warm_up=1,
    epochs=1, width=32, layers=1, sources=200, candidates=2, seeds=1, stilts_epochs=1, batch=16, resamples=100,
    least_share=1.1,
)  # fmt: skip

SMALL = Size(
    wikisplit=1500, premises=500, labellers=1, labeller_epochs=1, selected=100, warm_up=8, epochs=8, width=128,
    layers=2, sources=2000, candidates=4, task_rows=500, task_dev=300, stilts_epochs=2, stilts_rate=1e-4, complete=True,
    triplet_epochs=1, stilts_batch=8, minilm={"variants": "all"},
)  # fmt: skip


@dataclass(frozen=True)
class Given:
    """Models from elsewhere: folders, or both empty. tags: pairs of tags that paraphrases are asked for."""

    labeller: str
    paraphraser: str
    tags: tuple[str, ...]


SIZES = {"full": Size(), "small": SMALL, "tiny": TINY}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with stsb/, snli/ and wikisplit/")
    parser.add_argument("--minutes", type=float, default=60.0, help="end after so many; default: %(default)s")
    parser.add_argument("--size", choices=SIZES, default="full", help="default: %(default)s")
    parser.add_argument("--labeller", default="", help="the folder of a labeller that was trained before")
    parser.add_argument("--paraphraser", default="", help="the folder of a paraphraser; needs --labeller")
    parser.add_argument("--parts", default=",".join(PARTS), help="which, with commas; default: %(default)s")
    parser.add_argument("--tags", default=", ".join(TAGS), help="pairs of tags; default: %(default)s")
    asked = parser.parse_args()
    if bool(asked.labeller) != bool(asked.paraphraser):
        parser.error("give both --labeller and --paraphraser, or none")
    parts = [part.strip() for part in asked.parts.split(",")]
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]}; the parts are {', '.join(PARTS)}")
    size = SIZES[asked.size]
    given = Given(asked.labeller, asked.paraphraser, tuple(tags.strip() for tags in asked.tags.split(",")))
    call_command("migrate", verbosity=0)
    data_import(asked.data, size)
    runs: dict[str, Run] = {}
    over = carried_out(asked.minutes, lambda carries: stages(size, given, parts, carries, runs))
    text = "\n\n".join(tables(runs))
    (HOME / "tables.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    return NOT_OVER if over is None else 0


# ---- data


def data_import(data: Path, size: Size) -> None:
    """The datasets stsb, snli and paraphrases; what is there already stays as it is."""
    FILES.mkdir(parents=True, exist_ok=True)
    for split in ("train", "dev", "test"):
        file = shortened(data / "stsb" / f"stsb-en-{split}.csv", size.rows)
        columns = ["--no-header", "--a", "1", "--b", "2", "--score", "3", "--scale", "0", "5"]
        call_command("import_pairs", str(file), "--dataset", "stsb", "--create", *columns)
    task_import(columns, {"train": size.task_rows, "dev": size.task_dev})
    # The dev pairs as a suite, so that one comparison measures on them and on the test pairs.
    (SUITES / "stsb").mkdir(parents=True, exist_ok=True)
    (SUITES / "stsb" / "stsb-en-test.csv").write_bytes((FILES / "stsb-en-dev.csv").read_bytes())
    snli = list(snli_rows(data / "snli", size.premises))
    header = ("sentence1", "sentence2", "subset", "split")
    table_write(FILES / "snli.tsv", header, snli)
    call_command("import_pairs", str(FILES / "snli.tsv"), "--dataset", "snli", "--create")
    pairs = [*paraphrase_rows(data, snli, size.wikisplit)]
    table_write(FILES / "paraphrases.tsv", header, pairs)
    call_command("import_pairs", str(FILES / "paraphrases.tsv"), "--dataset", "paraphrases", "--create")


def task_import(columns: Sequence[str], rows: Mapping[str, int]) -> None:
    """The dataset stsb-few: what STILTs fine-tunes on, dev pairs and test pairs."""
    for split in ("train", "dev", "test"):
        lines = (FILES / f"stsb-en-{split}.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        if most := rows.get(split):
            drawn = np.random.default_rng(PREMISES_SEED).permutation(len(lines))[:most]
            lines = [lines[place] for place in sorted(drawn)]
        (FILES / "task").mkdir(exist_ok=True)
        copy = FILES / "task" / f"stsb-en-{split}.csv"
        copy.write_text("".join(lines), encoding="utf-8")
        call_command("import_pairs", str(copy), "--dataset", "stsb-few", "--create", *columns)


def shortened(file: Path, rows: int) -> Path:
    """A copy of the first rows in FILES; of all of them for 0."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    copy = FILES / file.name
    copy.write_text("".join(lines[: rows or None]), encoding="utf-8")
    return copy


def snli_rows(folder: Path, most: int) -> Iterator[tuple[str, str, str, str]]:
    """Both files, divided by premises: all pairs of a premise are in one split."""
    rows = [
        line.split("\t")
        for name in ("snli-dev.tsv", "snli-test.tsv")
        for line in (folder / name).read_text(encoding="utf-8").splitlines()
    ]
    rows = [row for row in rows if len(row) == 3 and row[2] in SNLI_CLASSES]
    premises = list(dict.fromkeys(row[0] for row in rows))
    drawn = np.random.default_rng(PREMISES_SEED).permutation(len(premises))[: most or None]
    ends = [round(share * len(drawn)) for share in SHARES]
    splits = ("train", "dev", "test")
    split_of = {
        premises[number]: splits[sum(place >= end for end in ends)] for place, number in enumerate(drawn)
    }
    for premise, hypothesis, label in rows:
        if premise in split_of:
            yield premise, hypothesis, SNLI_CLASSES[label], split_of[premise]


def paraphrase_rows(
    data: Path, snli: Sequence[tuple[str, str, str, str]], most: int
) -> Iterator[tuple[str, str, str, str]]:
    """Pairs that may be paraphrases, of training splits alone."""
    yield from (
        (a, b, "snli", "train") for a, b, label, split in snli if (label, split) == ("entailment", "train")
    )
    with (FILES / "stsb-en-train.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            if float(row[2]) >= 4:
                yield row[0], row[1], "stsb", "train"
    for path in sorted((data / "wikisplit").glob("*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines()[: most or None]:
            cells = [cell.replace("<::::>", " ").strip() for cell in line.split("\t")]
            if len(cells) >= 2 and all(cells[:2]):
                yield cells[0], cells[1], "wikisplit", "train"


def table_write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    lines = ["\t".join(cell.replace("\t", " ") for cell in row) for row in (header, *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


# ---- stages


def stages(size: Size, given: Given, parts: Sequence[str], stage: Stages, runs: dict[str, Run]) -> bool:
    """Does the parts; the comparisons come into `runs` by their names in the tables, each when it is done."""
    labeller, paraphraser = given.labeller, given.paraphraser
    if not paraphraser:
        labeller, paraphraser = models_trained(size, stage)
    reranks = {"rerank": True, "candidates": size.candidates} if size.candidates else {}
    written = stage.done(
        "write_paraphrases", dataset="snli", model=paraphraser, labeller=labeller, tags=", ".join(given.tags),
        sources=size.sources, least_tokens=3, language="", bootstrap=size.resamples, **reranks,
    )  # fmt: skip
    runs["written"] = written
    variants = ", ".join(variants_with_enough(written, given.tags, size))
    shared = {
        "dataset": "snli", "variants": variants, "complete": size.complete, "seeds": size.seeds,
        "bootstrap": size.resamples,
    }  # fmt: skip
    contrast = {
        **shared, "test_dataset": "stsb", "test_score_set": "reference", "suites": "stsb", "batch_size": size.batch,
    }  # fmt: skip
    if "sentences" in parts:
        random = stage.done("initialise_encoder", dataset="snli")
        # Random weights need more steps; at a rate of 1e-3 the training made them worse (log of experiments, P-05).
        random_rate = {"learning_rate": 1e-4, "epochs": size.random_epochs}
        for name, model, rate in (
            ("a random encoder", f"run:{random.pk}", random_rate),
            ("MiniLM", BASE, size.minilm),
        ):
            runs[f"Unsupervised SimCSE from {name}"] = stage.done(
                "compare_augmentations", model=model, material="sentences", keep_originals=False, sizes="1",
                **{**contrast, **rate},
            )  # fmt: skip
    if "triplets" in parts:
        runs["Supervised SimCSE from MiniLM"] = stage.done(
            "compare_augmentations", model=BASE, material="triplets", sizes="2", epochs=size.triplet_epochs,
            learning_rate=5e-5, pooler="as the model", **{**contrast, **size.minilm},
        )  # fmt: skip
    if "tasks" in parts:
        tasks = "stsb-few | reference" + ("" if given.paraphraser else "; snli | subset")
        runs["STILTs from MiniLM"] = stage.done(
            "compare_pre_fine_tuning", model=BASE, tasks=tasks, epochs=size.stilts_epochs,
            pre_epochs=size.stilts_epochs or 3, learning_rate=size.stilts_rate, batch_size=size.stilts_batch,
            **{**shared, **size.minilm},
        )  # fmt: skip
    return True


def models_trained(size: Size, stage: Stages) -> tuple[str, str]:
    """A labeller and a paraphraser, as runs name them."""
    labeller = stage.done(
        "train_labeller", dataset="stsb", model=BASE, scores="reference", dev_split="dev", seeds=size.labellers,
        epochs=size.labeller_epochs, learning_rate=1e-4,
    )  # fmt: skip
    labels = stage.done("label_paraphrases", dataset="paraphrases", model=f"run:{labeller.pk}", **BOUNDS)
    selection = stage.done(
        "select_paraphrases", dataset="paraphrases", similarity=f"run {labels.pk}: similarity",
        bleu=f"run {labels.pk}: BLEU", train_pairs=size.selected, dev_pairs=10, test_pairs=10,
    )  # fmt: skip
    paraphraser = stage.done(
        "train_paraphraser", dataset="paraphrases", selection=selection.pk, warm_up_epochs=size.warm_up,
        epochs=size.epochs, batch_size=32, warmup=0.05, width=size.width, layers=size.layers,
    )  # fmt: skip
    return f"run:{labeller.pk}", f"run:{paraphraser.pk}"


def variants_with_enough(written: Run, asked: Sequence[str], size: Size) -> list[str]:
    """The pairs of tags that enough sources have a paraphrase of, as they were asked for, and all of them mixed."""
    pairs = Pair.objects.filter(run_ref=written.pk)
    sources = pairs.values("a").distinct().count()
    found = [
        tags
        for tags in asked
        if pairs.filter(subset=tags).values("a").distinct().count() >= size.least_share * sources
    ]
    return [*found, "all"]


# ---- tables


def tables(runs: Mapping[str, Run]) -> Iterator[str]:
    if "written" not in runs:
        return
    written = runs["written"]
    plain = {name: value for name, value in written.result.items() if isinstance(value, int | float)}
    told = ", ".join(f"{name} {value:.4g}" for name, value in plain.items())
    yield f"The paraphrases (run {written.pk}): {told}."
    for name, run in runs.items():
        if run.kind == "compare_augmentations":
            yield from contrast_tables(name, run)
        elif run.kind == "compare_pre_fine_tuning":
            yield from stilts_tables(name, run)


def contrast_tables(name: str, run: Run) -> Iterator[str]:
    found = augmentations_of(run)
    if found is None:
        return
    yield f"{name} (run {run.pk}). {what_they_show(found)} Shape of the loss: {run.result['loss_in_words']}."
    yield from (f"* {warning}" for warning in run.result["warnings"])
    tests = ["STSb test", "STSb dev"][: len(found.rows[0].cells)]
    header = [
        "trained on",
        "examples",
        *(part for test in tests for part in (test, "difference from original")),
    ]
    rows = [
        [
            row.label,
            str(row.examples or ""),
            *(part for cell in row.cells for part in (mean(cell), difference(cell))),
        ]
        for row in found.rows
    ]
    yield markdown(header, rows)


def stilts_tables(name: str, run: Run) -> Iterator[str]:
    found = pre_fine_tunings_of(run)
    if found is None:
        return
    yield f"{name} (run {run.pk}). {what_stilts_show(found)}"
    yield from (f"* {warning}" for warning in run.result["warnings"])
    for task in found.tasks:
        metrics = [part for metric in task.metrics for part in (metric, "difference from no paraphrases")]
        rows = [
            [
                row.label + (" (chosen on dev)" if row.name == task.chosen else ""),
                "" if row.dev is None else f"{row.dev:.4f}",
                *(part for cell in row.cells for part in (mean(cell), difference(cell))),
            ]
            for row in task.rows
        ]
        yield f"{task.label}: {task.facts['test_rows']:,} test rows"
        yield markdown(["pre-fine-tuned on", "dev", *metrics], rows)


def mean(cell: Cell) -> str:
    if cell.mean is None or cell.low is None or cell.high is None:
        return "–"
    sd = "" if cell.sd is None else f" ± {cell.sd:.4f}"
    return f"{cell.mean:.4f}{sd} ({cell.low:.4f}–{cell.high:.4f})"


def difference(cell: Cell) -> str:
    if not cell.has_difference:
        return "–"
    p = "" if cell.p_holm is None else f", p {cell.p_holm:.3f}"
    return f"{cell.difference:+.4f} ({cell.difference_low:+.4f} to {cell.difference_high:+.4f}{p})"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    raise SystemExit(main())
