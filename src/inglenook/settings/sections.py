"""The shape of `inglenook.toml`: its sections, their keys and what a key is without a value.

Where the values come from is `load.py`'s affair.
"""

import re
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

HOST_NAME = re.compile(r"[\w.-]+|\[[0-9a-f:.]+\]", re.ASCII | re.IGNORECASE)
"""A name, an IPv4 or a bracketed IPv6 address, without port."""
LATER_SECTIONS = ("workspace", "gateway", "mcp", "experiments")
"""Named in the documentation, not served by this version; setting one is an error, not a no-op."""
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
EngineName = Literal["duckduckgo", "duckduckgo-lite", "searxng", "brave"]
DAY_S = 86_400
YEAR_S = 365 * DAY_S


def _web_address(url: str) -> str:
    """`url` without a slash at its end.

    Raises:
        ValueError: It is none. It is not repeated here, as it may hold a password.
    """
    if not re.match(r"https?://[^/?#\s]+", url):
        raise ValueError("an address begins with http:// or https:// and names a host")
    return url.rstrip("/")


def _variable_name(name: str) -> str:
    """
    Raises:
        ValueError: It is none; perhaps it is the key itself, so it is not repeated.
    """
    if not VARIABLE_NAME.fullmatch(name):
        raise ValueError("this is the name of the variable that holds the key, never the key")
    return name


WebAddress = Annotated[str, AfterValidator(_web_address)]
VariableName = Annotated[str, AfterValidator(_variable_name)]


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
    api_key_env: VariableName | None = None
    context_tokens: int | None = Field(default=None, ge=512)
    thinking: bool | None = None
    reasoning_effort: str | None = None
    tool_mode: Literal["auto", "native", "envelope"] = "auto"


class Knowledge(Section):
    provider: Literal["local", "open-webui"] = "local"
    embedder: str = "builtin"
    """`builtin`, `ollama:<model>`, `openai:<model>` or `none`."""
    private: Literal["confidential", "any"] = "confidential"
    """Which knowledge bases make a run private that reads from them."""


class Web(Section):
    engines: list[EngineName] = ["duckduckgo"]
    """In the order in which they are asked. Empty: no run can search the web."""
    duckduckgo_url: WebAddress = Field(default="https://html.duckduckgo.com", repr=False)
    duckduckgo_lite_url: WebAddress = Field(default="https://lite.duckduckgo.com", repr=False)
    searxng_url: str = Field(default="", repr=False)
    """Its root; `/search` and a query at its end are taken off."""
    brave_url: WebAddress = Field(default="https://api.search.brave.com", repr=False)
    brave_api_key_env: VariableName | None = None
    proxy: str | None = Field(default=None, repr=False)
    allow_private_addresses: bool = False
    browser: Literal["off", "chromium", "firefox"] = "off"
    browser_port: int | None = Field(default=None, ge=1, le=65535)
    """Where a browser that the user started can be driven; None: one is started."""
    cookies: Literal["off", "firefox", "chrome"] = "off"
    cookie_sites: list[str] = Field(default=[], validate_default=True)
    """The only sites, with all below them, that get the user's cookies."""

    @field_validator("engines")
    @classmethod
    def _are_named_once(cls, engines: list[EngineName]) -> list[EngineName]:
        if twice := sorted({name for name in engines if engines.count(name) > 1}):
            raise ValueError(f"{twice[0]!r} stands there twice; name each engine once")
        return engines

    @field_validator("searxng_url")
    @classmethod
    def _is_the_root(cls, url: str) -> str:
        root = re.sub(r"(/search)?/*([?#].*)?$", "", url.strip())
        return _web_address(root) if root else ""

    @field_validator("cookie_sites")
    @classmethod
    def _are_sites(cls, sites: list[str], info: ValidationInfo) -> list[str]:
        cookies = info.data.get("cookies", "off")
        if cookies != "off" and not sites:
            raise ValueError(
                f"web.cookies = {cookies!r} needs the sites that get your cookies, such as "
                "['lwn.net']; no other site gets any"
            )
        for site in sites:
            if not HOST_NAME.fullmatch(site):
                raise ValueError(f"{site!r} is no site; write its name alone, such as 'lwn.net'")
        return [site.lower().strip(".") for site in sites]


class Research(Section):
    """Ranges as in the source documents (FEATURES B25)."""

    timeout_s: float = Field(default=120, gt=0, le=DAY_S)
    steps: int = Field(default=15, ge=1, le=50)
    breadth: int = Field(default=4, ge=1, le=10)
    max_rounds: int = Field(default=3, ge=0, le=6)
    """0: `depth` says how deep it goes."""
    depth: int = Field(default=2, ge=1, le=4)
    concurrency: int = Field(default=2, ge=1, le=5)
    max_sub_queries: int = Field(default=14, ge=1, le=40)
    quality_threshold: int = Field(default=7, ge=1, le=10)
    sub_agent_steps: int = Field(default=0, ge=0, le=50)
    """0: the larger of `steps` + 1 and one and a half times `steps`."""


class Cache(Section):
    """What was found on the web, kept for later runs. Ranges as in FEATURES B25."""

    enabled: bool = False
    max_mb: int = Field(default=50, ge=0, le=500)
    """0 keeps nothing."""
    validity_days: int = Field(default=30, ge=1, le=30)
    embedding_percent: int = Field(default=75, ge=0, le=100)
    jaccard_percent: int = Field(default=60, ge=0, le=100)
    min_overlap: int = Field(default=8, ge=0, le=50)

    @property
    def max_bytes(self) -> int:
        """0: there is no cache."""
        return self.max_mb * 1_000_000 if self.enabled else 0


class Approvals(Section):
    web_search: Literal["allow", "ask", "block"] = "allow"
    confidential: Literal["ask", "block", "allow"] = "ask"
    """What happens to calls that leave the machine once the run is private."""
    timeout_s: float = Field(default=3600, gt=0, le=YEAR_S)


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
    research: Research = Research()
    cache: Cache = Cache()
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
