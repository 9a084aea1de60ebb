"""The compact encoding of Thrift, as far as a Parquet file's own tables need it: sizes are looked at before they cost.

The encoding: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_INTEGERS = frozenset({4, 5, 6})
_DEEPEST = 16

Struct = dict[int, object]


class ThriftError(ValueError):
    """The bytes are not such a structure, or one larger than allowed."""


class ThriftReader:
    """Reads structures from the beginning of some bytes.

    most: how many structures and members of lists there may be in all; each costs a library that keeps them all
    hundreds of bytes. position: behind what was read.
    """

    def __init__(self, content: bytes, *, most: int) -> None:
        self._content = content
        self._left = most
        self.position = 0

    def struct(self) -> Struct:
        """A structure's fields by their numbers. What lists hold is passed over. Raises ThriftError."""
        try:
            return self._struct(0)
        except IndexError as error:
            raise ThriftError("it breaks off") from error

    def _struct(self, depth: int) -> Struct:
        self._spend(1)
        fields: Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> object:
        if depth > _DEEPEST:
            raise ThriftError("it is nested too deeply")
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind in _INTEGERS:
            return self._integer()
        if kind == _STRUCT:
            return self._struct(depth + 1)
        if kind in (_LIST, _SET, _MAP):
            self._pass_members(kind, depth)
        elif kind in (_BINARY, _BYTE, _DOUBLE):
            size = self._unsigned() if kind == _BINARY else 1 if kind == _BYTE else 8
            self.position += size
            if self.position > len(self._content):
                raise IndexError(self.position)
        else:
            raise ThriftError("it has a field of an unknown kind")
        return None

    def _pass_members(self, kind: int, depth: int) -> None:
        if kind == _MAP:
            size = self._unsigned()
            head = self._byte() if size else 0
            kinds = [head >> 4, head & 15]
        else:
            head = self._byte()
            size = self._unsigned() if head >> 4 == 15 else head >> 4
            kinds = [head & 15]
        self._spend(size)
        for _number in range(size):
            for member in kinds:
                # In a list a truth value is one byte; in a structure it is part of the field's head.
                self._value(_BYTE if member in (_TRUE, _FALSE) else member, depth + 1)

    def _spend(self, number: int) -> None:
        self._left -= number
        if self._left < 0:
            raise ThriftError("it has too many members")

    def _byte(self) -> int:
        byte = self._content[self.position]
        self.position += 1
        return byte

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise ThriftError("it has a number of too many digits")
        return value | byte << shift

    def _integer(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)
