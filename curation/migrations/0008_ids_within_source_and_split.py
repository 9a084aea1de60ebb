"""Ids may repeat from file to file and from split to split. All pairs that are stored keep to the new rule already."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("curation", "0007_kinds_of_scores")]

    operations = [
        migrations.AddConstraint(
            model_name="pair",
            constraint=models.UniqueConstraint(
                fields=("dataset", "external_id", "source", "split"),
                name="one_pair_per_id_in_source_and_split",
            ),
        ),
        migrations.RemoveConstraint(model_name="pair", name="one_pair_per_external_id_and_dataset"),
    ]
