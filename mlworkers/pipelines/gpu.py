"""The pipelines of the queue “gpu”, and how their worker gives back memory. Loads the machine-learning libraries."""

from mlworkers.pipelines.composing import compose_by_similarity
from mlworkers.pipelines.consistency import score_consistency
from mlworkers.pipelines.context_curves import measure_context_curves
from mlworkers.pipelines.context_models import train_context_model
from mlworkers.pipelines.context_scores import score_contexts
from mlworkers.pipelines.contrasting import compare_augmentations, train_contrastive
from mlworkers.pipelines.corpora import profile_corpora
from mlworkers.pipelines.cross_validating import cross_validate_encoder
from mlworkers.pipelines.discriminative import train_discriminative_model
from mlworkers.pipelines.encoders import compare_weightings, evaluate_encoder, train_encoder
from mlworkers.pipelines.generating import bootstrap_generator, generate_pairs
from mlworkers.pipelines.indexing_sentences import index_sentences
from mlworkers.pipelines.initialising import initialise_encoder
from mlworkers.pipelines.judging import judge_tuples
from mlworkers.pipelines.labeller_training import train_labeller
from mlworkers.pipelines.labelling import label_paraphrases
from mlworkers.pipelines.paraphraser_training import train_paraphraser
from mlworkers.pipelines.pre_fine_tuning import compare_pre_fine_tuning
from mlworkers.pipelines.previewing import preview_generation
from mlworkers.pipelines.realism import score_realism
from mlworkers.pipelines.relatedness import analyse_relatedness
from mlworkers.pipelines.round_trips import translate_round_trip
from mlworkers.pipelines.scorers import compare_scorers, measure_speed
from mlworkers.pipelines.scoring_pairs import score_pairs
from mlworkers.pipelines.searching import search_settings
from mlworkers.pipelines.sections import train_on_sections
from mlworkers.pipelines.writing_paraphrases import write_paraphrases
from mlworkers.runs.attempts import Pipeline
from mlworkers.science.pretrained.compute import release_memory

__all__ = ["PIPELINES", "release_memory"]

PIPELINES: dict[str, Pipeline] = {
    "analyse_relatedness": analyse_relatedness,
    "compose_by_similarity": compose_by_similarity,
    "bootstrap_generator": bootstrap_generator,
    "preview_generation": preview_generation,
    "generate_pairs": generate_pairs,
    "index_sentences": index_sentences,
    "initialise_encoder": initialise_encoder,
    "judge_tuples": judge_tuples,
    "label_paraphrases": label_paraphrases,
    "train_encoder": train_encoder,
    "train_labeller": train_labeller,
    "train_paraphraser": train_paraphraser,
    "train_contrastive": train_contrastive,
    "compare_augmentations": compare_augmentations,
    "compare_pre_fine_tuning": compare_pre_fine_tuning,
    "measure_context_curves": measure_context_curves,
    "measure_speed": measure_speed,
    "profile_corpora": profile_corpora,
    "evaluate_encoder": evaluate_encoder,
    "compare_scorers": compare_scorers,
    "compare_weightings": compare_weightings,
    "cross_validate_encoder": cross_validate_encoder,
    "score_consistency": score_consistency,
    "score_contexts": score_contexts,
    "train_context_model": train_context_model,
    "train_discriminative_model": train_discriminative_model,
    "train_on_sections": train_on_sections,
    "score_pairs": score_pairs,
    "score_realism": score_realism,
    "search_settings": search_settings,
    "translate_round_trip": translate_round_trip,
    "write_paraphrases": write_paraphrases,
}
