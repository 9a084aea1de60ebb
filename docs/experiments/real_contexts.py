"""Similarity from contexts on the STS benchmark, with novels as the corpus and a model that learns from them alone.

    make real-contexts DATA=FOLDER [MINUTES=60]             (FOLDER/novels and stsb: the published files)
    python docs/experiments/real_contexts.py FOLDER --small         (smaller models, fewer harvested pairs)
    python docs/experiments/real_contexts.py FOLDER --tiny          (a trial of minutes; its figures mean nothing)
    python docs/experiments/real_contexts.py FOLDER --parts sections        (one part alone)

No pretrained model, and no human score, takes part in the similarities. A small encoder-decoder and a discriminative
model learn from the novels. Pairs of the benchmark's test split, as many from each fifth of the scale, are scored by
their contexts: with 20 and 50 contexts of a sentence, ranked by the discriminative model or by words in common, at
random, and without diversity. The other ablations come from the stored terms. Weights are tuned on pairs of the dev
split alone; everything else uses equal weights. (The part “scores”.)

The part “surrogates” harvests pairs of the novels, scores them by contexts with 20 of a sentence, and trains from them
all-MiniLM-L6-v2, a small encoder of random weights, and a cross-encoder; all are compared with baselines on the pairs
of the benchmark's test split. The part “sections” trains all-MiniLM-L6-v2 to tell chapters apart (the published files
have nearly no headings, so that parts of 200 sentences stand for chapters), and measures how fast it encodes.

Every stage is a run of a site of its own in HOME (the folder that CONTEXTS_HOME names, or var/real-contexts). A stage
that has succeeded is not done again, and one that was interrupted goes on where it was: each call ends after MINUTES,
with the status 3 where they are over before all is done. The figures of each stage are printed as it ends, and the
table so far is in HOME/tables.md.
"""

import argparse
import csv
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("CONTEXTS_HOME", ROOT / "var" / "real-contexts")).resolve()
FILES = HOME / "files"
sys.path.insert(0, str(ROOT))
for variable in ("DATABASE_URL", "REDIS_URL"):  # a site of its own, beside any other
    os.environ.pop(variable, None)
os.environ |= {"DJANGO_SETTINGS_MODULE": "semblance.settings", "SEMBLANCE_HOME": str(HOME)}

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402
from stages import NOT_OVER, Stages, carried_out  # noqa: E402

from curation.models import Dataset  # noqa: E402
from curation.statistics.influence import Correlation  # noqa: E402
from mlworkers.kinds.contexts.context_scores import (  # noqa: E402
    contexts_compared,
    rows_to_compare,
    sets_of_run,
)
from mlworkers.models import Run  # noqa: E402
from mlworkers.runs.storage import artifact_path  # noqa: E402

DATASET, SEED = "stsb", 21
PARTS = ("scores", "surrogates", "sections")
PRETRAINED = "packaged:all-MiniLM-L6-v2"
BINS = 5  # of the scale 0..5
Rows = list[list[str]]


@dataclass(frozen=True)
class Size:
    """How much is done. novels: files of the corpus, 0 for all. window: sentences on each side of a place. part_tokens:
    the most of a sentence, and of each side. hidden, ranking_steps: of the discriminative model.
    """

    pairs: int = 200
    dev_pairs: int = 100
    novels: int = 0
    steps: int = 3000
    places: int = 30_000
    width: int = 128
    layers: int = 2
    vocabulary: int = 4096
    window: int = 2
    part_tokens: int = 64
    hidden: int = 300
    ranking_steps: int = 1500
    contexts: tuple[int, ...] = (20, 50)
    candidates: int = 3
    background: int = 8
    resamples: int = 1000
    harvested: int = 5000
    encoder_epochs: int = 3
    triplets: int = 10_000


SMALL = Size(
    layers=1, vocabulary=2048, window=1, part_tokens=48, hidden=150, ranking_steps=800,
    candidates=2, background=6, harvested=1000, triplets=1600,
)  # fmt: skip
TINY = Size(
    pairs=10, dev_pairs=10, novels=2, steps=60, places=500, width=32, layers=1, contexts=(4, 6), candidates=2,
    background=3, resamples=50, hidden=32, ranking_steps=60, harvested=60, encoder_epochs=1, triplets=64,
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with novels/ and stsb/")
    parser.add_argument("--minutes", type=float, default=60.0, help="end after so many; default: %(default)s")
    parser.add_argument("--small", action="store_true", help="smaller models, fewer harvested pairs")
    parser.add_argument("--tiny", action="store_true", help="a trial of minutes")
    parser.add_argument("--parts", default=",".join(PARTS), help="which, with commas; default: %(default)s")
    asked = parser.parse_args()
    parts = [part.strip() for part in asked.parts.split(",")]
    if unknown := [part for part in parts if part not in PARTS]:
        parser.error(f"there is no part {unknown[0]}; the parts are {', '.join(PARTS)}")
    size = TINY if asked.tiny else SMALL if asked.small else Size()
    call_command("migrate", verbosity=0)
    data_import(asked.data, size)
    runs = carried_out(asked.minutes, lambda carries: stages(size, carries, parts))
    return NOT_OVER if runs is None else 0


def data_import(data: Path, size: Size) -> None:
    """The dataset stsb, and the novels as running text beside it; what is there already stays as it is."""
    FILES.mkdir(parents=True, exist_ok=True)
    columns = ["--no-header", "--a", "1", "--b", "2", "--score", "3", "--scale", "0", "5"]
    for split, count in (("dev", size.dev_pairs), ("test", size.pairs)):
        with (data / "stsb" / f"stsb-en-{split}.csv").open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
        copy = FILES / f"stsb-{split}.csv"
        with copy.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(stratified(rows, count))
        call_command("import_pairs", str(copy), "--dataset", DATASET, "--create", *columns)
    if not Run.objects.filter(kind="index_corpus").exists():
        novels = sorted((data / "novels").glob("*.txt"))[: size.novels or None]
        call_command("import_corpus", *map(str, novels), "--dataset", DATASET, "--language", "en")


def stratified(rows: Rows, count: int) -> Rows:
    """As many rows of each fifth of the scale, drawn at random."""
    rng = np.random.default_rng(SEED)
    fifth = np.minimum(np.array([float(row[2]) for row in rows]).astype(int), BINS - 1)
    chosen = [
        place
        for number in range(BINS)
        for place in rng.permutation(np.flatnonzero(fifth == number))[: count // BINS].tolist()
    ]
    return [rows[place] for place in sorted(chosen)]


def stages(size: Size, stages: Stages, parts: Sequence[str]) -> Mapping[str, Run]:
    """The runs of the parts, by what they did."""
    Dataset.objects.filter(slug=DATASET).update(language="en")
    corpus = stages.awaited(Run.objects.get(kind="index_corpus"))
    print(f"index_corpus: {corpus.message}", flush=True)
    done: dict[str, Run] = {}
    if "sections" in parts:
        done |= section_stages(size, stages, corpus)
    if "scores" in parts or "surrogates" in parts:
        done |= score_stages(size, stages, corpus, parts)
    return done


def section_stages(size: Size, stages: Stages, corpus: Run) -> Mapping[str, Run]:
    """Chapters, and speed."""
    done = {
        "speed": stages.done("measure_speed", dataset=DATASET, models=PRETRAINED, sentences=400),
        "sections": stages.done(
            "train_on_sections", dataset=DATASET, corpus=corpus.pk, model=PRETRAINED, triplets=size.triplets,
            test_triplets=min(2000, size.triplets),
        ),
    }  # fmt: skip
    for name, run in done.items():
        print(f"{name}: {run.result}", flush=True)
    return done


def surrogate_stages(size: Size, stages: Stages, scoring: Mapping[str, object]) -> Mapping[str, Run]:
    """From harvested pairs to surrogates. scoring: the settings by which pairs are scored by contexts."""
    harvest = stages.done("harvest_pairs", dataset=DATASET, corpus=scoring["corpus"], pairs=size.harvested)
    splits = "harvested-train, harvested-dev, harvested-test"
    scored = stages.done("score_contexts", **{**scoring, "split": splits, "contexts": min(size.contexts)})
    similarities = f"run {scored.pk}: contexts, centred"
    small = stages.done("initialise_encoder", dataset=DATASET, split="harvested-train")
    learning = {
        "dataset": DATASET,
        "scores": similarities,
        "split": "harvested-train",
        "epochs": size.encoder_epochs,
    }
    bases = {"MiniLM": PRETRAINED, "small": f"run:{small.pk}"}
    encoders = {
        name: stages.done("train_encoder", model=model, **learning, learning_rate=rate)
        for (name, model), rate in zip(bases.items(), (2e-5, 5e-4), strict=True)
    }
    crossed = stages.done("train_labeller", model=PRETRAINED, seeds=1, dev_share=0.1, **learning)
    models = [f"run:{run.pk}" for run in (*encoders.values(), crossed, small)]
    untrained = [f"{way}:{PRETRAINED}" for way in ("static", "cls", "mean", "bertscore")]
    compared = stages.done(
        "compare_scorers", dataset=DATASET, score_set="reference", split="test",
        scorers=", ".join([*models, PRETRAINED, *untrained]),
    )  # fmt: skip
    for row in compared.result["scorers"]:
        print(row, flush=True)
    print(compared.result["pairs_per_second"], flush=True)
    return {"harvest": harvest, **encoders, "cross-encoder": crossed, "compared": compared}


def score_stages(size: Size, stages: Stages, corpus: Run, parts: Sequence[str]) -> Mapping[str, Run]:
    """The models for contexts, and what they score."""
    model = stages.done(
        "train_context_model", dataset=DATASET, corpus=corpus.pk, steps=size.steps, places=size.places,
        width=size.width, layers=size.layers, left=size.window, right=size.window, part_tokens=size.part_tokens,
        vocabulary=size.vocabulary,
    )  # fmt: skip
    print(f"directions: {model.result['directions']}", flush=True)
    ranks = stages.done(
        "train_discriminative_model", dataset=DATASET, corpus=corpus.pk, steps=size.ranking_steps,
        places=size.places, hidden=size.hidden, embedding=size.hidden, left=size.window, right=size.window,
    )  # fmt: skip
    print(f"held-out places: {shares(ranks)}", flush=True)
    scoring = {
        "dataset": DATASET, "corpus": corpus.pk, "model": f"run:{model.pk}", "most_pairs": 0,
        "candidates": size.candidates, "background": size.background, "resamples": size.resamples,
        "left": size.window, "right": size.window, "part_tokens": size.part_tokens,
    }  # fmt: skip
    done: dict[str, Run] = {}
    for name, more in variants(size, f"run:{ranks.pk}") if "scores" in parts else ():
        done[name] = stages.done("score_contexts", **{**scoring, "split": "test", **more})
        print("\n".join(rows_of(name, done[name])), flush=True)
        if (tuned := done[name].result["weights_tuned"]) is not None:
            print(f"weights {done[name].result['weights']}: {tuned}", flush=True)
        (HOME / "tables.md").write_text("\n".join(figures(done)) + "\n", encoding="utf-8")
    print("\n".join(figures(done)), flush=True)
    return {**done, **(surrogate_stages(size, stages, scoring) if "surrogates" in parts else {})}


def shares(ranks: Run) -> dict[str, object]:
    return {name: ranks.result[name] for name in ranks.result if name.startswith("right_")}


def variants(size: Size, ranks: str) -> Iterator[tuple[str, dict[str, object]]]:
    """What is scored, by name: the settings that differ."""
    few, *more = size.contexts
    ranked = {"contexts": few, "discriminator": ranks}
    yield f"{few}, ranked", ranked
    yield f"{few}, by words in common", {"contexts": few}
    yield f"{few}, at random", {**ranked, "choice": "random"}
    yield f"{few}, no diversity", {**ranked, "diverse": False}
    yield f"{few}, weights tuned on dev", {**ranked, "dev_split": "dev", "dev_scores": "reference"}
    for count in more:
        yield f"{count}, ranked", {**ranked, "contexts": count}


def figures(runs: Mapping[str, Run]) -> Iterator[str]:
    """Spearman's correlations with the human scores, times 100, in Markdown."""
    yield "| contexts of a sentence | dropped | n | centred | raw | centred − raw |"
    yield "|---|---|---|---|---|---|"
    for name, run in runs.items():
        yield from rows_of(name, run)


def rows_of(name: str, run: Run) -> Iterator[str]:
    rows = sets_of_run(run)
    if rows is None or run.dataset is None:
        return
    people = next(row for row in rows_to_compare(run.dataset, run) if row.score_set.name == "reference")
    made = run.artifacts.get(kind="context_scores")
    found = contexts_compared(rows, people, folder=artifact_path(made))
    for each in found.ablations:
        gap = ""
        if not each.dropped and found.difference is not None and found.interval is not None:
            low, high = (100 * end for end in (found.interval.low, found.interval.high))
            gap = f"{100 * found.difference:.1f} ({low:.1f} to {high:.1f})"
        cells = " | ".join(map(correlation, (each.centred, each.raw)))
        yield f"| {name} | {each.dropped or 'nothing'} | {each.centred.n} | {cells} | {gap} |"


def correlation(one: Correlation) -> str:
    if one.value is None:
        return "–"
    interval = "" if one.low is None else f" ({100 * one.low:.1f} to {100 * one.high:.1f})"
    return f"{100 * one.value:.1f}{interval}"


if __name__ == "__main__":
    raise SystemExit(main())
