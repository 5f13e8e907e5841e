"""The loops of the benchmark in LangGraph, a checkpoint in SQLite after each step: URL TASKS JOBS DB PROMPTS.

As its users write it: a graph of two nodes, the asynchronous checkpointer, one thread per loop. Durability is `sync`, and
SQLite syncs with every commit, as Gadfly and the baseline do. HTTP is httpx, which LangGraph brings along.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import TypedDict

import aiosqlite
import httpx
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

URL, TASKS, JOBS, DB, PROMPTS = sys.argv[1:6]
DRAFT, REVISE, CRITIC = (Path(PROMPTS, name).read_text() for name in ("draft.md", "revise.md", "critic.md"))


class Loop(TypedDict, total=False):
    task: str
    round: int
    draft: str
    before: str
    feedback: str


async def call(client: httpx.AsyncClient, model: str, text: str) -> str:
    body = {
        "model": model,
        "messages": [{"role": "user", "content": text}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 8192,
    }
    said = []
    async with client.stream("POST", f"{URL}/chat/completions", json=body) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if line.startswith("data: ") and line != "data: [DONE]":
                for choice in json.loads(line[6:])["choices"]:
                    said.append(choice["delta"].get("content") or "")
    return "".join(said)


def graph(client: httpx.AsyncClient, saver: AsyncSqliteSaver):
    async def worker(loop: Loop) -> Loop:
        task, draft = loop["task"], loop.get("draft", "")
        if draft:
            text = f"{REVISE}{task}Mode: Revision\nDraft:\n{draft}\n\nFeedback:\n{loop['feedback']}"
        else:
            text = f"{DRAFT}{task}Mode: Initial Draft\n"
        return {"draft": await call(client, "worker", text), "before": draft, "round": loop.get("round", 0) + 1}

    async def critic(loop: Loop) -> Loop:
        head = f"{CRITIC}Iteration: {loop['round']}\n\n{loop['task']}"
        text = f"{head}Before:\n{loop['before']}\nDraft:\n{loop['draft']}\n"
        return {"feedback": await call(client, "critic:R,R,A", text)}

    def after(loop: Loop) -> str:
        if loop["feedback"].startswith("[STATUS: APPROVED]"):
            return END
        if loop["round"] >= 3:
            raise RuntimeError("a loop was not approved in its third round")
        return "worker"

    loops = StateGraph(Loop)
    loops.add_node("worker", worker)
    loops.add_node("critic", critic)
    loops.add_edge(START, "worker")
    loops.add_edge("worker", "critic")
    loops.add_conditional_edges("critic", after, ["worker", END])
    return loops.compile(checkpointer=saver)


async def main() -> None:
    tasks = iter(enumerate(Path(TASKS).read_text().splitlines(keepends=True)))
    jobs = int(JOBS)
    limits = httpx.Limits(max_connections=jobs, max_keepalive_connections=jobs)
    async with (
        aiosqlite.connect(DB) as conn,
        httpx.AsyncClient(limits=limits, timeout=120, trust_env=False) as client,
    ):
        saver = AsyncSqliteSaver(conn)
        await saver.setup()
        await conn.execute("PRAGMA synchronous = FULL")
        loops = graph(client, saver)

        async def work() -> None:
            for n, task in tasks:
                config = {"configurable": {"thread_id": str(n)}}
                await loops.ainvoke({"task": task}, config, durability="sync")

        await asyncio.gather(*(work() for _ in range(jobs)))


asyncio.run(main())
