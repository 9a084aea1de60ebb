from django.db import migrations, models

REASON = (
    "Of %(trials)d choices with a known answer, %(right)d were right. "
    "This campaign requires %(threshold).0f %%."
)


def fill(apps, schema_editor):
    """Who was stopped by the gold rule, and which answers were forgiven, from what was stored so far."""
    Participation = apps.get_model("annotation", "Participation")
    for person in Participation.objects.filter(excluded=True).select_related("campaign"):
        facts = {
            "trials": person.gold_trials - person.forgiven_trials,
            "right": person.gold_right - person.forgiven_right,
            "threshold": 100 * person.campaign.gold_threshold,
        }
        person.stopped_by_gold = person.reason == REASON % facts
        person.save(update_fields=["stopped_by_gold"])
    for person in Participation.objects.filter(forgiven_trials__gt=0):
        golds = person.judgements.filter(status="gold").order_by("pk").values_list("pk", flat=True)
        forgiven = list(golds[: person.forgiven_trials // 2])
        person.forgiven_until = forgiven[-1] if forgiven else 0
        person.save(update_fields=["forgiven_until"])


class Migration(migrations.Migration):

    dependencies = [
        ("annotation", "0018_archived_campaigns"),
    ]

    operations = [
        migrations.AddField(
            model_name="goldanswer",
            name="withdrawn",
            field=models.BooleanField(
                default=False, help_text="asked of nobody any more, and no answer to it is weighed"
            ),
        ),
        migrations.AddField(
            model_name="participation",
            name="forgiven_until",
            field=models.PositiveBigIntegerField(
                default=0, help_text="the number of the last gold judgement before the last reinstatement"
            ),
        ),
        migrations.AddField(
            model_name="participation",
            name="stopped_by_gold",
            field=models.BooleanField(
                default=False, help_text="the gold rule stopped the person, and nobody let them go on since"
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
