#!/usr/bin/env python3
"""Steps a second that LangGraph, Burr, a loop of upserts and chartc's store commit to SQLite on one disk.

    pip install -r tests/bench/durable/requirements.txt
    tests/bench/durable/peers.py [CHARTC-BENCH] [--rounds 5] [--seconds 3] [--only WORD] [--keep FILE]

In each round every implementation has its turn in a process of its own, another one first each time. `chartc-bench store 1000` has its
turn among them if the program is named. Printed are medians over the rounds, and medians of the ratios within a round.

64 clients (threads, or tasks of one event loop) step 1,000 runs of a chain of two nodes. A node keeps a text and counts; nothing calls a
model. Each run is made first, without waiting for the disk; then the file is closed and opened again; then the clock starts. At the
end the file is opened once more, and the counters in it must sum up to the steps that were acknowledged.
"""
import argparse
import asyncio
import concurrent.futures
import contextlib
import importlib.metadata
import inspect
import json
import os
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

CLIENTS = 64
RUNS = 1000
SETTINGS = ("journal_mode", "synchronous")
TEXT = "My order has not arrived, and I have asked twice before."
# Steps of one call of a client. Burr's `step` takes one action; LangGraph's `invoke` takes the whole chain.
STEPS = {"langgraph": 2, "burr": 1}
# What each imports.
MODULES = {
    "langgraph": ("langgraph.checkpoint.sqlite", "langgraph.checkpoint.sqlite.aio", "langgraph.graph"),
    "burr": ("burr.core", "burr.integrations.persisters.b_aiosqlite"),
}
# kind, flavour, durability (LangGraph), journal mode, synchronous.
CONFIGS = [
    *[("langgraph", flavour, durability, "wal", level) for flavour in ("sync", "async") for durability in ("async", "sync", "exit")
      for level in ("FULL", "NORMAL")],
    *[("burr", flavour, "", journal, level) for flavour in ("sync", "async")
      for journal, level in (("delete", "FULL"), ("wal", "FULL"), ("wal", "NORMAL"))],
    *[("upserts", rows, "", "wal", level) for rows in ("1", "64") for level in ("FULL", "NORMAL")],
]


def name(config):
    kind, flavour, durability, journal, level = config
    prefix = "Async" if flavour == "async" else ""
    what = {
        "langgraph": f"LangGraph {prefix}SqliteSaver, durability={durability}",
        "burr": f"Burr {prefix}SQLitePersister, journal {journal}",
        "upserts": f"upserts of 1 KB, {flavour} in a commit",
    }
    return f"{what[kind]}, {level}"


class LangGraph:
    """A graph `a -> b`; a call is an `invoke` in the thread of the run."""

    def __init__(self, file, config):
        from typing import TypedDict

        from langgraph.graph import END, START, StateGraph

        def node(state):
            return {"last": state["last"], "times": state.get("times", 0) + 1}

        async def anode(state):
            return node(state)

        _, self.flavour, self.durability, _, _ = config
        self.file = file
        graph = StateGraph(TypedDict("State", {"last": str, "times": int}))
        for step in ("a", "b"):
            graph.add_node(step, anode if self.flavour == "async" else node)
        for edge in ((START, "a"), ("a", "b"), ("b", END)):
            graph.add_edge(*edge)
        self.graph = graph

    @staticmethod
    def of(run):
        return {"configurable": {"thread_id": f"agent-{run}"}}

    async def open(self, level):
        from langgraph.checkpoint.sqlite import SqliteSaver
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        self.scope = (AsyncSqliteSaver if self.flavour == "async" else SqliteSaver).from_conn_string(self.file)
        saver = await self.scope.__aenter__() if self.flavour == "async" else self.scope.__enter__()
        await settle(saver.setup())
        self.connection = saver.conn
        await settle(self.connection.execute(f"PRAGMA synchronous = {level}"))
        self.app = self.graph.compile(checkpointer=saver)

    def call(self, run):
        self.app.invoke({"last": TEXT}, self.of(run), durability=self.durability)

    async def acall(self, run):
        await self.app.ainvoke({"last": TEXT}, self.of(run), durability=self.durability)

    async def times(self, run):
        get = self.app.aget_state if self.flavour == "async" else self.app.get_state
        return (await settle(get(self.of(run)))).values["times"]

    async def close(self):
        await settle(self.scope.__aexit__(None, None, None) if self.flavour == "async" else self.scope.__exit__(None, None, None))


class Burr:
    """Actions `a -> b -> a`; a call is a `step` of the application of the run, which stays in memory."""

    def __init__(self, file, config):
        from burr.core import ApplicationBuilder, action
        from burr.core.persistence import SQLitePersister

        _, self.flavour, _, self.journal, _ = config
        self.file = file

        class Locked(SQLitePersister):
            """The threads share a connection: statements of two of them must not mix in one transaction."""

            lock = threading.Lock()

            def save(self, *args, **kwargs):
                with self.lock:
                    super().save(*args, **kwargs)

        def node(state):
            return state.update(last=TEXT, times=state["times"] + 1)

        async def anode(state):
            return node(state)

        step = action(reads=["times"], writes=["last", "times"])(anode if self.flavour == "async" else node)
        self.locked = Locked
        self.builder = lambda run, persister: (
            ApplicationBuilder()
            .with_actions(a=step, b=step)
            .with_transitions(("a", "b"), ("b", "a"))
            .with_identifiers(app_id=f"agent-{run}")
            .initialize_from(persister, True, {"last": "", "times": 0}, "a")
            .with_state_persister(persister)
        )

    async def open(self, level):
        from burr.integrations.persisters.b_aiosqlite import AsyncSQLitePersister

        if self.flavour == "async":
            self.persister = await AsyncSQLitePersister.from_values(self.file)
        else:
            self.persister = self.locked.from_values(self.file, connect_kwargs={"check_same_thread": False})
        self.connection = self.persister.connection
        await settle(self.connection.execute(f"PRAGMA journal_mode = {self.journal}"))
        await settle(self.connection.execute(f"PRAGMA synchronous = {level}"))
        await settle(self.persister.initialize())
        builders = [self.builder(run, self.persister) for run in range(RUNS)]
        self.apps = [await one.abuild() if self.flavour == "async" else one.build() for one in builders]

    def call(self, run):
        self.apps[run].step()

    async def acall(self, run):
        await self.apps[run].astep()

    async def times(self, run):
        return (await settle(self.persister.load(None, f"agent-{run}")))["state"]["times"]

    async def close(self):
        await settle(self.persister.cleanup())


KINDS = {"langgraph": LangGraph, "burr": Burr}


async def settle(value):
    """The value, which one of the two flavours has to wait for."""
    return await value if inspect.isawaitable(value) else value


def turns(client, end):
    """The runs of a client: each once, or in turn until the time is over. No two clients step the same run."""
    while True:
        for run in range(client, RUNS, CLIENTS):
            if end is not None and time.perf_counter() >= end:
                return
            yield run
        if end is None:
            return


def by_threads(peer, end):
    def client(nth):
        calls = 0
        for run in turns(nth, end):
            peer.call(run)
            calls += 1
        return calls

    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        return sum(pool.map(client, range(CLIENTS)))


async def by_tasks(peer, end):
    async def client(nth):
        calls = 0
        for run in turns(nth, end):
            await peer.acall(run)
            calls += 1
        return calls

    return sum(await asyncio.gather(*[client(nth) for nth in range(CLIENTS)]))


async def drive(peer, seconds):
    """Calls from 64 clients: so many, in so many seconds."""
    start = time.perf_counter()
    end = None if seconds is None else start + seconds
    calls = await by_tasks(peer, end) if peer.flavour == "async" else by_threads(peer, end)
    return calls, time.perf_counter() - start


def stand(file):
    """Bytes of the file when all of the log is in it."""
    with contextlib.closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return pathlib.Path(file).stat().st_size


async def measure(config, file, seconds):
    peer, each = KINDS[config[0]](file, config), STEPS[config[0]]
    await peer.open("OFF")
    made, _ = await drive(peer, None)
    await peer.close()
    start = time.perf_counter()
    await peer.open(config[4])
    opened = time.perf_counter() - start
    cursors = [await settle(peer.connection.execute(f"PRAGMA {word}")) for word in SETTINGS]
    setting = [(await settle(cursor.fetchone()))[0] for cursor in cursors]
    calls, took = await drive(peer, seconds)
    said = []
    await settle(peer.connection.set_trace_callback(said.append))
    await settle(peer.acall(0) if peer.flavour == "async" else peer.call(0))
    await settle(peer.connection.set_trace_callback(None))
    await peer.close()
    await peer.open(config[4])
    found = sum([await peer.times(run) for run in range(RUNS)])
    await peer.close()
    acknowledged = (made + calls + 1) * each
    if found != acknowledged:
        sys.exit(f"{name(config)}: {acknowledged} steps were acknowledged, {found} are in the file")
    return {"rate": calls * each / took, "calls": calls / took, "commits": said.count("COMMIT") / each, "open": opened,
            "setting": setting, "bytes": stand(file) / acknowledged}


def upserts(config, file, seconds):
    """A loop that knows nothing of charts. Each text is new: SQLite writes nothing for a row that stays as it was."""
    rows, level = int(config[1]), config[4]
    db = sqlite3.connect(file, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(f"PRAGMA synchronous = {level}")
    db.execute("CREATE TABLE agent (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID")
    setting = [db.execute(f"PRAGMA {word}").fetchone()[0] for word in SETTINGS]
    nth, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        db.execute("BEGIN")
        for _ in range(rows):
            put = "INSERT INTO agent VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET state = ?2"
            db.execute(put, (f"agent-{nth * 7919 % RUNS}", f"{nth:01000}"))
            nth += 1
        db.execute("COMMIT")
    took = time.perf_counter() - start
    return {"rate": nth / took, "calls": nth / rows / took, "commits": 1 / rows, "open": 0, "setting": setting, "bytes": 0}


def child(config, file, seconds):
    """What the process of one implementation does."""
    start = time.perf_counter()
    for module in MODULES.get(config[0], ()):
        importlib.import_module(module)
    imports = time.perf_counter() - start
    found = upserts(config, file, seconds) if config[0] == "upserts" else asyncio.run(measure(config, file, seconds))
    print(json.dumps({**found, "imports": imports}))


def flushes(folder):
    """How often a second the disk takes 4 KB and says that it has them; what else uses the disk shows here."""
    path = pathlib.Path(folder, "flushed")
    path.write_bytes(bytes(4 << 20))
    with open(path, "r+b", buffering=0) as file:
        os.fsync(file.fileno())
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < 0.3:
            file.seek(count % 1024 * 4096)
            file.write(b"x" * 4096)
            os.fdatasync(file.fileno())
            count += 1
        return count / (time.perf_counter() - start)


def ran(command, cwd):
    """What a program prints, and the most memory that it had."""
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, text=True)
    peak, is_over = 0, threading.Event()

    def watch():
        nonlocal peak
        while not is_over.wait(0.05):
            found = re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{process.pid}/status").read_text())
            peak = int(found[1]) * 1024 if found else peak

    watcher = threading.Thread(target=watch)
    watcher.start()
    out = process.stdout.read()
    is_over.set()
    watcher.join()
    if process.wait() != 0:
        sys.exit(f"{command} failed")
    return out, peak


def chartc(program, folder):
    """The rows that `chartc-bench store` prints of 64 clients."""
    out, peak = ran([program, "store", str(RUNS)], folder)
    rows = {}
    for safety, level in (("full", "FULL"), ("process", "NORMAL")):
        rate, opened = re.search(rf"^{safety} +{RUNS} +{CLIENTS} +(\d+) .*start-up ([\d.]+) s", out, re.M).groups()
        rows[f"chartc, {level}"] = {"rate": float(rate), "calls": float(rate), "open": float(opened), "peak": peak}
    return rows


def summary(rounds):
    def median(what, key):
        return statistics.median(one[what].get(key, 0) for one in rounds)

    print(f"{'':<66} {'steps/s':>8} {'calls/s':>8} {'commits':>8} {'B/step':>7} {'peak MiB':>8} {'imports':>8} {'open':>6} {'flushes':>8}  journal, synchronous")
    for what, first in sorted(rounds[0].items()):
        print(f"{what:<66} {median(what, 'rate'):>8.0f} {median(what, 'calls'):>8.0f} {median(what, 'commits'):>8.2f} {median(what, 'bytes'):>7.0f}"
              f" {median(what, 'peak') / 2**20:>8.0f} {median(what, 'imports'):>7.2f}s {median(what, 'open'):>5.2f}s {median(what, 'flushes'):>8.0f}  {first.get('setting', '')}")
    if "chartc, FULL" not in rounds[0]:
        return
    print("\nSteps of chartc for one of each, at the same level: the median over the rounds, and the least and the most")
    for what in sorted(rounds[0]):
        mine = f"chartc, {what.rsplit(' ', 1)[1]}"
        ratios = sorted(one[mine]["rate"] / one[what]["rate"] for one in rounds)
        if mine != what:
            print(f"{what:<66} {statistics.median(ratios):>8.2f} {ratios[0]:>8.2f} {ratios[-1]:>8.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="chartc-bench, built")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only", default="", help="implementations whose name has this in it")
    parser.add_argument("--folder", default="target", help="on the disk to measure")
    parser.add_argument("--keep", help="a file that gets each round as a line of JSON")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return child(CONFIGS[int(given.child[0])], given.child[1], given.seconds)
    packages = ["langgraph", "langgraph-checkpoint-sqlite", "apache-burr", "aiosqlite"]
    print(f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}, "
          + ", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages), flush=True)
    program = given.program and str(pathlib.Path(given.program).resolve())
    jobs = [nth for nth, config in enumerate(CONFIGS) if given.only in name(config)] + ([None] if program else [])
    pathlib.Path(given.folder).mkdir(exist_ok=True)
    rounds = []
    for turn in range(given.rounds):
        done = {}
        first = turn * len(jobs) // given.rounds
        for job in jobs[first:] + jobs[:first]:
            with tempfile.TemporaryDirectory(dir=given.folder, prefix="durable-") as folder:
                before = flushes(folder)
                if job is None:
                    rows = chartc(program, folder)
                else:
                    file = str(pathlib.Path(folder, "runs.db").resolve())
                    command = [sys.executable, str(pathlib.Path(__file__).resolve()), "--seconds", str(given.seconds)]
                    out, peak = ran([*command, "--child", str(job), file], None)
                    rows = {name(CONFIGS[job]): {**json.loads(out), "peak": peak}}
                speed = (before + flushes(folder)) / 2
                done |= {what: {**row, "flushes": speed} for what, row in rows.items()}
        rounds.append(done)
        print(f"round {turn + 1} of {given.rounds}", file=sys.stderr)
        if given.keep:
            with open(given.keep, "a") as keep:
                keep.write(json.dumps(done) + "\n")
    summary(rounds)


if __name__ == "__main__":
    main()
