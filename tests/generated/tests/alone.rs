//! Generated code under the compiler alone: without `std` and an allocator where a chart needs none, and without a single
//! warning everywhere.
#![allow(clippy::disallowed_methods, reason = "starts the compiler and what it made")]

use chartc_core::arena::{EventId, StateId};
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::Input;
use chartc_core::plan::Plan;
use generated_charts::random::Random;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Events that each chart of the benchmarks takes.
const EVENTS: usize = 500;

fn run(command: &mut Command) {
    let done = command.output().expect("the program starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?} ended with {}:\n{said}", done.status);
}

fn rustc() -> Command {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    command.args(["--edition", "2024", "-D", "warnings"]);
    command.env("OUT_DIR", env!("OUT_DIR"));
    command
}

/// Where a test puts what it makes.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder for what is made");
    folder
}

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Compiles chartc-core with these flags.
fn core(folder: &Path, flags: &[&str]) -> String {
    let library = folder.join("libchartc_core.rlib");
    run(rustc()
        .args(["--crate-name", "chartc_core", "--crate-type", "rlib"])
        .args(flags)
        .arg("-o")
        .arg(&library)
        .arg(source("../../runtime/core/src/lib.rs")));
    format!("chartc_core={}", library.display())
}

struct Nobody;

impl Host for Nobody {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Err(format!("there is no `{function}`"))
    }
}

/// What the interpreter makes of random events: a constant of each, where the machine was after it, and its data at the end.
fn expected(name: &str, text: &str) -> String {
    let chart = generated_charts::model(name, text);
    let plan = Plan::new(&chart);
    let mut machine = Interpreter::new(&plan, Nobody, []).expect("no params");
    machine.handle(Input::Start, 0, &mut ()).expect("it starts");
    let mut random = Random::new(EVENTS as u64);
    let mut steps = String::new();
    let mut places = std::collections::BTreeSet::new();
    for _ in 0..EVENTS {
        let event = random.below(chart.events.len());
        let input = Input::Event(EventId::at(event), Vec::new());
        machine.handle(input, 0, &mut ()).expect("events have no data");
        let leaf = machine.leaves().pop().unwrap_or(StateId(0));
        places.insert(leaf);
        let _ = write!(steps, "({event}, {:?}), ", chart.state(leaf).path);
    }
    let leaves = (0..chart.states.len()).filter(|i| chart.states[*i].end.index() == i + 1).count();
    assert_eq!(places.len(), leaves, "{name}: the events lead everywhere");
    let mut data = [0; 4];
    for (place, (name, value)) in data.iter_mut().zip(machine.variables()) {
        let Value::Int(value) = value else { panic!("`{name}` is {value:?}") };
        *place = value;
    }
    let name = name.to_uppercase();
    format!(
        "pub(super) const {name}: Expected = Expected {{ steps: &[{steps}], data: {data:?} }};\n"
    )
}

#[test]
fn a_host_without_an_allocator() {
    let folder = folder("nostd");
    let abort = ["-C", "panic=abort"];
    let core = core(&folder, &abort);
    let program = folder.join("host");
    let mut wanted = "pub(super) struct Expected {
        pub(super) steps: &'static [(usize, &'static str)],
        pub(super) data: [i64; 4],
    }\n"
    .to_owned();
    wanted += &expected("ring", include_str!("../../bench/charts/ring.chart"));
    wanted += &expected("hierarchy", include_str!("../../bench/charts/hierarchy.chart"));
    wanted += &expected("table", include_str!("../../bench/charts/table.chart"));
    let file = folder.join("expected.rs");
    std::fs::write(&file, wanted).expect("the folder can be written");
    run(rustc()
        .env("EXPECTED", &file)
        .args(abort)
        .args(["-C", "link-arg=-lc", "--extern", &core, "-o"])
        .arg(&program)
        .arg(source("nostd/main.rs")));
    run(&mut Command::new(&program));
}

#[test]
fn nothing_to_warn_of() {
    let folder = folder("strict");
    let core = core(&folder, &["--cfg", "feature=\"alloc\"", "--emit", "metadata,link"]);
    let mut modules = String::from("//! Generated charts.\n#![deny(missing_docs)]\n");
    let files = std::fs::read_dir(source("charts")).expect("the charts can be read");
    for file in files {
        let path = file.expect("as before").path();
        if path.is_dir() {
            continue;
        }
        let name = path.file_name().expect("a chart has a name").to_string_lossy().into_owned();
        let name = name.split('.').next().unwrap_or_default();
        modules += &format!(
            "/// A chart.\npub mod {name} {{ include!(concat!(env!(\"OUT_DIR\"), \"/{name}.rs\")); }}\n"
        );
    }
    modules +=
        "/// Odd charts.\npub mod odd { include!(concat!(env!(\"OUT_DIR\"), \"/odd.rs\")); }\n";
    let library = folder.join("charts.rs");
    std::fs::write(&library, modules).expect("the folder can be written");
    run(rustc()
        .args(["--crate-type", "lib", "--emit", "metadata", "--extern", &core, "--out-dir"])
        .arg(&folder)
        .arg(&library));
}
