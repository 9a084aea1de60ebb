"""The names of two figures of a study have changed; it is computed again when somebody opens the dashboard."""

from django.db import migrations


def forget(apps, schema_editor) -> None:
    apps.get_model("annotation", "CampaignStudy").objects.using(schema_editor.connection.alias).all().delete()


class Migration(migrations.Migration):
    dependencies = [("annotation", "0008_gold_gate_label")]

    operations = [migrations.RunPython(forget, forget)]
