"""A study in the words and rows of the dashboard."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.bws.annotators.gold_gate import TWO_SIDED, share_bounds
from annotation.bws.reliability.split_half import judgements_for
from annotation.bws.studies.costs import campaign_costs
from annotation.cards import cards_by_tuple
from annotation.models import Campaign, Tuple
from annotation.results.annotators import CONFIDENCE
from annotation.results.charts import curve_chart, per_tuple_chart, position_chart, score_chart
from annotation.results.dashboard import Dashboard, as_published
from annotation.results.record import annotators_named
from annotation.results.selectors import judges_of
from annotation.results.signs import signs_shown
from annotation.results.since import Since, since_said
from annotation.results.study import CampaignFindings
from annotation.results.turning import turning_said
from annotation.results.works import study_work
from curation.pairs.sampling.allocation import allocation

FEW_JUDGEMENTS = 6  # of a tuple: on Ruddit, MaxDiff is ahead by .06 still with so many
SHOWN_DIGITS = 3  # of the reliability and its interval on the dashboard
CHOSEN = {"gold": 0.7, "agreement": 0.6}


def study_context(
    campaign: Campaign, dashboard: Dashboard, shown: CampaignFindings, *, pay: float | None = None
) -> dict[str, Any]:
    """What the dashboard shows of a study; without one, what it shows in the meantime. pay: of an hour, where known."""
    figures, made = shown.figures, shown.computed_at
    if reliability := figures.get("reliability"):  # as the head of the dataset's pages has it
        figures = {**figures, "reliability": as_published(campaign, reliability)}
    named = annotators_named(campaign)  # else nothing can be said of people one by one
    people = _people(dashboard, figures) if named else []
    to_look_at = [row for row in people if row["to_look_at"]]
    columns: set[str] = set()  # of the table of annotators, those that say something of anybody
    for person in people:
        row = person["row"]
        said = {
            "gold": row.participation.gold_trials,
            "agreement": person["study"].get("agreement") is not None,
            "repeats": row.repeat_agreement,
            "seconds": row.median_seconds is not None,
            "places": person["study"],
            "last": row.last_at,
        }
        columns |= {name for name, filled in said.items() if filled}
    context: dict[str, Any] = {
        "study": figures,
        "computed_at": made,
        "since": made.isoformat() if made else "",
        "study_due": (due := shown.stale and bool(dashboard.collected)),
        "study_work": study_work(campaign, dashboard.mark) if due else None,
        "named": named,
        "people": people,
        "columns": columns,
        "to_look_at": to_look_at,
        "pay": pay,
        "cost_left": None if pay is None or dashboard.hours_left is None else pay * dashboard.hours_left,
    }
    if not figures.get("judgements"):
        return context
    # The form of publishing begins with MaxDiff where counting would need more judgements to come as near.
    expected = figures["forecast"]
    few = campaign.judgements_per_tuple <= FEW_JUDGEMENTS
    nearer = few and expected["maxdiff"]["mean"] > expected["counting"]["mean"]
    return context | {
        "more": _more(campaign, dashboard, figures["target"], len(to_look_at), pay),
        "method": "maxdiff" if campaign.has_grown or nearer else "counting",
        "advice": _advice(campaign, figures),
    }


def analysis_context(
    campaign: Campaign, dashboard: Dashboard, shown: CampaignFindings, asked: QueryDict | None = None
) -> dict[str, Any]:
    """What the page of the analysis shows beyond the dashboard; asked: the thresholds of its sliders."""
    context = study_context(campaign, dashboard, shown)
    figures = context["study"]
    if not figures.get("judgements"):
        return context
    named = context["named"]
    names = {row.participation.pk: row.participation for row in dashboard.annotators}
    judges = judges_of(campaign)

    lowest = Tuple.objects.filter(pk__in=[row["tuple"] for row in figures["lowest_agreement"]])
    numbers = dict(lowest.values_list("pk", "number"))
    cards = cards_by_tuple(numbers)
    return context | {
        "ties": _ties(figures),
        "across": _across(campaign, figures),
        "curve": curve_chart(figures, judges=judges) if figures["curve"] else None,
        "per_tuple": per_tuple_chart(figures, judges=judges)
        if len(figures.get("per_tuple", ())) > 1
        else None,
        "scores_figures": list(_scores_figures(figures)),
        "variances": _variances(figures.get("components")),
        "chart": score_chart(figures["scores"], judges=judges),
        "what_if": [
            _measure(name, rows, figures, asked)
            for name, rows in figures["what_if"].items()
            if named and rows
        ],
        "gold_minimum": campaign.gold_minimum,
        "exclusions": [
            {**row, "who": names[row["person"]]}
            for row in figures["exclusions"]
            if named and row["person"] in names
        ],
        "lowest_agreement": [
            {**row, "number": numbers[row["tuple"]], "cards": cards[row["tuple"]]}
            for row in figures["lowest_agreement"]
            if row["tuple"] in numbers
        ],
        "positions": position_chart(figures["positions"], figures["judgements"], judges=judges),
    }


def _ties(figures: Mapping[str, Any]) -> str:
    """How often people found the pairs too close to call; nothing where nobody did."""
    ties = figures.get("ties", 0)
    if not ties:
        return ""
    number = ties + figures["judgements"]
    low, high = share_bounds(ties, number, TWO_SIDED)
    words = {
        "ties": ties,
        "number": number,
        "share": 100 * ties / number,
        "low": 100 * low,
        "high": 100 * high,
    }
    return (
        _(
            "In %(ties)d of %(number)d judgements that count (%(share).1f %%, 95 %% interval %(low).1f to "
            "%(high).1f %%) the pairs were too close to call. Counting and reliability leave them out; MaxDiff "
            "models them."
        )
        % words
    )


def _people(dashboard: Dashboard, figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    """People's counts, the bounds of their gold shares, and what the study says of them; those who need a look first.
    share: of the judgements, by the annotator who gave most. to_look_at: signs that nobody has looked at yet.
    """
    studied = {row["person"]: row for row in figures.get("people", ())}
    most = max((row.judgements for row in dashboard.annotators), default=0) or 1
    people = []
    for row in dashboard.annotators:
        found = studied.get(row.participation.pk, {})
        signs = signs_shown(row.participation, found.get("signs", ()))
        people.append(
            {
                "row": row,
                "gold_bounds": share_bounds(
                    row.participation.gold_right, row.participation.gold_trials, CONFIDENCE
                ),
                "study": found,
                "share": row.judgements / most,
                "to_look_at": [sign for sign in signs if not sign.accepted],
                "looked_at": [sign for sign in signs if sign.accepted],
            }
        )
    return sorted(people, key=lambda person: not person["to_look_at"])


def _more(campaign: Campaign, dashboard: Dashboard, target: float, to_look_at: int, pay: float | None) -> str:
    """Whether the interval that the dashboard shows is above the goal, else how many judgements are missing for it.

    to_look_at: people with signs of carelessness, whose answers may be what made the reliability. pay: of an hour.
    """
    if (now := dashboard.reliability) is None:
        return ""
    if round(now["low"], SHOWN_DIGITS) < target:  # the figure alone may be above the goal by chance
        sentence, judgements = _missing(now, target)
        if not judgements:
            return sentence
        sentence += "" if pay is None else _price(campaign, dashboard, judgements, pay)
        return sentence + _beyond(dashboard, judgements)
    words = {"target": f"{target:.2f}", "n": to_look_at}
    if not to_look_at:
        return _("The goal of %(target)s is reached. You can stop here.") % words
    return (
        ngettext(
            "The goal of %(target)s is reached. Before you stop, look at the person who is marked on Progress.",
            "The goal of %(target)s is reached. Before you stop, look at the %(n)d people who are marked on Progress.",
            to_look_at,
        )
        % words
    )


def _missing(now: Mapping[str, Any], target: float) -> tuple[str, int | None]:
    """How many judgements are missing for the target, in a sentence and in number; None where nothing can be said.

    By Spearman and Brown, from the reliability and from either end of its interval.
    """
    missing: dict[str, int | None] = {}
    for end in ("spearman", "low", "high"):
        needed = judgements_for(target, judgements=now["judgements"], spearman=now[end])
        missing[end] = None if needed is None else max(0, needed - now["judgements"])
    likely, most = missing["spearman"], missing["low"]
    if likely is None:
        return "", None
    if likely:
        sentence = _("About %(n)s more judgements for %(target)s (between %(least)s and %(most)s).") % {
            "n": _rounded(likely),
            "target": f"{target:.2f}",
            "least": _rounded(missing["high"] or 0),
            "most": _("no bound can be given") if most is None else _rounded(most),
        }
        return sentence, likely
    sentence = _(
        "The reliability is above the goal of %(target)s, but the lower end of its interval, %(low)s, is not. "
        "Do not stop yet."
    ) % {"target": f"{target:.2f}", "low": f"{now['low']:.{SHOWN_DIGITS}f}"}
    if most:
        more = _("About %(n)s more judgements should bring the lower end to the goal.")
        sentence = f"{sentence} {more % {'n': _rounded(most)}}"
    return sentence, most


def _price(campaign: Campaign, dashboard: Dashboard, judgements: int, pay: float) -> str:
    """What so many judgements cost, where judgements were timed. pay: of an hour."""
    if dashboard.median_seconds is None:
        return ""
    costs = campaign_costs(
        judgements,
        seconds_per_judgement=dashboard.median_seconds,
        gold_every=campaign.gold_every,
        repeat_every=campaign.repeat_every,
    )
    words = {"cost": _rounded(round(costs.hours * pay)), "pay": f"{pay:g}"}
    return " " + _("They cost about %(cost)s at a pay of %(pay)s an hour.") % words


def _beyond(dashboard: Dashboard, judgements: int) -> str:
    """What to do where the campaign does not ask for so many judgements more."""
    left = max(0, dashboard.required - dashboard.collected)
    if judgements <= left:
        return ""
    if not left:
        sentence = _(
            "This campaign asks for no more. A copy with more judgements per tuple can ask for them."
        )
    else:
        sentence = _(
            "This campaign asks for %(left)s more. A copy with more judgements per tuple can ask for the rest."
        ) % {"left": f"{left:,}"}
    return f" {sentence}"


def _scores_figures(figures: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Name, value and meaning of each figure about the scores from all judgements."""
    if now := figures["reliability"]:
        yield (
            _("Split-half, stepped up to all judgements"),
            f"{now['spearman_brown']:.3f}",
            _(
                "Spearman with the scores of other annotators who annotate the same tuples (Spearman-Brown "
                "formula)."
            ),
        )
    if claim := figures.get("turning"):  # a study from before there was one has none
        name = _("Judgements that the claim of at least %(least)g rests on") % claim
        yield name, str(claim["judgements"]["number"] or "–"), turning_said(claim)
    components = figures.get("components")
    if components and components["score_icc"] is not None:
        yield (
            _("ICC of counting scores"),
            f"{components['score_icc']:.3f}",
            _(
                "Pearson with the scores of other annotators who annotate other tuples. Cite it if scores "
                "are used as measurements."
            )
            if components["annotator"] is not None
            else _(
                "Pearson with the scores of other annotators who annotate other tuples. It is too high if "
                "annotators differ, because nobody annotated a pair in two tuples or nobody knows who "
                "annotated."
            ),
        )
    if figures.get("marginal_reliability") is not None:
        meaning = _(
            "Squared correlation with the true utilities, if the model is right and judgements are independent."
        )
        low, high = (figures.get(f"marginal_reliability_{end}") for end in ("low", "high"))
        if low is not None and high is not None:  # a study from before there was an interval has neither
            interval = (
                _(
                    "Answers drawn at random could give it: its 95 %% interval is 0 to %(high)s. Do not cite it yet."
                )
                if low == 0
                else _("Its 95 %% interval is %(low)s to %(high)s.")
            )
            meaning = f"{meaning} {interval % {'low': f'{low:.3f}', 'high': f'{high:.3f}'}}"
        yield (
            _("Marginal reliability of MaxDiff scores"),
            f"{figures['marginal_reliability']:.3f}",
            meaning,
        )
    if components:
        yield (
            _("Standard error of measurement"),
            f"{components['sem'] / 2:.3f}",
            _("The typical error of one counting score, on 0 to 1."),
        )
        yield (
            _("Effective judgements per pair"),
            f"{components['effective_judgements']:.1f}",
            _("So many, each by another annotator and of another tuple, would have the same error."),
        )


def _variances(components: Mapping[str, float | None] | None) -> str:
    """Where the variance of an outcome comes from, in one sentence."""
    names = {
        "item": _("pairs"),
        "tuple": _("the other pairs of the tuple"),
        "annotator": _("how annotators differ on a pair"),
        "residual": _("the rest"),
    }
    known = {key: value for key in names if components and (value := components[key]) is not None}
    if not sum(known.values()):
        return ""
    percents = allocation(list(known.values()), 100, [100] * len(known))  # whole numbers that add to 100
    parts = ", ".join(f"{names[key]} {percent} %" for key, percent in zip(known, percents, strict=True))
    return _("Where the differences between outcomes (best 1, worst −1, else 0) come from: %(parts)s.") % {
        "parts": parts
    }


def _across(campaign: Campaign, figures: Mapping[str, Any]) -> str:
    """What the usual split hides: how scores repeat on other tuples, and what MaxDiff saves."""
    sentences = []
    if across := figures.get("across"):
        sentences.append(
            _(
                "Scores from half of the tuples agree with those from the other half at %(counting).3f by counting and "
                "at %(maxdiff).3f by MaxDiff (Spearman)."
            )
            % across
        )
    share = figures["forecast"].get("maxdiff_share")
    if share is not None and share < 1:
        people = _("annotators like these") if figures["forecast"]["fitted"] else _("typical annotators")
        sentences.append(
            _(
                "Of %(each)d judgements per tuple by %(people)s, MaxDiff needs about "
                "%(percent)d %% to come as close to "
                "the true order as counting does with all of them (simulated)."
            )
            % {"each": campaign.judgements_per_tuple, "people": people, "percent": round(100 * share)}
        )
    return " ".join(sentences)


def published_notes(parameters: Mapping[str, Any], since: Since) -> list[str]:
    """What a published score set says of itself, and what changed since: phrases, those that apply."""
    notes = []
    collected, required = parameters.get("judgements_collected"), parameters.get("judgements_required")
    if required and collected < required:
        words = _("from %(collected)s of %(required)s judgements")
        notes.append(words % {"collected": f"{collected:,}", "required": f"{required:,}"})
    notes += since_said(since)
    if (share := parameters.get("distinguishable")) is not None:
        words = _("%(share).0f %% of its pairs of scores are distinguishable at 95 %%")
        notes.append(words % {"share": 100 * share})
    if precision := parameters.get("prior_precision"):
        words = _(
            "scores of pairs with few judgements are pulled towards the mean, as far as the judgements suggest (the "
            "prior of MaxDiff has the precision %(precision).2f; the pull grows with it)"
        )
        notes.append(words % {"precision": precision})
    if means := parameters.get("prior_means"):
        listed = ", ".join(f"{joined}: {mean:.2f}" for joined, mean in means.items())
        notes.append(
            _(
                "prior means by the round in which pairs joined, which uncertain scores are pulled towards: %(means)s"
            )
            % {"means": listed}
        )
    if scales := parameters.get("annotator_scales"):
        words = _(
            "annotators’ scales %(lowest).2f to %(highest).2f, log evidence %(evidence_gain).1f above that of one "
            "scale, correlation with its scores %(correlation).4f"
        )
        notes.append(words % scales)
    return notes


def _rounded(number: int) -> str:
    """To two digits: what an extrapolation is worth."""
    step: int = 10 ** max(0, len(str(number)) - 2)
    return f"{step * round(number / step):,}"


def _advice(campaign: Campaign, figures: Mapping[str, Any]) -> str:
    """Which method the publisher should take, and what it is worth at this noise."""
    forecast = figures["forecast"]
    if forecast["maxdiff"]["mean"] <= forecast["counting"]["mean"]:
        return ""
    facts = {
        "counting": f"{forecast['counting']['mean']:.3f}",
        "maxdiff": f"{forecast['maxdiff']['mean']:.3f}",
        "n": campaign.judgements_per_tuple,
    }
    if forecast["fitted"]:
        sentence = _(
            "With %(n)d judgements per tuple by annotators like these, counting "
            "correlates with the true order at %(counting)s "
            "and MaxDiff at %(maxdiff)s (Spearman, simulated). In the Ruddit data (Hada et al. 2021), three judgements "
            "scored by MaxDiff replicate as "
            "well as six scored by counting. Publish MaxDiff as a training target, and counting for comparison."
        )
    else:
        sentence = _(
            "With %(n)d judgements per tuple by typical annotators, counting correlates "
            "with the true order at %(counting)s and "
            "MaxDiff at %(maxdiff)s (Spearman, simulated). There are too few "
            "judgements to fit the noise of these annotators."
        )
    return sentence % facts


def _measure(
    name: str, rows: Sequence[Mapping[str, Any]], figures: Mapping[str, Any], asked: QueryDict | None
) -> dict[str, Any]:
    """A slider: its steps, and the current one."""
    titles = {"gold": _("Right choices in attention checks"), "agreement": _("Leave-one-out agreement")}
    now = figures["reliability"]
    steps = []
    for row in rows:  # what leaving out the annotators below the threshold would do
        out = row["left_out"]
        who = ngettext("%(n)d person is excluded", "%(n)d people are excluded", out) % {"n": out}
        facts = {
            "who": who if out else _("nobody is excluded"),
            "judgements": f"{row['judgements']:,}",
            "now": f"{figures['judgements']:,}",
            "shr": _or_dash(row["reliability"]),
            "shr_now": _or_dash(now and now["spearman"]),
            "random": _or_dash(row.get("random")),
            "rank": _or_dash(row["rank"]),
        }
        sentence = _(
            "%(who)s; %(judgements)s judgements count (now %(now)s); reliability %(shr)s (now %(shr_now)s); "
            "the scores correlate with today’s at %(rank)s (Spearman)."
        )
        if row.get("random") is not None:
            more = _(
                "If the same number of random people is excluded, the reliability is %(random)s on average."
            )
            sentence = f"{sentence} {more}"
        text = sentence % facts
        steps.append({"threshold": row["threshold"], "sentence": text[:1].upper() + text[1:], "row": row})
    sought = CHOSEN[name]
    with suppress(ValueError):
        sought = float(asked.get(name, "") if asked else "")
    sliding = [step for step in steps if step["threshold"] > 0]
    return {
        "name": name,
        "title": titles[name],
        "steps": steps,
        "chosen": min(sliding, key=lambda step: abs(step["threshold"] - sought)),
        "least": sliding[0]["threshold"],
        "most": sliding[-1]["threshold"],
    }


def _or_dash(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
