"""The kinds of run: what each does, its plan, its queue, and who may start it.

A plan is a frozen dataclass that holds every number that shapes a result. Plans of machine-learning kinds
live beside their code in the pure folders and are registered here.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.files.tables import FORMATS
from curation.files.writing import disk_is_full
from curation.foundation.errors import UserError
from curation.pairs.inclusion import Inclusion
from mlworkers.plan_fields import SettingError, generated_pairs_setting, setting
from mlworkers.plans.settings import Setting, Text, listed, plan_read, settings_of
from mlworkers.science.consistency.plan import ConsistencyPlan
from mlworkers.science.contexts.curves_plan import ContextCurvesPlan
from mlworkers.science.contexts.discriminative_plan import DiscriminativePlan
from mlworkers.science.contexts.harvest_plan import HarvestPlan
from mlworkers.science.contexts.model_plan import ContextModelPlan
from mlworkers.science.contexts.plan import CorpusPlan
from mlworkers.science.contexts.scores_plan import ContextScoresPlan
from mlworkers.science.contexts.sections_plan import SectionsPlan
from mlworkers.science.encoders.bands_plan import BandsPlan
from mlworkers.science.encoders.contrastive.plan import AugmentationPlan, ContrastPlan
from mlworkers.science.encoders.cross_validation_plan import CrossValidationPlan
from mlworkers.science.encoders.index_plan import SentenceIndexPlan, SentenceSearchPlan
from mlworkers.science.encoders.initial_plan import InitialEncoderPlan
from mlworkers.science.encoders.plan import ComparisonPlan, EncoderPlan, EvaluationPlan
from mlworkers.science.encoders.pre_fine_tuning.plan import PreFineTuningPlan
from mlworkers.science.encoders.scorers_plan import ScorersPlan
from mlworkers.science.encoders.scoring_plan import PairScoringPlan
from mlworkers.science.encoders.search_plan import SearchPlan
from mlworkers.science.encoders.speed_plan import SpeedPlan
from mlworkers.science.judges.plan import JudgingPlan
from mlworkers.science.linguistics.plan import LinguisticPlan
from mlworkers.science.linguistics.relatedness.plan import RelatednessPlan
from mlworkers.science.paraphrasing.corpora_plan import CorporaPlan
from mlworkers.science.paraphrasing.labeller_plan import LabellerPlan
from mlworkers.science.paraphrasing.paraphraser_plan import ParaphraserPlan
from mlworkers.science.paraphrasing.plan import LabellingPlan
from mlworkers.science.paraphrasing.round_trip_plan import RoundTripPlan
from mlworkers.science.paraphrasing.selection_plan import SelectionPlan
from mlworkers.science.paraphrasing.writing_plan import WritingPlan
from mlworkers.science.realism.plan import RealismPlan
from mlworkers.science.synthesis.plan import BootstrapPlan, GenerationPlan

QUEUES = ("default", "gpu", "playground")
# Of what runs make: these are models.
MODEL_KINDS = (
    "encoder", "generator", "labeller", "paraphraser", "classifier", "context_model", "discriminative_model",
)  # fmt: skip
DATASET: dict[str, Any] = {
    "label": gettext_lazy("Dataset"),
    "help": gettext_lazy("The dataset's short name."),
    "refers_to": "dataset",
}


@dataclass(frozen=True)
class ImportPlan:
    dataset: str = setting(**DATASET)
    batch: int = setting(
        gettext_lazy("Uploaded file"),
        gettext_lazy("The number of an uploaded file."),
        refers_to="batch",
        low=1,
    )


@dataclass(frozen=True)
class SentencesPlan:
    dataset: str = setting(**DATASET)
    batch: int = setting(
        gettext_lazy("Uploaded file"),
        gettext_lazy("The number of an uploaded file of sentences."),
        refers_to="batch",
        kinds=("sentences",),
        low=1,
    )


@dataclass(frozen=True)
class ExportPlan:
    dataset: str = setting(**DATASET)
    format: str = setting(
        gettext_lazy("Format"),
        gettext_lazy("The kind of file."),
        default="csv",
        choices=FORMATS,
        essential=True,
    )
    score_set: str = setting(
        gettext_lazy("Score set"),
        gettext_lazy("Only the scores of this set; empty for every set."),
        default="",
        refers_to="score set",
    )
    generated_pairs: Inclusion = generated_pairs_setting()
    standard_errors: bool = setting(
        gettext_lazy("Standard errors"),
        gettext_lazy("Adds a column with the standard error of each score that has one."),
        default=False,
    )
    plain: bool = setting(
        gettext_lazy("Pairs and scores only"),
        gettext_lazy(
            "Leaves out the origin of each pair, and the method and number of judgements or contexts of each "
            "score."
        ),
        default=False,
    )
    spreadsheet: bool = setting(
        gettext_lazy("For a spreadsheet"),
        gettext_lazy(
            "Puts an apostrophe before texts that a spreadsheet would run as a formula (CSV and TSV)."
        ),
        default=False,
    )


@dataclass(frozen=True)
class RelatePlan:
    """Two sentences that somebody tries a model with."""

    first: str = setting(gettext_lazy("First sentence"), gettext_lazy("Any sentence."))
    second: str = setting(gettext_lazy("Second sentence"), gettext_lazy("Any sentence."))
    artifact: int = setting(
        gettext_lazy("Model"),
        gettext_lazy("The number of an encoder on the models page; 0 for the packaged one."),
        default=0,
        low=0,
    )


@dataclass(frozen=True)
class TrialPlan:
    """A sentence that somebody tries a paraphraser with."""

    source: str = setting(gettext_lazy("Sentence"), gettext_lazy("Any sentence of two words or more."))
    similarity: str = setting(gettext_lazy("Similarity"), gettext_lazy("A tag such as SIM95."))
    bleu: str = setting(gettext_lazy("BLEU"), gettext_lazy("A tag such as BLEU20."))
    model: str = setting(gettext_lazy("Paraphraser"), gettext_lazy("run:ID of a paraphraser trained here."))
    labeller: str = setting(
        gettext_lazy("Labeller"),
        gettext_lazy("What measures similarity: run:ID of a labeller or an encoder, or a packaged encoder."),
    )


@dataclass(frozen=True)
class Kind:
    """A kind of run.

    unit: what its progress counts. needs: what one must be allowed to do with the dataset (curation.people.access).
    writes: whether it adds to the dataset, so that an archived one cannot have it.
    repeatable: whether a run that succeeded can be started again. listed: whether lists of runs show it and the
    pages offer it; what is not is a question of a moment, forgotten after an hour. estimated: whether its form can say
    what the run will ask for. preview: the kind that tries the same plan on a few rows. long: of a worker that does
    several things at a time, whether such runs must leave some of its threads to what people wait for.
    """

    name: str
    label: Text
    description: Text
    plan: type[Any]
    unit: Text
    needs: str
    queue: str = "default"
    staff_only: bool = False
    writes: bool = False
    repeatable: bool = True
    listed: bool = True
    estimated: bool = False
    preview: str = ""
    long: bool = False

    @cached_property
    def settings(self) -> list[Setting]:
        """Kept, because a form asks for them with every field that it shows."""
        return settings_of(self.plan)

    @property
    def needs_dataset(self) -> bool:
        return any(setting.refers_to == "dataset" for setting in self.settings)


_machine_kind = partial(Kind, needs="read", queue="gpu", staff_only=True)
KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            name="check_import",
            label=gettext_lazy("Check an import"),
            description=gettext_lazy("Checks the import of an uploaded file and writes nothing."),
            plan=ImportPlan,
            unit=gettext_lazy("rows"),
            needs="curate",
        ),
        Kind(
            name="import_pairs",
            label=gettext_lazy("Import pairs"),
            description=gettext_lazy("Imports the pairs and scores of an uploaded file."),
            plan=ImportPlan,
            unit=gettext_lazy("rows"),
            writes=True,
            needs="curate",
            repeatable=False,  # the upload is deleted once its pairs are in
        ),
        Kind(
            name="import_sentences",
            label=gettext_lazy("Import sentences"),
            description=gettext_lazy("Adds the sentences of an uploaded file to the pool of a dataset."),
            plan=SentencesPlan,
            unit=gettext_lazy("sentences"),
            writes=True,
            needs="curate",
            repeatable=False,  # the upload is deleted once its sentences are in
        ),
        Kind(
            name="export_dataset",
            label=gettext_lazy("Export dataset"),
            description=gettext_lazy(
                "Writes the pairs and scores of a dataset to a file that can be downloaded."
            ),
            plan=ExportPlan,
            unit=gettext_lazy("pairs"),
            needs="read",
        ),
        Kind(
            name="index_corpus",
            label=gettext_lazy("Index a corpus"),
            description=gettext_lazy(
                "Divides uploaded running text into sentences and indexes it, so that the contexts in which a "
                "sentence could occur can be found."
            ),
            plan=CorpusPlan,
            unit=gettext_lazy("sentences"),
            needs="curate",
            repeatable=False,  # the upload is deleted once the corpus is there
            long=True,
        ),
        Kind(
            name="harvest_pairs",
            label=gettext_lazy("Harvest pairs of a corpus"),
            description=gettext_lazy(
                "Puts sentences of a corpus together to pairs and adds them, divided into training, dev and test pairs "
                "without a sentence in common. “Score pairs by contexts” scores them, and an encoder learns from that."
            ),
            plan=HarvestPlan,
            unit=gettext_lazy("pairs"),
            writes=True,
            needs="curate",
            long=True,
        ),
        Kind(
            name="analyse_language",
            label=gettext_lazy("Analyse language"),
            description=gettext_lazy(
                "Compares the wording of human and generated pairs, and of generated pairs with high and low p_D: "
                "words in common (BLEU, Jaccard), variety (Distinct-n) and frequencies (Zipf)."
            ),
            plan=LinguisticPlan,
            unit=gettext_lazy("pairs"),
            needs="curate",
            long=True,
        ),
        _machine_kind(
            name="analyse_relatedness",
            label=gettext_lazy("Analyse relatedness"),
            description=gettext_lazy(
                "Says what makes pairs related: correlates scores with words in common, word vectors, parts of speech, "
                "subjects and objects."
            ),
            plan=RelatednessPlan,
            unit=gettext_lazy("sentences"),
            estimated=True,
        ),
        _machine_kind(
            name="bootstrap_generator",
            label=gettext_lazy("Train a generator"),
            description=gettext_lazy(
                "Trains a small language model on scored pairs, for machines without a large language model."
            ),
            plan=BootstrapPlan,
            unit=gettext_lazy("steps"),
            estimated=True,
        ),
        _machine_kind(
            name="preview_generation",
            label=gettext_lazy("Preview generation"),
            description=gettext_lazy(
                "Writes about ten of the rows that “Generate pairs” would write with the same settings, and estimates "
                "its time. Nothing is added to the dataset."
            ),
            plan=GenerationPlan,
            unit=gettext_lazy("rows"),
        ),
        _machine_kind(
            name="generate_pairs",
            label=gettext_lazy("Generate pairs"),
            description=gettext_lazy(
                "Lets a language model write partners of a target similarity for human sentences, and keeps the usable "
                "ones."
            ),
            plan=GenerationPlan,
            unit=gettext_lazy("rows"),
            writes=True,
            estimated=True,
            preview="preview_generation",
        ),
        _machine_kind(
            name="score_realism",
            label=gettext_lazy("Score realism"),
            description=gettext_lazy(
                "Estimates p_D for every generated sentence: the probability that a human wrote it. "
                "Each estimate comes from a classifier that was not trained on the sentence."
            ),
            plan=RealismPlan,
            unit=gettext_lazy("sentences"),
            writes=True,
            estimated=True,
        ),
        _machine_kind(
            name="score_consistency",
            label=gettext_lazy("Score label consistency"),
            description=gettext_lazy(
                "Estimates p_y for every generated pair: the probability that the pair has its target similarity. "
                "Each estimate comes from a classifier that was not trained on the pair or its sentences."
            ),
            plan=ConsistencyPlan,
            unit=gettext_lazy("pairs"),
            writes=True,
            estimated=True,
        ),
        _machine_kind(
            name="compose_by_similarity",
            label=gettext_lazy("Compose pairs by similarity"),
            description=gettext_lazy(
                "Puts sentences of the dataset's pool together to pairs, equally many in each band of the similarity "
                "that an encoder gives them."
            ),
            plan=BandsPlan,
            unit=gettext_lazy("sentences"),
            writes=True,
            estimated=True,
        ),
        _machine_kind(
            name="index_sentences",
            label=gettext_lazy("Index sentences"),
            description=gettext_lazy(
                "Encodes all sentences of the dataset's active pairs and of its pool, so that the nearest ones to any "
                "sentence can be found."
            ),
            plan=SentenceIndexPlan,
            unit=gettext_lazy("sentences"),
            estimated=True,
        ),
        _machine_kind(
            name="initialise_encoder",
            label=gettext_lazy("Initialise an encoder"),
            description=gettext_lazy(
                "Makes a small encoder with random weights and a tokenizer learned from the dataset's sentences: a "
                "base model to train from scratch, or a baseline without pretraining."
            ),
            plan=InitialEncoderPlan,
            unit=gettext_lazy("sentences"),
        ),
        _machine_kind(
            name="train_encoder",
            label=gettext_lazy("Train an encoder"),
            description=gettext_lazy(
                "Trains a sentence encoder on scored pairs. Pairs can be weighted by the p_D of their sentence."
            ),
            plan=EncoderPlan,
            unit=gettext_lazy("steps"),
            estimated=True,
        ),
        _machine_kind(
            name="train_contrastive",
            label=gettext_lazy("Train an encoder by contrast"),
            description=gettext_lazy(
                "Trains a sentence encoder without scores: on sentences alone, on pairs, or on premises with their "
                "entailments and contradictions (SimCSE), and on paraphrases of these."
            ),
            plan=ContrastPlan,
            unit=gettext_lazy("steps"),
            estimated=True,
        ),
        _machine_kind(
            name="train_on_sections",
            label=gettext_lazy("Train an encoder on sections"),
            description=gettext_lazy(
                "Trains an encoder to tell which of two sentences is of the same chapter or section of a document as a "
                "third one, and measures it before and after on documents that it did not learn from."
            ),
            plan=SectionsPlan,
            unit=gettext_lazy("steps"),
        ),
        _machine_kind(
            name="evaluate_encoder",
            label=gettext_lazy("Evaluate an encoder"),
            description=gettext_lazy(
                "Measures the cosine similarities of an encoder by human or reference scores, and on published test "
                "suites."
            ),
            plan=EvaluationPlan,
            unit=gettext_lazy("sentences"),
            estimated=True,
        ),
        _machine_kind(
            name="score_pairs",
            label=gettext_lazy("Score pairs by a model"),
            description=gettext_lazy(
                "Publishes the score that an encoder or a cross-encoder gives each pair as a score set, to compare "
                "with human scores or to choose pairs by."
            ),
            plan=PairScoringPlan,
            unit=gettext_lazy("pairs"),
            writes=True,
            estimated=True,
        ),
        _machine_kind(
            name="judge_tuples",
            label=gettext_lazy("Judge tuples by a machine"),
            description=gettext_lazy(
                "Lets an encoder or a chat model judge tuples of a campaign, to compare it with people. Its judgements "
                "are kept apart and never count for scores."
            ),
            plan=JudgingPlan,
            unit=gettext_lazy("questions"),
            writes=True,
            estimated=True,
        ),
        _machine_kind(
            name="translate_round_trip",
            label=gettext_lazy("Translate there and back"),
            description=gettext_lazy(
                "Translates human sentences into another language and back (round-trip translation), with several "
                "settings of sampling or by beam search, and adds what comes out as candidates for paraphrases."
            ),
            plan=RoundTripPlan,
            unit=gettext_lazy("candidates"),
            writes=True,
            estimated=True,
        ),
        _machine_kind(
            name="label_paraphrases",
            label=gettext_lazy("Label paraphrases"),
            description=gettext_lazy(
                "Publishes two scores of each pair, from 0 to 100: how similar its sentences are in meaning, by an "
                "encoder or a cross-encoder, and in wording, by BLEU. A page shows how the pairs spread over both."
            ),
            plan=LabellingPlan,
            unit=gettext_lazy("pairs"),
            writes=True,
            estimated=True,
        ),
        Kind(
            name="select_paraphrases",
            label=gettext_lazy("Select paraphrases"),
            description=gettext_lazy(
                "Chooses equally many labelled pairs of every cell of similarity and BLEU, divided into training, dev "
                "and test pairs by their source sentences, and says which cells have too few."
            ),
            plan=SelectionPlan,
            unit=gettext_lazy("pairs"),
            needs="curate",
        ),
        _machine_kind(
            name="train_labeller",
            label=gettext_lazy("Train a labeller"),
            description=gettext_lazy(
                "Trains cross-encoders of several seeds on the scores that people or a model gave to pairs, and keeps "
                "the one that agrees best with them on dev pairs. “Label paraphrases” measures similarity with it."
            ),
            plan=LabellerPlan,
            unit=gettext_lazy("steps"),
        ),
        _machine_kind(
            name="train_paraphraser",
            label=gettext_lazy("Train a paraphraser"),
            description=gettext_lazy(
                "Trains an encoder-decoder on selected pairs to write paraphrases with a chosen similarity in meaning "
                "and in wording."
            ),
            plan=ParaphraserPlan,
            unit=gettext_lazy("steps"),
        ),
        _machine_kind(
            name="write_paraphrases",
            label=gettext_lazy("Write paraphrases"),
            description=gettext_lazy(
                "Lets a paraphraser write paraphrases of human sentences at chosen tags, measures them, and adds the "
                "usable ones as generated pairs."
            ),
            plan=WritingPlan,
            unit=gettext_lazy("paraphrases"),
            writes=True,
        ),
        _machine_kind(
            name="profile_corpora",
            label=gettext_lazy("Profile paraphrase corpora"),
            description=gettext_lazy(
                "Measures groups of pairs: how much of the wording their sentences share (BLEU), how many words they "
                "use, and how surprising they are to a language model (perplexity)."
            ),
            plan=CorporaPlan,
            unit=gettext_lazy("sentences"),
            estimated=True,
        ),
        _machine_kind(
            name="train_context_model",
            label=gettext_lazy("Train a model for contexts"),
            description=gettext_lazy(
                "Trains a small language model on a corpus to say how well sentences fit into contexts, and compares "
                "it with the frequencies of tokens on text that it did not see."
            ),
            plan=ContextModelPlan,
            unit=gettext_lazy("steps"),
            estimated=True,
        ),
        _machine_kind(
            name="train_discriminative_model",
            label=gettext_lazy("Train a discriminative model"),
            description=gettext_lazy(
                "Trains a small model on a corpus to tell which sentence belongs in a context. “Score pairs by "
                "contexts” ranks contexts by it."
            ),
            plan=DiscriminativePlan,
            unit=gettext_lazy("steps"),
            estimated=True,
        ),
        _machine_kind(
            name="score_contexts",
            label=gettext_lazy("Score pairs by contexts"),
            description=gettext_lazy(
                "Publishes how similar the sentences of each pair are by the contexts of a corpus that they fit, "
                "without labels: the paper's cosine, and the centred one. A page compares both with human scores."
            ),
            plan=ContextScoresPlan,
            unit=gettext_lazy("pairs"),
            writes=True,
            estimated=True,
        ),
        _machine_kind(
            name="measure_context_curves",
            label=gettext_lazy("Measure curves of contexts"),
            description=gettext_lazy(
                "Measures how the agreement of similarity from contexts with people grows with the corpus, with the "
                "number of contexts, and with the pairs that a surrogate learns from."
            ),
            plan=ContextCurvesPlan,
            unit=gettext_lazy("pairs"),
        ),
        _machine_kind(
            name="cross_validate_encoder",
            label=gettext_lazy("Cross-validate an encoder"),
            description=gettext_lazy(
                "Measures words in common, word vectors, and an encoder with and without training on folds of scored "
                "pairs: random folds, folds that share no sentence, and one source left out at a time."
            ),
            plan=CrossValidationPlan,
            unit=gettext_lazy("steps"),
            estimated=True,
        ),
        _machine_kind(
            name="compare_scorers",
            label=gettext_lazy("Compare scorers of pairs"),
            description=gettext_lazy(
                "Compares encoders, cross-encoders and scorers without training with the scores that people or a model "
                "gave, and says how many pairs a second each scores."
            ),
            plan=ScorersPlan,
            unit=gettext_lazy("pairs"),
        ),
        _machine_kind(
            name="measure_speed",
            label=gettext_lazy("Measure the speed of encoders"),
            description=gettext_lazy(
                "Measures how many sentences a second encoders encode, with batches of sentences of like length and "
                "without. Each encoder's page shows it."
            ),
            plan=SpeedPlan,
            unit=gettext_lazy("sentences"),
        ),
        _machine_kind(
            name="compare_weightings",
            label=gettext_lazy("Compare weightings"),
            description=gettext_lazy(
                "Trains an encoder for each weighting and seed, and compares them on human or reference scores."
            ),
            plan=ComparisonPlan,
            unit=gettext_lazy("steps"),
            estimated=True,
        ),
        _machine_kind(
            name="compare_augmentations",
            label=gettext_lazy("Compare paraphrases"),
            description=gettext_lazy(
                "Trains encoders by contrast with paraphrased copies of each variant and size, and without, and "
                "compares them on human or reference scores."
            ),
            plan=AugmentationPlan,
            unit=gettext_lazy("steps"),
            estimated=True,
        ),
        _machine_kind(
            name="compare_pre_fine_tuning",
            label=gettext_lazy("Compare pre-fine-tuning"),
            description=gettext_lazy(
                "Trains models on inference with paraphrased copies of each variant, and without (STILTs), fine-tunes "
                "each on tasks with several seeds, and compares them."
            ),
            plan=PreFineTuningPlan,
            unit=gettext_lazy("steps"),
            estimated=True,
        ),
        _machine_kind(
            name="search_settings",
            label=gettext_lazy("Search settings"),
            description=gettext_lazy(
                "Trains encoders of one weighting with different settings and chooses the best by dev pairs. Only the "
                "chosen one is evaluated on the test pairs."
            ),
            plan=SearchPlan,
            unit=gettext_lazy("steps"),
            estimated=True,
        ),
        Kind(
            name="relate_sentences",
            label=gettext_lazy("Relate two sentences"),
            description=gettext_lazy("Computes the cosine similarity of two sentences with an encoder."),
            plan=RelatePlan,
            unit=gettext_lazy("sentences"),
            needs="read",
            queue="playground",  # its answer must not wait for the end of a training
            listed=False,
        ),
        Kind(
            name="search_sentences",
            label=gettext_lazy("Search sentences"),
            description=gettext_lazy("Finds the sentences of a dataset that are nearest to one sentence."),
            plan=SentenceSearchPlan,
            unit=gettext_lazy("sentences"),
            needs="read",
            queue="playground",
            listed=False,
        ),
        Kind(
            name="try_paraphraser",
            label=gettext_lazy("Try a paraphraser"),
            description=gettext_lazy("Writes paraphrases of one sentence and measures their labels."),
            plan=TrialPlan,
            unit=gettext_lazy("paraphrases"),
            needs="read",
            queue="playground",
            listed=False,
        ),
    )
}

UNLISTED = [kind.name for kind in KINDS.values() if not kind.listed]
LONG = [kind.name for kind in KINDS.values() if kind.long]


def kind_named(name: str) -> Kind:
    """Raises ValueError with the kinds there are."""
    if name not in KINDS:
        sentence = _("There is no kind of run called “%(name)s”; the kinds are %(kinds)s.")
        raise ValueError(sentence % {"name": name, "kinds": listed(KINDS)})
    return KINDS[name]


def plan_from(kind: Kind, values: Mapping[str, Any]) -> Any:
    """The plan of that kind with those values. Raises ValueError with one sentence (see `plan_read`)."""
    return plan_read(kind.plan, kind.name, values)


def sentence_for_page(kind: Kind, error: Exception) -> str:
    """What is wrong, with the settings called as the kind's form calls them. Commands show str(error) instead."""
    if not isinstance(error, SettingError):
        return str(error)
    labels = {setting.name: setting.label for setting in kind.settings}
    return error.labelled({**labels, kind.name: f"“{kind.label}”"})


@contextmanager
def plan_errors_shown(kind: Kind, *, by_key: bool = False) -> Iterator[None]:
    """Turn what is wrong with a plan into a UserError. by_key: for a command, which calls settings by their keys."""
    try:
        yield
    except ValueError as error:
        # A library may hide a full disk behind its own error, for which the plan is not to blame.
        if disk_is_full(error):
            raise
        raise UserError(str(error) if by_key else sentence_for_page(kind, error)) from error
