"""What the integration tests of every application share."""

from tests.quick_figures import quick_figures

__all__ = ["quick_figures"]
