"""The real demo model without its tool template: three tools in a row, called in envelopes.

Each step needs the result of the one before, and a tool that is given anything else says so.
Prints every run and the figure that the guide gives: tasks done, of ten.
"""

import asyncio
import json
import os
import secrets
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from pydantic import BaseModel, create_model
from pydantic import Field as ArgumentField

from inglenook.bootstrap.models import demo_model, transport_of, wrapped
from inglenook.errors import ToolError
from inglenook.events import ModelReplied
from inglenook.providers.base import ModelSpec
from inglenook.providers.catalogue import ModelCatalogue
from inglenook.providers.demo_model import DEMO_ID, SERVER_COMMAND
from inglenook.providers.model_memory import ModelMemory
from inglenook.settings.load import load
from inglenook.tools.base import Tool, ToolSpec
from inglenook.tools.calculator import CalculatorTool
from inglenook.tools.clock import ClockTool
from inglenook.tools.function import FunctionTool
from tests.support import ask, bench

REQUIRED = 8
CONTEXT_TOKENS = 4_096

pytestmark = pytest.mark.live


@dataclass(frozen=True, kw_only=True)
class Table:
    """A tool that looks one thing up."""

    name: str
    description: str
    argument: str
    about: str
    """The argument, in words."""
    entries: Mapping[str, str]
    says: str
    """The result, with a place for what was found."""


@dataclass(frozen=True, kw_only=True)
class Task:
    question: str
    tables: Sequence[Table]
    begins_with: str
    answer: str


ORDERS = (
    Table(
        name="find_customer",
        description="Find a customer's number by name.",
        argument="name",
        about="The customer's full name",
        entries={"Anna Berger": "C-4821", "Tomas Novak": "C-1190", "Lucia Ferri": "C-7734"},
        says="Customer number: {}",
    ),
    Table(
        name="last_order",
        description="Get the number of a customer's last order.",
        argument="customer_number",
        about="As find_customer gives it",
        entries={"C-4821": "77310", "C-1190": "50482", "C-7734": "61955"},
        says="Last order: {}",
    ),
    Table(
        name="order_total",
        description="Get the total of an order.",
        argument="order_number",
        about="As last_order gives it",
        entries={"77310": "129.40", "50482": "86.15", "61955": "412.60"},
        says="Total: {} euros",
    ),
)
LAPTOPS = (
    Table(
        name="find_employee",
        description="Find an employee's number by name.",
        argument="name",
        about="The employee's full name",
        entries={"Kofi Mensah": "E-208", "Ingrid Holm": "E-517", "Raj Patel": "E-339"},
        says="Employee number: {}",
    ),
    Table(
        name="laptop_of",
        description="Get the serial number of an employee's laptop.",
        argument="employee_number",
        about="As find_employee gives it",
        entries={"E-208": "SN-99410", "E-517": "SN-20767", "E-339": "SN-73152"},
        says="Laptop: {}",
    ),
    Table(
        name="repair_shop",
        description="Get the city of the shop that repairs a laptop.",
        argument="serial_number",
        about="As laptop_of gives it",
        entries={"SN-99410": "Halmstad", "SN-20767": "Coimbra", "SN-73152": "Gdynia"},
        says="Repaired in {}",
    ),
)
LIBRARY = (
    Table(
        name="find_book",
        description="Find the shelf of a book by its title.",
        argument="title",
        about="The book's title",
        entries={"The Salt Road": "B7", "Winter Bees": "K2"},
        says="Shelf: {}",
    ),
    Table(
        name="room_of_shelf",
        description="Get the room in which a shelf stands.",
        argument="shelf",
        about="As find_book gives it",
        entries={"B7": "R12", "K2": "R31"},
        says="Room: {}",
    ),
    Table(
        name="keeper_of",
        description="Get the name of the person who keeps a room's key.",
        argument="room",
        about="As room_of_shelf gives it",
        entries={"R12": "Mina Okafor", "R31": "Jonas Lindt"},
        says="The key is with {}",
    ),
)
TRAINS = (
    Table(
        name="station_code",
        description="Get the code of a city's station.",
        argument="city",
        about="The city's name",
        entries={"Brno": "BRN", "Lund": "LUX"},
        says="Station code: {}",
    ),
    Table(
        name="next_train",
        description="Get the number of the next train that leaves a station.",
        argument="station_code",
        about="As station_code gives it",
        entries={"BRN": "472", "LUX": "805"},
        says="Next train: {}",
    ),
    Table(
        name="platform_of",
        description="Get the platform that a train leaves from.",
        argument="train",
        about="As next_train gives it",
        entries={"472": "16", "805": "23"},
        says="Platform: {}",
    ),
)
TASKS = (
    Task(
        question="What is the total of Anna Berger's last order?",
        tables=ORDERS,
        begins_with="Anna Berger",
        answer="129.40",
    ),
    Task(
        question="How much was the last order of the customer Tomas Novak?",
        tables=ORDERS,
        begins_with="Tomas Novak",
        answer="86.15",
    ),
    Task(
        question="Tell me the total of the most recent order by Lucia Ferri.",
        tables=ORDERS,
        begins_with="Lucia Ferri",
        answer="412.60",
    ),
    Task(
        question="In which city is the laptop of Kofi Mensah repaired?",
        tables=LAPTOPS,
        begins_with="Kofi Mensah",
        answer="Halmstad",
    ),
    Task(
        question="Ingrid Holm's laptop is broken. Where does it get repaired?",
        tables=LAPTOPS,
        begins_with="Ingrid Holm",
        answer="Coimbra",
    ),
    Task(
        question="Which city does the laptop of Raj Patel go to for a repair?",
        tables=LAPTOPS,
        begins_with="Raj Patel",
        answer="Gdynia",
    ),
    Task(
        question="Who keeps the key of the room in which the book The Salt Road stands?",
        tables=LIBRARY,
        begins_with="The Salt Road",
        answer="Mina Okafor",
    ),
    Task(
        question="I want to read the book Winter Bees. Who has the key of its room?",
        tables=LIBRARY,
        begins_with="Winter Bees",
        answer="Jonas Lindt",
    ),
    Task(
        question="Which platform does the next train from Brno leave from?",
        tables=TRAINS,
        begins_with="Brno",
        answer="16",
    ),
    Task(
        question="I am in the city of Lund. From which platform does the next train leave?",
        tables=TRAINS,
        begins_with="Lund",
        answer="23",
    ),
)


@dataclass
class Lookups:
    """What the model looked up with success, in order."""

    found: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def tool(self, table: Table) -> Tool:
        fields: dict[str, Any] = {table.argument: (str, ArgumentField(description=table.about))}
        arguments: type[BaseModel] = create_model(table.name, **fields)

        def look_up(**given: str) -> str:
            wanted = given[table.argument].strip()
            if wanted not in table.entries:
                what = table.argument.replace("_", " ")
                raise ToolError(f"There is no {what} {wanted!r}.")
            self.found.append((table.name, wanted))
            return table.says.format(table.entries[wanted])

        spec = ToolSpec(
            name=table.name,
            description=table.description,
            arguments=arguments,
            effect="read",
            may_be_long=False,
        )
        return FunctionTool(spec, look_up)


def chain(task: Task) -> list[tuple[str, str]]:
    """The look-ups that lead to the answer."""
    steps: list[tuple[str, str]] = []
    wanted = task.begins_with
    for table in task.tables:
        steps.append((table.name, wanted))
        wanted = table.entries[wanted]
    return steps


@asynccontextmanager
async def server(folder: Path) -> AsyncGenerator[ModelSpec]:
    """The demo model's own server, with a small window."""
    weights = await demo_model(load(environment=os.environ)).pull(lambda _: None)
    key = secrets.token_urlsafe(24)
    order = {
        "weights": str(weights),
        "alias": DEMO_ID,
        "api_key": key,
        "context_tokens": CONTEXT_TOKENS,
        "port": 0,
        "prefixes": str(folder),
    }
    with (folder / "server.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *SERVER_COMMAND,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        await process.stdin.drain()
        url = json.loads(await process.stdout.readline())["url"]
        yield ModelSpec(
            id="m",
            provider="openai",
            model=DEMO_ID,
            base_url=f"{url}/v1",
            api_key=key,
            context_tokens=CONTEXT_TOKENS,
            tool_mode="envelope",
        )
    finally:
        process.stdin.close()
        await process.wait()


async def done(task: Task, models: ModelCatalogue, home: Path) -> bool:
    lookups = Lookups()
    tools = [*map(lookups.tool, task.tables), CalculatorTool(), ClockTool()]
    spec = (await models.specs())[0]
    provider = (await models.get(spec.id)).provider
    began = time.monotonic()
    async with bench(home, provider, tools=tools, models=models) as b:
        run = await b.run(ask(task.question))
        replies = [e for e in await b.service.events(run["id"]) if isinstance(e, ModelReplied)]
    is_done = (
        run["status"] == "complete"
        and lookups.found == chain(task)
        and task.answer in run["answer"]
        and {reply.tool_mode for reply in replies} == {"envelope"}
    )
    calls = [f"{c.name} {dict(c.arguments)}" for r in replies for c in r.message.tool_calls]
    print(
        f"\n{task.question}\n  {'done' if is_done else 'NOT DONE'}, "
        f"{time.monotonic() - began:.0f} s, {'; '.join(calls)}: {run['answer'][:200]}"
    )
    return is_done


async def test_eight_of_ten_tasks_of_three_steps_are_done_in_envelopes(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    memory = ModelMemory()
    async with server(tmp_path) as spec:
        models = ModelCatalogue(
            configured=[spec],
            discoveries=[],
            make_provider=lambda each: wrapped(transport_of(session, each, memory), each, memory),
            memory=memory,
        )
        results = [await done(task, models, tmp_path / f"home{n}") for n, task in enumerate(TASKS)]
    known = memory.of(spec)
    print(f"\nenvelope mode: {sum(results)} of {len(TASKS)} tasks of three steps done")
    print(f"1,000 tokens: {known.read_s} s to read, {known.write_s} s to write")
    assert sum(results) >= REQUIRED
