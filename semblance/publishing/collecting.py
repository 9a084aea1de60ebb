"""What a published folder says of a snapshot, read from the dataset, its campaigns and its runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from annotation.models import Campaign
from annotation.results.published import campaigns_by_pk, collection_facts
from curation.datasets.selectors import SHOWN_FIRST
from curation.exchange.exporting import snapshot_file
from curation.exchange.snapshots import snapshot_facts
from curation.files.comparing import score_columns_about
from curation.files.publishing.facts import Publication, Scores
from curation.foundation.errors import UserError
from curation.models import PairScore, ScoreSet, Snapshot
from curation.pairs.inclusion import UNNAMED
from curation.version import VERSION
from semblance.publishing.making import making_of

SOFTWARE = f"Semblance {VERSION}"


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
        making=making_of(snapshot),
    )
    return Collected(publication, campaigns)


def scores_held(snapshot: Snapshot) -> list[Scores]:
    """The score sets that score any pair of the snapshot, first those that are shown where nobody names one.

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
    newest_first = []
    for scores in reversed(held):
        made = sets.get(scores.name)
        if made is None:
            newest_first.append(scores)
            continue
        facts, campaign = made.parameters, by_pk.get(made.campaign_ref or 0)
        newest_first.append(
            replace(
                scores,
                method=made.method,
                judgements=facts.get("judgements"),
                annotators=facts.get("annotators"),
                simulated=facts.get("simulated_annotators", 0),
                reliability=facts.get("reliability"),
                campaign=campaign.name if campaign else str(facts.get("campaign", "")),
            )
        )
    return sorted(newest_first, key=lambda each: SHOWN_FIRST.index(each.kind))


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


def _sets_by_name(snapshot: Snapshot) -> dict[str, ScoreSet]:
    return {each.name: each for each in ScoreSet.objects.filter(dataset=snapshot.dataset_id)}
