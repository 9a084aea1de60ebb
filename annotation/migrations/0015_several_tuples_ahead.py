from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("annotation", "0014_signs_of_carelessness")]

    operations = [
        migrations.RemoveConstraint("lease", "one_live_lease_per_person_and_place"),
        migrations.RemoveConstraint("lease", "two_live_leases_per_person_at_most"),
        migrations.RenameField("lease", "place", "turn"),
        migrations.AlterField(
            "lease",
            "turn",
            models.IntegerField(
                default=0,
                help_text="of a person's live leases, the one of the lowest turn is on the screen",
            ),
        ),
        migrations.AddConstraint(
            "lease",
            models.UniqueConstraint(
                fields=["participation", "turn"],
                condition=Q(state="live"),
                name="one_live_lease_per_person_and_turn",
            ),
        ),
    ]
