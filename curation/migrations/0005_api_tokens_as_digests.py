"""Tokens for the API are kept as digests. Those that people have go on working: a digest of each takes its place."""

import hashlib
from datetime import UTC, datetime

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# The table of Django REST framework's tokens, which are kept there as they are. Its app is no longer installed, so that
# no migration can depend on it; a new installation never has the table.
OLD = 'authtoken_token'


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def moment(created):
    """SQLite answers with a time that is UTC and does not say so, on some versions of Python as a text."""
    if isinstance(created, str):
        created = datetime.fromisoformat(created)
    return created if created.tzinfo else created.replace(tzinfo=UTC)


def old_table_is_there(schema_editor):
    with schema_editor.connection.cursor() as cursor:
        return OLD in schema_editor.connection.introspection.table_names(cursor)


def tokens_take_over(apps, schema_editor):
    if not old_table_is_there(schema_editor):
        return
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f'SELECT user_id, key, created FROM {OLD}')
        old = {user: (key, moment(created)) for user, key, created in cursor.fetchall()}
    User, ApiToken = apps.get_model('curation', 'User'), apps.get_model('curation', 'ApiToken')
    for user in User.objects.filter(pk__in=old):
        key, created_at = old[user.pk]
        ApiToken.objects.create(
            user=user,
            digest=digest(key),
            beginning=key[:8],
            password_digest=digest(user.password),
            created_at=created_at,
        )


def old_table_drop(apps, schema_editor):
    if old_table_is_there(schema_editor):
        if schema_editor.connection.vendor == 'sqlite':
            schema_editor.execute('PRAGMA secure_delete = ON')  # else the tokens stay in the file's free pages
        schema_editor.execute(f'DROP TABLE {OLD}')


class Migration(migrations.Migration):

    dependencies = [
        ('curation', '0004_invitation_bars_and_password_tries'),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('beginning', models.CharField(help_text='by which its owner recognises it', max_length=8)),
                ('password_digest', models.CharField(help_text="of the password's hash when it was made", max_length=64)),
                ('created_at', models.DateTimeField()),
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='api_token', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.RunPython(tokens_take_over, migrations.RunPython.noop),
        migrations.RunPython(old_table_drop, migrations.RunPython.noop),
    ]
