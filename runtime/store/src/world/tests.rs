//! A world whose process ends at any moment, in files that are damaged, and in files of another kind.

#![allow(clippy::disallowed_methods, reason = "folders and processes of the tests' own")]

use super::*;
use chartc_core::host::ToolCall;
use chartc_runtime::driver::{CallId, CallName, Driver};
use chartc_runtime::oracle::{Asking, OracleError, Question, ready};
use chartc_runtime::tools::{Calling, NoTools, Tools};
use chartc_world::Journaled;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("chartc-world-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&path));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("s.db")
    }

    fn store(&self) -> WorldStore {
        WorldStore::own(&self.file(), Safety::Process).expect("a store")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn checkpoint(number: u64, agents: &[(&str, Option<&str>)], log: &[&str]) -> Checkpoint {
    let agents = agents.iter().map(|(name, saved)| ((*name).into(), saved.map(str::to_owned)));
    Checkpoint {
        number,
        now_ms: number * 1000,
        world: None,
        agents: agents.collect(),
        meta: format!("meta {number}"),
        log: log.iter().map(|line| (*line).to_owned()).collect(),
    }
}

#[test]
fn what_is_committed_is_loaded_and_agents_stay_in_their_order() {
    let folder = Folder::new("whole");
    let store = folder.store();
    assert_eq!(store.load().expect("empty"), None);
    assert_eq!(store.given().expect("empty"), None);
    store.begin("{\"seed\":7}").expect("a beginning");
    let why = store.begin("{}").expect_err("twice").to_string();
    assert!(why.ends_with("it has a world already: go on with it, or give another path"), "{why}");
    let first = Checkpoint {
        world: Some("w".into()),
        ..checkpoint(0, &[("zoe", Some("z")), ("ada", Some("a")), ("bob", Some("b"))], &["x", "y"])
    };
    store.commit(&first).expect("a disk");
    store.commit(&checkpoint(3, &[("ada", Some("a2")), ("bob", None)], &["z"])).expect("a disk");
    store.commit(&checkpoint(4, &[("bob", Some("b2"))], &[])).expect("a disk");
    let why = store.commit(&checkpoint(4, &[], &[])).expect_err("the same number").to_string();
    assert!(why.ends_with("checkpoint 4 comes after checkpoint 4"), "{why}");
    drop(store);
    let store = folder.store();
    let pair = |name: &str, saved: &str| (name.to_owned(), saved.to_owned());
    let loaded = Loaded {
        number: 4,
        now_ms: 4000,
        world: Some("w".into()),
        agents: vec![pair("zoe", "z"), pair("ada", "a2"), pair("bob", "b2")],
        meta: "meta 4".into(),
        log_lines: 3,
    };
    assert_eq!(store.load().expect("a checkpoint"), Some(loaded));
    assert_eq!(store.given().expect("a beginning").as_deref(), Some("{\"seed\":7}"));
    assert_eq!(store.log(0).expect("lines"), ["x", "y", "z"]);
    assert_eq!(store.log(2).expect("lines"), ["z"]);
    assert_eq!(store.log(9).expect("lines"), [""; 0]);
}

#[test]
fn calls_stay_as_long_as_a_checkpoint_can_need_them() {
    let folder = Folder::new("calls");
    let store = folder.store();
    for id in ["settled", "dropped", "open"] {
        store.call_begun(id, "q").expect("a disk");
    }
    store.call_settled("settled", "a").expect("a disk");
    store.call_dropped("dropped").expect("a disk");
    assert!(store.call_settled("never", "a").is_err());
    let has = |id: &str| store.call(id).expect("it can be read").is_some();
    store.commit(&checkpoint(1, &[], &[])).expect("a disk");
    assert!(has("settled") && has("dropped") && has("open"), "the agent may not have noticed");
    let kept = KeptCall { question: "q".into(), answer: Some("a".into()) };
    assert_eq!(store.call("settled").expect("it can be read"), Some(kept));
    store.commit(&checkpoint(2, &[], &[])).expect("a disk");
    assert!(!has("settled") && !has("dropped") && has("open"));
    store.call_begun("settled", "another").expect("a disk");
    assert_eq!(store.call("settled").expect("it can be read").and_then(|call| call.answer), None);
}

#[test]
fn files_of_another_kind_and_of_another_process_are_refused() {
    let folder = Folder::new("kinds");
    let world = folder.store();
    let said = |why: StoreError| why.to_string();
    let owned = WorldStore::own(&folder.file(), Safety::Process).err().map(said);
    assert!(owned.is_some_and(|why| why.contains("another process goes on")));
    drop(world);
    let path = folder.file().display().to_string();
    let wrong = format!("{path} keeps a world of agents, not single runs: give another path");
    assert_eq!(Store::open(&folder.file()).err().map(said), Some(wrong.clone()));
    assert_eq!(Store::own(&folder.file(), Safety::Process).err().map(said), Some(wrong));
    let runs = folder.0.join("runs.db");
    drop(Store::own(&runs, Safety::Process).expect("a store"));
    for opened in [WorldStore::open(&runs), WorldStore::own(&runs, Safety::Process)] {
        let wrong = format!(
            "{} keeps single runs, not a world of agents: give another path",
            runs.display()
        );
        assert_eq!(opened.err().map(said), Some(wrong));
    }
    let text = folder.0.join("text.db");
    std::fs::write(&text, "no database, but a text that is long enough to be looked at")
        .expect("a disk");
    assert!(matches!(WorldStore::own(&text, Safety::Process), Err(StoreError::Other(_))));
}

#[test]
fn damage_is_told_by_its_part() {
    let folder = Folder::new("damage");
    let store = folder.store();
    let mut first = checkpoint(1, &[("ada", Some("a"))], &["x", "y"]);
    first.world = Some("w".into());
    store.commit(&first).expect("a disk");
    store.call_begun("c", "q").expect("a disk");
    let told = |sql: &str, undo: &str| {
        let execute = |sql| store.store().connection.execute_batch(sql).expect("SQL");
        execute(sql);
        let all = [
            store.load().err().map(|why| why.to_string()),
            store.log(0).err().map(|why| why.to_string()),
            store.call("c").err().map(|why| why.to_string()),
        ];
        execute(undo);
        all.into_iter().flatten().collect::<Vec<_>>().join("\n")
    };
    for (sql, undo, part) in [
        ("UPDATE agent SET saved = 'b'", "UPDATE agent SET saved = 'a'", "an agent is not"),
        ("UPDATE world SET saved = 'v'", "UPDATE world SET saved = 'w'", "the world is not"),
        (
            "UPDATE checkpoint SET now = 0",
            "UPDATE checkpoint SET now = 1000",
            "the checkpoint is not",
        ),
        ("UPDATE call SET question = 'p'", "UPDATE call SET question = 'q'", "a call is not"),
        (
            "UPDATE line SET text = 'z' WHERE seq = 1",
            "UPDATE line SET text = 'x' WHERE seq = 1",
            "a line of the log is not",
        ),
        ("DELETE FROM line WHERE seq = 1", "", "the number of lines of the log is not"),
        ("DELETE FROM agent", "", "the number of agents is not"),
    ] {
        let why = told(sql, undo);
        assert!(why.contains(part), "{sql}: {why}");
    }
}

/// Writes down what it is paid for before it answers.
struct Provider(PathBuf);

impl Driver for Provider {
    fn ask(&self, id: &CallId, question: Question) -> Asking {
        let mut bill = OpenOptions::new().create(true).append(true).open(&self.0).expect("a disk");
        writeln!(bill, "{id}").expect("a disk");
        ready(Ok(format!("to {}", question.prompt).into()))
    }

    fn call(&self, _: &CallId, call: ToolCall) -> Calling {
        NoTools.call(call)
    }

    fn name(&self) -> String {
        "provider".into()
    }
}

const AGENTS: [&str; 3] = ["ada", "bob", "cleo"];
const TICKS: u64 = 40;

fn asked(driver: &dyn Driver, agent: &str, tick: u64, attempt: u32) -> Result<String, OracleError> {
    let event = tick as u32;
    let (state, step) = ("s".into(), "think".into());
    let name = CallName { state, step, event, attempt, element: None };
    let id = CallId { run: agent.into(), path: Vec::new(), name, nth: 0, is_tool: false };
    let mut asking = driver.ask(&id, Question { prompt: tick.to_string(), ..Question::default() });
    match asking.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer.map(|answer| answer.text),
        Poll::Pending => panic!("no answer"),
    }
}

/// Runs the world to its end, from where it was: three agents, each with a call a tick.
fn go_on(folder: &Path) {
    let store = Arc::new(WorldStore::own(&folder.join("s.db"), Safety::Full).expect("a store"));
    if store.given().expect("it can be read").is_none() {
        store.begin("{}").expect("a disk");
    }
    let drivers: Vec<_> = AGENTS
        .iter()
        .map(|agent| Journaled::new(store.clone(), agent, Arc::new(Provider(folder.join("bill")))))
        .collect();
    let done = store.load().expect("it can be read").map_or(0, |loaded| loaded.number);
    for tick in done + 1..=TICKS {
        let mut made = Checkpoint { number: tick, now_ms: tick, ..Checkpoint::default() };
        for (agent, driver) in AGENTS.iter().zip(&drivers) {
            let answer = asked(driver, agent, tick, 1).or_else(|doubt| {
                assert!(doubt.may_be_billed(), "{doubt}");
                asked(driver, agent, tick, 2)
            });
            let saved = format!("{tick}: {}", answer.expect("an answer"));
            made.log.push(format!("{agent} {saved}"));
            made.agents.push(((*agent).to_owned(), Some(saved)));
        }
        made.world = Some(format!("world {tick}"));
        store.commit(&made).expect("a disk");
        println!("tick {tick}");
    }
    println!("done");
}

/// The process that is killed; it does nothing where none of the tests has started it.
#[test]
fn a_process_of_another_test() {
    if let Some(folder) = std::env::var_os("CHARTC_WORLD_OF_A_TEST") {
        go_on(Path::new(&folder));
    }
}

/// Nothing half done, and at least what the process has said that it has done.
fn is_whole_at(folder: &Folder, said: u64) {
    let store = folder.store();
    let Some(loaded) = store.load().expect("as it was written") else {
        assert_eq!(said, 0);
        return;
    };
    let tick = loaded.number;
    assert!(tick == said || tick == said + 1, "{tick} after {said}");
    assert_eq!(loaded.world, Some(format!("world {tick}")));
    let saved = |agent: &&str| ((*agent).to_owned(), format!("{tick}: to {tick}"));
    assert_eq!(loaded.agents, AGENTS.iter().map(saved).collect::<Vec<_>>());
    let line = |tick: u64| AGENTS.iter().map(move |agent| format!("{agent} {tick}: to {tick}"));
    assert_eq!(store.log(0).expect("lines"), (1..=tick).flat_map(line).collect::<Vec<_>>());
}

#[test]
fn a_world_whose_process_is_killed_goes_on_and_pays_for_no_call_twice() {
    let folder = Folder::new("kill");
    let (mut said, mut kills, mut is_done) = (0, 0, false);
    while !is_done {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "world::tests::a_process_of_another_test", "--nocapture"])
            .env("CHARTC_WORLD_OF_A_TEST", &folder.0)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        // It is killed somewhere in the tick after some that it has told of.
        let mut left = 1 + kills % 4;
        for line in out.lines().map(|line| line.expect("text")) {
            is_done |= line == "done";
            let Some(tick) = line.strip_prefix("tick ") else { continue };
            said = tick.parse().expect("a number");
            if left > 0 {
                left -= 1;
                if left == 0 {
                    for _ in 0..kills * 9973 % 60_000 {
                        std::hint::spin_loop();
                    }
                    child.kill().expect("a signal");
                    kills += 1;
                }
            }
        }
        drop(child.wait());
        is_whole_at(&folder, said);
    }
    assert!(kills >= 10, "{kills} processes were killed");
    assert_eq!(said, TICKS);
    let bill = std::fs::read_to_string(folder.0.join("bill")).expect("a bill");
    let mut paid: Vec<&str> = bill.lines().collect();
    let all = paid.len();
    paid.sort_unstable();
    paid.dedup();
    assert_eq!(paid.len(), all, "each call is paid for once:\n{bill}");
    let answered: std::collections::BTreeSet<&str> =
        paid.iter().filter_map(|id| id.rsplit_once('.')).map(|(call, _)| call).collect();
    assert_eq!(answered.len(), AGENTS.len() * TICKS as usize);
    println!("{kills} processes were killed; {} calls were paid for in vain", all - answered.len());
}
