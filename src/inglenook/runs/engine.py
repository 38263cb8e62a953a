"""Engine: where runs execute. In this process by default; other kinds share this Protocol."""

from typing import Protocol


class Engine(Protocol):
    async def submit(self, run_id: str) -> None:
        """Have the run executed, here or by a worker; returns at once."""
        ...

    async def join(self, run_id: str) -> None:
        """Return when the run is not executed here any more; at once if it is not."""
        ...

    async def cancel(self, run_id: str) -> bool:
        """Stop the run if it executes here; False if it does not.

        When True, nothing more is started and the run ends as `cancelled` within seconds.
        """
        ...

    async def recover(self) -> int:
        """Take up every unfinished run whose holder is gone; how many."""
        ...
