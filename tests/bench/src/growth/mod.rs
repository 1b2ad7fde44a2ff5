//! How the time and memory of every command grow with what it reads.
//!
//! Each command reads each input in three sizes, each twice as large as the one before. Only ratios are judged: a command fails if both
//! doublings grow by more than [`FACTOR`] and the largest input needs noticeably more than the smallest.

mod known;
mod shapes;

use crate::child::{self, Seen};
use known::KNOWN;
use shapes::{ALL, Growing};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The maximum growth of a doubling. A larger factor means an exponent above about 1.6.
const FACTOR: f64 = 3.0;
/// Growth counts if the largest input needs this many seconds of CPU time more than the smallest.
const SECONDS: f64 = 2.0;
/// The same for memory, in megabytes.
const MEGABYTES: f64 = 300.0;
/// A process that takes longer counts as hanging.
const MOST: Duration = Duration::from_mins(1);
/// A known case still applies if it reaches this part of each bound. Otherwise noise would make it come and go.
const STILL: f64 = 0.7;
/// Figures below these (seconds, megabytes) are too small for an exponent.
const SMALL: [f64; 2] = [0.1, 30.0];

/// Files that only some commands read.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reads {
    Any,
    Charts,
    Agents,
}

/// A command: its name in the table, what it reads, and its arguments, in which `FILE` and `EVENTS` are replaced.
type Line = (&'static str, Reads, &'static str);

/// Every command that reads a chart, a trace or a store, and ends. Those below `run` read what it has written.
const COMMANDS: &[Line] = &[
    ("check", Reads::Any, "check FILE"),
    ("check --cost", Reads::Any, "check --cost --no-tests FILE"),
    ("check --format json", Reads::Any, "check --format json --no-tests FILE"),
    ("check --fix --diff", Reads::Any, "check --fix --diff --no-tests FILE"),
    ("fmt --check", Reads::Charts, "fmt --check FILE"),
    ("fmt --diff", Reads::Charts, "fmt --diff FILE"),
    ("graph dot", Reads::Any, "graph FILE --format dot"),
    ("graph mermaid", Reads::Any, "graph FILE --format mermaid"),
    ("graph text", Reads::Any, "graph FILE --format text"),
    ("show", Reads::Any, "show --all FILE"),
    ("build", Reads::Any, "build FILE"),
    ("convert", Reads::Agents, "convert FILE"),
    ("explore", Reads::Any, "explore FILE"),
    ("prompt", Reads::Any, "prompt FILE"),
    ("test", Reads::Any, "test --coverage FILE"),
    ("simulate", Reads::Any, "simulate FILE --events EVENTS"),
    ("run", Reads::Any, "run FILE --llm first --turns 5 --events EVENTS --trace t.jsonl"),
    (
        "run --store",
        Reads::Any,
        "run FILE --llm first --turns 5 --events EVENTS --store s.db --run r",
    ),
    ("trace", Reads::Any, "trace t.jsonl --why"),
    ("replay", Reads::Any, "replay t.jsonl"),
    ("replay --store", Reads::Any, "replay --store s.db r"),
    ("store check", Reads::Any, "store s.db check"),
];

/// Runs the program at `chartc` and prints a row for each input and command. Returns whether none is wrong.
pub(crate) fn run(chartc: &str, only: &[String]) -> bool {
    let Ok(chartc) = std::path::absolute(chartc) else {
        eprintln!("{chartc} is no path");
        return false;
    };
    let folder = std::env::temp_dir().join(format!("chartc-growth-{}", std::process::id()));
    let start = Instant::now();
    println!(
        "| input | n | command | exit | s | exponents | MB | exponents | |\n|---|---:|---|---|---|---|---|---|---|"
    );
    let (mut rows, mut wrong) = (0, Vec::new());
    let is_wanted = |shape: &&Growing| only.is_empty() || only.iter().any(|o| *o == shape.name);
    for shape in ALL.iter().filter(is_wanted) {
        let folders: Vec<PathBuf> =
            (0..3).map(|size| written(shape, size, &folder.join(size.to_string()))).collect();
        for line in COMMANDS {
            let Some(row) = row(&chartc, shape, line, &folders) else { continue };
            rows += 1;
            println!("{}", row.text);
            wrong.extend(row.wrong.map(|why| format!("{}, {}: {why}", shape.name, line.0)));
        }
    }
    drop(std::fs::remove_dir_all(&folder));
    println!("\n{rows} rows, {} wrong, in {} s", wrong.len(), start.elapsed().as_secs());
    for why in &wrong {
        println!("wrong: {why}");
    }
    rows > 0 && wrong.is_empty()
}

/// Writes an input in one size into a fresh folder.
fn written(shape: &Growing, size: u32, folder: &Path) -> PathBuf {
    drop(std::fs::remove_dir_all(folder));
    std::fs::create_dir_all(folder).expect("the folder of temporary files can be written");
    // A second turn would wait for what the first one asks.
    let events = if shape.event == "turn" {
        ""
    } else {
        &format!(", {{\"event\": \"{}\"}}", shape.event).repeat(2)
    };
    let events = format!("[{{\"event\": \"turn\"}}{events}]");
    let files = (shape.files)(shape.least << size);
    for (name, text) in files.into_iter().chain([("e.json".to_owned(), events)]) {
        std::fs::write(folder.join(name), text).expect("the folder can be written");
    }
    folder.to_owned()
}

/// A row of the table, and what is wrong with it.
struct Row {
    text: String,
    wrong: Option<String>,
}

/// Measures a command in the three folders; `None` where it reads other files.
fn row(chartc: &Path, shape: &Growing, line: &Line, folders: &[PathBuf]) -> Option<Row> {
    let (name, reads, _) = *line;
    let is_agent = folders[0].join("agent.yaml").is_file();
    if reads == Reads::Charts && is_agent || reads == Reads::Agents && !is_agent {
        return None;
    }
    let known = KNOWN.iter().find(|known| (known.input, known.command) == (shape.name, name));
    let mut ends = Vec::new();
    let (mut times, mut sizes) = (Vec::new(), Vec::new());
    let mut faults = Vec::new();
    for folder in folders {
        match once(chartc, line, folder, is_agent) {
            Ok((seen, end)) => {
                times.push(seen.computed.as_secs_f64());
                sizes.push(seen.peak as f64 / 1024.0);
                ends.push(end);
            }
            Err(why) => {
                faults.push(why);
                break;
            }
        }
    }
    if faults.is_empty() && grows(&times, SECONDS, 1.0) {
        // Other work on the machine must not look like growth: the better of two measurements counts.
        for (folder, time) in folders.iter().zip(&mut times) {
            if let Ok((again, _)) = once(chartc, line, folder, is_agent) {
                *time = time.min(again.computed.as_secs_f64());
            }
        }
    }
    ends.dedup();
    if ends.len() > 1 {
        faults.push(format!("the exit codes differ: {ends:?}"));
    }
    if name == "check" && ends.iter().any(|code| *code != 0) {
        faults.push("it has errors".into());
    }
    let is_slow = grows(&times, SECONDS, 1.0) || grows(&sizes, MEGABYTES, 1.0);
    let is_still = grows(&times, SECONDS, STILL) || grows(&sizes, MEGABYTES, STILL);
    match known {
        Some(_) if !is_still => {
            faults
                .push("it grows no faster than others now: remove it from the known cases".into());
        }
        None if is_slow => faults.push("it grows too fast".into()),
        _ => {}
    }
    let says = known.map_or(String::new(), |known| format!("known: {}", known.why));
    let wrong = (!faults.is_empty()).then(|| faults.join("; "));
    let text = format!(
        "| {} | {} | {name} | {} | {} | {} | {} | {} | {}{says} |",
        shape.name,
        shape.least,
        ends.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        figures(&times, 2),
        exponents(&times, SMALL[0]),
        figures(&sizes, 0),
        exponents(&sizes, SMALL[1]),
        wrong.as_ref().map_or(String::new(), |why| format!("(!) {why} ")),
    );
    Some(Row { text, wrong })
}

/// Runs a command once. Returns its resources and its exit code.
fn once(chartc: &Path, line: &Line, folder: &Path, is_agent: bool) -> Result<(Seen, i32), String> {
    for end in ["", "-wal", "-shm", ".lock"] {
        if line.0 == "run --store" {
            drop(std::fs::remove_file(folder.join(format!("s.db{end}"))));
        }
    }
    let file = if is_agent { "agent.yaml" } else { "a.chart" };
    let arguments = line.2.split(' ').map(|word| match word {
        "FILE" => file,
        "EVENTS" => "e.json",
        _ => word,
    });
    let said = folder.join("said");
    let file = |path: &Path| File::create(path).map(Stdio::from).map_err(|why| why.to_string());
    let mut child = Command::new(chartc)
        .args(arguments)
        .current_dir(folder)
        .env("CHARTC_COLOR", "never")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file(&said)?)
        .spawn()
        .map_err(|why| format!("{} does not start: {why}", chartc.display()))?;
    let seen = child::watch(&mut child, MOST).map_err(|why| why.to_string())?;
    let Some(status) = seen.status else {
        return Err(format!("it took more than {} s", MOST.as_secs()));
    };
    let said = std::fs::read(&said).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let first = said.lines().next().unwrap_or_default();
    match status.code() {
        Some(code @ (0 | 1)) if !said.contains("internal error") => Ok((seen, code)),
        Some(code) => Err(format!("exit code {code}: {first}")),
        None => Err(format!("it ended by a signal: {status}")),
    }
}

/// Whether both doublings grow too much, and the difference counts. `part` is the part of each bound that is enough.
fn grows(figures: &[f64], floor: f64, part: f64) -> bool {
    let [one, two, four] = figures else { return false };
    let least = FACTOR * (1.0 - (1.0 - part) / 2.0);
    two / one > least && four / two > least && four - one > floor * part
}

fn figures(all: &[f64], digits: usize) -> String {
    all.iter().map(|one| format!("{one:.digits$}")).collect::<Vec<_>>().join(" ")
}

/// The exponent of each doubling; a dot where the larger figure is too small to have one.
fn exponents(all: &[f64], small: f64) -> String {
    let one = |pair: &[f64]| {
        if pair[1] < small || pair[0] <= 0.0 {
            "·".to_owned()
        } else {
            format!("{:.1}", (pair[1] / pair[0]).log2())
        }
    };
    all.windows(2).map(one).collect::<Vec<_>>().join(" ")
}
