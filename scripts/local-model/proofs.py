"""What `run --prove` shows: the real gadfly with a real small model as its critic, in a project of its own.

What such a model writes cannot be foreseen. So each proof says what must never happen, and tries again, a few times,
when the model did not write what the proof is about. A proof that gets no chance is not proven.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

TRIES = 12
PATIENCE = 600

CONFIG = """
[agents.writer]
kind = "scripted"
script = "writer.toml"

[agents.small]
kind = "openai"
base_url = "{base_url}"
model = "{model}"
temperature = 0.3
max_tokens = 400
context = 4096

[defaults]
worker = "writer"
critic = "small"
"""

WRITER = """
[[reply]]
role = "worker"
text = "Sleep after learning helps memory: 48 adults recalled 31 of 40 word pairs after a night of sleep."
repeat = "always"
"""

RUBRIC = """
[[rubric]]
id = "1"
row = "The sample size is not given"
points = -30

[[rubric]]
id = "2"
row = "A number has no unit"
points = -10
"""

TASK = "Say in one sentence that sleep helps memory."
REVISE = ["run", TASK, "--criterion", "states the sample size"]
SCORE = ["run", TASK, "--protocol", "score", "--rubric", "rubric.toml", "--rounds", "1"]


class NotProven(Exception):
    """Why something is not as it should be, or could not be seen."""


class Desk:
    """A project in a temporary folder, with a home of its own, and the gadfly that works there."""

    def __init__(self, program, server, model):
        self.program, self.server = program, server
        # The runs that were left to themselves, and the server's calls of those that were not.
        self.runs, self.disturbed = [], set()
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="gadfly-local-model-"))
        self.dir = self.home / "project"
        self.dir.mkdir()
        config = CONFIG.format(base_url=server.at["base_url"], model=model)
        for name, text in [("gadfly.toml", config), ("writer.toml", WRITER), ("rubric.toml", RUBRIC)]:
            (self.dir / name).write_text(text)

    def start(self, args):
        env = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.home)}
        return subprocess.Popen([str(self.program), *args], cwd=self.dir, env=env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def said(self, args):
        """Its exit code and what it wrote to standard output and standard error."""
        child = self.start(args)
        try:
            out, err = child.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            raise NotProven(f"`gadfly {args[0]}` did not end within {PATIENCE} s") from None
        return child.returncode, out, err

    def loop(self, args):
        """One run, as `(exit code, run, its records)`."""
        code, _, err = self.said([*args, "--yes", "--unattended"])
        run = self.newest()
        if run is None:
            raise NotProven(f"no run was made: {err.strip()}")
        self.runs.append(run)
        return code, run, self.records(run)

    def resumed(self, run):
        code, _, _ = self.said(["resume", run, "--unattended"])
        return code, run, self.records(run)

    def newest(self):
        _, out, _ = self.said(["runs", "--json", "-n", "1"])
        return json.loads(out)["run"] if out.strip() else None

    def records(self, run):
        _, out, _ = self.said(["show", run, "--log", "--json"])
        return [json.loads(line) for line in out.splitlines()]


def named(records, event):
    return [r["data"] for r in records if r.get("event") == event]


def ended(server):
    server.wait(lambda _: False, 0.2)
    return [s for s in server.heard if s["what"] == "ended"]


# --- The proofs ----------------------------------------------------------------------------------------------


def malformed(desk):
    """A free answer is no verdict: it is asked for once more, and then the draft is unverified, never passed."""
    for _ in range(TRIES):
        before = len(ended(desk.server))
        code, run, records = desk.loop(REVISE)
        calls = ended(desk.server)[before:]
        verdicts = named(records, "reviewed")
        problems = named(records, "reply_malformed")
        if verdicts:
            continue  # It did write a verdict; then this run proves nothing here.
        if code != 5:
            raise NotProven(f"run {run}: no verdict was given, and the exit code is {code}, not 5")
        if [p["restating"] for p in problems] != [True, False]:
            continue  # One of its answers had no end and was cut: another kind of unusable reply.
        if len(calls) != 2 or not all(c["pieces"] > 1 for c in calls):
            raise NotProven(f"run {run}: two streamed replies were expected, the server tells of {len(calls)}")
        streamed = " and ".join(str(c["pieces"]) for c in calls)
        return f"streamed in {streamed} pieces, \"{problems[0]['problem']}\", restated, unverified (exit code 5)"
    raise NotProven(f"in {TRIES} runs the model never gave two whole answers without a verdict")


def structured(desk):
    """An answer held to the schema is one that can be read, and the score is computed from it."""
    code, run, records = desk.loop(SCORE)
    for _ in range(TRIES):
        reviews = named(records, "reviewed")
        if reviews:
            break
        if code != 5:
            raise NotProven(f"run {run}: no review, and the exit code is {code}, not 5")
        code, run, records = desk.resumed(run)
    else:
        raise NotProven(f"in {TRIES} calls the model never named rows of the rubric")
    replies = [c["content"] for c in ended(desk.server) if c["schema"] and c["why"] == "stop"]
    if not replies:
        raise NotProven("the server was never asked to hold a reply to a schema")
    if strange := [r for r in replies if not has_the_form(r)]:
        raise NotProven(f"a whole reply does not have the schema's form: {strange[0][:200]}")
    score = reviews[0]["review"]["score"]
    all_of = f"{len(replies)} of {len(replies)} whole replies have the schema's form"
    return f"{all_of}; one was read as {score['value']} of 100: {score['arithmetic'][-1]}"


def has_the_form(reply):
    try:
        report = json.loads(reply)
    except ValueError:
        return False
    fields = {"row", "times", "where", "quote", "absent", "says", "fix"}
    return set(report) == {"deductions", "score", "notes"} and all(set(d) == fields for d in report["deductions"])


def cancelled(desk):
    """Cancelling a run ends the writing at the server, not only the waiting for it."""
    for _ in range(TRIES):
        ended(desk.server)  # What it said of earlier calls is not about this one.
        before = desk.newest()
        child = desk.start([*SCORE, "--yes", "--unattended"])
        try:
            if (writing := desk.server.wait(lambda said: said["what"] == "writing", PATIENCE)) is None:
                raise NotProven("the model did not begin to write")
            if (run := desk.newest()) == before:
                raise NotProven("the model writes, and there is no run")
            desk.said(["cancel", run])
            child.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise NotProven(f"run {run}: it did not end when it was cancelled") from None
        finally:
            child.kill()
            child.communicate()
        desk.disturbed.add(call := writing["call"])
        if (end := desk.server.wait(lambda said: said["what"] == "ended" and said["call"] == call, 30)) is None:
            raise NotProven("the server was still writing 30 s later")
        if end["why"] != "gone":
            continue  # The reply was whole before the cancelling came.
        if child.returncode != 7:
            raise NotProven(f"run {run}: the exit code is {child.returncode}, not 7")
        written, most = end["completion_tokens"], end["most"]
        return f"the server stopped after {written} of at most {most} tokens, the run is aborted (exit code 7)"
    raise NotProven(f"in {TRIES} runs every reply was whole before it could be cancelled")


def counted(desk):
    """The tokens on record are those that the server counted, call by call."""
    calls = [c for c in ended(desk.server) if c["call"] not in desk.disturbed]
    told = [(c["prompt_tokens"], c["completion_tokens"]) for c in calls]
    charges = [c for run in desk.runs for c in named(desk.records(run), "charged") if c["agent"] == "small"]
    recorded = [(c["usage"].get("input", 0), c["usage"].get("output", 0)) for c in charges]
    if not told:
        raise NotProven("no call was left to its end")
    if recorded != told:
        raise NotProven(f"the server counted {told}, on record are {recorded}")
    read, written = (sum(column) for column in zip(*told))
    return f"{read} read and {written} written tokens in {len(told)} calls, the same on both sides"


# --- The server itself ---------------------------------------------------------------------------------------


def honest(server, model):
    """What the server cannot do it turns down, and says so."""
    def asked(body, path):
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = urllib.request.Request(server.at["base_url"] + path, data)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    chat = "/chat/completions"
    good = {"model": model, "messages": [{"role": "user", "content": "Hi."}], "max_tokens": 1}
    held = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "string", "pattern": "a+"}}}
    rows = [
        (None, "/models", 200, None),
        (good, chat, 200, None),
        (b"{", chat, 400, "invalid_json"),
        (b" " * (1024 * 1024 + 1), chat, 413, "body_too_long"),
        ({**good, "model": "other"}, chat, 404, "model_not_found"),
        ({**good, "messages": []}, chat, 400, "invalid_value"),
        ({**good, "tools": [{}]}, chat, 400, "invalid_value"),
        ({**good, "response_format": held}, chat, 400, "invalid_value"),
        ({**good, "messages": [{"role": "user", "content": "word " * 9000}]}, chat, 400,
         "context_length_exceeded"),
        (None, "/elsewhere", 404, "not_found"),
    ]
    for body, path, status, code in rows:
        got, answer = asked(body, path)
        if (got, answer.get("error", {}).get("code")) != (status, code):
            raise NotProven(f"{path} answers {got} {json.dumps(answer)[:200]}, not {status} {code}")
    server.wait(lambda _: False, 0.5)
    server.heard.clear()
    return f"{len(rows)} questions answered or turned down as they should be"


def all_of_them(program, server, model):
    """Prints a line for each; how many are proven, and of how many."""
    proven, proofs = 0, [malformed, structured, cancelled, counted]
    try:
        print(f"  server: {honest(server, model)}", flush=True)
    except (NotProven, OSError, ValueError) as why:
        print(f"✗ server: {why}")
        return 0, len(proofs)
    desk = Desk(program, server, model)
    for proof in proofs:
        try:
            print(f"✓ {proof.__name__}: {proof(desk)}", flush=True)
            proven += 1
        except (NotProven, OSError, ValueError, LookupError) as why:
            print(f"✗ {proof.__name__}: {why}", flush=True)
    if proven == len(proofs):
        shutil.rmtree(desk.home)
    else:
        print(f"  the project is kept in {desk.home}")
    return proven, len(proofs)
