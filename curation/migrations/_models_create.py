"""The operation of a migration that creates many models at once."""

from collections.abc import Sequence
from typing import Any

from django.db import migrations


class ModelsCreate(migrations.SeparateDatabaseAndState):
    """Create models as their `CreateModel` says. Django renders its copies of all models once instead of for each."""

    def __init__(self, models: Sequence[migrations.CreateModel]) -> None:
        super().__init__(state_operations=models)

    def state_forwards(self, app_label: str, state: Any) -> None:
        state.__dict__.pop("apps", None)
        super().state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for model in self.state_operations:
            model.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for model in reversed(self.state_operations):
            model.database_backwards(app_label, schema_editor, from_state, to_state)
