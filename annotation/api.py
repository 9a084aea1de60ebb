"""Addresses of campaigns for programs: /api/v1/campaigns/. Whoever reads the dataset reads them; its members judge."""

from django.urls import path

from annotation.views.api import campaigns, crowds, judging, machines, quiz

OF = "campaigns/<number:campaign_pk>/"
urlpatterns = [
    path("campaigns/", campaigns.CampaignList.as_view(), name="api_campaigns"),
    path(OF, campaigns.CampaignDetail.as_view(), name="api_campaign"),
    path(f"{OF}progress/", campaigns.CampaignProgress.as_view(), name="api_campaign_progress"),
    path(f"{OF}move/", campaigns.CampaignMove.as_view(), name="api_campaign_move"),
    path(f"{OF}copy/", campaigns.CampaignCopy.as_view(), name="api_campaign_copy"),
    path(f"{OF}design/", campaigns.Design.as_view(), name="api_design"),
    path(f"{OF}tuples/", campaigns.TupleList.as_view(), name="api_tuples"),
    path(f"{OF}results/", campaigns.CampaignResults.as_view(), name="api_campaign_results"),
    path(f"{OF}works/<number:work_pk>/", campaigns.CampaignWorkDetail.as_view(), name="api_campaign_work"),
    path(f"{OF}bundle.zip", campaigns.CampaignBundle.as_view(), name="api_campaign_bundle"),
    path(f"{OF}bundle/", campaigns.BundleMake.as_view(), name="api_bundle_make"),
    path(f"{OF}works/<number:work_pk>/bundle.zip", campaigns.KeptBundle.as_view(), name="api_work_bundle"),
    path(f"{OF}machines/", machines.MachineList.as_view(), name="api_machines"),
    path(f"{OF}crowd/", crowds.CrowdDetail.as_view(), name="api_crowd"),
    path(f"{OF}crowd/hours/", crowds.CrowdHours.as_view(), name="api_crowd_hours"),
    path(f"{OF}guidelines/", campaigns.Guidelines.as_view(), name="api_guidelines"),
    path(f"{OF}norming/", campaigns.Norming.as_view(), name="api_norming"),
    path(f"{OF}quiz/", quiz.Quiz.as_view(), name="api_quiz"),
    path(f"{OF}claim/", judging.TupleClaim.as_view(), name="api_claim"),
    path(f"{OF}judgements/", judging.Judgements.as_view(), name="api_judgements"),
    path(f"{OF}undo/", judging.JudgementUndo.as_view(), name="api_undo"),
    path(f"{OF}skip/", judging.TupleSkip.as_view(), name="api_skip"),
    path(f"{OF}flag/", judging.TupleFlag.as_view(), name="api_flag"),
]
