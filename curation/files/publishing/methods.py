"""The methods section of a paper about a dataset, from what the dataset holds. A part without data is left out.

What the data cannot know is marked for a person to write. The number of tuples in which a pair is and the number of
judgements of a tuple are told apart throughout: papers give the product of both under the name of one of them.
"""

from collections.abc import Iterator, Mapping, Sequence

from curation.files.publishing import references as cite
from curation.files.publishing.facts import Collection, Publication, Scores
from curation.files.publishing.making import (
    ChosenPairs,
    EncoderRun,
    GenerationRun,
    ImportedFile,
    Making,
    Reviewed,
)
from curation.files.publishing.prose import (
    Block,
    Cited,
    Grid,
    Heading,
    Paragraph,
    ToWrite,
    as_bibtex,
    as_latex,
    as_markdown,
)
from curation.files.publishing.readme import reliability_stated

MARKDOWN, LATEX, BIBTEX = "METHODS.md", "methods.tex", "references.bib"
_FILES_LISTED = 50


def methods_files(publication: Publication) -> dict[str, str]:
    """The section as Markdown and as LaTeX, and its references, by their names in a published folder."""
    blocks = methods_section(publication)
    return {MARKDOWN: as_markdown(blocks), LATEX: as_latex(blocks), BIBTEX: as_bibtex(blocks)}


def methods_section(publication: Publication) -> list[Block]:
    """The section, whose parts are those for which there are data."""
    making = publication.making
    blocks: list[Block] = [Heading(f"Methods: {publication.name}", 1), *_opening(publication)]
    parts = (
        ("Collection of pairs", _collection(making)),
        ("Generation of sentences", _generation(making.generations)),
        ("Review of generated sentences", _review(making)),
        ("Annotation", _annotation(publication)),
        ("Reliability", _reliability(publication)),
        ("Sentence encoders", _encoders(making)),
    )
    for title, part in parts:
        if found := list(part):
            blocks += [Heading(title), *found]
    return blocks


def _opening(publication: Publication) -> Iterator[Block]:
    licence = f"Its licence is {publication.licence}." if publication.licence else "No licence is stated."
    yield Paragraph(
        [
            (
                f"The dataset {publication.name} holds {_many(publication.making.pairs, 'sentence pair')} "
                f"(language: {publication.language}; version: snapshot {publication.snapshot} of {publication.taken}, "
                f"SHA-256 {publication.sha256}). {licence} It was made with {publication.software}."
            )
        ]
    )
    if publication.simulated:
        names = _listed([f"“{each.name}”" for each in publication.scores if each.simulated])
        yield Paragraph(
            [
                (
                    f"Simulated annotators: judgements behind the scores {names} were given by a program that "
                    f"simulates annotators, and not, or not only, by people."
                )
            ]
        )


# Collection


def _collection(making: Making) -> Iterator[Block]:
    if not making.selection:
        return
    yield Grid(
        "pairs",
        f"Pairs of the dataset by source, origin and strategy, or the subset that a file names "
        f"({making.pairs:,} in all).",
        ["Source", "Origin", "Strategy or subset", "Pairs"],
        [
            [each.source or "not stated", each.origin, each.strategy or "–", f"{each.pairs:,}"]
            for each in making.selection
        ],
        texts=3,
    )
    if making.files:
        shown = making.files[:_FILES_LISTED]
        more = (
            f" {len(making.files) - len(shown):,} more files are not listed."
            if len(making.files) > len(shown)
            else ""
        )
        yield Grid(
            "files",
            f"Imported files of pairs: rows, pairs and scores that each added.{more}",
            ["File", "SHA-256 (beginning)", "Imported", "Rows", "Pairs", "Scores"],
            [
                [
                    each.name,
                    each.sha256[:12],
                    str(each.day),
                    f"{each.rows:,}",
                    f"{each.pairs:,}",
                    f"{each.scores:,}",
                ]
                for each in shown
            ],
            texts=3,
        )
    if making.compositions:
        yield Paragraph(
            [
                f"Pairs were composed from single sentences{_of_files(making.sentence_files)} by published strategies",
                Cited((cite.RELATEDNESS,)),
                ". "
                + " ".join(
                    f"{_many(each.pairs, 'pair')} with the strategy {each.strategy} ({_settings(each.settings)})."
                    for each in making.compositions
                ),
            ]
        )
    if making.choices:
        yield Paragraph([" ".join(_choice(each) for each in making.choices)])
    yield ToWrite(
        "why these sources were chosen, who wrote the sentences, and what was left out before the import."
    )


def _of_files(files: Sequence[ImportedFile]) -> str:
    if not files:
        return ""
    named = ", ".join(f"{each.name} (SHA-256 {each.sha256[:12]})" for each in files[:_FILES_LISTED])
    more = f" and {len(files) - _FILES_LISTED:,} more" if len(files) > _FILES_LISTED else ""
    return f" of the files {named}{more}"


def _choice(chosen: ChosenPairs) -> str:
    drawn = f"the strategy {chosen.strategy} chose ({_settings(chosen.settings)})"
    changed = _many(chosen.pairs, "pair")
    return (
        f"All but the pairs that {drawn} were set aside: {changed}."
        if chosen.split is None
        else f"The pairs that {drawn} got the split “{chosen.split}”: {changed}."
    )


# Generation and review


def _generation(runs: Sequence[GenerationRun]) -> Iterator[Block]:
    if not runs:
        return
    yield Paragraph(
        [
            (
                "For human sentences, a language model wrote second sentences of a given target similarity, instructed "
                "in words"
            ),
            Cited((cite.DINO,)),
            ".",
        ]
    )
    for run in runs:
        debiased = (
            "with self-debiasing: a token loses probability where the instruction of another label prefers it"
            if run.self_debiased
            else "without self-debiasing"
        )
        yield Paragraph(
            [
                (
                    f"Run {run.number} used the model {run.model} and the instructions “{run.task}”, {debiased}. "
                    f"Decoding: {_settings(run.decoding)}."
                )
            ]
        )
        yield Grid(
            f"instructions{run.number}",
            f"Instructions of run {run.number} by target similarity.",
            ["Target", "Instruction"],
            [[label, text] for label, text in run.instructions.items()],
            texts=2,
        )
    yield Grid(
        "generation",
        "Generated sentences. Written: by the model and usable. Kept: rows after clean-up, with partners that were "
        "written for other sentences. In the dataset: pairs of this version. Rejected: by curators, since.",
        ["Run", "Sources", "Written", "Kept", "In the dataset", "Rejected"],
        [
            [f"{run.number}", *map(_count, (run.sources, run.written, run.kept, run.pairs, run.rejected))]
            for run in runs
        ],
    )
    dropped = [f"run {run.number}: {_counts(run.dropped)}" for run in runs if run.dropped]
    if dropped:
        yield Paragraph([f"Sentences that were dropped, by reason: {'; '.join(dropped)}."])


def _review(making: Making) -> Iterator[Block]:
    if making.realism:
        yield Paragraph(
            [
                (
                    "Each sentence got p_D, the probability that a person wrote it, from a classifier that tells human "
                    "from machine-written sentences"
                ),
                Cited((cite.RISE,)),
                ". Sentences were scored by a classifier that had not seen them (cross-fitting).",
            ]
        )
        yield Grid(
            "realism",
            "Classifiers behind p_D. AUC: the probability that a human sentence gets a higher p_D than a machine-"
            "written one, with its 95 % interval.",
            ["Score set", "Model", "Folds", "AUC"],
            [
                [
                    each.name,
                    each.model or each.classifier,
                    _count(each.folds),
                    _interval(each.auc, each.auc_low, each.auc_high),
                ]
                for each in making.realism
            ],
            texts=2,
        )
    if making.review:
        yield Paragraph([_verdicts(making.review)])
        yield ToWrite("who reviewed the sentences, and how the reviewers were instructed.")


def _verdicts(review: Reviewed) -> str:
    who = _many(review.reviewers, "curator")
    if review.simulated:
        who += f", of whom {review.simulated:,} were simulated by a program,"
    reasons = f" Reasons of the rejections: {_counts(review.reasons)}." if review.reasons else ""
    return (
        f"{who} judged {_many(review.sentences, 'generated sentence')}, {review.blind:,} of them without seeing p_D: "
        f"{review.kept:,} were kept, {review.edited:,} edited and {review.rejected:,} rejected.{reasons} "
        f"{_many(review.removed, 'pair')} of the dataset {'is' if review.removed == 1 else 'are'} rejected and in no "
        f"published table; {_many(review.unreviewed, 'generated pair')} of this version "
        f"{'has' if review.unreviewed == 1 else 'have'} no verdict."
    )


# Annotation


def _annotation(publication: Publication) -> Iterator[Block]:
    campaigns = publication.collections
    if not campaigns:
        return
    yield Paragraph(
        [
            "The pairs were annotated by Best-Worst Scaling",
            Cited((cite.BEST_WORST, cite.BEST_WORST_BOOK)),
            (
                ": annotators saw several pairs at once, a tuple, and chose the best and the worst of them. The method "
                "gives more reliable scores than rating scales from as many judgements"
            ),
            Cited((cite.SENTIMENT, cite.RELIABILITY)),
            ". It has been used for the relatedness of sentences by",
            Cited((cite.RELATEDNESS,), in_text=True),
            ".",
        ]
    )
    yield Grid(
        "annotation",
        "Annotation. Tuples per pair: in how many tuples a pair is, on average. Judgements per tuple: how many "
        "were asked for. Judgements: those that count.",
        [
            "Campaign",
            "Pairs",
            "Pairs in a tuple",
            "Tuples",
            "Tuples per pair",
            "Judgements per tuple",
            "Judgements",
            "Annotators",
        ],
        [
            [
                each.name,
                f"{each.pairs:,}",
                f"{each.tuple_size}",
                f"{each.tuples:,}",
                f"{each.tuples_per_item:.3g}",
                f"{each.judgements_per_tuple}",
                f"{each.judgements:,}",
                "not known" if each.annotators is None else f"{each.annotators:,}",
            ]
            for each in campaigns
        ],
    )
    for campaign in campaigns:
        yield Paragraph([" ".join(_campaign(campaign))])
    if scored := [each for each in publication.scores if each.kind == "human"]:
        yield from _scoring(scored)
    if not all(each.imported or each.simulated == each.annotators for each in campaigns):
        yield ToWrite(
            "how annotators were recruited and paid, what languages they speak, and whether an ethics board approved."
        )


def _campaign(campaign: Collection) -> Iterator[str]:
    if campaign.imported:
        yield f"“{campaign.name}”: the judgements were imported from a file."
    else:
        yield f"“{campaign.name}”: annotators were asked “{campaign.question}”."
    if campaign.simulated:
        yield (
            f"{campaign.simulated:,} of the annotators are simulated by a program."
            if campaign.simulated != campaign.annotators
            else "All of its annotators are simulated by a program; no person judged."
        )
    if campaign.gold_tuples and not campaign.imported:
        yield (
            f"{_many(campaign.gold_tuples, 'gold tuple')} with known answers checked the annotators, who were "
            f"stopped below {campaign.gold_threshold:.0%} right answers."
        )
    if campaign.excluded_annotators:
        yield (
            f"{campaign.excluded:,} judgements of {_many(campaign.excluded_annotators, 'annotator')} were excluded"
            f"{_because(campaign.exclusions)}."
        )
    if campaign.extra:
        counts = "does" if campaign.extra == 1 else "do"
        yield f"{_many(campaign.extra, 'judgement')} beyond the number required {counts} not count."
    if campaign.began:
        yield f"They were collected from {campaign.began} to {campaign.ended}."


def _because(reasons: Mapping[str, int]) -> str:
    return f" ({_counts(reasons)})" if reasons else ""


_METHODS = {
    "counting": "the share of tuples in which a pair was chosen best, minus the share in which it was chosen worst",
    "maxdiff": "the MaxDiff model of best and worst choices",
    "bradley-terry": "the Bradley-Terry model of the comparisons that each judgement implies",
}


def _scoring(scored: Sequence[Scores]) -> Iterator[Block]:
    for method, reference in cite.OF_METHODS.items():
        names = [f"“{each.name}”" for each in scored if each.method == method]
        if names:
            low, high = next((each.low, each.high) for each in scored if each.method == method)
            yield Paragraph(
                [
                    (
                        f"The scores {_listed(names)} are by {method}: {_METHODS[method]}, on a scale from {low:g} to "
                        f"{high:g}"
                    ),
                    Cited((reference,)),
                    ".",
                ]
            )


def _reliability(publication: Publication) -> Iterator[Block]:
    stated = [each for each in publication.scores if each.reliability]
    if not stated:
        return
    yield Paragraph(
        [
            "Split-half reliability was computed as is usual for Best-Worst Scaling",
            Cited((cite.SENTIMENT, cite.RELIABILITY)),
            ": the judgements are divided into two halves at random, each half gives scores, and the two rankings are "
            "correlated; the Spearman-Brown formula says what all judgements together would reach. "
            + " ".join(reliability_stated(each) for each in stated),
        ]
    )
    figures = [(each, each.reliability) for each in stated if each.reliability]
    yield Grid(
        "reliability",
        "Split-half reliability: mean of Spearman's correlation over random halves, with its 95 % interval if known.",
        ["Score set", "Judged by", "Trials", "Spearman", "Spearman-Brown", "Pearson"],
        [
            [
                each.name,
                each.judged_by,
                f"{found['trials']:,}",
                _interval(found["spearman_mean"], found.get("spearman_low"), found.get("spearman_high")),
                f"{found['spearman_brown']:.3f}",
                f"{found['pearson_mean']:.3f}",
            ]
            for each, found in figures
        ],
        texts=2,
    )


# Encoders


def _encoders(making: Making) -> Iterator[Block]:
    if not making.encoders:
        return
    opening: list[str | Cited] = [
        (
            "Sentence encoders were trained or evaluated on this dataset; the similarity of a pair is the cosine of "
            "the vectors of its sentences"
        ),
        Cited((cite.SENTENCE_BERT,)),
        ".",
    ]
    if any(run.realism for run in making.encoders):
        opening += ["Weighting pairs by p_D follows", Cited((cite.RISE,), in_text=True), "."]
    if making.encoders_in_all > len(making.encoders):
        opening.append(f"The newest {len(making.encoders)} of {making.encoders_in_all} runs are described.")
    yield Paragraph(opening)
    for run in making.encoders:
        yield from _encoder_run(run)


def _encoder_run(run: EncoderRun) -> Iterator[Block]:
    read = f" on snapshot {run.snapshot}" if run.snapshot is not None else ""
    yield Paragraph([f"Run {run.number}, {run.what}{read}: {_settings(run.settings)}.", *run.notes])
    if run.rows:
        yield Grid(
            f"encoders{run.number}",
            f"Run {run.number}: Spearman's correlation with the scores, with 95 % intervals.",
            run.header,
            run.rows,
        )


# Words


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _count(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"


def _counts(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counted.items())


def _settings(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} ({low:.3f} to {high:.3f})"
