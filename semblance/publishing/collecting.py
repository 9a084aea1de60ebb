"""What a published folder says of a snapshot, read from the dataset, its campaigns, imports, reviews and runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from annotation.models import Campaign
from annotation.results.published import campaigns_by_pk, collection_facts
from annotation.results.since import Since, changed_since
from curation.datasets.lineage import wrote_scores
from curation.datasets.selectors import SHOWN_FIRST
from curation.exchange.exporting import snapshot_file
from curation.exchange.snapshots import snapshot_facts
from curation.files.comparing import score_columns_about
from curation.files.heavy import pq
from curation.files.publishing.facts import (
    ChosenPairs,
    ComposedPairs,
    GenerationRun,
    ImportedFile,
    Making,
    PairsFrom,
    Publication,
    RealismScores,
    Reviewed,
    Scores,
)
from curation.foundation.errors import UserError
from curation.models import (
    AuditEntry,
    ComposedPair,
    Composition,
    ImportBatch,
    Pair,
    PairScore,
    ReviewDecision,
    ScoreSet,
    Snapshot,
    User,
)
from curation.pairs.inclusion import UNNAMED
from curation.pairs.sampling.drawing import WITH_BINS, Strategy
from curation.pairs.sampling.searching import Denominator, Window
from curation.review.history import decisions_at
from curation.version import VERSION
from mlworkers.kinds.published import encoder_runs
from mlworkers.models import Run
from mlworkers.science.synthesis.prompts import TaskError, task_named

SOFTWARE = f"Semblance {VERSION}"
_DECODING = {
    "split": "split", "labels": "targets", "samples": "samples per target", "top_k": "top k", "top_p": "top p",
    "decay": "λ", "floor": "ε", "max_tokens": "at most tokens", "keep": "kept per target",
    "sampled": "partners per source", "smoothing": "label smoothing", "seed": "seed",
}  # fmt: skip
_DRAWING = {
    "count": "pairs asked for", "seed": "seed", "cap": "most pairs of a sentence", "shortest": "fewest words",
    "longest": "most words",
}  # fmt: skip
# What the strategies use beside that.
_COMPOSING = {
    Strategy.OVERLAP: {"window": "words in common", "synonyms": "synonyms"},
    Strategy.PERCENTILES: {
        "buckets": "buckets", "growth": "growth", "idf": "IDF weights", "synonyms": "synonyms",
    },
    Strategy.LABELS: {"labels": "labels", "combinations": "combinations"},
}  # fmt: skip
_CHOOSING = _DRAWING | {
    "edges": "bins", "score_set": "scores", "source": "among the source", "split": "among the split",
    "window": "words in common", "buckets": "buckets", "growth": "growth", "idf": "IDF weights",
}  # fmt: skip


@dataclass(frozen=True)
class Collected:
    """The facts, and the campaigns whose scores the snapshot holds."""

    publication: Publication
    campaigns: Sequence[Campaign]


def publication_of(snapshot: Snapshot, *, score_set: str = "", authors: Sequence[str] = ()) -> Collected:
    """What there is to publish of a snapshot.

    score_set: the scores of the configuration `scored`; empty for those that pages show first. Raises UserError where
    the snapshot has no such scores, or its file is gone.
    """
    dataset = snapshot.dataset
    found = scores_held(snapshot)
    main = (
        next((each for each in found if each.name == score_set), None)
        if score_set
        else next(iter(found), None)
    )
    if main is None:
        names = ", ".join(f"“{each.name}”" for each in found)
        if names:
            sentence = _("Snapshot %(number)s has no scores “%(name)s”. Its score sets: %(names)s.")
            raise UserError(sentence, number=snapshot.number, name=score_set, names=names)
        sentence = _(
            "No pair of snapshot %(number)s has a score, so there is nothing to publish. Add scores first."
        )
        raise UserError(sentence, number=snapshot.number)
    sets = _sets_by_name(snapshot)
    refs = [
        one.campaign_ref for each in found if (one := sets.get(each.name)) is not None and one.campaign_ref
    ]
    campaigns = campaigns_by_pk(refs)
    publication = Publication(
        slug=dataset.slug,
        name=dataset.name,
        description=dataset.description,
        language=dataset.language,
        licence=dataset.licence,
        address=dataset.source_address,
        authors=[author for author in map(str.strip, authors) if author],
        snapshot=snapshot.number,
        sha256=snapshot.sha256,
        taken=snapshot.created_at.date(),
        chosen=snapshot.filter.get("generated_pairs", UNNAMED.value),
        software=SOFTWARE,
        main=main,
        others=[each for each in found if each is not main],
        collections=[collection_facts(campaign) for campaign in campaigns],
        making=_making(snapshot),
    )
    return Collected(publication, campaigns)


def scores_held(snapshot: Snapshot) -> list[Scores]:
    """The score sets that score any pair of the snapshot, first those that are shown where nobody names one; last those
    that were withdrawn since.

    Kind and scale are the snapshot's. Method, judgements and reliability are those of the score set, if it is there.
    """
    counts = {column.name: column.count for column in snapshot_facts(snapshot).scores}
    held = [
        Scores(column, of["score_set"], of["kind"], of["low"], of["high"], counts.get(column, 0))
        for column, of in score_columns_about(snapshot_file(snapshot)).items()
        if counts.get(column, 0)
    ]
    sets = _sets_by_name(snapshot)
    campaigns = campaigns_by_pk(made.campaign_ref for made in sets.values() if made.campaign_ref)
    by_pk = {campaign.pk: campaign for campaign in campaigns}
    changed = changed_since(made for scores in held if (made := sets.get(scores.name)))
    newest_first = []
    for scores in reversed(held):
        made = sets.get(scores.name)
        if made is None:
            newest_first.append(scores)
            continue
        facts, campaign = made.parameters, by_pk.get(made.campaign_ref or 0)
        since = changed.get(made.pk, Since())
        newest_first.append(
            replace(
                scores,
                method=made.method,
                judgements=facts.get("judgements"),
                annotators=facts.get("annotators"),
                simulated=facts.get("simulated_annotators", 0),
                reliability=facts.get("reliability"),
                marginal=_marginal(made),
                agreement=facts.get("agreement"),
                campaign=campaign.name if campaign else str(facts.get("campaign", "")),
                published=made.created_at.date().isoformat(),
                withdrawn=f"{made.withdrawn_at.date()}: {made.withdrawn_why}" if made.withdrawn_at else "",
                added_since=since.added,
                gone_since=since.gone,
            )
        )
    return sorted(newest_first, key=lambda each: (bool(each.withdrawn), SHOWN_FIRST.index(each.kind)))


def certainty(
    snapshot: Snapshot, scores: Scores, values: Mapping[int, float]
) -> dict[int, tuple[float | None, int | None]]:
    """Standard error and judgements of the pairs, by number, whose score is still that of the snapshot. One query."""
    if not values:
        return {}
    rows = PairScore.objects.filter(
        score_set__dataset=snapshot.dataset_id,
        score_set__name=scores.name,
        pair__gte=min(values),
        pair__lte=max(values),
    )
    columns = ("pair_id", "value", "standard_error", "judgements")
    return {
        pair: (error, judgements)
        for pair, value, error, judgements in rows.values_list(*columns).iterator()
        if values.get(pair) == value
    }


def _marginal(made: ScoreSet) -> tuple[float, float | None, float | None] | None:
    """The marginal reliability of MaxDiff scores with its interval; None for other methods, and where none is kept."""
    facts = made.parameters
    if made.method != "maxdiff" or facts.get("marginal_reliability") is None:
        return None
    names = ("marginal_reliability", "marginal_reliability_low", "marginal_reliability_high")
    value, low, high = (facts.get(name) for name in names)
    return value, low, high


def _sets_by_name(snapshot: Snapshot) -> dict[str, ScoreSet]:
    return {each.name: each for each in ScoreSet.objects.filter(dataset=snapshot.dataset_id)}


def _making(snapshot: Snapshot) -> Making:
    """Raises UserError where the snapshot's file is gone."""
    table = pq.read_table(snapshot_file(snapshot), columns=["pair", "source", "origin", "subset", "verdict"])
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    held = set(columns["pair"])
    compositions = {each.pk: each for each in Composition.objects.filter(dataset=snapshot.dataset)}
    # From pairs of the snapshot to the compositions that added them.
    added = ComposedPair.objects.filter(composition__dataset=snapshot.dataset)
    additions = added.values_list("pair_id", "composition_id").iterator()
    composed = {pair: composition for pair, composition in additions if pair in held}
    # From pairs of the snapshot to the runs that wrote them.
    written = Pair.objects.filter(dataset=snapshot.dataset).exclude(run_ref=None).order_by()
    refs = written.values_list("pk", "run_ref").iterator()
    generated = {pair: run for pair, run in refs if pair in held and run is not None}
    strategies = {pair: compositions[of].parameters["strategy"] for pair, of in composed.items()}
    strategies |= {pair: f"generated by run {run}" for pair, run in generated.items()}
    rows = zip(columns["pair"], columns["source"], columns["origin"], columns["subset"], strict=True)
    counted = Counter(
        (source or "", origin, strategies.get(pair) or subset or "") for pair, source, origin, subset in rows
    )
    found, in_all = encoder_runs(snapshot)
    unreviewed = sum(
        origin == "generated" and not verdict
        for origin, verdict in zip(columns["origin"], columns["verdict"], strict=True)
    )
    # The choices among pairs before the snapshot was made, but for those that were undone by then.
    edits = AuditEntry.objects.filter(
        dataset=snapshot.dataset, action=AuditEntry.Action.PAIRS_EDITED, at__lte=snapshot.created_at
    ).exclude(undone_by__at__lte=snapshot.created_at)
    return Making(
        pairs=len(held),
        selection=[PairsFrom(*key, number) for key, number in sorted(counted.items())],
        files=_files(snapshot),
        sentence_files=_sentence_files(snapshot) if composed else [],
        choices=[
            ChosenPairs(
                strategy=edit.details["filter"]["strategy"],
                settings=_named(edit.details["filter"], _CHOOSING),
                pairs=edit.pairs or 0,
                split=edit.details["set"].get("split"),
            )
            for edit in edits.order_by("pk")
            if "strategy" in edit.details.get("filter", {})
        ],
        compositions=[
            ComposedPairs(
                compositions[pk].parameters["strategy"],
                _composing(compositions[pk].parameters),
                number,
            )
            for pk, number in sorted(Counter(composed.values()).items())
        ],
        generations=_generations(snapshot, Counter(generated.values())),
        realism=_realism(snapshot) if generated else [],
        review=_review(snapshot, unreviewed),
        encoders=found,
        encoders_in_all=in_all,
    )


def _files(snapshot: Snapshot) -> list[ImportedFile]:
    """What was imported before the snapshot was made, and added anything."""
    done = ImportBatch.objects.filter(
        dataset=snapshot.dataset,
        kind=ImportBatch.Kind.PAIRS,
        state=ImportBatch.State.DONE,
        created_at__lte=snapshot.created_at,
    )
    return [
        ImportedFile(
            batch.file_name,
            batch.rows,
            batch.added,
            batch.report.get("scores_added", 0),
            batch.sha256,
            batch.created_at.date(),
        )
        for batch in done.order_by("created_at", "pk")
        if batch.added or wrote_scores(batch)
    ]


def _sentence_files(snapshot: Snapshot) -> list[ImportedFile]:
    """From which the pool had sentences before the snapshot was made."""
    done = ImportBatch.objects.filter(
        dataset=snapshot.dataset,
        kind=ImportBatch.Kind.SENTENCES,
        state=ImportBatch.State.DONE,
        added__gt=0,
        created_at__lte=snapshot.created_at,
    )
    return [
        ImportedFile(batch.file_name, batch.rows, 0, 0, batch.sha256, batch.created_at.date())
        for batch in done.order_by("created_at", "pk")
    ]


def _composing(parameters: Mapping[str, Any]) -> dict[str, str]:
    """The settings of a composition that its strategy uses."""
    strategy = parameters["strategy"]
    names = _COMPOSING.get(strategy, {"edges": "bins"} if strategy in WITH_BINS else {})
    return _named(parameters, _DRAWING | names)


def _generations(snapshot: Snapshot, counted: Mapping[int, int]) -> list[GenerationRun]:
    rejected = Counter(
        decisions_at(snapshot.dataset, snapshot.created_at)
        .filter(verdict=ReviewDecision.Verdict.REJECT, pair__run_ref__in=counted)
        .order_by()
        .values_list("pair__run_ref", flat=True)
    )
    generations = []
    for run in Run.objects.filter(pk__in=counted).order_by("pk"):
        plan, result = run.plan, run.result
        try:
            task = task_named(plan.get("task", ""))
            name = task.name
            asked = [label.strip() for label in str(plan.get("labels", "")).split(",") if label.strip()]
            texts = {
                label: each.text for label, each in task.instructions.items() if label in asked or not asked
            }
        except TaskError:  # instructions of an earlier version
            name, texts = "instructions that can no longer be read", {}
        generations.append(
            GenerationRun(
                number=run.pk,
                model=str(plan.get("model", "")),
                task=name,
                instructions=texts,
                decoding=_named(plan, _DECODING),
                self_debiased=bool(result.get("self_debiased", plan.get("self_debiasing"))),
                sources=result.get("sources"),
                written=result.get("generated"),
                kept=result.get("kept"),
                dropped=result.get("dropped", {}),
                pairs=counted[run.pk],
                rejected=rejected[run.pk],
            )
        )
    return generations


def _realism(snapshot: Snapshot) -> list[RealismScores]:
    sets = ScoreSet.objects.filter(
        dataset=snapshot.dataset, kind=ScoreSet.Kind.REALISM, created_at__lte=snapshot.created_at
    ).order_by("pk")
    return [
        RealismScores(
            name=each.name,
            model=each.parameters.get("model") or "",
            classifier=each.parameters.get("classifier") or "–",
            folds=each.parameters.get("folds"),
            auc=each.parameters.get("auc"),
            auc_low=each.parameters.get("auc_low"),
            auc_high=each.parameters.get("auc_high"),
        )
        for each in sets
    ]


def _review(snapshot: Snapshot, unreviewed: int) -> Reviewed | None:
    """What had been decided about sentences of the dataset; None where nobody had decided anything."""
    valid = decisions_at(snapshot.dataset, snapshot.created_at)
    shown = valid.filter(alongside=None)
    rows = list(shown.values_list("verdict", "reviewer_id", "blind", "reasons"))
    if not rows:
        return None
    verdicts = Counter(verdict for verdict, *_rest in rows)
    reviewers = {reviewer for _verdict, reviewer, *_rest in rows if reviewer is not None}
    reasons = Counter(reason for *_rest, several in rows for reason in several)
    kinds = ReviewDecision.Verdict
    return Reviewed(
        reviewers=len(reviewers),
        simulated=User.objects.filter(pk__in=reviewers, simulated=True).count(),
        kept=verdicts[kinds.KEEP],
        edited=verdicts[kinds.EDIT],
        rejected=verdicts[kinds.REJECT],
        blind=sum(blind for _verdict, _reviewer, blind, _reasons in rows),
        reasons={str(ReviewDecision.Reason(name).value): count for name, count in sorted(reasons.items())},
        removed=valid.filter(verdict=kinds.REJECT).values("pair").distinct().count(),
        unreviewed=unreviewed,
    )


def _named(values: Mapping[str, object], names: Mapping[str, str]) -> dict[str, str]:
    """The settings that are there, under names that a reader knows."""
    return {
        shown: _shown(values[name])
        for name, shown in names.items()
        if values.get(name) not in (None, "", [], ())
    }


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):  # a window of words in common, or the names of two labels
        if "denominator" in value:
            return Window(**{**value, "denominator": Denominator(value["denominator"])}).described
        return "{shared} and {crossed}".format_map(value)
    if isinstance(value, list | tuple):
        return ", ".join("-".join(one) if isinstance(one, list | tuple) else str(one) for one in value)
    return str(value)
