import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Tokens from before go on: they may do what they could, and end with the password alone."""

    dependencies = [("curation", "0027_archived_campaigns")]

    operations = [
        migrations.AlterModelOptions(name="apitoken", options={"ordering": ["-created_at", "-pk"]}),
        migrations.AlterField(
            model_name="apitoken",
            name="user",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="api_tokens", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="apitoken",
            name="name",
            field=models.CharField(default="Program", max_length=60, verbose_name="name"),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="apitoken",
            name="scope",
            field=models.CharField(
                choices=[("read", "Read"), ("judge", "Judge and rate"), ("write", "Read and change")],
                default="write",
                max_length=5,
                verbose_name="scope",
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="apitoken", name="expires_at", field=models.DateTimeField(blank=True, null=True)
        ),
        migrations.AddField(
            model_name="apitoken", name="last_used_at", field=models.DateTimeField(blank=True, null=True)
        ),
        migrations.AddConstraint(
            model_name="apitoken",
            constraint=models.UniqueConstraint(fields=("user", "name"), name="one_token_per_person_and_name"),
        ),
        migrations.AddConstraint(
            model_name="apitoken",
            constraint=models.CheckConstraint(
                condition=models.Q(("scope__in", ["read", "judge", "write"])), name="token_scope_is_known"
            ),
        ),
    ]
