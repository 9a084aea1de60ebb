"""Addresses of datasets for programs: /api/v1/datasets/."""

from django.urls import URLPattern, URLResolver, include, path

from curation.views.api import datasets, review

of_dataset: list[URLPattern | URLResolver] = [
    path("", datasets.DatasetDetail.as_view(), name="api_dataset"),
    path("pairs/", datasets.PairList.as_view(), name="api_pairs"),
    path("pairs/<number:pair_pk>/", datasets.PairDetail.as_view(), name="api_pair"),
    path("score-sets/", datasets.ScoreSetList.as_view(), name="api_score_sets"),
    path("score-sets/<number:score_set_pk>/scores/", datasets.ScoreList.as_view(), name="api_scores"),
    path("review/", review.ReviewQueue.as_view(), name="api_review"),
    path("review/decisions/", review.ReviewDecisions.as_view(), name="api_review_decisions"),
    path("review/decisions/<number:decision_pk>/undo/", review.ReviewUndo.as_view(), name="api_review_undo"),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("datasets/", datasets.DatasetList.as_view(), name="api_datasets"),
    path("datasets/<slug:slug>/", include(of_dataset)),
]
