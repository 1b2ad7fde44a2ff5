//! `xstate`: XState on the same machines and streams, beside the interpreter. Installed below the target folder.

use crate::dispatch::median;
use crate::machine::End;
use crate::processor;
use crate::subjects::{Run, all};
use crate::table;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PACKAGE: &str = include_str!("../xstate/package.json");
const LOCK: &str = include_str!("../xstate/package-lock.json");
/// Streams that the interpreter runs in a round: it needs as long for them as XState for one.
const STREAMS: usize = 16;

const SCRIPT: &str = include_str!("../xstate/run.mjs");

pub(crate) fn run(rounds: usize) {
    if Command::new("node").arg("--version").output().is_err() {
        return println!("skipped, node not found");
    }
    let folder = match installed() {
        Ok(folder) => folder,
        Err(why) => return println!("skipped, XState not found: {why}"),
    };
    if let Err(why) = compare(&folder, rounds) {
        println!("skipped, XState did not run: {why}");
    }
}

/// `target/xstate` with what npm puts there, as the lock says.
fn installed() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|why| why.to_string())?;
    let target = program.ancestors().nth(2).ok_or("the program lies in no target folder")?;
    let folder = target.join("xstate");
    let whole = folder.join("package-lock.json");
    if std::fs::read_to_string(&whole).is_ok_and(|lock| lock == LOCK) {
        return Ok(folder);
    }
    println!("installing XState in {}", folder.display());
    std::fs::create_dir_all(&folder).map_err(|why| why.to_string())?;
    write(&folder.join("package.json"), PACKAGE.as_bytes())?;
    write(&folder.join("npm-shrinkwrap.json"), LOCK.as_bytes())?;
    let done = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(&folder)
        .status()
        .map_err(|why| format!("npm: {why}"))?;
    if !done.success() {
        return Err("npm could not install it".to_owned());
    }
    // Written behind: it says that the installation is whole.
    write(&whole, LOCK.as_bytes())?;
    Ok(folder)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    std::fs::write(path, bytes).map_err(|why| format!("{}: {why}", path.display()))
}

/// A machine after the other, XState and the interpreter right behind each other.
fn compare(folder: &Path, rounds: usize) -> Result<(), String> {
    write(&folder.join("run.mjs"), SCRIPT.as_bytes())?;
    write(&folder.join("table.json"), format!("{:?}", table::targets()).as_bytes())?;
    println!("{rounds} rounds; medians: thousands of events in a second of the processor");
    println!(
        "{:<11} {:<12} {:>10} {:>12} {:>8}",
        "machine", "stream", "XState", "interpreter", "ratio"
    );
    for rivals in all() {
        let machine = rivals.machine;
        let own = rivals.subjects.iter().find(|subject| subject.name == "interpreted");
        let run = own.ok_or("it runs every machine")?.run;
        let streams = [("random", rivals.mix.random()), ("predictable", rivals.mix.predictable())];
        for (stream, codes) in &streams {
            write(&folder.join(format!("{machine}.{stream}")), codes)?;
        }
        let found = theirs(folder, machine, rounds)?;
        for (line, (stream, codes)) in found.lines().zip(&streams) {
            let found: Value = serde_json::from_str(line).map_err(|why| why.to_string())?;
            assert_eq!(found["stream"], *stream, "it keeps the order");
            let (time, end) = interpreted(run, codes, rounds);
            row(&format!("{machine:<11} {stream:<12}"), &found, time, &end);
        }
    }
    Ok(())
}

/// The interpreter's nanoseconds for an event, and where it ends.
fn interpreted(run: Run, codes: &[u8], rounds: usize) -> (f64, End) {
    let (_, end) = run(codes, codes.len());
    let times = (0..rounds).map(|_| {
        let begin = processor::time();
        for _ in 0..STREAMS {
            assert_eq!(run(codes, codes.len()).1, end, "it ends where it ended");
        }
        processor::time().saturating_sub(begin).as_secs_f64() * 1e9 / (STREAMS * codes.len()) as f64
    });
    (median(times.collect()), end)
}

/// What the script prints about a machine.
fn theirs(folder: &Path, machine: &str, rounds: usize) -> Result<String, String> {
    let output = Command::new("node")
        .args(["run.mjs", &rounds.to_string(), machine])
        .env("NODE_ENV", "production")
        .current_dir(folder)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|why| why.to_string())?;
    if !output.status.success() {
        return Err("node failed".to_owned());
    }
    String::from_utf8(output.stdout).map_err(|why| why.to_string())
}

/// Compares where both ended, and prints how fast they were; `own` in nanoseconds.
fn row(title: &str, found: &Value, own: f64, end: &End) {
    let counters = found["counters"].as_array().into_iter().flatten();
    let theirs = End {
        leaf: found["leaf"].as_u64().unwrap_or(u64::MAX) as usize,
        counters: counters.map(|counter| counter.as_i64().unwrap_or(i64::MIN)).collect(),
    };
    assert_eq!(theirs, *end, "{title}: XState ends elsewhere");
    let times = found["times"].as_array().into_iter().flatten();
    let time = median(times.filter_map(Value::as_f64).collect());
    println!("{title} {:>10.0} {:>12.0} {:>8.1}", 1e6 / time, 1e6 / own, time / own);
}
