"""Addresses of datasets and what belongs to them, and of the page that an invitation opens."""

from django.urls import URLPattern, URLResolver, include, path

from curation.views import (
    accounts,
    audit,
    choosing,
    composing,
    datasets,
    duplicates,
    edits,
    exchange,
    pairs,
    people,
    review,
    scores,
    snapshots,
    splits,
    webhooks,
)

app_name = "curation"
of_import: list[URLPattern | URLResolver] = [
    path("", exchange.import_batch, name="import_batch"),
    path("check/", exchange.import_check_view, name="import_check"),
    path("apply/", exchange.import_apply_view, name="import_apply"),
    path("discard/", exchange.import_discard_view, name="import_discard"),
    path("errors.csv", exchange.import_errors, name="import_errors"),
]
of_sentences: list[URLPattern | URLResolver] = [
    path("", composing.sentences_batch, name="sentences_batch"),
    path("discard/", composing.sentences_discard, name="sentences_discard"),
    path("errors.csv", composing.sentences_errors, name="sentences_errors"),
]
of_webhook: list[URLPattern | URLResolver] = [
    path("", webhooks.webhook, name="webhook"),
    path("secret/", webhooks.webhook_secret, name="webhook_secret"),
    path("test/", webhooks.webhook_test, name="webhook_test"),
    path("remove/", webhooks.webhook_remove_view, name="webhook_remove"),
    path("deliveries/<number:delivery_pk>/again/", webhooks.delivery_again_view, name="webhook_again"),
]
of_dataset: list[URLPattern | URLResolver] = [
    path("", pairs.pair_list, name="dataset"),
    path("glance/", pairs.dataset_glance, name="glance"),
    path("charts/", pairs.dataset_charts, name="charts"),
    path("score-sets/", scores.score_sets_compared, name="score_sets_compared"),
    path("score-sets/<number:score_set_pk>/", scores.score_set_page, name="score_set"),
    path("score-sets/<number:score_set_pk>/move/", scores.score_set_move, name="score_set_move"),
    path("score-sets/differences.csv", scores.score_differences, name="score_differences"),
    path("compose/", composing.compose, name="compose"),
    path("compose/pairs/", choosing.choose, name="choose"),
    path("compose/sentences/", composing.sentences_upload_view, name="sentences_add"),
    path("compose/sentences/<number:batch_pk>/", include(of_sentences)),
    path("compose/sentences/clear/", composing.pool_clear_view, name="pool_clear"),
    path("compose/<number:composition_pk>/undo/", composing.composition_undo_view, name="composition_undo"),
    path("splits/", splits.split_list, name="splits"),
    path("splits/<number:change_pk>/undo/", splits.split_undo_view, name="split_undo"),
    path("duplicates/", duplicates.duplicate_list, name="duplicates"),
    path("duplicates/duplicates.csv", duplicates.duplicate_file, name="duplicates_file"),
    path("duplicates/<number:search_pk>/state/", duplicates.duplicate_state, name="duplicates_state"),
    path("duplicates/<number:search_pk>/cancel/", duplicates.duplicate_cancel, name="duplicates_cancel"),
    path("edits/", edits.edit_list, name="edits"),
    path("edits/<number:entry_pk>/undo/", edits.edit_undo_view, name="edit_undo"),
    path("log/", audit.audit_log, name="audit"),
    path("log/log.<slug:file_format>", audit.audit_file, name="audit_file"),
    path("settings/", datasets.dataset_settings, name="settings"),
    path("webhooks/", webhooks.webhook_list, name="webhooks"),
    path("webhooks/<number:webhook_pk>/", include(of_webhook)),
    path("archive/", datasets.dataset_archive_view, name="dataset_archive"),
    path("pairs/<number:pair_pk>/", pairs.pair, name="pair"),
    path("import/", exchange.import_list, name="import"),
    path("import/<number:batch_pk>/", include(of_import)),
    path("export/", exchange.export, name="export"),
    path("pairs/<number:pair_pk>/snapshots/", snapshots.pair_snapshots, name="pair_snapshots"),
    path("snapshots/", snapshots.snapshot_list, name="snapshots"),
    path("snapshots/<number:number>/", snapshots.snapshot_page, name="snapshot"),
    path("snapshots/<number:number>/pairs.parquet", snapshots.snapshot_download, name="snapshot_file"),
    path(
        "snapshots/<number:number>/since/<number:since>.csv",
        snapshots.snapshot_changes,
        name="snapshot_changes",
    ),
    path("members/", people.member_list, name="members"),
    path("members/restore/", people.member_restore_view, name="member_restore"),
    path("members/<number:member_pk>/role/", people.member_role, name="member_role"),
    path("members/<number:member_pk>/remove/", people.member_remove_view, name="member_remove"),
    path("invitations/", people.invitation_list, name="invitation_list"),
    path("invitations/<number:invitation_pk>/mail/", people.invitation_mail_view, name="invitation_mail"),
    path(
        "invitations/<number:invitation_pk>/revoke/", people.invitation_revoke_view, name="invitation_revoke"
    ),
]
urlpatterns = [
    path("datasets/", datasets.dataset_list, name="dataset_list"),
    path("datasets/new/", datasets.dataset_create_view, name="dataset_create"),
    path("datasets/<slug:slug>/", include(of_dataset)),
    path("log/", audit.audit_log_of_all, name="audit_of_all"),
    path("log/log.<slug:file_format>", audit.audit_file_of_all, name="audit_file_of_all"),
    path("review/", review.review_list, name="review_list"),
    path("review/<slug:slug>/", review.review, name="review"),
    path("review/<slug:slug>/screen/", review.review_screen, name="review_screen"),
    path("review/<slug:slug>/decide/", review.review_decide_view, name="review_decide"),
    path("review/<slug:slug>/disagreements/", review.review_disagreements, name="review_disagreements"),
    path("review/<slug:slug>/undo/<number:decision_pk>/", review.review_undo_view, name="review_undo"),
    path("accounts/sessions/", accounts.browser_sessions, name="sessions"),
    path("accounts/sessions/end/", accounts.browser_sessions_end, name="sessions_end"),
    path("accounts/sessions/<number:session_pk>/end/", accounts.browser_session_end, name="session_end"),
    path("accounts/tokens/", accounts.api_tokens, name="api_tokens"),
    path(
        "accounts/tokens/<number:token_pk>/revoke/", accounts.api_token_revoke_view, name="api_token_revoke"
    ),
    path("invitations/<str:token>/", people.invitation, name="invitation"),
]
