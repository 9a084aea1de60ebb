"""What a comparison of weightings shows, and what it cannot show, in sentences."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.text import capfirst, get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.models import ScoreSet
from mlworkers.kinds.comparisons.comparison import CONTROLS, Cell, Comparison
from mlworkers.models import Run
from mlworkers.science.encoders.plan import SEEDS_TO_JUDGE

WEIGHTED = ("random", *CONTROLS)  # whose weights are uneven, so that the controls are about them


def what_it_shows(comparison: Comparison) -> str:
    """What the table says of the weightings, and what it cannot say, from its figures alone."""
    sentences = [*(_judged(comparison) if comparison.judged else _not_judged(comparison))]
    labels = [label for label, _cell in comparison.cells()]
    if "realism" in labels and "shuffle" not in labels:
        without = _(
            "Without the control shuffle, this comparison cannot show whether p_D says anything about its sentences."
        )
        sentences.append(without)
    lacking = [label for label in labels if label in CONTROLS and CONTROLS[label] not in labels]
    if others := [label for label in lacking if label != "realism"]:
        words = {
            "controls": get_text_list([CONTROLS[label] for label in others], _("and")),
            "labels": get_text_list(others, _("and")),
        }
        without = _(
            "Without %(controls)s, it cannot show whether the weights of %(labels)s say anything about their pairs."
        )
        sentences.append(without % words)
    if "constant" not in labels and any(label in WEIGHTED for label in labels):
        without = _(
            "Without the control constant, it cannot show whether a smaller loss alone makes the same difference."
        )
        sentences.append(without)
    seeds = len(comparison.seeds)
    limits = ngettext(
        "One test of %(pairs)s pairs and one seed: other tests may give another order.",
        "One test of %(pairs)s pairs and %(seeds)s seeds: other tests may give another order.",
        seeds,
    )
    return " ".join([*sentences, limits % {"seeds": seeds, "pairs": f"{comparison.pairs:,}"}])


def _judged(comparison: Comparison) -> Iterator[str]:
    over = comparison.over_shuffle.get("realism", Cell())  # what p_D says about its sentences
    if over.has_difference and over.difference is not None:
        apart = capfirst(_apart("realism", over, _("shuffle")))
        if not over.differs:
            yield _(
                "Realism is not distinguishable from shuffle, which gives the same weights to other pairs, so this "
                "comparison does not show that p_D says anything about its sentences."
            )
        elif over.difference > 0:
            yield _(
                "%(apart)s, which gives the same weights to other pairs, so p_D says something about its sentences."
            ) % {"apart": apart}
        else:
            yield _(
                "%(apart)s, which gives the same weights to other pairs, so weighting these sentences by p_D does harm."
            ) % {"apart": apart}
    others = {label: cell for label, cell in comparison.over_shuffle.items() if label != "realism"}
    yield from _about_weights({label: cell for label, cell in others.items() if cell.has_difference})
    cells = [
        (_("the baseline model") if label == "base" else label, cell)
        for label, cell in comparison.cells()
        if cell.has_difference and label != "plain"
    ]
    clauses = [_apart(label, cell, _("plain")) for label, cell in cells if cell.differs]
    if together := [label for label, cell in cells if not cell.differs]:
        sentence = ngettext(
            "%(labels)s is not distinguishable from plain",
            "%(labels)s are not distinguishable from plain",
            len(together),
        )
        clauses.append(sentence % {"labels": get_text_list(together, _("and"))})
    if not clauses:
        clauses = [_("there is no interval for a difference from plain training, so the table ranks nothing")]
    yield f"{capfirst('; '.join(clauses))}."


def _about_weights(others: Mapping[str, Cell]) -> Iterator[str]:
    """Of weightings other than realism, what their differences from their own shuffles say."""
    if together := [label for label, over in others.items() if not over.differs]:
        sentence = ngettext(
            "%(labels)s is not distinguishable from its shuffle, which gives the same weights to other pairs, so this "
            "comparison does not show that these weights say anything about their pairs.",
            "%(labels)s are not distinguishable from their shuffles, which give the same weights to other pairs, so "
            "this comparison does not show that these weights say anything about their pairs.",
            len(together),
        )
        yield sentence % {"labels": capfirst(get_text_list(together, _("and")))}
    for label, over in others.items():
        if not over.differs:
            continue
        apart = capfirst(_apart(label, over, CONTROLS[label]))
        if (over.difference or 0.0) > 0:
            sentence = _(
                "%(apart)s, which gives the same weights to other pairs, so these weights say something about their "
                "pairs."
            )
        else:
            sentence = _(
                "%(apart)s, which gives the same weights to other pairs, so these weights do harm on their own pairs."
            )
        yield sentence % {"apart": apart}


def _apart(label: str, cell: Cell, other: str) -> str:
    difference = cell.difference or 0.0
    low, high = cell.difference_low or 0.0, cell.difference_high or 0.0
    if difference < 0:
        low, high = -high, -low
    words = {
        "label": label,
        "by": f"{abs(difference):.3f}",
        "low": _plain(low),
        "high": _plain(high),
        "other": other,
    }
    if difference < 0:
        return _("%(label)s is %(by)s (%(low)s to %(high)s) below %(other)s") % words
    return _("%(label)s is %(by)s (%(low)s to %(high)s) above %(other)s") % words


def _plain(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _not_judged(comparison: Comparison) -> Iterator[str]:
    seeds = len(comparison.seeds)
    words = {"seeds": seeds, "least": SEEDS_TO_JUDGE}
    if not comparison.with_training_noise:
        yield _(
            "The intervals of this comparison cover other test pairs and not another training, so no "
            "difference is tested. Start it again to get intervals that cover both."
        )
    elif seeds == 1:
        yield (
            _(
                "One seed cannot show how much another seed would change the figures, so no difference is "
                "tested. That takes %(least)s seeds."
            )
            % words
        )
    else:
        yield (
            _(
                "%(seeds)s seeds cannot show well enough how much another seed would change the figures, so "
                "no difference is tested. That takes %(least)s seeds."
            )
            % words
        )
    # The two differences of realism, or else of each weighting that has a shuffle, without a verdict.
    labels = [label for label, _cell in comparison.cells() if label in CONTROLS]
    for label in ["realism"] if "realism" in labels else labels:
        both = [(CONTROLS[label], comparison.over_shuffle.get(label)), (_("plain"), comparison.cell(label))]
        found = [
            _("%(difference)s from %(other)s")
            % {"difference": f"{cell.difference:+.3f}".replace("-", "−"), "other": other}
            for other, cell in both
            if cell is not None and cell.difference is not None
        ]
        if found:
            named = {"label": label, "differences": get_text_list(found, _("and"))}
            yield _("As measured, %(label)s is %(differences)s.") % named


def ceiling_note(result: Mapping[str, Any]) -> str:
    """The highest correlation that the test scores' reliability allows."""
    ceiling = result.get("ceiling")
    if ceiling is None:
        return ""
    low, high = result.get("ceiling_low"), result.get("ceiling_high")
    interval = f" ({low:.3f} {_('to')} {high:.3f})" if low is not None and high is not None else ""
    sentence = _(
        "Human ceiling: %(ceiling)s%(interval)s, the correlation of the test scores with error-free ones under the "
        "assumptions of classical test theory (%(source)s)."
    )
    return sentence % {
        "ceiling": f"{ceiling:.3f}",
        "interval": interval,
        "source": result.get("ceiling_source", ""),
    }


def validation_note(run: Run) -> str:
    """What the kept weights of the encoders were chosen by."""
    share = run.plan.get("validation_share") or 0
    scores = ScoreSet.objects.filter(dataset=run.dataset, name=run.plan.get("scores", "")).first()
    if not share or scores is None:
        return ""
    words = {"share": f"{100 * float(share):.3g}"}
    if scores.kind == ScoreSet.Kind.TARGET:
        sentence = _(
            "Checkpoints were chosen on a synthetic dev set, as in RISE: %(share)s %% of the generated pairs with "
            "their target similarities, which share no sentence with the training pairs."
        )
    else:
        sentence = _(
            "Checkpoints were chosen on a dev set of human scores: %(share)s %% of the pairs, which share no sentence "
            "with the training pairs."
        )
    return sentence % words


def unscored_note(result: Mapping[str, Any], *, plan: Mapping[str, Any]) -> str:
    """How many training pairs had no p_D or p_y, and what became of them; nothing where all had one."""
    symbol = "p_y" if not plan.get("realism") else _("p_D or p_y")
    if not plan.get("consistency"):
        symbol = "p_D"
    human, left_out = result.get("unscored_as_human", 0), result.get("unscored_left_out", 0)
    as_human = ngettext(
        "%(number)s training pair had no %(symbol)s because a person wrote or edited its sentence; it counts as human "
        "(%(symbol)s = 1).",
        "%(number)s training pairs had no %(symbol)s because a person wrote or edited their sentences; they count as "
        "human (%(symbol)s = 1).",
        human,
    )
    without = ngettext(
        "%(number)s pair without %(symbol)s was left out of every weighting alike.",
        "%(number)s pairs without %(symbol)s were left out of every weighting alike.",
        left_out,
    )
    counted = [(human, as_human), (left_out, without)]
    return " ".join(
        sentence % {"number": f"{number:,}", "symbol": symbol} for number, sentence in counted if number
    )
