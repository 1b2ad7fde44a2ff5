"""Called by .ci/users, which prepares the tools and the folder."""
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import yaml

ROOT = pathlib.Path.cwd()
WORK = pathlib.Path(sys.argv[1])
PAGE = (ROOT / "docs/ci.md").read_text()
INSTALL = (ROOT / "docs/install.md").read_text()

DOOR = """chart Door {
  event open
  initial shut
  state shut { on opne -> ajar }
  state ajar { on open -> shut }
}
"""
GATE = """chart Gate {
  event open
  initial shut
  state shut { on open -> ajar }
  state ajar {
    on open -> shut
    on open -> ajar
  }
}
"""
AGENT = """id: x
llm_model: ollama/llama3
starting_credits: 3
workflow:
  steps:
    - name: decide
      type: lllm
      prompt: hello
"""


def run(*command, cwd, code=0, **more):
    """The output of a command, errors included, that has to end with this code."""
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    assert done.returncode == code, f"{shlex.join(command)}: exit code {done.returncode} instead of {code}\n{done.stdout}"
    return done.stdout


def sample(name, faulty):
    """A repository as users have it: agents and charts, with a test."""
    folder = WORK / name
    for part in ["agents/builder", "charts"]:
        (folder / part).mkdir(parents=True)
    for chart in ["builder.chart", "builder.test.chart", "builder.script.yaml"]:
        shutil.copy(ROOT / "charts" / chart, folder / "charts")
    shutil.copy(ROOT / "charts/builder.agent.yaml", folder / "agents/builder/agent.yaml")
    if faulty:
        (folder / "agents/x").mkdir()
        (folder / "agents/x/agent.yaml").write_text(AGENT)
        (folder / "charts/door 1.chart").write_text(DOOR)
        (folder / "charts/gate.chart").write_text(GATE)
    run("git", "init", "-q", cwd=folder)
    run("git", "add", ".", cwd=folder)
    run("git", "commit", "-qm", "sample", cwd=folder)
    return folder


def restore(folder):
    run("git", "reset", "-q", "--hard", cwd=folder)
    run("git", "clean", "-qfd", cwd=folder)


def blocks(language, page=PAGE):
    """The page's blocks of a language, each with the heading above it."""
    heading = None
    found = []
    lines = iter(page.splitlines())
    for line in lines:
        if line.startswith("## "):
            heading = line[3:]
        elif line == f"```{language}":
            found.append((heading, "\n".join(itertools.takewhile(lambda each: each != "```", lines)) + "\n"))
    return found


def schemas():
    """Every YAML block and action.yml are what the schemas of GitHub and GitLab describe; the hooks are what prek reads."""
    def check(schema, file):
        run("check-jsonschema", "--builtin-schema", schema, str(file), cwd=WORK)

    check("vendor.github-actions", ROOT / "action.yml")
    run("prek", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"), cwd=WORK)
    for number, (heading, text) in enumerate(blocks("yaml")):
        file = WORK / f"{number}.yml"
        file.write_text(text)
        content = yaml.safe_load(text)
        if heading == "GitHub" and "jobs" not in content:
            # A part of a job.
            job = {"runs-on": "ubuntu-latest", **content}
            file.write_text(json.dumps({"on": "push", "jobs": {"charts": job}}))
        if heading == "GitHub":
            check("vendor.github-workflows", file)
        elif heading == "GitLab":
            check("vendor.gitlab-ci", file)
        else:
            run("prek", "validate-config", str(file), cwd=WORK)
    # They refuse what is none.
    (WORK / "none.yml").write_text("runs: {using: composite}\n")
    run("check-jsonschema", "--builtin-schema", "vendor.github-actions", "none.yml", cwd=WORK, code=1)
    print(f"schemas: action.yml, the hooks and {number + 1} blocks of docs/ci.md")


def action():
    """The steps of action.yml, run as GitHub runs them."""
    described = yaml.safe_load((ROOT / "action.yml").read_text())
    defaults = {name: each.get("default", "") for name, each in described["inputs"].items()}
    install, check = described["runs"]["steps"]

    def step(which, folder, code=0, path=None, **given):
        inputs = {**defaults, **given}
        assert inputs.keys() == defaults.keys(), given

        def filled(text):
            text = text.replace("${{ github.action_path }}", str(ROOT))
            text = re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: inputs[found[1]], text)
            assert "${{" not in text, text
            return text

        script = WORK / "step.sh"
        assert "${{" not in which["run"], "an input in a script is a way into it"
        script.write_text(which["run"])
        env = {**os.environ, **{name: filled(value) for name, value in which["env"].items()}}
        if path:
            env["PATH"] = path
        cwd = folder / filled(which.get("working-directory", "."))
        return run("/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", str(script), cwd=cwd, code=code, env=env)

    clean, faulty = WORK / "clean", WORK / "faulty"
    version = run("chartc", "--version", cwd=WORK)
    assert step(install, clean) == version
    assert not (WORK / "cargo").exists(), "it was there, but was installed again"
    alone = WORK / "alone"
    alone.mkdir()
    (alone / "cargo").symlink_to(WORK / "bin/cargo")
    step(install, clean, code=1, path=f"{alone}:/usr/bin:/bin")
    assert (WORK / "cargo").read_text() == f"cargo install --locked --path {ROOT}\n"

    assert "::" not in step(check, clean)
    out = step(check, faulty, code=1)
    errors = [line for line in out.splitlines() if line.startswith("::error ")]
    assert any("charts/door 1.chart" in line and "C0102" in line for line in errors), out
    assert any("agents/x/agent.yaml" in line for line in errors), out
    step(check, clean, paths="agents charts")
    assert "agents/" not in step(check, faulty, code=1, paths="charts")
    assert "door 1.chart" in step(check, faulty, code=1, **{"working-directory": "charts"})
    out = step(check, faulty, code=1, format="short")
    (matcher,) = [line.removeprefix("::add-matcher::") for line in out.splitlines() if line.startswith("::add-matcher::")]
    assert json.loads(pathlib.Path(matcher).read_text())["problemMatcher"], matcher
    run("chartc", "check", "--write-baseline", "known.json", cwd=faulty)
    step(check, faulty, args="--baseline known.json --fail-on warning")
    restore(faulty)
    print(f"action: installs only what is missing, {len(errors)} annotations of errors")


def hooks():
    """The hooks of this tree, in prek, with the settings of the page."""
    source = WORK / "hooks"
    run("git", *(["clone", "-q", str(ROOT)] if (ROOT / ".git").exists() else ["init", "-q"]), str(source), cwd=WORK)
    # Also what is not committed yet.
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", source)
    run("git", "add", ".", cwd=source)
    run("git", "commit", "-qm", "hooks", "--allow-empty", cwd=source)
    head = run("git", "rev-parse", "HEAD", cwd=source).strip()
    ((_, text),) = [block for block in blocks("yaml") if "hooks:" in block[1]]
    text = re.sub("repo: .*", f"repo: {source}", text)
    text = re.sub("rev: .*", f"rev: {head}", text)

    def prek(folder, *more, code=0):
        (folder / ".pre-commit-config.yaml").write_text(text)
        run("git", "add", ".pre-commit-config.yaml", cwd=folder)
        out = run("prek", "run", "--all-files", *more, cwd=folder, code=code)
        return out, set(run("git", "diff", "--name-only", cwd=folder).splitlines())

    clean, faulty = WORK / "clean", WORK / "faulty"
    out, changed = prek(clean)
    assert out.count("Passed") == len(re.findall("id: ", text)) and not changed, out
    out, _ = prek(faulty, "chartc-check", code=1)
    for file in ["charts/door 1.chart", "charts/gate.chart", "agents/x/agent.yaml"]:
        assert file in out, f"{file} was not checked\n{out}"
    restore(faulty)

    text += "      - id: chartc-fix\n"
    out, changed = prek(faulty, "chartc-fix", code=1)
    assert changed == {"charts/door 1.chart", "agents/x/agent.yaml"}, (changed, out)
    assert "type: llm" in (faulty / "agents/x/agent.yaml").read_text()
    assert "on open -> ajar" in (faulty / "charts/door 1.chart").read_text()
    restore(faulty)

    wide = clean / "charts/builder.chart"
    wide.write_text(wide.read_text().replace("\n  state", "\n      state"))
    run("git", "add", ".", cwd=clean)
    out, changed = prek(clean, "chartc-fmt", code=1)
    assert changed == {"charts/builder.chart"}, (changed, out)
    restore(clean)
    # A commit that holds only other files.
    (clean / "readme.md").write_text("nothing\n")
    run("git", "add", ".", cwd=clean)
    (clean / ".pre-commit-config.yaml").write_text(text)
    run("git", "add", ".", cwd=clean)
    assert "no files to check" in run("prek", "run", cwd=clean)
    restore(clean)
    print("hooks: pass, fail, fix and format, for charts and agent.yaml")


def matcher():
    """The problem matcher reads every line of `--format short`, and reads in it what JSON says."""
    ((pattern,),) = [m["pattern"] for m in json.loads((ROOT / ".github/chartc-matcher.json").read_text())["problemMatcher"]]
    names = ["file", "line", "column", "severity", "code", "message"]
    total = 0
    for folder in [WORK / "faulty", ROOT / "charts"]:
        def check(form):
            return subprocess.run(
                ["chartc", "check", "--format", form], cwd=folder, stdout=subprocess.PIPE, text=True, check=False
            ).stdout

        lines = check("short").splitlines()
        read = []
        for line in lines:
            found = re.match(pattern["regexp"], line)
            assert found, line
            read.append([found[pattern[name]] for name in names])
        told = [[str(finding[name]) for name in names] for finding in json.loads(check("json"))["diagnostics"]]
        assert read == told, (read, told)
        total += len(read)
    assert total > 3
    print(f"problem matcher: {total} lines")


def scripts(value):
    """What a shell runs of a YAML block: each `run` of GitHub, each `script` of GitLab."""
    if isinstance(value, list):
        return [script for each in value for script in scripts(each)]
    if not isinstance(value, dict):
        return []
    own = [value["run"]] if "run" in value else []
    if "script" in value:
        own.append("\n".join(value["script"]))
    return own + [script for each in value.values() for script in scripts(each)]


def commands():
    """The commands of the page: its `sh` blocks, what a shell runs of its YAML blocks, and those within the text."""
    found = [line for _, text in blocks("sh") for line in text.splitlines()]
    found += [script for _, text in blocks("yaml") for script in scripts(yaml.safe_load(text))]
    prose = re.sub(r"(?ms)^```.*?^```$", "", PAGE)
    found += [span for span in re.findall("`([^`\n]+)`", prose) if re.search(r"(^|\| )chartc [a-z]", span)]
    found = [script for script in found if "chartc " in script and "cargo install" not in script]
    # What ends well in spite of findings: it accepts them, or reads another text.
    ends_well = "baseline|--stdin-filename"
    for folder in [WORK / "clean", WORK / "faulty"]:
        shutil.copy(ROOT / "charts/builder.chart", folder / "x.chart")
        for script in found:
            code = 1 if folder.name == "faulty" and not re.search(ends_well, script) else 0
            run("bash", "-eo", "pipefail", "-c", script, cwd=folder, code=code)
            for file in re.findall(r"(?:> |--junit |--write-baseline )([\w.-]+)", script):
                text = (folder / file).read_text()
                assert text, script
                if not file.endswith(".xml"):
                    json.loads(text)
    files = sorted(file for line in run("git", "status", "--short", cwd=folder).splitlines() if (file := line[3:]) != "x.chart")
    print(f"docs/ci.md: {len(found)} commands in a clean and a faulty repository, which made {', '.join(files)}")


def installing():
    """docs/install.md: the completions and manual pages, the git hook, the line for make."""
    clean, faulty = WORK / "clean", WORK / "faulty"
    home = WORK / "home"
    home.mkdir()
    ((_, script),) = blocks("sh", INSTALL)
    run("bash", "-eo", "pipefail", "-c", script, cwd=home, env={**os.environ, "HOME": str(home)})
    for file in [".local/share/bash-completion/completions/chartc", ".zfunc/_chartc", ".config/fish/completions/chartc.fish"]:
        assert "explain" in (home / file).read_text(), file
    assert (home / ".local/share/man/man1/chartc-check.1").exists()

    ((_, rules),) = blocks("make", INSTALL)
    if shutil.which("make"):
        for folder, code in [(clean, 0), (faulty, 2)]:
            restore(folder)
            (folder / "Makefile").write_text(rules)
            run("make", "check-charts", cwd=folder, code=code)

    ((_, hook),) = blocks("bash", INSTALL)
    restore(clean)
    file = clean / ".git/hooks/pre-commit"
    file.write_text(hook)
    file.chmod(0o755)
    door = clean / "charts/door 1.chart"
    agent = clean / "agents/builder/agent.yaml"
    sound = agent.read_text()

    def commit(code, *more):
        return run("git", "commit", "-m", "more", *more, cwd=clean, code=code)

    # What is staged counts, and only charts and agents.
    door.write_text(DOOR)
    run("git", "add", ".", cwd=clean)
    door.write_text(DOOR.replace("opne", "open"))
    out = commit(1)
    assert "charts/door 1.chart" in out and "C0102" in out, out
    run("git", "add", ".", cwd=clean)
    door.write_text(DOOR)
    commit(0)
    restore(clean)
    agent.write_text(AGENT)
    assert "agents/builder/agent.yaml" in commit(1, "--all")
    agent.write_text(sound)
    (clean / "notes.txt").write_text("no chart\n")
    run("git", "add", ".", cwd=clean)
    assert "findings" not in commit(0)
    run("git", "rm", "-q", "charts/door 1.chart", cwd=clean)
    commit(0)
    print("docs/install.md: completions, manual pages, git hook, make")


sample("clean", faulty=False)
sample("faulty", faulty=True)
schemas()
action()
hooks()
matcher()
commands()
installing()
