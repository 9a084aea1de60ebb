"""What a comparison of weightings found, as a chart."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.files.heavy import alt
from curation.results.reports import Chart
from mlworkers.kinds.comparisons.comparison import Comparison
from mlworkers.kinds.dot_chart import Dot, dots_in_rows


def comparison_chart(comparison: Comparison, *, judges: str) -> Chart | None:
    """Each encoder's correlation on the first test, its interval and its seeds; None if all are undefined."""
    cells = [(label, cell) for label, cell in comparison.cells() if cell.mean is not None]
    if not cells:
        return None
    by_mean = sorted(cells, key=lambda one: one[1].mean or 0.0)
    (lowest, low), (highest, high) = by_mean[0], by_mean[-1]
    words = {"highest": highest, "high": f"{high.mean:.3f}", "lowest": lowest, "low": f"{low.mean:.3f}"}
    finding = _("Highest is %(highest)s with %(high)s, lowest %(lowest)s with %(low)s.")
    if not comparison.judged:
        finding = _("Each dot is the mean over the seeds of an encoder. No difference is tested.")
    seeds = len(comparison.seeds)
    unit = ngettext("test pairs, %(seeds)s seed", "test pairs, %(seeds)s seeds", seeds) % {"seeds": seeds}
    return Chart(
        drawing=dots_in_rows(
            [Dot(label, cell.mean, cell.low, cell.high, cell.by_seed) for label, cell in cells],
            title=_("Spearman correlation with the test scores"),
            row=32,
            ticks=alt.Axis(tickCount=5, format=".3~f"),
        ).to_dict(),
        name="comparison",
        finding=finding % words,
        n=comparison.pairs,
        unit=unit,
        columns=[_("encoder"), _("Spearman"), _("from"), _("to")],
        rows=[
            (label, *("" if one is None else f"{one:.4f}" for one in (cell.mean, cell.low, cell.high)))
            for label, cell in cells
        ],
        judges=judges,
    )
