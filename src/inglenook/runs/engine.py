"""Engine: where runs execute. In this process by default; other kinds share this Protocol."""

from typing import Protocol


class Engine(Protocol):
    async def submit(self, run_id: str, *, epoch: int) -> None:
        """Have the run executed, here or by a worker; returns at once.

        Args:
            epoch: As the run's row had it. Who took the run up since keeps it. One that is executed
                here is tried once more after this try, where the epoch is a later one.
        """
        ...

    def executes(self, run_id: str) -> bool:
        """It was submitted here and its task has not ended; a child counts as its parent."""
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
        """Take up every unfinished run that nobody works on any more; how many.

        For the holder of the home's lock alone. What was tried in vain is left for a while.
        """
        ...
