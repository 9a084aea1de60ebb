"""Published scores say how many of their annotators a program simulates, so that every file can mark them."""

from django.db import migrations


def count(apps, schema_editor) -> None:
    using = schema_editor.connection.alias
    participations = apps.get_model("annotation", "Participation").objects.using(using)
    simulated = participations.filter(user__simulated=True, judgements__status="collected")
    published = apps.get_model("curation", "ScoreSet").objects.using(using).filter(kind="human")
    for score_set in published.exclude(campaign_ref=None):
        number = simulated.filter(campaign=score_set.campaign_ref).distinct().count()
        score_set.parameters["simulated_annotators"] = number
        score_set.save(update_fields=["parameters"])


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0011_adaptive_phase_without_prior"),
        ("curation", "0019_lines_of_imported_scores"),
    ]

    operations = [migrations.RunPython(count, migrations.RunPython.noop)]
