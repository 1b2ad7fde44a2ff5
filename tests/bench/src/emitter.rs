//! What generated Rust costs before it runs: emitting it, its size, and rustc; and what an event then costs the interpreter.

use crate::scale::{median, ms, timed};
use crate::{event, memory, synthetic};
use chartc::Compilation;
use chartc::emit::rust;
use chartc::load::Memory;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Charts up to this size are given to rustc too.
const COMPILED: usize = 500;
const PATH: &str = "synthetic.chart";

/// Measures charts of these sizes and prints what came out.
pub(crate) fn run(sizes: &[usize]) {
    println!(
        "{:>7} {:>9} {:>9} {:>11} {:>8} {:>12} {:>13} {:>13} {:>15}",
        "states",
        "check ms",
        "emit ms",
        "Rust bytes",
        "B/state",
        "peak B/state",
        "rustc dev s",
        "rustc opt s",
        "interpreter ns"
    );
    for states in sizes {
        let text = synthetic::chart(*states);
        let loader = Memory::of(PATH, &text);
        let rounds = (20_000 / states).clamp(3, 51);
        let mut check = Vec::new();
        let mut emit = Vec::new();
        let mut code = String::new();
        for _ in 0..rounds {
            let (time, checked) = timed(|| checked(&loader));
            check.push(time);
            let (time, made) = timed(|| emitted(&checked));
            emit.push(time);
            code = made;
        }
        let peak = memory::of_emit(*states)
            .map_or("-".to_owned(), |bytes| (bytes / *states as u64).to_string());
        let [dev, opt] = if *states <= COMPILED {
            compiled(&code).map(|time| time.map_or("-".to_owned(), seconds))
        } else {
            ["-".to_owned(), "-".to_owned()]
        };
        println!(
            "{states:>7} {:>9.1} {:>9.1} {:>11} {:>8} {peak:>12} {dev:>13} {opt:>13} {:>15.0}",
            ms(median(check)),
            ms(median(emit)),
            code.len(),
            code.len() / states,
            event::cost(&text),
        );
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64())
}

pub(crate) fn checked(loader: &Memory) -> Compilation {
    let done = chartc::check(&[PATH.to_owned()], loader);
    assert_eq!(done.charts.len(), 1, "synthetic charts are sound: {:?}", done.diagnostics.first());
    done
}

/// The Rust of its one chart.
pub(crate) fn emitted(checked: &Compilation) -> String {
    let made = rust::emit(&checked.charts[0]);
    made.unwrap_or_else(|found| panic!("it has all that Rust needs: {:?}", found.first()))
}

/// A program that makes the machine and gives it events, so that rustc has to write all of its code.
const MAIN: &str = r#"
#[allow(dead_code)]
mod synthetic;

struct Quiet;
impl chartc_core::machine::Sink for Quiet {
    fn effect(&mut self, _: chartc_core::machine::Effect) {}
    fn record(&mut self, _: chartc_core::machine::Record) {}
}

fn main() {
    let made = synthetic::Machine::new(synthetic::Params::new(), ());
    let Ok(mut machine) = made else { return };
    machine.start(0, &mut Quiet);
    machine.send(synthetic::Event::Event0, 1, &mut Quiet);
    machine.send(synthetic::Event::Event1 { amount: 1 }, 2, &mut Quiet);
    machine.tick(3, &mut Quiet);
    machine.turn(4, &mut Quiet);
    println!("{:?}", machine.data());
}
"#;

/// How long rustc needs for a program with this module, as cargo builds it for development and for release. chartc-core is built
/// before.
fn compiled(code: &str) -> [Option<Duration>; 2] {
    [&["-C", "debuginfo=2", "-C", "codegen-units=256"][..], &["-C", "opt-level=3"]].map(|flags| {
        let folder = folder()?;
        std::fs::write(folder.join("synthetic.rs"), code).ok()?;
        std::fs::write(folder.join("main.rs"), MAIN).ok()?;
        let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/core/src/lib.rs");
        rustc(&folder, "chartc_core", "rlib", &core, flags)?;
        let main = folder.join("main.rs");
        let times: Option<Vec<Duration>> = (0..3)
            .map(|_| timed(|| rustc(&folder, "emitted", "bin", &main, flags)))
            .map(|(time, done)| done.map(|()| time))
            .collect();
        times.map(median)
    })
}

/// `target/emitter`.
fn folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.ancestors().nth(2)?.join("emitter");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder)
}

/// `None`, with what rustc says, if it does not compile.
fn rustc(folder: &Path, name: &str, kind: &str, file: &Path, flags: &[&str]) -> Option<()> {
    let done = Command::new("rustc")
        .args(["--edition", "2024", "--cap-lints", "warn", "--crate-name", name])
        .args(["--crate-type", kind, "--out-dir"])
        .arg(folder)
        .arg("-L")
        .arg(folder)
        .args(["--extern", "chartc_core"])
        .args(flags)
        .arg(file)
        .stdout(Stdio::null())
        .output()
        .ok()?;
    if !done.status.success() {
        eprint!("{}", String::from_utf8_lossy(&done.stderr));
        return None;
    }
    Some(())
}
