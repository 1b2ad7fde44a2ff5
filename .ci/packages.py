"""Called by .ci/packages with an empty folder and the version, after the packages were built."""
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile

ROOT = pathlib.Path.cwd()
BUILT = ROOT / "target/packages"
WORK, VERSION = pathlib.Path(sys.argv[1]), sys.argv[2]
FAULTY = "chart A {\n  event open\n  initial a\n  state a { on opne -> b }\n  state b { on open -> a }\n}\n"
COMPLETIONS = ["bash-completion/completions/chartc", "fish/vendor_completions.d/chartc.fish", "zsh/site-functions/_chartc"]
DOCS = ["LICENSE-APACHE", "LICENSE-MIT"]


def run(*command, code=0, **more):
    """The output of a command, errors included, that has to end with this code."""
    done = subprocess.run([str(w) for w in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    assert done.returncode == code, f"{command}: exit code {done.returncode} instead of {code}\n{done.stdout}"
    return done.stdout


def one(pattern):
    (found,) = BUILT.glob(pattern)
    return found


def members(file):
    with tarfile.open(file) as tar:
        return {m.name: (hashlib.sha256(tar.extractfile(m).read()).hexdigest(), m.mode) for m in tar.getmembers()}


def contents():
    """Each archive holds these files and no other, and all hold one program. Gives the platform's name."""
    with zipfile.ZipFile(one("*.whl")) as archive:
        names = archive.namelist()
        (script,) = [name for name in names if "/scripts/" in name]
        program = hashlib.sha256(archive.read(script)).hexdigest()
        metadata = archive.read(f"chartc-{VERSION}.dist-info/METADATA").decode()
    assert (ROOT / "packages/README.md").read_text().strip() in metadata and "License: MIT OR Apache-2.0" in metadata, metadata
    name = script.split("/")[-1]
    # A page for chartc and for each command that its help lists.
    (WORK / "chartc").write_bytes(zipfile.ZipFile(one("*.whl")).read(script))
    (WORK / "chartc").chmod(0o755)
    listed = run(WORK / "chartc", "help").split("Commands:\n")[1].split("\n\n")[0].splitlines()
    commands = [line.split()[0] for line in listed if line[2] != " "]
    pages = ["chartc.1"] + [f"chartc-{command}.1" for command in commands if command != "help"]

    share = [f"share/man/man1/{page}" for page in pages] + [f"share/{file}" for file in COMPLETIONS]
    info = ["METADATA", "WHEEL", "RECORD", "sboms/chartc.cyclonedx.json"] + [f"licenses/{file}" for file in DOCS]
    expected = [f"chartc-{VERSION}.data/data/{file}" for file in share] + [f"chartc-{VERSION}.data/scripts/{name}"]
    expected += [f"chartc-{VERSION}.dist-info/{file}" for file in info]
    assert sorted(names) == sorted(expected), set(names) ^ set(expected)

    top = one("*.tar.gz").name.removesuffix(".tar.gz")
    platform = top.removeprefix(f"chartc-{VERSION}-")
    common = ["package.json", "README.md"] + DOCS
    trees = {
        one("*.tar.gz"): [f"{top}/{file}" for file in [*share, f"bin/{name}", *[f"share/doc/chartc/{f}" for f in ["README.md"] + DOCS]]],
        one(f"chartc-{VERSION}.tgz"): [f"package/{file}" for file in [*common, "bin/chartc.js", *[f"man/{page}" for page in pages]]],
        one(f"chartc-{platform}-{VERSION}.tgz"): [f"package/{file}" for file in [*common, f"bin/{name}"]],
    }
    for file, expected in trees.items():
        found = members(file)
        assert sorted(found) == sorted(expected), (file, set(found) ^ set(expected))
        for path, (digest, mode) in found.items():
            if path.endswith(f"bin/{name}"):
                assert (digest, mode & 0o111) == (program, 0o111), (file, path)
    assert len(list(BUILT.iterdir())) == 4, list(BUILT.iterdir())
    print(f"contents: {len(names)} files in the wheel, {', '.join(str(len(each)) for each in trees.values())} in the others; one program")
    return platform


def works(chartc, **more):
    """It is this version, and passes on arguments, output, standard input and exit codes."""
    folder = WORK / "files"
    folder.mkdir(exist_ok=True)
    shutil.copy(ROOT / "charts/builder.chart", folder / "clean.chart")
    (folder / "faulty 1.chart").write_text(FAULTY)

    def call(*arguments, code=0, **given):
        return run(chartc, *arguments, code=code, cwd=folder, **more, **given)

    assert call("--version") == f"chartc {VERSION}\n"
    assert "no findings in 1 file" in call("check", "clean.chart")
    assert "faulty 1.chart:4:16: error[C0102]" in call("check", "--format", "short", "faulty 1.chart", code=1)
    assert "C0102" in call("check", "--format", "short", "-", code=1, input=FAULTY)
    call("check", "--nonsense", code=2)


def python():
    environment = WORK / "python"
    run(sys.executable, "-m", "venv", environment)
    run(environment / "bin/pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--find-links", BUILT, "chartc")
    works(environment / "bin/chartc")
    print("pip: installed offline, works")
    return environment


def node(platform):
    folder = WORK / "node"
    folder.mkdir()
    main, own = one(f"chartc-{VERSION}.tgz"), one(f"chartc-{platform}-{VERSION}.tgz")
    env = {**os.environ, "npm_config_cache": str(WORK / "npm-cache")}
    install = ["npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error"]
    (folder / "package.json").write_text("{}")
    run(*install, main, own, cwd=folder, env=env)
    chartc = folder / "node_modules/.bin/chartc"
    works(chartc)

    # A signal reaches the program, and the caller sees it end by that.
    watched = subprocess.Popen([chartc, "check", "--watch", "clean.chart"], cwd=WORK / "files", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    # Its first output says that it runs.
    assert watched.stdout.readline()
    (program,) = run("pgrep", "-P", watched.pid).split()
    watched.send_signal(signal.SIGTERM)
    try:
        assert watched.wait(timeout=20) == -signal.SIGTERM, watched.returncode
    except subprocess.TimeoutExpired:
        os.kill(int(program), signal.SIGKILL)
        raise
    assert not pathlib.Path("/proc", program).exists(), "the program was left running"

    shutil.rmtree(folder / "node_modules/@chartc")
    said = run(chartc, "--version", code=2)
    assert said.startswith(f"error: the package @chartc/{platform} is not installed\nhelp: ") and f"@{VERSION}" in said, said
    package = folder / "node_modules/chartc/package.json"
    content = json.loads(package.read_text())
    assert content["optionalDependencies"][f"@chartc/{platform}"] == content["version"] == VERSION
    del content["optionalDependencies"][f"@chartc/{platform}"]
    package.write_text(json.dumps(content))
    said = run(chartc, "--version", code=2)
    assert f"no package of chartc runs on {platform}" in said and "cargo install --locked chartc" in said, said
    print("npm: installed offline, works; passes signals on, says what is missing")


def unpacked():
    prefix = WORK / "prefix"
    prefix.mkdir()
    run("tar", "-xzf", one("*.tar.gz"), "--strip-components", 1, "-C", prefix)
    works(prefix / "bin/chartc")
    print("archive: unpacked, works")
    return prefix


def rendered(share):
    """The manual pages have no fault, and the shells read the completions."""
    pages = sorted((share / "man/man1").iterdir())
    for program, arguments in [("groff", ["-man", "-ww", "-Tutf8", "-rLL=100n", "-P-cbou"]), ("mandoc", ["-T", "lint", "-W", "error"])]:
        if not shutil.which(program):
            print(f"skipped, not found: {program}")
            continue
        for page in pages:
            done = subprocess.run([program, *arguments, page], capture_output=True, text=True, check=False)
            assert done.returncode == 0 and not done.stderr, f"{program} {page}: {done.stderr}{done.stdout[:500]}"
            assert program == "mandoc" or "EXAMPLES" in done.stdout, page
        print(f"{program}: {len(pages)} manual pages")
    if shutil.which("man"):
        assert "Check charts and agents" in run("man", "chartc-check", env={**os.environ, "MANPATH": str(share / "man"), "MANPAGER": "cat"})
    shells = {
        "bash": ["--norc", "-c", '. "$0"; complete -p chartc; COMP_WORDS=(chartc ch); COMP_CWORD=1; _chartc chartc ch chartc; echo "${COMPREPLY[@]}"'],
        "zsh": ["-fc", 'fpath=("${0:h}" $fpath); autoload -U compinit; compinit -D; echo $_comps[chartc]; autoload +X _chartc; functions _chartc'],
        "fish": ["--no-config", "-c", 'source $argv[1]; complete -C "chartc ch"'],
    }
    files = dict(zip(["bash", "fish", "zsh"], COMPLETIONS))
    for shell, arguments in shells.items():
        if not shutil.which(shell):
            print(f"skipped, not found: {shell}")
            continue
        said = run(shell, *arguments, share / files[shell], env={**os.environ, "HOME": str(WORK)})
        assert "check" in said and "not found" not in said, f"{shell}: {said}"
        print(f"{shell}: completes")


platform_name = contents()
environment_folder = python()
node(platform_name)
prefix_folder = unpacked()
for place in [environment_folder / "share", prefix_folder / "share"]:
    rendered(place)
