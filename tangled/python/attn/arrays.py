# python/attn/arrays.py: tangled from chapters/10b-python.nw; edit that file, not this one.
"""What the functions of attn take for an array and for a rule."""
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

@runtime_checkable
class SpeaksDLPack(Protocol):
    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, Any]: ...

@runtime_checkable
class SpeaksBuffer(Protocol):
    def __buffer__(self, flags: int, /) -> memoryview: ...

Array: TypeAlias = SpeaksDLPack | SpeaksBuffer
Rule: TypeAlias = Mapping[str, Any]
