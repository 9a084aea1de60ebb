"""Under which heading a form shows a setting that is not decided each time."""

from django.utils.translation import gettext_lazy as _

GROUPS = {
    "data": _("Data"),
    "model": _("Size of the model"),
    "training": _("Training"),
    "weights": _("Weights of pairs"),
    "writing": _("Writing"),
    "contexts": _("Contexts"),
    "measuring": _("Measuring"),
    "machine": _("Machine and repetition"),
    "endpoint": _("Endpoint"),
}
_NAMES = {
    "data": """
        split dev_split test_split train_split human_split paraphrase_split learned_split subsets pool entailment
        neutral contradiction labels dev_share test_share validation_share inner_share share shares complete
        first_sentences shortest longest cap most_humans leaks headings test_triplets evaluated held_out merged planted
        near_copy near_duplicate least_words least_tokens most_tokens check_language language
        in_domain benchmark folds scored_only standard_errors plain spreadsheet snapshot consistency dev_scores
        dev_dataset paraphrase_dataset similarity bleu sources variants
    """,
    "model": "layers width vocabulary context hidden embedding head sides pooler pooling max_length",
    "training": """
        epochs batch batch_size learning_rate warmup warm_up_rate weight_decay clip loss loss_scale smoothing
        objective temperature hard_negative_weight margin cached patience evaluate_every looks checkpoint_steps direct
    """,
    "weights": "unscored normalise filter_share unjudged_weight learn_from_verdicts verdict_count",
    "writing": """
        samples top_k top_p decay floor max_tokens self_debiasing keep sampled candidates best beams search keep_misses
        add_pairs answer_form chat_template
    """,
    "contexts": """
        left right chunks ranked choice diverse trajectory_tokens background weight_discriminative weight_sentence
        weight_left weight_right same_document part_tokens
    """,
    "measuring": """
        test_dataset suites baselines bootstrap resamples least_share sim_above sim_width bleu_first bleu_width
        bleu_most rounds
    """,
    "machine": """
        device devices precision seed seeds first_seed pre_seeds shard_sources shard_pairs shard_tuples rows_at_a_time
        engine keep_encoders keep_models
    """,
    "endpoint": "concurrency timeout attempts price_in price_out",
}
_GROUP_OF = {name: group for group, names in _NAMES.items() for name in names.split()}


def group_of(setting: str) -> str:
    """The key in `GROUPS` of a setting's name. Raises KeyError for a name that has no group yet."""
    return _GROUP_OF[setting]
