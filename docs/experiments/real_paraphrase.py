"""A paraphraser on real pairs: how often it meets the requested cell, with reranking and without.

    make real-paraphrase DATA=FOLDER [MINUTES=60]   (FOLDER/stsb, snli, wikisplit and onestop: the published files)
    python docs/experiments/real_paraphrase.py FOLDER --size small    (less of everything: 35 minutes of one core)
    python docs/experiments/real_paraphrase.py FOLDER --size tiny     (a trial of minutes; its figures mean nothing)

Two labellers, which share no seed, learn from all-MiniLM-L6-v2 and the training pairs of the STS benchmark. The first
labels pairs that may be paraphrases: WikiSplit, OneStopEnglish, the entailments of SNLI, and pairs of 4 or more of the
STS benchmark. Nine of ten source sentences are for training; the pairs of the others are left out where they share a
sentence with these. A small encoder-decoder from random weights learns from a balanced selection, and writes
paraphrases of the held-out sources for every cell that the selection filled. The first labeller reranks, the second
measures. The yield of each corpus is printed under the paper's bounds and under SIM 50 to 100, BLEU 0 to 100.

Every stage is a run of a site of its own in HOME (the folder that PARAPHRASE_HOME names, or var/real-paraphrase). A
stage that has succeeded is not done again, and one that was interrupted goes on where it was: each call ends after
MINUTES, with the status 3 where they are over before all is done. The tables are printed, and written to
HOME/tables.md.
"""

import argparse
import csv
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(os.environ.get("PARAPHRASE_HOME", ROOT / "var" / "real-paraphrase")).resolve()
FILES = HOME / "files"
sys.path.insert(0, str(ROOT))
for variable in ("DATABASE_URL", "REDIS_URL"):  # a site of its own, beside any other
    os.environ.pop(variable, None)
os.environ |= {"DJANGO_SETTINGS_MODULE": "semblance.settings", "SEMBLANCE_HOME": str(HOME)}

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402
from stages import NOT_OVER, Stages, carried_out  # noqa: E402

from curation.datasets.agreement import scores_of_both  # noqa: E402
from curation.models import Pair, ScoreSet  # noqa: E402
from curation.pairs.text import near_copy_key  # noqa: E402
from curation.results.estimates import Estimate  # noqa: E402
from mlworkers.kinds.paraphrases.requested import figure_shown, what_was_met  # noqa: E402
from mlworkers.models import Run  # noqa: E402
from mlworkers.science.paraphrasing.profile import profile_of  # noqa: E402
from mlworkers.science.paraphrasing.tags import TagBounds  # noqa: E402

BASE = "packaged:all-MiniLM-L6-v2"
PAPER = TagBounds()
WIDE = TagBounds(sim_above=50, sim_width=10, bleu_first=20, bleu_width=10, bleu_most=100)
ENTAILED = "0"
HELD_OUT, SEED = 0.1, 21
FEWEST = 5
Row = TypeVar("Row")


@dataclass(frozen=True)
class Size:
    """How much is done. rows: the first of each corpus, 0 for all. paired: of the corpora that it names, so many pairs
    at equal distances. judged: of the dev pairs of the STS benchmark that labellers are compared on, so many at equal
    distances, 0 for all. selected: training pairs of an ordinary cell. fewest: training pairs of a cell that the
    paraphraser is asked for.
    """

    rows: int = 0
    paired: Mapping[str, int] = field(default_factory=dict)
    judged: int = 0
    seeds: int = 3
    labeller_epochs: int = 4
    labeller_rate: float = 1e-4
    selected: int = 400
    dev: int = 20
    warm_up: int = 20
    epochs: int = 40
    batch: int = 64
    rate: str = "5e-4, 1e-3"
    width: int = 256
    layers: int = 3
    vocabulary: int = 8000
    context: int = 128
    sources: int = 300
    least_tokens: int = 6
    candidates: int = 10
    resamples: int = 1000
    fewest: int = FEWEST
    bounds: TagBounds = PAPER


TINY = Size(
    rows=150, seeds=1, labeller_epochs=1, selected=6, dev=2, warm_up=1, epochs=1, width=32,
    layers=1, sources=4, candidates=2,
    resamples=100, fewest=1, bounds=TagBounds(0, 50, 50, 50, 100),
)  # fmt: skip

SMALL = Size(
    judged=500, paired={"wikisplit": 600, "onestop": 1000, "snli": 4000}, seeds=1, labeller_epochs=1,
    labeller_rate=1e-4, selected=100, dev=5, warm_up=8, epochs=20, batch=32, rate="1e-3", width=128, layers=2,
    vocabulary=2000, context=64, sources=40, least_tokens=6, candidates=10, fewest=15,
)  # fmt: skip
SIZES = {"full": Size(), "small": SMALL, "tiny": TINY}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with stsb/, snli/, wikisplit/ and onestop/")
    parser.add_argument("--minutes", type=float, default=60.0, help="end after so many; default: %(default)s")
    parser.add_argument("--size", choices=SIZES, default="full", help="default: %(default)s")
    asked = parser.parse_args()
    size = SIZES[asked.size]
    call_command("migrate", verbosity=0)
    data_import(asked.data, size)
    runs = carried_out(asked.minutes, lambda carries: stages(size, carries))
    if runs is None:
        return NOT_OVER
    labels, written = runs
    text = "\n".join([*yields(labels), "", *figures(written)])
    (HOME / "tables.md").write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


def data_import(data: Path, size: Size) -> None:
    """The datasets stsb and paraphrases; what is there already stays as it is."""
    FILES.mkdir(parents=True, exist_ok=True)
    columns = ["--no-header", "--a", "1", "--b", "2", "--score", "3", "--scale", "0", "5"]
    for split in ("train", "dev"):
        lines = (data / "stsb" / f"stsb-en-{split}.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        copy = FILES / f"stsb-{split}.csv"
        if split == "dev":  # the file begins with captions and ends with news
            lines = spread(lines, size.judged)
        copy.write_text("".join(lines[: size.rows or None]), encoding="utf-8")
        call_command("import_pairs", str(copy), "--dataset", "stsb", "--create", *columns)
    chosen = (
        spread(list(pairs)[: size.rows or None], size.paired.get(name, 0)) for name, pairs in corpora(data)
    )
    rows = divided([pair for pairs in chosen for pair in pairs])
    file = FILES / "paraphrases.tsv"
    with file.open("w", encoding="utf-8", newline="") as written:
        writer = csv.writer(written, delimiter="\t", lineterminator="\n")
        writer.writerow(["sentence1", "sentence2", "subset", "split"])
        writer.writerows(rows)
    call_command("import_pairs", str(file), "--dataset", "paraphrases", "--create")


def spread(rows: Sequence[Row], most: int) -> Sequence[Row]:
    """At most so many rows at equal distances; all for 0."""
    if not most or len(rows) <= most:
        return rows
    return [rows[place * len(rows) // most] for place in range(most)]


def corpora(data: Path) -> Iterator[tuple[str, Iterator[tuple[str, str, str]]]]:
    """Each corpus, and its pairs: source, paraphrase, and the corpus."""
    yield (
        "wikisplit",
        (
            (cells[0], cells[1], "wikisplit")
            for name in ("tune.tsv", "validation.tsv")
            for cells in lines_of(data / "wikisplit" / name)
        ),
    )
    yield (
        "onestop",
        (
            (cells[0], cells[1], "onestop")
            for name in ("ADV-ELE.tsv", "ADV-INT.tsv", "ELE-INT.tsv")
            for cells in lines_of(data / "onestop" / name)
        ),
    )
    yield (
        "snli",
        (
            (cells[0], cells[1], "snli")
            for name in ("snli-dev.tsv", "snli-test.tsv")
            for cells in lines_of(data / "snli" / name)
            if cells[2] == ENTAILED
        ),
    )
    with (data / "stsb" / "stsb-en-train.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row[0], row[1], "stsb") for row in csv.reader(file) if float(row[2]) >= 4]
    yield "stsb", iter(rows)


def lines_of(file: Path) -> Iterator[list[str]]:
    """Cells of a published file; sentences that WikiSplit divided follow each other."""
    for line in file.read_text(encoding="utf-8").splitlines():
        cells = [" ".join(cell.replace("<::::>", " ").split()) for cell in line.split("\t")]
        if len(cells) > 1 and all(cells[:2]):
            yield cells


def divided(pairs: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str, str]]:
    """The pairs with their split, by source; of the held-out ones those that share no sentence with the others."""
    pairs = list(dict.fromkeys(pairs))
    keys = sorted({near_copy_key(source) for source, _paraphrase, _corpus in pairs})
    rng = np.random.default_rng(SEED)
    chosen = rng.choice(len(keys), size=round(HELD_OUT * len(keys)), replace=False)
    held_out = {keys[place] for place in chosen.tolist()}
    training = [pair for pair in pairs if near_copy_key(pair[0]) not in held_out]
    known = {near_copy_key(text) for pair in training for text in pair[:2]}
    others = [
        pair
        for pair in pairs
        if near_copy_key(pair[0]) in held_out and not {near_copy_key(text) for text in pair[:2]} & known
    ]
    return [*((*pair, "train") for pair in training), *((*pair, "test") for pair in others)]


def stages(size: Size, stages: Stages) -> tuple[Run, Run]:
    """The runs that labelled the corpora, and that wrote paraphrases."""

    def labeller(first_seed: int) -> str:
        run = stages.done(
            "train_labeller", dataset="stsb", model=BASE, scores="reference", dev_split="dev", seeds=size.seeds,
            first_seed=first_seed, epochs=size.labeller_epochs, learning_rate=size.labeller_rate,
        )  # fmt: skip
        return f"run:{run.pk}"

    chooses = labeller(42)
    labels = stages.done("label_paraphrases", dataset="paraphrases", model=chooses, **size.bounds.as_dict())
    selection = stages.done(
        "select_paraphrases", dataset="paraphrases", split="train", similarity=f"run {labels.pk}: similarity",
        bleu=f"run {labels.pk}: BLEU", train_pairs=size.selected, dev_pairs=size.dev, test_pairs=1,
    )  # fmt: skip
    measures = labeller(142)
    paraphraser = stages.done(
        "train_paraphraser", dataset="paraphrases", selection=selection.pk, warm_up_epochs=size.warm_up,
        epochs=size.epochs, batch_size=size.batch, learning_rates=size.rate, warmup=0.05, width=size.width,
        layers=size.layers, vocabulary=size.vocabulary, context=size.context,
    )  # fmt: skip
    written = stages.done(
        "write_paraphrases", dataset="paraphrases", model=f"run:{paraphraser.pk}", labeller=chooses,
        measured_by=measures, tags=reachable(selection, size), split="test", sources=size.sources,
        least_tokens=size.least_tokens, rerank=True, candidates=size.candidates, search="sampling", top_k=20,
        temperature=1.0, bootstrap=size.resamples, add_pairs=False,
    )  # fmt: skip
    return labels, written


def reachable(selection: Run, size: Size) -> str:
    """The pairs of tags with enough training pairs."""
    cells = [
        f"{similarity} {bleu}"
        for split, similarity, bleu, _asked, _candidates, chosen in selection.result["cells"]
        if split == "train" and chosen >= size.fewest
    ]
    return ", ".join(cells)


def yields(labels: Run) -> Iterator[str]:
    """Of each corpus, in Markdown: pairs in a cell of the paper, and in each cell of the wide bounds."""
    sets = {one.parameters["label"]: one for one in ScoreSet.objects.filter(run_ref=labels.pk)}
    pairs, similarity, bleu = scores_of_both(sets["similarity"], sets["bleu"])
    subset = dict(Pair.objects.filter(dataset=labels.dataset).values_list("pk", "subset"))
    corpus = np.array([subset[pair] for pair in pairs.tolist()])
    for name in Counter(corpus.tolist()):
        own = corpus == name
        for words, bounds in (("paper's bounds", PAPER), ("SIM 50 to 100, BLEU 0 to 100", WIDE)):
            found = profile_of(similarity[own], bleu[own], bounds)
            share = 100 * found.inside / max(found.pairs, 1)
            yield f"\n{name}, {words}: {found.inside:,} of {found.pairs:,} pairs ({share:.1f} %) lie in a cell\n"
            tags = [tag.name for tag in bounds.lexical]
            yield f"| | {' | '.join(tags)} |"
            yield f"|---|{'---|' * len(tags)}"
            for tag, row in zip(bounds.similarity, found.tagged.tolist(), strict=True):
                yield f"| {tag.name} | {' | '.join(f'{count:,}' for count in row)} |"


def figures(written: Run) -> Iterator[str]:
    """Requested and measured tags, in Markdown."""
    result = written.result
    if not result.get("profile"):
        return
    rows = result["profile"]["rows"]
    counts = f"{result['sources']} sources, {rows[0]['paraphrases']:,} paraphrases"
    yield f"{what_was_met(result)} {counts}, left out: {result['sources_left_out']}."
    yield ""
    names = (
        "hit_rate", "near_rate", "gain_of_reranking", "error_of_similarity", "error_of_bleu", "spearman_similarity",
        "spearman_bleu",
    )  # fmt: skip
    yield f"| requested | n | {' | '.join(names)} |"
    yield f"|---|---|{'---|' * len(names)}"
    for row in rows:
        cells = " | ".join(figure(figure_shown(row, name)) for name in names)
        label = f"{row['similarity_tag']} {row['bleu_tag']}".strip() or "all paraphrases"
        yield f"| {label} | {row['paraphrases']:,} | {cells} |"


def figure(one: Estimate) -> str:
    if one.value is None:
        return "–"
    return f"{one.value:.3f}" + ("" if one.low is None else f" ({one.low:.3f} to {one.high:.3f})")


if __name__ == "__main__":
    raise SystemExit(main())
