"""Addresses of judging and of campaigns."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.views import campaigns, dashboard, gold, growing, importing, judging, people, publishing

app_name = "annotation"
of_import: list[URLPattern | URLResolver] = [
    path("", importing.judgement_import, name="judgement_import"),
    path("check/", importing.judgement_import_check, name="judgement_import_check"),
    path("apply/", importing.judgement_import_apply, name="judgement_import_apply"),
    path("discard/", importing.judgement_import_discard, name="judgement_import_discard"),
    path("state/", importing.judgement_import_state, name="judgement_import_state"),
    path("errors.csv", importing.judgement_import_errors, name="judgement_import_errors"),
]
urlpatterns = [
    path("datasets/<slug:slug>/judgements/", importing.judgement_imports, name="judgement_imports"),
    path("datasets/<slug:slug>/judgements/<number:batch_pk>/", include(of_import)),
    path("judge/", judging.mine, name="mine"),
    path("campaigns/", campaigns.campaign_list, name="campaign_list"),
    path("campaigns/new/", campaigns.campaign_new, name="campaign_new"),
    path("campaigns/estimate/<slug:slug>/", campaigns.estimate, name="estimate"),
    path("campaigns/estimate/<slug:slug>/sizes/", campaigns.estimate_sizes, name="estimate_sizes"),
    path("campaigns/<number:campaign_pk>/", dashboard.campaign, name="campaign"),
    path("campaigns/<number:campaign_pk>/progress/", dashboard.campaign_progress, name="campaign_progress"),
    path("campaigns/<number:campaign_pk>/study/", dashboard.study, name="study"),
    path("campaigns/<number:campaign_pk>/preview/", dashboard.campaign_preview, name="campaign_preview"),
    path("campaigns/<number:campaign_pk>/change/", campaigns.campaign_edit, name="campaign_edit"),
    path("campaigns/<number:campaign_pk>/design/", campaigns.campaign_design, name="campaign_design"),
    path("campaigns/<number:campaign_pk>/design/state/", dashboard.design_state, name="design_state"),
    path("campaigns/<number:campaign_pk>/move/", campaigns.campaign_move, name="campaign_move"),
    path("campaigns/<number:campaign_pk>/repeats/", campaigns.campaign_repeats, name="campaign_repeats"),
    path("campaigns/<number:campaign_pk>/guidelines/", campaigns.guidelines, name="guidelines"),
    path("campaigns/<number:campaign_pk>/analysis/", dashboard.analysis, name="analysis"),
    path("campaigns/<number:campaign_pk>/scores/", dashboard.scores, name="scores"),
    path("campaigns/<number:campaign_pk>/spend/", growing.spend, name="spend"),
    path("campaigns/<number:campaign_pk>/spend/withdraw/", growing.withdraw, name="withdraw"),
    path("campaigns/<number:campaign_pk>/grow/", growing.grow, name="grow"),
    path("campaigns/<number:campaign_pk>/publish/", publishing.publish, name="publish"),
    path("campaigns/<number:campaign_pk>/judgements/", dashboard.judgements, name="judgements"),
    path("campaigns/<number:campaign_pk>/judgements.csv", publishing.judgements_file, name="judgements_file"),
    path("campaigns/<number:campaign_pk>/bundle.zip", publishing.bundle, name="bundle"),
    path("campaigns/<number:campaign_pk>/annotators/<number:person_pk>/", people.annotator, name="annotator"),
    path(
        "campaigns/<number:campaign_pk>/annotators/<number:person_pk>/reinstate/",
        people.annotator_reinstate,
        name="annotator_reinstate",
    ),
    path(
        "campaigns/<number:campaign_pk>/annotators/<number:person_pk>/signs/",
        people.annotator_signs,
        name="annotator_signs",
    ),
    path("campaigns/<number:campaign_pk>/inbox/", people.inbox, name="inbox"),
    path(
        "campaigns/<number:campaign_pk>/inbox/<number:flag_pk>/",
        people.flag_resolve_view,
        name="flag_resolve",
    ),
    path("campaigns/<number:campaign_pk>/gold/", gold.gold_list, name="gold"),
    path("campaigns/<number:campaign_pk>/gold/new/", gold.gold_new, name="gold_new"),
    path("campaigns/<number:campaign_pk>/gold/suggest/", gold.gold_suggest_view, name="gold_suggest"),
    path("campaigns/<number:campaign_pk>/gold/<number:tuple_pk>/", gold.gold_edit, name="gold_edit"),
    path(
        "campaigns/<number:campaign_pk>/gold/<number:tuple_pk>/remove/",
        gold.gold_remove_view,
        name="gold_remove",
    ),
    path("campaigns/<number:campaign_pk>/judge/", judging.judge, name="judge"),
    path("campaigns/<number:campaign_pk>/judge/screen/", judging.judge_screen, name="judge_screen"),
    path("campaigns/<number:campaign_pk>/judge/answer/", judging.judgement_create, name="judgement_create"),
    path(
        "campaigns/<number:campaign_pk>/judge/answered/<uuid:client_id>/",
        judging.judgement_answered,
        name="judgement_answered",
    ),
    path("campaigns/<number:campaign_pk>/judge/undo/", judging.undo, name="judgement_undo"),
    path("campaigns/<number:campaign_pk>/judge/skip/", judging.skip, name="tuple_skip"),
    path("campaigns/<number:campaign_pk>/judge/flag/", judging.flag, name="tuple_flag"),
]
