import sys

from kit import TASK, Driver, main


class Strands(Driver):
    """As documented: the model gets client_args, and then makes a client for each request."""

    name = "strands"
    dists = ("strands-agents", "openai")
    reusable = False  # an agent holds its conversation
    shared_client = False

    def load(self):
        global Agent, NullConversationManager, OpenAIModel, tool
        from strands import Agent, tool
        from strands.agent.conversation_manager import NullConversationManager
        from strands.models.openai import OpenAIModel

        self.chats, self.tools = {}, {}
        self.args = {"base_url": self.base_url + "/v1", "api_key": "none"}
        if self.shared_client:
            from openai import AsyncOpenAI

            self.client = AsyncOpenAI(**self.args)

    def agent(self, model):
        if model not in self.chats:
            client = {"client": self.client} if self.shared_client else {"client_args": self.args}
            self.chats[model] = OpenAIModel(**client, model_id=model)
        if self.tool not in self.tools:
            self.tools[self.tool] = tool(self.tool)
        manager = NullConversationManager()  # the default one drops all but the last 40 messages
        return Agent(
            self.chats[model],
            tools=[self.tools[self.tool]],
            callback_handler=None,
            conversation_manager=manager,
        )

    async def run(self, agent):
        return str(await agent.invoke_async(TASK))

    async def stream(self, agent):
        async for event in agent.stream_async(TASK):
            if text := event.get("data"):
                yield text


class StrandsShared(Strands):
    """With one client for all requests, as a careful user would."""

    name = "strands-shared"
    shared_client = True


if __name__ == "__main__":
    shared = "--shared" in sys.argv
    if shared:
        sys.argv.remove("--shared")
    main(StrandsShared if shared else Strands)
