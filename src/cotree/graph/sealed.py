"""Objects that cannot be changed once they are built."""

from __future__ import annotations


class Sealed:
    """After ``seal()`` no attribute can be set; values computed on demand may still be cached."""

    def seal(self) -> None:
        """Forbid changes from now on."""
        self.__dict__["_sealed"] = True

    def __setattr__(self, name: str, value: object) -> None:
        if "_sealed" in self.__dict__:
            raise AttributeError(
                f"a {type(self).__name__} cannot be changed: build a new one instead of setting {name}"
            )
        super().__setattr__(name, value)
