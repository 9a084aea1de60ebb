"""What the form of a comparison of weightings can be filled in with."""

from collections.abc import Iterable, Sequence

from django.conf import settings
from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from curation.models import Dataset, ScoreSet
from mlworkers.plans.kind import Preset
from mlworkers.science.encoders.plan import (
    BASELINES,
    DOMAIN_ROWS,
    SEEDS_TO_JUDGE,
    SOURCE_ROWS,
    Weighting,
)

TABLE_SUITES = ("stsb", "qqp", "mrpc", "paws")  # the columns of RISE's table 3
TABLE_SOURCES = 3  # its blocks of rows
TABLE_WEIGHTINGS = (Weighting.PLAIN, Weighting.REALISM, Weighting.FILTER, Weighting.RANDOM)


def weightings(dataset: Dataset, datasets: Iterable[Dataset]) -> list[Preset]:
    """datasets: those that the person may read."""
    return [_does_weighting_help(), _table(dataset, datasets)]


def _does_weighting_help() -> Preset:
    answers = _(
        "Is an encoder better on the test pairs of this dataset if training pairs are weighted by p_D? Trains plain "
        "and realism with %(seeds)s seeds, the fewest that can show a difference: %(trainings)s trainings."
    )
    words = {"seeds": SEEDS_TO_JUDGE, "trainings": 2 * SEEDS_TO_JUDGE}
    values = {
        "weightings": f"{Weighting.PLAIN},{Weighting.REALISM}",
        "controls": False,
        "seeds": SEEDS_TO_JUDGE,
    }
    return Preset("help", _("Does weighting help?"), answers % words, values)


def _table(dataset: Dataset, datasets: Iterable[Dataset]) -> Preset:
    here = [name for name in TABLE_SUITES if (settings.SUITES_FOLDER / name).is_dir()]
    missing = [name for name in TABLE_SUITES if name not in here]
    rows = _further_sources(dataset, datasets)
    answers = _(
        "Do the results of RISE hold here? Trains all rows of its table 3: plain, realism, filter and random with "
        "%(seeds)s seeds on %(sources)s of its 3 source datasets, beside baselines: %(trainings)s trainings."
    )
    sources = 1 + len(rows)
    trainings = sources * len(TABLE_WEIGHTINGS) * SEEDS_TO_JUDGE
    answers %= {"seeds": SEEDS_TO_JUDGE, "sources": sources, "trainings": trainings}
    if missing:
        sentence = _("Left out, because SUITES_FOLDER has no files of them: %(suites)s.")
        answers = f"{answers} {sentence % {'suites': get_text_list(missing, _('and'))}}"
    slugs = [dataset.slug, *(slug for slug, *_names in rows)]
    values = {
        "weightings": ",".join(TABLE_WEIGHTINGS),
        "controls": False,
        "seeds": SEEDS_TO_JUDGE,
        "suites": ",".join(here),
        "sources": SOURCE_ROWS.join(rows),
        "in_domain": DOMAIN_ROWS.join(_same_corpus(slugs, here)),
        "baselines": ",".join(BASELINES),
    }
    return Preset("table-3", _("Full Table 3"), answers, values)


def _further_sources(dataset: Dataset, datasets: Iterable[Dataset]) -> list[tuple[str, str, str]]:
    """Other datasets with target similarities and p_D, those with the newest p_D first: short name and both sets."""
    others = {one.pk: one.slug for one in datasets if one != dataset}
    sets = (
        ScoreSet.objects.offered().filter(dataset__in=others, kind__in=("target", "realism")).order_by("-pk")
    )
    newest: dict[int, dict[str, str]] = {}
    for of, kind, name in sets.values_list("dataset", "kind", "name"):
        newest.setdefault(of, {}).setdefault(kind, name)
    found = [(others[of], sets["target"], sets["realism"]) for of, sets in newest.items() if len(sets) == 2]
    return found[: TABLE_SOURCES - 1]


def _same_corpus(slugs: Iterable[str], suites: Sequence[str]) -> list[tuple[str, str]]:
    """Datasets whose short name has the name of a suite as one of its words."""
    return [(slug, suite) for slug in slugs for suite in suites if suite in slug.split("-")]
