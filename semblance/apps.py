from django.apps import AppConfig


class SemblanceConfig(AppConfig):
    name = "semblance"
    verbose_name = "Semblance"
