import sys

from kit import TASK, Driver, main

INPUT = {"messages": [("user", TASK)]}


class LangChain(Driver):
    """langchain's create_agent (on langgraph)."""

    name = "langchain"
    dists = ("langchain", "langgraph", "langchain-openai", "openai")

    def load(self):
        global ChatOpenAI, create_agent
        from langchain.agents import create_agent
        from langchain_openai import ChatOpenAI

        self.chats = {}
        self.config = {"recursion_limit": 10 * self.max_steps}

    def chat(self, model):
        if model not in self.chats:
            self.chats[model] = ChatOpenAI(
                model=model, base_url=self.base_url + "/v1", api_key="none"
            )
        return self.chats[model]

    def agent(self, model):
        return create_agent(self.chat(model), [self.tool])

    async def run(self, agent):
        return (await agent.ainvoke(INPUT, self.config))["messages"][-1].content

    async def stream(self, agent):
        async for chunk, _ in agent.astream(INPUT, self.config, stream_mode="messages"):
            if chunk.content:
                yield chunk.content


class DeepAgents(LangChain):
    """deepagents' create_deep_agent, as it comes (files, to-do list, subagents, summaries)."""

    name = "deepagents"
    dists = ("deepagents", "langchain", "langgraph", "openai")

    def load(self):
        global create_deep_agent
        super().load()
        from deepagents import create_deep_agent

    def agent(self, model):
        return create_deep_agent(self.chat(model), [self.tool])


if __name__ == "__main__":
    deep = "--deep" in sys.argv
    if deep:
        sys.argv.remove("--deep")
    main(DeepAgents if deep else LangChain)
