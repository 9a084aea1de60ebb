"""Every setting that a form folds away stands under a heading."""

from mlworkers.forms.plans import SHOWN_AT_ONCE
from mlworkers.plans.groups import GROUPS, group_of
from mlworkers.plans.kinds import KINDS


def test_every_setting_that_is_not_decided_each_time_has_a_group() -> None:
    long_forms = [kind.settings for kind in KINDS.values() if len(kind.settings) > SHOWN_AT_ONCE]
    names = {setting.name for settings in long_forms for setting in settings if not setting.comes_first}

    assert {group_of(name) for name in names} == set(GROUPS)
