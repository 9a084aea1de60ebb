"""The link “?” beside a page's title: where the guide explains the page."""

from collections.abc import Mapping

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

# By the name of an address: the name of a page of the guide, and perhaps one of its headings.
EXPLAINED: Mapping[str, str] = {
    "home": "first-campaign",
    "overview": "first-campaign",
    "publish": "publish-dataset",
    "methods": "publish-dataset#the-methods-section",
    "published_folder": "publish-dataset",
    "workers": "workers",
    "second_factor": "members#protect-an-account",
    "password_change": "members#protect-an-account",
    "password_change_done": "members#protect-an-account",
    "email": "members#protect-an-account",
    "curation:dataset_list": "import-pairs",
    "curation:dataset_create": "import-pairs",
    "curation:dataset": "search",
    "curation:pair": "publish-dataset#where-a-score-comes-from",
    "curation:edits": "split#edit-many-pairs",
    "curation:score_sets_compared": "evaluate-encoder#compare-two-score-sets",
    "curation:score_set": "publish-scores",
    "curation:compose": "sample-pairs",
    "curation:choose": "sample-pairs#among-existing-pairs",
    "curation:sentences_add": "sample-pairs",
    "curation:sentences_batch": "sample-pairs",
    "curation:splits": "split",
    "curation:duplicates": "duplicates",
    "curation:audit": "members#see-who-changed-what",
    "curation:audit_of_all": "members#see-who-changed-what",
    "curation:members": "members",
    "curation:invitation_list": "members",
    "curation:settings": "members",
    "curation:webhooks": "webhooks",
    "curation:webhook": "webhooks",
    "curation:import": "import-pairs",
    "curation:import_batch": "formats#columns-of-pairs",
    "curation:export": "publish-dataset#export-one-file",
    "curation:snapshots": "publish-dataset",
    "curation:snapshot": "publish-dataset",
    "curation:review_list": "review-sentences",
    "curation:review": "review-sentences",
    "curation:review_disagreements": "review-sentences",
    "curation:sessions": "members#protect-an-account",
    "curation:api_tokens": "use-the-api#get-a-token",
    "annotation:judgement_imports": "import-judgements",
    "annotation:judgement_import": "formats#columns-of-judgements",
    "annotation:mine": "annotate",
    "annotation:own_data": "consent-and-data-protection",
    "annotation:campaign_list": "size-and-cost",
    "annotation:campaign_new": "size-and-cost",
    "annotation:campaign": "watch-and-stop",
    "annotation:campaign_design": "grow-a-campaign",
    "annotation:campaign_edit": "size-and-cost",
    "annotation:campaign_preview": "annotate#one-question",
    "annotation:guidelines": "guidelines",
    "annotation:example_new": "guidelines",
    "annotation:quiz_edit": "guidelines",
    "annotation:norming": "calibrate",
    "annotation:norming_session": "calibrate",
    "annotation:slider": "rating-scale",
    "annotation:slider_comparison": "rating-scale#compare",
    "annotation:analysis": "reliability",
    "annotation:machines": "model-annotators",
    "annotation:scores": "publish-scores",
    "annotation:publish": "publish-scores",
    "annotation:judgements": "careless-annotators",
    "annotation:spend": "grow-a-campaign",
    "annotation:grow": "grow-a-campaign",
    "annotation:annotator": "careless-annotators",
    "annotation:annotator_erase": "consent-and-data-protection",
    "annotation:crowd": "recruit-and-pay",
    "annotation:inbox": "careless-annotators",
    "annotation:gold": "attention-checks",
    "annotation:gold_new": "attention-checks",
    "annotation:gold_suggest": "attention-checks",
    "annotation:gold_edit": "attention-checks",
    "mlworkers:cross_validation": "evaluate-encoder#cross-validate",
    "mlworkers:comparison": "train-and-compare#read-a-comparison",
    "mlworkers:comparison_list": "train-and-compare#compare-weightings",
    "mlworkers:augmentations": "contrastive-training",
    "mlworkers:pre_fine_tuning": "pre-fine-tune",
    "mlworkers:corpora": "paraphrases",
    "mlworkers:selection": "write-paraphrases",
    "mlworkers:requested": "write-paraphrases#read-the-result",
    "mlworkers:paraphrase_corpora": "paraphrases",
    "mlworkers:paraphrases": "paraphrases",
    "mlworkers:paraphrase": "write-paraphrases",
    "mlworkers:paraphrased": "write-paraphrases",
    "mlworkers:round_trip": "write-paraphrases#more-candidates",
    "mlworkers:ratings": "write-paraphrases#more-candidates",
    "mlworkers:rate": "write-paraphrases#more-candidates",
    "mlworkers:context_curves": "contexts",
    "mlworkers:context_scores": "contexts",
    "mlworkers:pair_contexts": "contexts",
    "mlworkers:running_text": "score-by-contexts",
    "mlworkers:corpus": "score-by-contexts",
    "mlworkers:language": "generation",
    "mlworkers:relatedness": "relatedness",
    "mlworkers:verdicts": "human-likeness",
    "mlworkers:run_list": "start-and-follow-runs",
    "mlworkers:run_detail": "start-and-follow-runs",
    "mlworkers:run_kinds": "runs",
    "mlworkers:run_files": "start-and-follow-runs#free-disk-space",
    "mlworkers:disk": "start-and-follow-runs#free-disk-space",
    "mlworkers:model_list": "start-and-follow-runs#download-a-model-and-try-it",
    "mlworkers:model_detail": "start-and-follow-runs#download-a-model-and-try-it",
    "mlworkers:relate": "start-and-follow-runs#download-a-model-and-try-it",
    "mlworkers:related": "start-and-follow-runs#download-a-model-and-try-it",
    "mlworkers:instructions_list": "generate-pairs",
    "mlworkers:instructions_new": "generate-pairs",
    "mlworkers:instructions": "generate-pairs",
    "mlworkers:sentence_search": "search",
    "mlworkers:sentences_searched": "search",
}
START = "mlworkers:run_start"  # each kind of run has its heading


def guide_link(request: HttpRequest) -> dict[str, object]:
    """For the templates of pages: the address in the guide, "" where there is none."""
    return {"guide_link": SimpleLazyObject(lambda: address_for(request))}


def address_for(request: HttpRequest) -> str:
    match = request.resolver_match
    if match is None or not request.user.is_authenticated:
        return ""
    of_kind = f"runs#{match.kwargs['kind']}" if match.view_name == START else ""
    explained = of_kind or EXPLAINED.get(match.view_name, "")
    page, _hash, anchor = explained.partition("#")
    if not page:
        return ""
    return reverse("guide_page", args=[page]) + (f"#{anchor}" if anchor else "")
