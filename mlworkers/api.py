"""Addresses of runs for programs: /api/v1/runs/, /artifacts/, /evaluations/."""

from rest_framework.routers import SimpleRouter

from mlworkers.views.api.runs import ArtifactViewSet, EvaluationViewSet, RunViewSet

router = SimpleRouter(use_regex_path=False)
router.register("runs", RunViewSet, basename="run")
router.register("artifacts", ArtifactViewSet, basename="artifact")
router.register("evaluations", EvaluationViewSet, basename="evaluation")
urlpatterns = router.urls
