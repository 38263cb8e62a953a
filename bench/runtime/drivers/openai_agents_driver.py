from kit import TASK, Driver, main


class OpenAIAgents(Driver):
    name = "openai-agents"
    dists = ("openai-agents", "openai")

    def load(self):
        global Agent, OpenAIChatCompletionsModel, Runner, function_tool
        from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool
        from openai import AsyncOpenAI

        self.client = AsyncOpenAI(base_url=self.base_url + "/v1", api_key="none")
        self.config = RunConfig(tracing_disabled=True)  # traces go to OpenAI's cloud otherwise

    def agent(self, model):
        chat = OpenAIChatCompletionsModel(model, self.client)
        return Agent(name="bench", model=chat, tools=[function_tool(self.tool)])

    async def run(self, agent):
        return (
            await Runner.run(agent, TASK, max_turns=self.max_steps, run_config=self.config)
        ).final_output

    async def stream(self, agent):
        result = Runner.run_streamed(agent, TASK, run_config=self.config)
        async for event in result.stream_events():
            if (
                event.type == "raw_response_event"
                and event.data.type == "response.output_text.delta"
            ):
                yield event.data.delta


if __name__ == "__main__":
    main(OpenAIAgents)
