"""What the verdicts on a p_D set answer, in sentences."""

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.results.estimates import Estimate
from mlworkers.kinds.realism.verdicts import Frame, VerdictReport
from mlworkers.science.realism.thresholds import cut_at
from mlworkers.science.realism.verdicts import FEWEST_EACH, HALF_WIDTH

_RARE = 0.1  # of sentences rejected: what a first sample is planned for


def answer_of(report: VerdictReport) -> str:
    """Whether p_D ranks kept above rejected sentences, or why that is not known."""
    if report.empty:
        return _(
            "No person has reviewed these sentences yet, so nothing is known about how p_D agrees with "
            "people."
        )
    if report.main is None:
        return _(
            "There is no blind decision on a random or stratified sample yet. The decisions so far say "
            "nothing about all sentences."
        )
    sample, area = report.main.sample, report.main.figures.auc
    stratified = report.main.frame == Frame.STRATIFIED
    words = {
        "sample": _("stratified sample") if stratified else _("random sample"),
        "kept": intcomma(sample.kept_n),
        "rejected": intcomma(sample.rejected_n),
    }
    if area is None:
        sentence = _(
            "In the %(sample)s, reviewers kept %(kept)s sentences and rejected %(rejected)s. That is too few for an "
            "answer: at least %(fewest)s of each are needed."
        )
        if min(sample.kept_n, sample.rejected_n) >= FEWEST_EACH:
            sentence = _(
                "All reviewed sentences of the %(sample)s have the same p_D, so it cannot rank them."
            )
        return sentence % {**words, "fewest": FEWEST_EACH}
    sentence = _(
        "In the %(sample)s p_D ranks kept above rejected sentences with probability %(value)s (%(low)s to %(high)s)."
    )
    figures = {"value": f"{area.value:.2f}", "low": f"{area.low:.2f}", "high": f"{area.high:.2f}"}
    chance = _("The interval includes 0.50, which is chance.")
    if area.low > 0.5:
        chance = _("That is better than chance, which has 0.50.")
    elif area.high < 0.5:
        chance = _(
            "That is worse than chance, which has 0.50: reviewers keep sentences of low p_D more often."
        )
    return f"{sentence % {**words, **figures}} {chance}"


def next_step_of(report: VerdictReport) -> str:
    """How many more verdicts are needed; empty where the interval is narrow enough."""
    if report.main is None:
        return _(
            "About %(number)s blind decisions of a random sample are a good start: they are enough for an "
            "answer if a tenth of the sentences are rejected."
        ) % {"number": round(FEWEST_EACH / _RARE)}
    needed = report.main.needed
    if needed.for_any is None:
        return _("So far all decisions are the same, so it cannot be said how many more are needed.")
    left = len(report.machine_p_d) - report.main.sample.n
    if needed.for_any:
        return _more(needed.for_any, left, aim=_("for an answer"))
    if needed.for_width:
        return _more(needed.for_width, left, aim=_("to narrow the interval to ±%s") % f"{HALF_WIDTH:.2f}")
    return ""


def _more(number: int, left: int, *, aim: str) -> str:
    words = {"number": intcomma(number), "left": intcomma(left), "aim": aim}
    if number > left:
        return _("The set has %(left)s sentences without such a decision, which are too few %(aim)s.") % words
    sentence = ngettext(
        "About %(number)s more decision is needed %(aim)s, if decisions come out as those so far.",
        "About %(number)s more decisions are needed %(aim)s, if decisions come out as those so far.",
        number,
    )
    return sentence % words


def reviewers_of(report: VerdictReport) -> list[str]:
    """How far the verdicts can be relied on: human sentences rejected, and agreement."""
    humans = report.humans
    rejected = _(
        "No human sentence was reviewed blind, so it is not known how often reviewers reject what people "
        "wrote."
    )
    if humans.n:
        share, low, high = humans.percents
        words = {"n": intcomma(humans.n), "rejected": humans.kept, "share": share, "low": low, "high": high}
        sentence = ngettext(
            "Of %(n)s human sentence that was mixed in blind, %(rejected)s was rejected: %(share)s %% (%(low)s to "
            "%(high)s).",
            "Of %(n)s human sentences that were mixed in blind, %(rejected)s were rejected: %(share)s %% (%(low)s to "
            "%(high)s).",
            humans.n,
        )
        rejected = sentence % words
    return [rejected, _agreement(report), *set_aside(report)]


def set_aside(report: VerdictReport) -> list[str]:
    """How many verdicts do not count, and why."""
    sentences = []
    if report.simulated:
        sentence = ngettext(
            "%(number)s decision of a simulated reviewer is excluded. No person made it.",
            "%(number)s decisions of simulated reviewers are excluded. No person made them.",
            report.simulated,
        )
        sentences.append(sentence % {"number": intcomma(report.simulated)})
    if report.seen:
        sentence = ngettext(
            "%(number)s decision of a reviewer who saw p_D is excluded. It may follow p_D.",
            "%(number)s decisions of reviewers who saw p_D are excluded. They may follow p_D.",
            report.seen,
        )
        sentences.append(sentence % {"number": intcomma(report.seen)})
    if report.chosen:
        sentence = ngettext(
            "%(number)s blind decision is excluded: somebody chose the sentence, or the queue of another "
            "p_D set showed it.",
            "%(number)s blind decisions are excluded: somebody chose the sentences, or the queue of another "
            "p_D set showed them.",
            report.chosen,
        )
        sentences.append(sentence % {"number": intcomma(report.chosen)})
    return sentences


def _agreement(report: VerdictReport) -> str:
    kappa = report.kappa
    words = {"n": intcomma(kappa.n), "agreed": intcomma(kappa.agreed)}
    if not kappa.n:
        return _("No sentence was reviewed blind by two people, so it is not known how far they agree.")
    if kappa.value is None or kappa.low is None or kappa.high is None:
        return (
            ngettext(
                "Two reviewers saw %(n)s sentence blind and made the same decision.",
                "Two reviewers saw %(n)s sentences blind and made the same decision on all of them.",
                kappa.n,
            )
            % words
            + " "
            + _("Cohen's κ needs kept and rejected sentences.")
        )
    sentence = ngettext(
        "Two reviewers saw %(n)s sentence blind and agreed about %(agreed)s: Cohen's κ %(value)s (%(low)s to "
        "%(high)s).",
        "Two reviewers saw %(n)s sentences blind and agreed about %(agreed)s: Cohen's κ %(value)s (%(low)s "
        "to %(high)s).",
        kappa.n,
    )
    figures = {"value": kappa.value, "low": kappa.low, "high": kappa.high}
    return sentence % {**words, **{name: f"{value:.2f}".replace("-", "−") for name, value in figures.items()}}


def automation_sentences(report: VerdictReport, *, reject: float, keep: float) -> list[str]:
    """What rejecting the share `reject` of lowest p_D and keeping the share `keep` of highest p_D unread would mean."""
    main = report.main
    if main is None or not report.machine_p_d:
        return []
    if reject + keep > 1 + 1e-9:
        return [_("The two shares are more than all sentences together. Choose smaller ones.")]
    total, sentences, decided = len(report.machine_p_d), [], 0
    if reject:
        cut = cut_at(main.sample, report.machine_p_d, min(reject, 1 - 1 / (2 * total)))
        decided += cut.below
        sentence = _("Rejecting p_D below %(threshold)s decides %(number)s sentences. %(right)s")
        right = _right(
            cut.rejected_below, _("Reviewers would reject %(share)s of them too (%(low)s to %(high)s).")
        )
        words = {"threshold": f"{cut.threshold:.3f}", "number": intcomma(cut.below), "right": right}
        sentences.append(sentence % words)
    if keep:
        cut = cut_at(main.sample, report.machine_p_d, max(0.0, 1 - keep))
        decided += cut.above
        sentence = _("Keeping p_D from %(threshold)s decides %(number)s sentences. %(right)s")
        right = _right(cut.kept_above, _("Reviewers would keep %(share)s of them too (%(low)s to %(high)s)."))
        words = {"threshold": f"{cut.threshold:.3f}", "number": intcomma(cut.above), "right": right}
        sentences.append(sentence % words)
    decided = min(decided, total)
    left = _(
        "%(decided)s of %(total)s sentences (%(share)s) are decided automatically. %(left)s are left for people."
    )
    words = {
        "decided": intcomma(decided), "total": intcomma(total), "share": f"{decided / total:.0%}",
        "left": intcomma(total - decided),
    }  # fmt: skip
    return [*sentences, left % words]


def _right(share: Estimate | None, sentence: str) -> str:
    if share is None:
        return _("No reviewer has decided on any of them.")
    return sentence % {"share": f"{share.value:.0%}", "low": f"{share.low:.0%}", "high": f"{share.high:.0%}"}
