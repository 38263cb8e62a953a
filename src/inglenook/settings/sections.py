"""The shape of `inglenook.toml`: its sections, their keys and what a key is without a value.

Where the values come from is `load.py`'s affair.
"""

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

HOST_NAME = re.compile(r"[\w.-]+|\[[0-9a-f:.]+\]", re.ASCII | re.IGNORECASE)
"""A name, an IPv4 or a bracketed IPv6 address, without port."""
LATER_SECTIONS = (
    "research", "cache", "workspace", "gateway", "mcp", "experiments"
)  # fmt: skip
"""Named in the documentation, not served by this version; setting one is an error, not a no-op."""


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Server(Section):
    host: str = "127.0.0.1"
    port: int = Field(default=8420, ge=0, le=65535)
    token: str = Field(default="", repr=False)
    """Empty: only callers on loopback are served."""
    show_reasoning: bool = False
    allowed_hosts: list[str] = []
    """Names by which the server may be called besides `host` and the loopback ones."""

    @field_validator("allowed_hosts")
    @classmethod
    def _are_host_names(cls, names: list[str], info: ValidationInfo) -> list[str]:
        for name in names:
            if name == "*" and not info.data.get("token"):
                raise ValueError("'*' (any name) needs server.token: it would let any web page in")
            if name != "*" and not HOST_NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r} is no host name; write the name alone, such as 'box.lan'"
                )
        return names


class Store(Section):
    url: Literal["sqlite"] = "sqlite"


class Engine(Section):
    kind: Literal["in-process"] = "in-process"


class Model(Section):
    id: str = Field(pattern=r"\S")
    provider: Literal["ollama", "openai"]
    model: str
    base_url: str | None = Field(default=None, repr=False)
    api_key_env: str | None = None
    context_tokens: int | None = Field(default=None, ge=512)
    thinking: bool | None = None
    reasoning_effort: str | None = None
    tool_mode: Literal["auto", "native", "envelope"] = "auto"


class Knowledge(Section):
    provider: Literal["local", "open-webui"] = "local"
    embedder: str = "builtin"
    """`builtin`, `ollama:<model>`, `openai:<model>` or `none`."""


class Web(Section):
    engines: list[Literal["duckduckgo"]] = ["duckduckgo"]
    """Empty: no run can search the web."""
    duckduckgo_url: str = Field(default="https://html.duckduckgo.com", repr=False)
    proxy: str | None = Field(default=None, repr=False)


class Approvals(Section):
    web_search: Literal["allow", "block"] = "allow"


class OpenWebUI(Section):
    url: str = Field(default="", repr=False)


class ChildAgent(Section):
    description: str
    strategy: str = "assistant"
    model: str | None = None
    tools: Literal["read"] = "read"
    steps: int = Field(default=10, ge=1, le=100)


class Limits(Section):
    steps: int | None = Field(default=None, ge=1, le=1000)
    """None: what the run's strategy allows."""
    seconds: float | None = Field(default=None, gt=0)
    output_tokens: int | None = Field(default=None, ge=1)
    tool_result_tokens: int | None = Field(default=None, ge=100)
    """Of one tool result that the model is shown at once; None: a quarter of the model's window."""


class Settings(Section):
    server: Server = Server()
    store: Store = Store()
    engine: Engine = Engine()
    models: list[Model] = []
    knowledge: Knowledge = Knowledge()
    web: Web = Web()
    approvals: Approvals = Approvals()
    open_webui: OpenWebUI = OpenWebUI()
    agents: dict[str, ChildAgent] = {}
    limits: Limits = Limits()

    @field_validator("models")
    @classmethod
    def _have_names_of_their_own(cls, models: list[Model]) -> list[Model]:
        ids = [model.id for model in models]
        if twice := sorted({id for id in ids if ids.count(id) > 1}):
            raise ValueError(f"two models have the id {twice[0]!r}; give each one of its own")
        return models
