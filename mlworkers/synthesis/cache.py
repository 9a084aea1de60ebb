"""Keys and values of earlier tokens, with room for those to come."""

from typing import Any

from torch import Tensor
from transformers.cache_utils import Cache, DynamicLayer

ROOM = 16  # positions; the library's own layer copies everything at every token


class RoomyLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    """A layer of the cache that copies its content every ROOM tokens, and writes in between into spare places."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)  # type: ignore[no-untyped-call]
        self._spare: tuple[Tensor, Tensor] | None = None

    def update(
        self, key_states: Tensor, value_states: Tensor, *_args: Any, **_kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        before = self.get_seq_length()
        after = before + key_states.shape[-2]
        if self._spare is None or self._spare[0].shape[-2] < after:
            self._spare = (
                self._with_room(key_states, before, after),
                self._with_room(value_states, before, after),
            )
            for spare, held in zip(self._spare, (self.keys, self.values), strict=True):
                if before and held is not None:
                    spare[:, :, :before] = held
        for spare, new in zip(self._spare, (key_states, value_states), strict=True):
            spare[:, :, before:after] = new
        self.keys, self.values = (spare[:, :, :after] for spare in self._spare)
        return self.keys, self.values

    def batch_repeat_interleave(self, repeats: int) -> None:
        super().batch_repeat_interleave(repeats)
        self._spare = None

    def batch_select_indices(self, indices: Tensor) -> None:
        super().batch_select_indices(indices)
        self._spare = None

    @staticmethod
    def _with_room(states: Tensor, before: int, after: int) -> Tensor:
        batch, heads, _length, width = states.shape
        room = ROOM if before else 0  # a prompt is followed by a repetition, which copies anyway
        return states.new_empty(batch, heads, after + room, width)


def roomy_cache() -> Cache:
    return Cache(layer_class_to_replicate=RoomyLayer)
