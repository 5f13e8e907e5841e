"""An editor by the protocol's Python SDK, without a person: the same scenes and the same answer as `editor.mjs`."""

import asyncio
import json
import os
import sys
from pathlib import Path

import acp
from acp import schema

SCENE, CWD, TEXT, _, PROGRAM, *ARGS = sys.argv[1:]
SEEN = {"said": "", "tools": 0, "permissions": 0, "reads": 0, "writes": 0, "terminals": 0, "stop": None, "loaded": None}


class Editor(acp.Client):
    def __init__(self):
        self.heard = lambda: None
        self.terminals = {}

    async def request_permission(self, session_id, tool_call, options, **_):
        SEEN["permissions"] += 1
        wanted = "reject_once" if (tool_call.title or "").startswith("Gadfly") else "allow_once"
        option = next((o for o in reversed(options) if o.kind == wanted), options[0])
        chosen = schema.AllowedOutcome(option_id=option.option_id, outcome="selected")
        return schema.RequestPermissionResponse(outcome=chosen)

    async def session_update(self, session_id, update, **_):
        kind = update.session_update
        if kind == "agent_message_chunk":
            SEEN["said"] += getattr(update.content, "text", "")
        SEEN["tools"] += kind == "tool_call"
        self.heard()

    async def read_text_file(self, session_id, path, line=None, limit=None, **_):
        SEEN["reads"] += 1
        # One that is not there is a new buffer.
        file = Path(path)
        return schema.ReadTextFileResponse(content=file.read_text() if file.exists() else "")

    async def write_text_file(self, session_id, path, content, **_):
        SEEN["writes"] += 1
        Path(path).write_text(content)
        return schema.WriteTextFileResponse()

    async def create_terminal(self, session_id, command, args=None, env=None, cwd=None, output_byte_limit=None, **_):
        SEEN["terminals"] += 1
        pipes = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.STDOUT, "cwd": cwd or CWD}
        if args:
            run = await asyncio.create_subprocess_exec(command, *args, **pipes)
        else:
            run = await asyncio.create_subprocess_shell(command, **pipes)
        name = f"t-{SEEN['terminals']}"
        self.terminals[name] = (run, asyncio.ensure_future(run.stdout.read()))
        return schema.CreateTerminalResponse(terminal_id=name)

    async def terminal_output(self, session_id, terminal_id, **_):
        _run, output = self.terminals[terminal_id]
        text = output.result().decode(errors="replace") if output.done() else ""
        return schema.TerminalOutputResponse(output=text, truncated=False)

    async def wait_for_terminal_exit(self, session_id, terminal_id, **_):
        run, output = self.terminals[terminal_id]
        await output
        return schema.WaitForTerminalExitResponse(exit_code=await run.wait())

    async def release_terminal(self, session_id, terminal_id, **_):
        self.terminals.pop(terminal_id)
        return schema.ReleaseTerminalResponse()

    async def kill_terminal(self, session_id, terminal_id, **_):
        self.terminals[terminal_id][0].kill()
        return schema.KillTerminalResponse()


class Life:
    """One life of the agent."""

    async def __aenter__(self):
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(
            PROGRAM, *ARGS, cwd=CWD, stdin=pipe, stdout=pipe, limit=64 << 20
        )
        self.editor = Editor()
        self.agent = acp.connect_to_agent(self.editor, self.process.stdin, self.process.stdout)
        can = schema.ClientCapabilities(
            fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
        )
        await self.agent.initialize(protocol_version=acp.PROTOCOL_VERSION, client_capabilities=can)
        return self

    async def __aexit__(self, *_):
        self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), 20)
        except asyncio.TimeoutError:
            self.process.kill()

    async def opened(self):
        session = (await self.agent.new_session(cwd=CWD, mcp_servers=[])).session_id
        if mode := os.environ.get("ACP_MODE"):
            await self.agent.set_session_mode(mode_id=mode, session_id=session)
        return session

    async def prompt(self, session, words=TEXT):
        return (await self.agent.prompt(session_id=session, prompt=[acp.text_block(words)])).stop_reason


async def killed():
    async with Life() as life:
        session = await life.opened()
        begun = asyncio.Event()
        life.editor.heard = lambda: "judges the change" in SEEN["said"] and begun.set()
        turn = asyncio.ensure_future(life.prompt(session))
        await asyncio.wait([turn, asyncio.ensure_future(begun.wait())], return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(1)
        life.process.kill()
        turn.cancel()
    (Path(CWD).parent / "hold").unlink(missing_ok=True)
    async with Life() as life:
        try:
            await life.agent.load_session(cwd=CWD, session_id=session, mcp_servers=[])
        except acp.RequestError as error:
            SEEN["loaded"] = str(error)
            return
        SEEN["loaded"] = True
        SEEN["stop"] = await life.prompt(session, TEXT.replace("greeting.txt", "second.txt"))


async def prompted():
    async with Life() as life:
        session = await life.opened()
        is_cut = False

        def heard():
            nonlocal is_cut
            if SCENE == "cut" and SEEN["tools"] >= 2 and not is_cut:
                is_cut = True
                asyncio.ensure_future(life.agent.cancel(session_id=session))

        life.editor.heard = heard
        SEEN["stop"] = await life.prompt(session)


asyncio.run(killed() if SCENE == "kill" else prompted())
print(json.dumps(SEEN))
