from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("mlworkers", "0004_validation_share")]

    operations = [migrations.RemoveField(model_name="run", name="log_path")]
