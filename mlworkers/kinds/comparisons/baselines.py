"""What the encoders of a comparison know from people: what the baseline model was trained on, and the generator."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from curation.models import ScoreSet
from mlworkers.models import Run
from mlworkers.runs.lineage import Ancestor, lineage_of

_BY_PEOPLE = (ScoreSet.Kind.REFERENCE, ScoreSet.Kind.HUMAN)


def baseline_note(run: Run) -> str:
    """Of a comparison run: the baseline model and its training, and whether human scores reached the others."""
    model = str(run.plan.get("model", ""))
    if not model or run.dataset is None:
        return ""
    ancestors = lineage_of(run)
    name = run.plan.get("consistency")
    sets = ScoreSet.objects.filter(dataset=run.dataset, name=name, kind=ScoreSet.Kind.CONSISTENCY)
    weights = sets.first() if name else None  # the p_y that the run names
    by_weights = weights is not None and not weights.parameters.get("circular")
    scores = _of_the_scores(run, ancestors, by_weights=by_weights)
    notes = [_of_the_model(model, ancestors), scores, _of_the_weights(weights)]
    return " ".join(note for note in notes if note)


def _of_the_model(model: str, ancestors: Sequence[Ancestor]) -> str:
    source = model.partition("/")[0]  # of a comparison's encoders, run:17/realism-42
    before = next((one.run for one in ancestors[1:] if source == f"run:{one.run.pk}"), None)
    if before is None:
        sentence = _("The baseline model is %(model)s without further training; its publisher says on what.")
        return sentence % {"model": model}
    if before.kind == "initialise_encoder":
        sentence = _(
            "The baseline model is %(model)s, a small encoder with random weights: it has learned nothing."
        )
        return sentence % {"model": model}
    words = {
        "model": model,
        "scores": before.plan.get("scores", ""),
        "dataset": before.plan.get("dataset", ""),
    }
    return _("The baseline model is %(model)s, trained on the scores “%(scores)s” of %(dataset)s.") % words


def _of_the_scores(run: Run, ancestors: Sequence[Ancestor], *, by_weights: bool) -> str:
    """Human scores train directly, or through a generator that was trained with them. by_weights: or shape weights."""
    name = str(run.plan.get("scores", ""))
    scores = ScoreSet.objects.filter(dataset=run.dataset, name=name).first()
    if scores is None:
        return ""
    if scores.kind in _BY_PEOPLE:
        return _("The other encoders are supervised: people gave the scores “%(scores)s”.") % {"scores": name}
    start = next((one.run for one in ancestors if one.run.pk == scores.run_ref), None)
    generators = []  # among the run that made the scores and those behind it, the ones that saw human scores
    for one in lineage_of(start) if start else []:
        if one.run.kind == "bootstrap_generator":
            named = ScoreSet.objects.filter(
                dataset=one.run.dataset, name=one.run.plan.get("score_set", ""), kind__in=_BY_PEOPLE
            )
            if named.exists():
                generators.append(one.run)
    if generators:
        sentence = _(
            "The other encoders are supervised through their generator: run %(run)s trained it with human scores."
        )
        return sentence % {"run": generators[0].pk}
    return "" if by_weights else _("As far as the runs here say, no human scores reached the other encoders.")


def _of_the_weights(scores: ScoreSet | None) -> str:
    """What p_y learned from."""
    if scores is None:
        return ""
    name = scores.name
    if scores.parameters.get("circular"):
        sentence = _("“%(name)s” is circular: its p_y learned from the target similarities themselves.")
        return sentence % {"name": name}
    learned = scores.parameters.get("trained_on") or [{}]
    words = {"name": name, "scores": learned[0].get("scores", ""), "dataset": learned[0].get("dataset", "")}
    return (
        _(
            "Weights of “%(name)s” are supervised: p_y learned from the human scores “%(scores)s” of %(dataset)s."
        )
        % words
    )
