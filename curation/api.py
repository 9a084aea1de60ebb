"""Addresses of datasets for programs: /api/v1/datasets/."""

from django.urls import URLPattern, URLResolver, include, path

from curation.views.api import (
    choosing,
    composing,
    datasets,
    duplicates,
    edits,
    exports,
    imports,
    log,
    review,
    snapshots,
    splits,
)

of_import: list[URLPattern | URLResolver] = [
    path("", imports.ImportDetail.as_view(), name="api_import"),
    path("check/", imports.ImportCheck.as_view(), name="api_import_check"),
    path("apply/", imports.ImportApply.as_view(), name="api_import_apply"),
    path("rejected/", imports.ImportRejected.as_view(), name="api_import_rejected"),
]
of_dataset: list[URLPattern | URLResolver] = [
    path("", datasets.DatasetDetail.as_view(), name="api_dataset"),
    path("pairs/", datasets.PairList.as_view(), name="api_pairs"),
    path("pairs/<number:pair_pk>/", datasets.PairDetail.as_view(), name="api_pair"),
    path("score-sets/", datasets.ScoreSetList.as_view(), name="api_score_sets"),
    path("score-sets/<number:score_set_pk>/", datasets.ScoreSetDetail.as_view(), name="api_score_set"),
    path(
        "score-sets/<number:score_set_pk>/withdraw/", datasets.ScoreSetWithdraw.as_view(), name="api_withdraw"
    ),
    path("score-sets/<number:score_set_pk>/restore/", datasets.ScoreSetRestore.as_view(), name="api_restore"),
    path("score-sets/<number:score_set_pk>/scores/", datasets.ScoreList.as_view(), name="api_scores"),
    path(
        "score-sets/<number:score_set_pk>/agreement/<number:other_pk>/",
        datasets.ScoreSetAgreement.as_view(),
        name="api_agreement",
    ),
    path("compose/", composing.Compose.as_view(), name="api_compose"),
    path("compose/preview/", composing.ComposePreview.as_view(), name="api_compose_preview"),
    path("compose/pairs/", choosing.Choose.as_view(), name="api_choose"),
    path("compose/pairs/preview/", choosing.ChoosePreview.as_view(), name="api_choose_preview"),
    path("compose/sentences/", composing.SentencesAdd.as_view(), name="api_sentences"),
    path(
        "compose/sentences/<number:batch_pk>/", composing.SentencesDetail.as_view(), name="api_sentence_file"
    ),
    path(
        "compose/sentences/<number:batch_pk>/rejected/",
        composing.SentencesRejected.as_view(),
        name="api_sentences_rejected",
    ),
    path("compose/sentences/clear/", composing.SentencesClear.as_view(), name="api_sentences_clear"),
    path("compose/<number:composition_pk>/undo/", composing.ComposeUndo.as_view(), name="api_compose_undo"),
    path("splits/", splits.Splits.as_view(), name="api_splits"),
    path("splits/preview/", splits.SplitsPreview.as_view(), name="api_splits_preview"),
    path("splits/<number:change_pk>/undo/", splits.SplitsUndo.as_view(), name="api_splits_undo"),
    path("duplicates/", duplicates.Duplicates.as_view(), name="api_duplicates"),
    path(
        "duplicates/<number:search_pk>/", duplicates.DuplicatesDetail.as_view(), name="api_duplicate_search"
    ),
    path(
        "duplicates/<number:search_pk>/cancel/",
        duplicates.DuplicatesCancel.as_view(),
        name="api_duplicates_cancel",
    ),
    path(
        "duplicates/<number:search_pk>/groups/",
        duplicates.DuplicateGroups.as_view(),
        name="api_duplicate_groups",
    ),
    path("export/", exports.Export.as_view(), name="api_export"),
    path("edits/", edits.Edits.as_view(), name="api_edits"),
    path("edits/preview/", edits.EditPreview.as_view(), name="api_edits_preview"),
    path("edits/<number:entry_pk>/undo/", edits.EditUndo.as_view(), name="api_edit_undo"),
    path("log/", log.AuditLog.as_view(), name="api_log"),
    path("log/log.<slug:file_format>", log.AuditFile.as_view(), name="api_log_file"),
    path("snapshots/", snapshots.Snapshots.as_view(), name="api_snapshots"),
    path("snapshots/<number:number>/", snapshots.SnapshotDetail.as_view(), name="api_snapshot"),
    path(
        "snapshots/<number:number>/pairs.parquet", snapshots.SnapshotFile.as_view(), name="api_snapshot_file"
    ),
    path(
        "snapshots/<number:number>/since/<number:since>/",
        snapshots.SnapshotDifference.as_view(),
        name="api_snapshot_difference",
    ),
    path("imports/", imports.ImportList.as_view(), name="api_imports"),
    path("imports/<number:batch_pk>/", include(of_import)),
    path("review/", review.ReviewQueue.as_view(), name="api_review"),
    path("review/decisions/", review.ReviewDecisions.as_view(), name="api_review_decisions"),
    path("review/decisions/<number:decision_pk>/undo/", review.ReviewUndo.as_view(), name="api_review_undo"),
]
urlpatterns: list[URLPattern | URLResolver] = [
    path("datasets/", datasets.DatasetList.as_view(), name="api_datasets"),
    path("log/log.<slug:file_format>", log.AuditFileOfAll.as_view(), name="api_log_file_of_all"),
    path("datasets/<slug:slug>/", include(of_dataset)),
]
