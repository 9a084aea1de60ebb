"""Published score sets say which share of their pairs is distinguishable, under that name."""

from django.db import migrations


def rename(apps, schema_editor, old, new) -> None:
    score_sets = apps.get_model("curation", "ScoreSet").objects.using(schema_editor.connection.alias)
    for score_set in score_sets.exclude(campaign_ref=None).filter(parameters__has_key=old):
        score_set.parameters[new] = score_set.parameters.pop(old)
        score_set.save(update_fields=["parameters"])


def forwards(apps, schema_editor) -> None:
    rename(apps, schema_editor, "told_apart", "distinguishable")


def backwards(apps, schema_editor) -> None:
    rename(apps, schema_editor, "distinguishable", "told_apart")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0006_required_collected_extra"), ("curation", "0007_kinds_of_scores")]

    operations = [migrations.RunPython(forwards, backwards)]
