"""`semblance sample_pairs`: pairs to annotate, put together from files of sentences or chosen among pairs."""

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from curation.datasets.composing import Labels, composition_add
from curation.datasets.selectors import dataset_named
from curation.datasets.synonyms import synonyms_of_file, synonyms_of_wordnet
from curation.files.drafts import Columns, FileError, Guess, RowError, column_option
from curation.files.parsing import read_pairs
from curation.files.sentences import DraftSentence, SentenceColumns, inspect_sentences, read_sentences
from curation.files.tables import Column, Row, write_table
from curation.files.unpacking import unpacked
from curation.foundation.command import Command as BaseCommand
from curation.foundation.command import (
    no_header_argument,
    reading_arguments,
    reading_given,
    seed_argument,
    spreadsheet_argument,
    text_arguments,
)
from curation.foundation.database import database_ready
from curation.foundation.errors import errors_shown
from curation.pairs.sampling.drawing import (
    NEEDS_ENCODER,
    Drawn,
    SamplingError,
    Settings,
    Strategy,
    combinations_read,
    drawn_from_pairs,
    drawn_from_sentences,
    edges_read,
    source_of_pair,
)
from curation.pairs.sampling.sample import Stratum
from curation.pairs.sampling.searching import Denominator, Window
from curation.pairs.sampling.synonyms import Synonyms

COLUMNS = (*map(Column, ("sentence1", "sentence2", "source", "subset")), Column("dice", "number"))
# Options that say how files are read. import_sentences has them for the pool.
OF_FILES = ("pairs", "text", "documents", "a", "b", "score", "source", "no_header", "delimiter", "encoding")
BARS = 20  # of the histogram that is printed
WIDEST = 40


@dataclass
class _Read:
    """What the files held: texts, or the two texts of each pair; with their sources, labels and scores."""

    first: list[str] = field(default_factory=list)
    second: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    labels: list[tuple[str, str]] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    guesses: list[dict[str, str]] = field(default_factory=list)
    rejections: int = 0

    def guess(self, path: Path, guesses: Iterable[Guess]) -> None:
        self.guesses += [{"file": path.name, **guess._asdict()} for guess in guesses]

    def reject(self, path: Path, row: RowError) -> None:
        self.rejections += 1
        if len(self.rejected) < 10:
            names = {"line": row.line, "file": path.name, "reason": row.reason}
            self.rejected.append(_("Line %(line)s of %(file)s was left out: %(reason)s.") % names)


class Command(BaseCommand):
    help = (
        "Choose pairs to annotate: make them from sentences, or choose among pairs (--pairs). The result "
        "is a CSV file for import_pairs, or pairs of a dataset's single sentences (--dataset)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "files",
            nargs="*",
            type=Path,
            metavar="FILE",
            help="One sentence a line, a table, or running text (--documents); .gz is unpacked.",
        )
        parser.add_argument("--out", type=Path, metavar="PAIRS", help="The CSV file to write.")
        spreadsheet_argument(parser)
        parser.add_argument(
            "--dataset",
            metavar="SLUG",
            help="Instead of FILE and --out: sample from this dataset's single sentences, and add the pairs.",
        )
        parser.add_argument(
            "--strategy", choices=[one.value for one in Strategy], required=True, help="How pairs are chosen."
        )
        parser.add_argument(
            "--count", type=int, required=True, metavar="N", help="Number of pairs to sample."
        )
        seed_argument(parser)
        files = parser.add_argument_group(
            "files",
            "COL is the name of a column, or its number from 1 if the file has no header. The options --a, --b and "
            "--score are for --pairs.",
        )
        text_arguments(files)
        files.add_argument(
            "--pairs", action="store_true", help="The files hold pairs, from which the command chooses."
        )
        reading_arguments(files)
        files.add_argument("--a", metavar="COL", help="The first sentence.")
        files.add_argument("--b", metavar="COL", help="The second sentence.")
        files.add_argument("--score", metavar="COL", help="The score.")
        no_header_argument(files)
        files.add_argument(
            "--source",
            metavar="COL",
            help="The source of a sentence or pair, or none. Default: the name of the file.",
        )
        self._sentence_arguments(parser)
        self._strategy_arguments(parser)

    def _sentence_arguments(self, parser: ArgumentParser) -> None:
        sentences = parser.add_argument_group("sentences")
        sentences.add_argument(
            "--words",
            nargs=2,
            type=int,
            default=(5, 25),
            metavar=("LEAST", "MOST"),
            help="How many words a sentence has. Default: 5 25.",
        )
        sentences.add_argument(
            "--cap", type=int, default=1, help="In how many pairs a sentence may be. Default: %(default)s."
        )
        sentences.add_argument(
            "--synonyms", type=Path, metavar="FILE", help="Lines word<TAB>synonym: what stands for a word."
        )
        sentences.add_argument(
            "--wordnet",
            nargs="?",
            const="",
            metavar="FOLDER",
            help="Count words with the same most frequent sense in WordNet as one. FOLDER is found in the "
            "usual places.",
        )

    def _strategy_arguments(self, parser: ArgumentParser) -> None:
        overlap = parser.add_argument_group("--strategy overlap: shared words within a window")
        overlap.add_argument(
            "--overlap",
            nargs=2,
            type=float,
            default=(0.25, 0.75),
            metavar=("LOW", "HIGH"),
            help="The share of distinct words that are shared, from LOW to below HIGH. Default: .25 .75.",
        )
        overlap.add_argument(
            "--share-of",
            choices=[one.value for one in Denominator],
            default=Denominator.FIRST.value,
            help="Whose distinct words the shared words are a share of. Default: %(default)s.",
        )
        overlap.add_argument(
            "--length-difference",
            type=float,
            default=0.25,
            metavar="SHARE",
            help="Largest difference in length, as a share of the longer. Default: %(default)s.",
        )
        buckets = parser.add_argument_group(
            "--strategy percentiles: buckets of equally many candidates, by Dice"
        )
        buckets.add_argument(
            "--buckets", type=int, default=50, help="Number of buckets. Default: %(default)s."
        )
        buckets.add_argument(
            "--growth",
            type=float,
            default=1.0,
            metavar="R",
            help="Each bucket gives R times as many pairs as the one below. Default: 1.",
        )
        buckets.add_argument("--idf", action="store_true", help="Weigh words by how rare they are.")
        labels = parser.add_argument_group("--strategy labels: a label in common, another in combinations")
        labels.add_argument(
            "--shared-label", metavar="COL", help="The label that both sentences have, as a target."
        )
        labels.add_argument("--label", metavar="COL", help="The label that is combined, as a stance.")
        labels.add_argument(
            "--combinations", metavar="X-Y,…", help="Such as for-for,against-against,for-against."
        )
        score = parser.add_argument_group("--strategy score: equally many pairs of each bin (with --pairs)")
        score.add_argument("--bins", metavar="EDGES", help="Where bins begin and end, such as 0,1,2,3,4,5.")

    def handle(self, *, files: Sequence[Path], out: Path | None, **options: Any) -> None:
        started = monotonic()
        if options["dataset"]:
            self._compose(files, out, options, started)
            return
        if not files or out is None:
            self.fail(_("Name files of sentences and --out PAIRS, or --dataset SLUG."))
        if out.resolve() in {path.resolve() for path in files}:
            self.fail(_("%(file)s is one of the files that are read; write to another.") % {"file": out})
        with errors_shown(FileError, SamplingError):
            settings = self._settings(options)
            synonyms = self._synonyms(options)
            read = self._read(files, options)
            words = synonyms.words if synonyms else None
            if options["pairs"]:
                scores = np.array(read.scores, dtype=np.float64)
                drawn = drawn_from_pairs(read.first, read.second, settings, scores=scores, synonyms=words)
            else:
                drawn = drawn_from_sentences(read.first, settings, labels=read.labels, synonyms=words)
            texts, scored = [*read.first, *read.second], bool(np.isfinite(read.scores).any())

            def rows() -> Iterator[Row]:
                for (a, b), dice in zip(drawn.sample.pairs.tolist(), drawn.dice.tolist(), strict=True):
                    other = a if drawn.places is not None else b
                    source = source_of_pair(read.sources[a], read.sources[other])
                    row = [texts[a], texts[b], source, settings.strategy.value, f"{dice:.4f}"]
                    if scored:
                        row.append("" if np.isnan(read.scores[a]) else repr(read.scores[a]))
                    yield row

            columns = [*COLUMNS, Column("score", "number")] if scored else COLUMNS
            write_table(out, "csv", columns, rows(), neutralise=options["spreadsheet"])
        sample = drawn.sample
        figures = {
            "sentences": len(read.first) + len(read.second),
            "pairs": len(sample.pairs),
            "strategy": settings.strategy.value,
            "usable": drawn.usable,
            "rejected": read.rejections,
            "missing": sample.missing,
            "guesses": read.guesses,
            "seconds": round(monotonic() - started, 3),
        }
        self.answer(figures, *_lines(read, drawn, out), as_json=options["json"])

    def _compose(
        self, files: Sequence[Path], out: Path | None, options: Mapping[str, Any], started: float
    ) -> None:
        """Compose pairs of a dataset's pool, and add them to it."""
        database_ready()
        if files or out or any(options[name] for name in OF_FILES):
            self.fail(
                _(
                    "--dataset samples from the single sentences of a dataset; leave out FILE, --out and "
                    "what says how files are read, such as --pairs and --text."
                )
            )
        dataset = dataset_named(options["dataset"])
        with errors_shown(FileError, SamplingError):
            settings = self._settings(options)
            synonyms = self._synonyms(options)
        labels = Labels(options["shared_label"] or "", options["label"] or "")
        composition = composition_add(
            dataset=dataset, settings=settings, labels=labels, state=None, by=None, synonyms=synonyms
        )
        pool = dataset.pool.count()
        figures = {
            "sentences": pool,
            "pairs": composition.pairs,
            "strategy": settings.strategy.value,
            "missing": settings.count - composition.pairs,
            "seconds": round(monotonic() - started, 3),
        }
        names = {"pairs": composition.pairs, "pool": pool, "dataset": dataset.slug}
        told = _("%(dataset)s: %(pairs)d pairs of the dataset's %(pool)d single sentences were added.")
        missing = _missing(Stratum(**stratum) for stratum in composition.parameters["strata"])
        self.answer(figures, *missing, told % names, as_json=options["json"])

    def _settings(self, options: Mapping[str, Any]) -> Settings:
        (low, high), (shortest, longest) = options["overlap"], options["words"]
        strategy = Strategy(options["strategy"])
        if strategy is Strategy.SIMILARITY:
            self.fail(NEEDS_ENCODER)
        if strategy is Strategy.SCORE and not options["pairs"]:
            self.fail(_("Bins of a score are sampled from pairs that have scores; add --pairs."))
        if strategy is Strategy.LABELS and not (options["shared_label"] and options["label"]):
            self.fail(_("Name the columns of both labels with --shared-label and --label."))
        try:
            window = Window(low, high, options["length_difference"], Denominator(options["share_of"]))
        except ValueError as error:
            self.fail(f"{str(error)[0].upper()}{str(error)[1:]}.")
        return Settings(
            strategy=strategy,
            count=options["count"],
            seed=options["seed"],
            cap=options["cap"],
            shortest=shortest,
            longest=longest,
            window=window,
            buckets=options["buckets"],
            growth=options["growth"],
            idf=options["idf"],
            edges=edges_read(options["bins"] or ""),
            combinations=combinations_read(options["combinations"] or ""),
        )

    def _synonyms(self, options: Mapping[str, Any]) -> Synonyms | None:
        path, folder = options["synonyms"], options["wordnet"]
        if path is not None and folder is not None:
            self.fail(_("Synonyms come from a file or from WordNet; leave out --synonyms or --wordnet."))
        if folder is not None:
            return synonyms_of_wordnet(folder)
        return None if path is None else synonyms_of_file(path)

    def _read(self, files: Sequence[Path], options: Mapping[str, Any]) -> _Read:
        read = _Read()
        with ExitStack() as stack:
            for path in files:
                plain = stack.enter_context(unpacked(path))
                if options["pairs"]:
                    self._read_pairs(plain, read, options)
                else:
                    self._read_sentences(plain, read, options)
        return read

    def _read_sentences(self, path: Path, read: _Read, options: Mapping[str, Any]) -> None:
        labels = [options[name] for name in ("shared_label", "label") if options[name]]
        if options["strategy"] != Strategy.LABELS:
            labels = []
        text, source = column_option(options["text"]), column_option(options["source"])
        columns = SentenceColumns(text=text, source=source, labels=labels)
        file = inspect_sentences(
            path,
            columns,
            **reading_given(options),
            documents=options["documents"],
            language=options["language"],
        )
        read.warnings += file.warnings
        read.guess(path, file.layout.guesses if file.layout else ())
        for row in read_sentences(file):
            if isinstance(row, DraftSentence):
                read.first.append(row.text)
                read.sources.append(row.source or path.stem)
                if labels:
                    read.labels.append((row.labels[0], row.labels[1]))
            else:
                read.reject(path, row)

    def _read_pairs(self, path: Path, read: _Read, options: Mapping[str, Any]) -> None:
        names = ("a", "b", "score", "source")
        columns = Columns(**{name: column_option(options[name]) for name in names})
        layout, pairs, rejected = read_pairs(path, columns, **reading_given(options))
        read.warnings += layout.warnings
        read.guess(path, layout.guesses)
        for pair in pairs:
            read.first.append(pair.a)
            read.second.append(pair.b)
            read.sources.append(pair.source or path.stem)
            read.scores.append(float("nan") if pair.score is None else pair.score)
        for row in rejected:
            read.reject(path, row)


def _lines(read: _Read, drawn: Drawn, out: Path) -> Iterator[str]:
    yield from read.warnings
    yield from (guess["reason"] for guess in read.guesses)
    yield from read.rejected
    unused = {"short": drawn.short, "long": drawn.long, "copies": drawn.copies}
    if drawn.places is None:
        told = _(
            "%(usable)d sentences can be sampled; excluded: %(short)d too short, %(long)d too long, "
            "%(copies)d copies of another."
        )
    else:
        told = _(
            "%(usable)d pairs can be sampled; excluded: %(short)d with a sentence too short, %(long)d with "
            "one too long, %(copies)d whose sentences are copies of each other."
        )
    yield told % {"usable": drawn.usable, **unused}
    yield from _missing(drawn.sample.strata)
    if len(drawn.dice):
        # Dice of the pairs beside that of the candidates, in shares of each.
        counts, edges = np.histogram(drawn.dice, bins=BARS, range=(0, 1))
        possible = np.histogram(drawn.candidates, bins=BARS, range=(0, 1))[0]
        yield _("Dice        pairs  candidates")
        for count, other, low in zip(counts.tolist(), possible.tolist(), edges.tolist(), strict=False):
            share, bar = other / max(1, possible.sum()), "█" * round(WIDEST * count / counts.max())
            yield f"{low:.2f}–{low + 1 / BARS:.2f} {count:6d} {share:10.1%}  {bar}".rstrip()
    names = {"pairs": len(drawn.sample.pairs), "file": out}
    yield _("%(pairs)d pairs are in %(file)s. Import them with import_pairs.") % names


def _missing(strata: Iterable[Stratum]) -> Iterator[str]:
    for stratum in strata:
        if stratum.missing:
            names = {"name": stratum.name, "drawn": stratum.drawn, "asked": stratum.asked}
            yield _("%(name)s: %(drawn)d of %(asked)d pairs were found.") % names
