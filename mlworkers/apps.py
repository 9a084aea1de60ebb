from django.apps import AppConfig


class MlworkersConfig(AppConfig):
    name = "mlworkers"
    verbose_name = "Workers"
    default_auto_field = "django.db.models.BigAutoField"
