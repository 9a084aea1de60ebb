from django.urls import path

from mlworkers.views import (
    comparisons,
    instructions,
    language,
    models,
    playground,
    runs,
    starting,
    verdicts,
)

app_name = "mlworkers"
urlpatterns = [
    path("runs/", runs.run_list, name="run_list"),
    path("runs/of/<slug:slug>/", runs.dataset_runs, name="dataset_runs"),
    path("runs/start/", starting.run_kinds, name="run_kinds"),
    path("runs/start/<slug:kind>/", starting.run_start, name="run_start"),
    path("runs/<number:pk>/", runs.run_detail, name="run_detail"),
    path("runs/<number:pk>/progress/", runs.run_progress, name="run_progress"),
    path("runs/<number:pk>/curves/", runs.run_curves, name="run_curves"),
    path("runs/<number:pk>/cancel/", runs.run_cancel, name="run_cancel"),
    path("runs/<number:pk>/again/", starting.run_again, name="run_again"),
    path("runs/<number:pk>/files/<number:artifact_pk>/", models.artifact_download, name="artifact_download"),
    path("models/", models.model_list, name="model_list"),
    path("models/<number:pk>/", models.model_detail, name="model_detail"),
    path("models/relate/", playground.relate, name="relate"),
    path("models/related/<number:pk>/", playground.related, name="related"),
    path("datasets/<slug:slug>/instructions/", instructions.instructions_list, name="instructions_list"),
    path("datasets/<slug:slug>/instructions/new/", instructions.instructions_edit, name="instructions_new"),
    path(
        "datasets/<slug:slug>/instructions/of/<slug:name>/",
        instructions.instructions_edit,
        name="instructions",
    ),
    path("language/<number:pk>/", language.language_detail, name="language"),
    path("language/<number:pk>/table.csv", language.language_csv, name="language_csv"),
    path("realism/<number:pk>/", verdicts.verdict_detail, name="verdicts"),
    path("realism/<number:pk>/figures.csv", verdicts.verdict_figures_csv, name="verdict_figures_csv"),
    path("realism/<number:pk>/rejected.csv", verdicts.verdict_rejected_csv, name="verdict_rejected_csv"),
    path("realism/<number:pk>/kept.csv", verdicts.verdict_kept_csv, name="verdict_kept_csv"),
    path("compare/", comparisons.comparison_list, name="comparison_list"),
    path("compare/<number:pk>/", comparisons.comparison_detail, name="comparison"),
    path("compare/<number:pk>/table.csv", comparisons.comparison_csv, name="comparison_csv"),
    path("compare/<number:pk>/suites.csv", comparisons.comparison_suites_csv, name="comparison_suites_csv"),
]
