"""Libraries that take long to load. Each loads when one of its names is first used: `alt.Chart`, not `import`."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _LoadedWhenUsed(ModuleType):
    """Stands for the module of its name."""

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self.__name__), attribute)


if TYPE_CHECKING:
    import altair as alt
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    import vl_convert
else:
    alt, pa, pc, pq, vl_convert = map(
        _LoadedWhenUsed, ("altair", "pyarrow", "pyarrow.compute", "pyarrow.parquet", "vl_convert")
    )

__all__ = ["alt", "pa", "pc", "pq", "vl_convert"]
