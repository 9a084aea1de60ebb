"""What the encoders of a comparison know from people: what the baseline model was trained on, and the generator."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from curation.models import ScoreSet
from mlworkers.models import Run
from mlworkers.registry.lineage import Ancestor, lineage_of

_BY_PEOPLE = (ScoreSet.Kind.REFERENCE, ScoreSet.Kind.HUMAN)


def baseline_note(run: Run) -> str:
    """Of a comparison run: the baseline model and its training, and whether human scores reached the others."""
    model = str(run.plan.get("model", ""))
    if not model or run.dataset is None:
        return ""
    ancestors = lineage_of(run)
    return f"{_of_the_model(model, ancestors)} {_of_the_scores(run, ancestors)}"


def _of_the_model(model: str, ancestors: Sequence[Ancestor]) -> str:
    source = model.partition("/")[0]  # of a comparison's encoders, run:17/realism-42
    before = next((one.run for one in ancestors[1:] if source == f"run:{one.run.pk}"), None)
    if before is None:
        sentence = _("The baseline model is %(model)s without further training; its publisher says on what.")
        return sentence % {"model": model}
    words = {
        "model": model,
        "scores": before.plan.get("scores", ""),
        "dataset": before.plan.get("dataset", ""),
    }
    return _("The baseline model is %(model)s, trained on the scores “%(scores)s” of %(dataset)s.") % words


def _of_the_scores(run: Run, ancestors: Sequence[Ancestor]) -> str:
    """Human scores train directly, or through a generator that was trained with them."""
    name = str(run.plan.get("scores", ""))
    scores = ScoreSet.objects.filter(dataset=run.dataset, name=name).first()
    if scores is None:
        return ""
    if scores.kind in _BY_PEOPLE:
        return _("The other encoders are supervised: people gave the scores “%(scores)s”.") % {"scores": name}
    generators = [one.run for one in _behind(scores.run_ref, ancestors) if _saw_human_scores(one.run)]
    if generators:
        sentence = _(
            "The other encoders are supervised through their generator: run %(run)s trained it with human scores."
        )
        return sentence % {"run": generators[0].pk}
    return _("As far as the runs here say, no human scores reached the other encoders.")


def _behind(run_id: int | None, ancestors: Sequence[Ancestor]) -> list[Ancestor]:
    """The run with that number and those behind it."""
    start = next((one.run for one in ancestors if one.run.pk == run_id), None)
    return lineage_of(start) if start else []


def _saw_human_scores(run: Run) -> bool:
    if run.kind != "bootstrap_generator":
        return False
    named = ScoreSet.objects.filter(dataset=run.dataset, name=run.plan.get("score_set", ""))
    return named.filter(kind__in=_BY_PEOPLE).exists()
