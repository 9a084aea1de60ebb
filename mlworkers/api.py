"""Addresses of runs for programs: /api/v1/runs/, /artifacts/, /evaluations/, /paraphrases/, /round-trips/."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from mlworkers.views.api.corpora import CorpusContexts, RunningText
from mlworkers.views.api.paraphrases import (
    ParaphraseProfile,
    ParaphrasesSideBySide,
    RatingDraw,
    RatingLast,
    RatingNext,
    Ratings,
    RoundTripYields,
)
from mlworkers.views.api.playground import ParaphraserTrial, TrialAnswer
from mlworkers.views.api.runs import ArtifactViewSet, EvaluationViewSet, RunViewSet
from mlworkers.views.api.sentence_search import SentenceSearch, SentenceSearchAnswer
from mlworkers.views.api.starting import RunAgain, RunCancel, RunFirst, RunKinds

router = SimpleRouter(use_regex_path=False)
router.register("runs", RunViewSet, basename="run")
router.register("artifacts", ArtifactViewSet, basename="artifact")
router.register("evaluations", EvaluationViewSet, basename="evaluation")
urlpatterns = [
    path("runs/kinds/", RunKinds.as_view(), name="api_run_kinds"),
    path("runs/<number:pk>/cancel/", RunCancel.as_view(), name="api_run_cancel"),
    path("runs/<number:pk>/first/", RunFirst.as_view(), name="api_run_first"),
    path("runs/<number:pk>/again/", RunAgain.as_view(), name="api_run_again"),
    path("artifacts/<number:pk>/paraphrase/", ParaphraserTrial.as_view(), name="api_try_paraphraser"),
    path("datasets/<slug:slug>/running-text/", RunningText.as_view(), name="api_running_text"),
    path("running-text/<number:pk>/contexts/", CorpusContexts.as_view(), name="api_corpus_contexts"),
    path("paraphrases/", ParaphrasesSideBySide.as_view(), name="api_paraphrases"),
    path("paraphrases/<number:pk>/", TrialAnswer.as_view(), name="api_trial"),
    path("datasets/<slug:slug>/search/", SentenceSearch.as_view(), name="api_sentence_search"),
    path("searches/<number:pk>/", SentenceSearchAnswer.as_view(), name="api_sentences_searched"),
    path("paraphrases/<slug:slug>/cells/", ParaphraseProfile.as_view(), name="api_paraphrase_cells"),
    path("round-trips/<number:pk>/cells/", RoundTripYields.as_view(), name="api_round_trip"),
    path("round-trips/<number:pk>/ratings/", Ratings.as_view(), name="api_ratings"),
    path("round-trips/<number:pk>/ratings/draw/", RatingDraw.as_view(), name="api_ratings_draw"),
    path("round-trips/<number:pk>/ratings/next/", RatingNext.as_view(), name="api_rating_next"),
    path("round-trips/<number:pk>/ratings/last/", RatingLast.as_view(), name="api_rating_last"),
    *router.urls,
]
