"""A small encoder that has learned nothing yet, with a tokenizer of the dataset's own sentences."""

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.writing import folder_replacing
from curation.foundation.errors import UserError
from mlworkers.pipelines.human_sentences import human_sentences
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.science.encoders.initial import encoder_initialised
from mlworkers.science.encoders.initial_plan import InitialEncoderPlan
from mlworkers.science.encoders.saving import learned_save


def initialise_encoder(plan: InitialEncoderPlan, job: Job) -> Outcome:
    """Make an encoder of random weights, with a tokenizer learned from sentences of people.

    A baseline: what is trained from it owes nothing to other texts. Raises UserError where the split has no such
    sentence.
    """
    dataset = job.dataset_of(plan.dataset)
    drawn = job.drawn_once("sentences.json", lambda: {"sentences": human_sentences(dataset, plan.split)})
    texts = [text for _number, text in drawn["sentences"]]
    if not texts:
        sentence = _(
            "“%(dataset)s” has no sentence of a person in the split “%(split)s”; choose another split."
        )
        raise UserError(sentence, dataset=dataset.slug, split=plan.split)
    job.report(0, len(texts), _("Learning the tokenizer"))
    folder = job.folder / "encoder"
    with folder_replacing(folder) as beside:
        made = encoder_initialised(texts, plan, beside)
        learned_save(beside, [])
    result = {"sentences": len(texts), "vocabulary": made.tokens, "parameters": made.parameters}
    words = {name: intcomma(number) for name, number in result.items()}
    message = _(
        "%(parameters)s random weights; a tokenizer of %(vocabulary)s tokens from %(sentences)s sentences"
    )
    return Outcome(message % words, result, [NewArtifact("encoder", folder, result)])
