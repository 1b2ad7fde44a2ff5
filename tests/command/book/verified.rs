//! How a block of the book is verified, by its kind.

use super::Fence;
use super::commands::BY_HAND;
use chartc::diagnostic::Severity;
use chartc::load::Memory;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use test_support::project::{files, metadata, read, root};
use toml::de::DeTable;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    Played,
    Requested,
    Generated,
    Checked,
    Agent,
    Settings,
    RunFile,
    Script,
    Tools,
    Manifest,
    Compiled,
    Commands,
    Users,
    Data,
    Lines,
    Recorded,
    Drawn,
    Shown,
}

impl Means {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Played => "its commands are run, their output is compared (`tour`)",
            Self::Requested => "its request is sent, the reply is compared (`serve::page`)",
            Self::Generated => "generated from the definition of the command (`book::commands`)",
            Self::Checked => "checked as a chart, without errors",
            Self::Agent => "checked as an agent, without errors",
            Self::Settings => "read as settings by `chartc check`",
            Self::RunFile => "read as a run file",
            Self::Script => "read as a script",
            Self::Tools => "read as a configuration of tools",
            Self::Manifest => "names crates and features of this version",
            Self::Compiled => "stands word for word in a program that is compiled",
            Self::Commands => "its commands and options exist",
            Self::Users => "validated and run by `.ci/users`",
            Self::Data => "read as JSON",
            Self::Lines => "read as a trace or as events",
            Self::Recorded => "read as a recorded call (`run::cassette`)",
            Self::Drawn => "drawn and compared (`mermaid`)",
            Self::Shown => "each line is in a chart, or in an output that a test compares",
        }
    }
}

/// Pages whose blocks `.ci/users` takes, with the kinds that it takes.
const USERS: &[(&str, &[&str])] =
    &[("docs/ci.md", &["yaml"]), ("docs/install.md", &["bash", "make", "sh"])];

/// How this block is verified; `None` if nobody does.
pub(super) fn means(page: &str, fence: &Fence) -> Option<Means> {
    let (info, text) = (fence.info.as_str(), fence.text.as_str());
    if page.starts_with("docs/commands/") && is_generated(page, fence) {
        return Some(Means::Generated);
    }
    if USERS.iter().any(|(users, kinds)| *users == page && kinds.contains(&info)) {
        return Some(Means::Users);
    }
    Some(match info {
        "console" => Means::Played,
        "http" if page == "docs/serve.md" => Means::Requested,
        "chart" => Means::Checked,
        "rust" => Means::Compiled,
        "sh" => Means::Commands,
        "yaml" if has_key(text, "answers") || has_key(text, "calls") => Means::Script,
        "yaml" if text.starts_with("# run.yaml") => Means::RunFile,
        "yaml" if has_key(text, "workflow") => Means::Agent,
        "toml" if text.contains("[dependencies]") => Means::Manifest,
        "toml" if text.contains("[servers.") || text.contains("[tools.") => Means::Tools,
        "toml" => Means::Settings,
        "json" if text.contains("\"mcpServers\"") && page == "docs/tools.md" => Means::Tools,
        "json" if text.starts_with('[') => Means::Lines,
        "json" => Means::Data,
        "jsonl" => Means::Lines,
        "mermaid" => Means::Drawn,
        "text" if text.contains("\"after_ms\"") && page == "docs/running.md" => Means::Recorded,
        "text" => Means::Shown,
        _ => return None,
    })
}

fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))
}

/// Whether a block is above what a person wrote on the page of a command.
fn is_generated(page: &str, fence: &Fence) -> bool {
    let text = read(page);
    text.lines().position(|line| line == BY_HAND).is_some_and(|nth| fence.line <= nth)
}

/// Whether the block is as it should be; what other tests do for whole pages is left to them.
pub(super) fn verify(means: Means, page: &str, fence: &Fence) -> Result<(), String> {
    let text = fence.text.as_str();
    match means {
        Means::Played | Means::Requested if fence.is_inner => {
            Err("commands in a list are not run: put the block at the margin".to_owned())
        }
        Means::Played | Means::Requested | Means::Generated | Means::Users => Ok(()),
        Means::Checked => checked("it.chart", text),
        Means::Agent => checked("agent.yaml", text),
        Means::Settings => settings(text),
        Means::RunFile => {
            chartc_world::RunFile::parse(text).map(|_| ()).map_err(|fault| fault.to_string())
        }
        Means::Script => {
            let clock = Arc::new(chartc_runtime::clock::VirtualClock::new());
            chartc_runtime::oracle::Script::parse("page", text, clock)
                .map(|_| ())
                .map_err(|fault| fault.to_string())
        }
        Means::Tools => {
            let name = format!("page.{}", fence.info);
            let value = |name: &str| Some(format!("value of {name}"));
            chartc_adapters::tools::Configuration::read(&name, text, Path::new(""), &value)
                .map(|_| ())
                .map_err(|fault| fault.to_string())
        }
        Means::Manifest => manifest(text),
        Means::Compiled => compiled(text),
        Means::Commands => text.lines().try_for_each(command),
        Means::Data | Means::Recorded => {
            serde_json::from_str::<Value>(text).map(|_| ()).map_err(|e| e.to_string())
        }
        Means::Lines => lines(text),
        Means::Drawn if page == "README.md" => Ok(()),
        Means::Drawn => Err("pictures are compared in README only".to_owned()),
        Means::Shown => shown(text),
    }
}

fn checked(name: &str, text: &str) -> Result<(), String> {
    let mut done = chartc::check(&[name.to_owned()], &Memory::of(name, text));
    done.diagnostics.retain(|found| found.severity == Severity::Error);
    if !done.diagnostics.is_empty() {
        return Err(chartc::report::short(&done.diagnostics, &done.sources));
    }
    if done.charts.is_empty() { Err("nothing was read".to_owned()) } else { Ok(()) }
}

/// With these settings, a warning is found as they say or not at all; they are understood in any case.
fn settings(text: &str) -> Result<(), String> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let name = format!("settings-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let files = [("chartc.toml", text), ("a.chart", crate::team::HIDDEN)];
    let here = crate::team::folder(&name, &files);
    let (code, out, said) = crate::team::run(&here, &["check", "--format", "short"]);
    if matches!(code, Some(0 | 1)) { Ok(()) } else { Err(format!("{out}{said}")) }
}

/// Whether the dependencies are crates of this version, with features that they have.
fn manifest(text: &str) -> Result<(), String> {
    let table = DeTable::parse(text).map_err(|fault| fault.to_string())?;
    for section in ["dependencies", "build-dependencies"] {
        let Some(names) = table.get_ref().get(section).and_then(|it| it.get_ref().as_table())
        else {
            continue;
        };
        for (name, value) in names {
            let (name, value) = (name.get_ref(), value.get_ref());
            let Some(package) = package(name) else {
                return Err(format!("no crate `{name}` is used here"));
            };
            let version = value
                .as_str()
                .or_else(|| value.get("version").and_then(|it| it.get_ref().as_str()))
                .unwrap_or_default();
            let is = package["version"].as_str().expect("a package has a version");
            if version.is_empty() || !format!("{is}.").starts_with(&format!("{version}.")) {
                return Err(format!("`{name}` is {is}, not {version}"));
            }
            let features = value.get("features").and_then(|it| it.get_ref().as_array());
            for feature in features.into_iter().flatten().filter_map(|it| it.get_ref().as_str()) {
                if package["features"].get(feature).is_none() {
                    return Err(format!("`{name}` has no feature `{feature}`"));
                }
            }
        }
    }
    Ok(())
}

/// What cargo knows of a package of the workspace, or of one that it uses.
fn package(name: &str) -> Option<&'static Value> {
    static ALL: OnceLock<Value> = OnceLock::new();
    let all = ALL.get_or_init(metadata)["packages"].as_array().expect("cargo lists packages");
    all.iter().find(|package| package["name"] == name)
}

fn compiled(text: &str) -> Result<(), String> {
    let is_there = files("examples", ".rs").iter().any(|file| read(file).contains(text));
    if is_there { Ok(()) } else { Err("it is in no program that is compiled".to_owned()) }
}

fn lines(text: &str) -> Result<(), String> {
    if text.contains("\"kind\"") {
        return chartc_runtime::trace::read(text).map(|_| ()).map_err(|fault| fault.to_string());
    }
    chartc_runtime::data::entries(text).map(|_| ()).map_err(|fault| fault.to_string())
}

/// What `chartc help` says of a command, with the commands in it.
fn help(words: &[&str]) -> Result<String, String> {
    static KNOWN: OnceLock<Mutex<BTreeMap<String, Result<String, String>>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let key = words.join(" ");
    if let Some(text) = known.lock().expect("nobody panics with it").get(&key) {
        return text.clone();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .arg("help")
        .args(words)
        .output()
        .expect("chartc runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let told =
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) };
    known.lock().expect("nobody panics with it").insert(key, told.clone());
    told
}

/// Programs of others that the pages call.
const OTHERS: &[&str] = &[
    "cd",
    "code",
    "cp",
    "curl",
    "dot",
    "head",
    "hx",
    "lms",
    "mkdir",
    "npm",
    "ollama",
    "pip",
    "python3",
    "redis-cli",
    "sed",
    "vllm",
];
/// Commands that other features than the default ones bring.
const FEATURES: &[&str] = &["intake"];

/// Whether the programs, commands and options of a line exist.
pub(super) fn command(line: &str) -> Result<(), String> {
    let line = line.split("  #").next().unwrap_or_default();
    for part in line.split(" | ").flat_map(|part| part.split(" && ")) {
        let mut words = part.split_whitespace().skip_while(|word| {
            word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
            })
        });
        match words.next() {
            None => {}
            Some("chartc") => chartc(&words.collect::<Vec<_>>())?,
            Some("cargo") => cargo(&words.collect::<Vec<_>>())?,
            Some(word) if word.starts_with(['#', '$']) || word == "export" => {}
            Some(word) if word.starts_with("target/") || OTHERS.contains(&word) => {}
            Some(word) if word.contains('/') && root().join(word).exists() => {}
            Some(word) => return Err(format!("nobody knows the program `{word}`")),
        }
    }
    Ok(())
}

fn cargo(words: &[&str]) -> Result<(), String> {
    let (own, rest) = match words.iter().position(|word| *word == "--") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &[][..]),
    };
    let named = own.iter().position(|word| *word == "-p").and_then(|at| own.get(at + 1));
    match named {
        Some(name) if package(name).is_none() => Err(format!("there is no package `{name}`")),
        None if own.first() == Some(&"run") => chartc(rest),
        _ => Ok(()),
    }
}

/// Whether the command and its options exist.
fn chartc(words: &[&str]) -> Result<(), String> {
    let Some((name, rest)) = words.split_first() else { return Ok(()) };
    let mut told = match *name {
        "--help" | "--version" | "help" | "-V" | "-h" => return Ok(()),
        name if FEATURES.contains(&name) => return Ok(()),
        name => help(&[name])?,
    };
    // The commands of `store` and `tools` have options of their own.
    if let Some(inner) = rest
        .iter()
        .find(|word| help(&[name, word]).is_ok_and(|_| ["store", "tools"].contains(name)))
    {
        told.push_str(&help(&[name, inner])?);
    }
    for word in rest {
        let option = word.split(['=', ',', ')']).next().unwrap_or_default();
        let is_known =
            told.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|w| w == option);
        if option.starts_with("--") && option.len() > 2 && !is_known {
            return Err(format!("`chartc {name}` has no option `{option}`"));
        }
    }
    Ok(())
}

/// Whether each line is in what a test compares: a snapshot, or the text of a test.
fn shown(text: &str) -> Result<(), String> {
    static ALL: OnceLock<String> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        // What is no test of outputs, and these tests themselves.
        let others = ["tests/bench/", "tests/fuzz/", "tests/command/book/"];
        let tests = files("tests", ".rs").into_iter();
        let tests = tests.filter(|file| !others.iter().any(|folder| file.starts_with(folder)));
        let runtime = files("runtime", ".rs").into_iter().filter(|f| f.contains("/tests/"));
        let examples = files("examples", ".rs").into_iter().filter(|f| f.contains("/tests/"));
        let charts = files("charts", ".chart");
        tests
            .chain(files("tests", ".snap"))
            .chain(files("tests", ".cases"))
            .chain(charts)
            .chain(runtime)
            .chain(examples)
            .map(read)
            .collect()
    });
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "…") {
        if !all.contains(line) {
            return Err(format!("no test compares `{line}`"));
        }
    }
    Ok(())
}

/// Commands in the text of pages: what stands in backticks and begins with `chartc`.
#[test]
fn commands_in_the_text_exist() {
    let (mut seen, mut faults) = (0, Vec::new());
    for page in super::pages().into_iter().chain(["README.md".to_owned()]) {
        let mut in_code = false;
        for (nth, line) in read(&page).lines().enumerate() {
            in_code ^= line.trim_start().starts_with("```");
            if in_code {
                continue;
            }
            for span in line.split('`').skip(1).step_by(2).filter(|s| s.starts_with("chartc ")) {
                seen += 1;
                if let Err(why) = command(span) {
                    faults.push(format!("{page}:{}: `{span}`: {why}", nth + 1));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen > 100, "only {seen} commands");
}
