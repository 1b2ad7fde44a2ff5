//! Stores that are damaged, cannot be written, or have no room.

use super::*;
use crate::run::command::chartc;
use chartc_runtime::agents::{AgentState, Engine, Quiet};
use chartc_store::{Call, Listed};
use std::collections::BTreeMap;

/// All that can be read of a store.
#[derive(Debug, PartialEq)]
struct All {
    listed: Vec<Listed>,
    lines: BTreeMap<String, Vec<Line>>,
    calls: BTreeMap<String, Vec<Call>>,
    has: Vec<bool>,
    state: Option<AgentState>,
}

/// Why a store was not read.
#[derive(Debug, PartialEq)]
enum Not {
    /// It was refused.
    Refused,
    /// A check has named the damage.
    Named,
}

fn all(plans: &Arc<[Plan]>, file: &Path) -> Result<All, Not> {
    let refused = |_: StoreError| Not::Refused;
    let store = Store::open(file).map_err(refused)?;
    if !store.check().map_err(refused)?.is_empty() {
        return Err(Not::Named);
    }
    let listed = store.list().map_err(refused)?;
    let (mut lines, mut calls) = (BTreeMap::new(), BTreeMap::new());
    for row in &listed {
        lines.insert(row.run.clone(), store.lines(&row.run).map_err(refused)?);
        calls.insert(row.run.clone(), store.made(&row.run).map_err(refused)?);
    }
    drop(store);
    let world = Arc::new(World::default());
    let (handle, mut worker) =
        engine(plans, file, world, Box::new(|_, _| Ok(()))).map_err(refused)?;
    let host = async {
        let handle = handle;
        let mut has = Vec::new();
        for id in ["go", "1", "2", "3"] {
            has.push(handle.has("ada", id).await);
        }
        (has.into_iter().collect::<Result<Vec<_>, _>>(), handle.read("bob").await)
    };
    let (has, state) = wait(while_worked(&mut worker, host)).map_err(refused)?;
    Ok(All { listed, lines, calls, has: has.map_err(refused)?, state: state.ok().flatten() })
}

/// A closed store with a run that has ended and one that waits.
fn made(plans: &Arc<[Plan]>, file: &Path) {
    let world = Arc::new(World::default());
    let (handle, mut worker) =
        engine(plans, file, world, Box::new(|_, _| Ok(()))).expect("a store");
    let host = async {
        let handle = handle;
        for (agent, turns) in [("ada", 3), ("bob", 1)] {
            handle.fire(agent, go("go", "owls")).await.expect("it fits");
            for turn in 1..=turns {
                handle.fire(agent, Event::turn(turn.to_string())).await.expect("a turn");
                handle.quiet().await;
            }
        }
    };
    wait(while_worked(&mut worker, host)).expect("a disk");
}

pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

#[test]
fn no_damage_is_taken_for_a_store() {
    let charts = charts(WHOLE);
    let plans = plans(&charts);
    let file = fresh("damage");
    made(&plans, &file);
    let bytes = std::fs::read(&file).expect("a store");
    let whole = all(&plans, &file).expect("it is whole");
    assert!(whole.listed.len() == 2 && whole.has == [true; 4], "{whole:?}");
    let mut dice = Dice(0x5eed);
    let (mut refused, mut named, mut unused) = (0, 0, 0);
    for round in 0..500 {
        let mut damaged = bytes.clone();
        let what = if round % 10 == 0 {
            damaged.truncate(dice.below(bytes.len()));
            format!("cut to {} bytes", damaged.len())
        } else {
            let at = dice.below(bytes.len());
            let bit = dice.below(8);
            damaged[at] ^= 1 << bit;
            format!("bit {bit} of byte {at}")
        };
        for end in ["-wal", "-shm", ".lock"] {
            let mut name = file.as_os_str().to_owned();
            name.push(end);
            drop(std::fs::remove_file(name));
        }
        std::fs::write(&file, damaged).expect("it can be written");
        match all(&plans, &file) {
            Err(Not::Refused) => refused += 1,
            Err(Not::Named) => named += 1,
            Ok(read) => {
                assert_eq!(read, whole, "{what}");
                unused += 1;
            }
        }
    }
    assert!(refused > 20 && named > 100, "refused {refused}, named {named}, unused {unused}");
    println!("refused {refused}, named {named}, in unused bytes {unused}");
}

#[test]
fn files_that_are_no_stores_are_refused() {
    let folder = folder("store-others");
    let run = |file: &str, more: &[&str]| {
        let fixed = ["run", "t.chart", "--llm", "first", "--run", "ada", "--store", file];
        chartc(&folder, &[&fixed, more].concat())
    };
    std::fs::write(folder.join("t.chart"), LOOP).expect("a file");
    std::fs::write(folder.join("text"), "no database").expect("a file");
    std::fs::create_dir(folder.join("folder")).expect("a folder");
    for (file, why) in
        [("text", "is no store"), ("folder", "it is a folder"), ("no/s.db", "cannot write")]
    {
        let (code, _, err) = run(file, &[]);
        assert!(code == 2 && err.contains(why), "{file}: {code} {err}");
    }
    assert_eq!(std::fs::read_to_string(folder.join("text")).expect("it"), "no database");
}

const LOOP: &str = "chart Loop {
  var n: Int = 0
  initial a
  state a { llm think { prompt \"{n}\"  returns Text } -> b { n = n + 1 } }
  state b { llm again { prompt \"{n}\"  returns Text } -> a }
}
";

/// A disk that is full is a file that may not grow: both fail the write. What was printed is kept, and the run goes on.
#[test]
#[cfg(unix)]
fn a_full_disk_ends_the_process_and_not_the_run() {
    let folder = folder("store-full");
    std::fs::write(folder.join("t.chart"), LOOP).expect("a file");
    let script = "answers: {think: [{text: one}], again: [{text: two}]}\nrepeat: true\n";
    std::fs::write(folder.join("s.yaml"), script).expect("a file");
    let fixed = "run t.chart --llm random:1 --run ada --store s.db --turns 60 --color never";
    let arguments: Vec<&str> = fixed.split(' ').collect();
    // In blocks of 1,024 bytes; the signal of a file that is too large is ignored, so that writes fail as on a full disk.
    let limited = |blocks: u32| {
        let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" {fixed}");
        let output = std::process::Command::new("bash")
            .args(["-c", &line, env!("CARGO_BIN_EXE_chartc")])
            .current_dir(&folder)
            .output()
            .expect("bash");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let mut printed = String::new();
    let mut stops = 0;
    for blocks in [40, 60, 90, 130, 200, 300] {
        let (code, out, err) = limited(blocks);
        printed += &out;
        if code != Some(0) {
            assert_eq!(code, Some(2), "{out}{err}");
            assert!(
                err.contains("s.db") && (err.contains("full") || err.contains("disk I/O")),
                "{err}"
            );
            stops += 1;
        }
    }
    assert!(stops >= 2, "{printed}");
    let (code, out, err) = chartc(&folder, &arguments);
    assert_eq!(code, 0, "{out}{err}");
    printed += &out;
    println!("stopped {stops} times");
    let moves = |text: &str| text.lines().filter(|line| line.contains(" -> ")).count();
    let (code, whole, err) = chartc(
        &folder,
        &[&arguments[..5], &["other", "--store", "w.db"], &arguments[8..]].concat(),
    );
    assert_eq!(code, 0, "{whole}{err}");
    assert_eq!(moves(&printed), moves(&whole), "each move is printed once:\n{printed}\n{whole}");
    let (code, out, err) = chartc(&folder, &["store", "s.db", "check"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
#[cfg(unix)]
fn a_file_that_may_only_be_read_says_so() {
    let folder = folder("store-read-only");
    std::fs::write(folder.join("t.chart"), LOOP).expect("a file");
    let run =
        ["run", "t.chart", "--llm", "random:1", "--run", "ada", "--store", "s.db", "--turns", "2"];
    assert_eq!(chartc(&folder, &run).0, 0);
    let file = folder.join("s.db");
    let mut rights = std::fs::metadata(&file).expect("it is there").permissions();
    rights.set_readonly(true);
    std::fs::set_permissions(&file, rights.clone()).expect("it is ours");
    if std::fs::OpenOptions::new().write(true).open(&file).is_ok() {
        println!("skipped: this user may write everything");
        return;
    }
    let (code, _, err) = chartc(&folder, &run);
    assert!(code == 2 && err.contains("s.db"), "{code} {err}");
    let (code, out, err) = chartc(&folder, &["store", "s.db", "list"]);
    assert!(code == 0 && out.starts_with("ada: Loop"), "{out}{err}");
}

/// What the log beside the file has is not in the file yet.
#[test]
fn a_log_that_is_damaged_or_left_behind_is_missed() {
    let charts = charts(WHOLE);
    let plans = plans(&charts);
    let file = fresh("log");
    let folder = file.parent().expect("it has one").to_owned();
    let world = Arc::new(World::default());
    let (handle, mut worker) =
        engine(&plans, &file, world, Box::new(|_, _| Ok(()))).expect("a store");
    let host = async {
        let handle = handle;
        handle.fire("ada", go("go", "owls")).await.expect("it fits");
        handle.fire("ada", Event::turn("1")).await.expect("a turn");
        handle.quiet().await;
        handle.fire("bob", go("go", "bees")).await.expect("it fits");
        // As a process leaves it that is killed now.
        for end in ["", "-wal", ".lock"] {
            let kept = folder.join(format!("kept{end}"));
            std::fs::copy(folder.join(format!("s.db{end}")), kept).expect("a file");
        }
    };
    wait(while_worked(&mut worker, host)).expect("a disk");
    drop(worker);
    let log = std::fs::read(folder.join("kept-wal")).expect("a log");
    let copy = folder.join("c.db");
    let again = |log: &[u8]| {
        drop(std::fs::remove_file(folder.join("c.db-shm")));
        for end in ["", ".lock"] {
            let kept = folder.join(format!("kept{end}"));
            std::fs::copy(kept, folder.join(format!("c.db{end}"))).expect("a file");
        }
        std::fs::write(folder.join("c.db-wal"), log).expect("a file");
        all(&plans, &copy)
    };
    let whole = again(&log).expect("it is whole");
    assert_eq!(whole.listed.len(), 2);
    assert!(again(&[]).is_err(), "left behind");
    let mut dice = Dice(0x106);
    let mut missed = 0;
    for round in 0..200 {
        let mut damaged = log.clone();
        if round % 5 == 0 {
            damaged.truncate(dice.below(log.len()));
        } else {
            let at = dice.below(log.len());
            damaged[at] ^= 1 << dice.below(8);
        }
        match again(&damaged) {
            Err(_) => missed += 1,
            Ok(read) => assert_eq!(read, whole, "round {round}"),
        }
    }
    println!("missed {missed} of 200");
    assert!(missed > 100, "{missed}");
}
