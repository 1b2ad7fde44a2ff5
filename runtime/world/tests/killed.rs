//! A world whose process is killed at any moment goes on from its last checkpoint, and pays for no call twice.

#![allow(clippy::disallowed_methods, reason = "folders and processes of the tests' own")]

use chartc_core::host::ToolCall;
use chartc_runtime::driver::{CallId, CallName, Driver};
use chartc_runtime::journal::Journaled;
use chartc_runtime::oracle::{Asking, OracleError, Question, ready};
use chartc_runtime::tools::{Calling, NoTools, Tools};
use chartc_store::Safety;
use chartc_world::{Checkpoint, Keep, KeepError, KeptCall, KeptCalls, Loaded, WorldStore};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("chartc-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&path));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Writes down what it is paid for before it answers.
struct Provider(PathBuf);

impl Driver for Provider {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
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

/// A store whose process ends at its nth write: right before an odd one of `at`, right after an even one.
struct Ends {
    store: WorldStore,
    at: u32,
    now: AtomicU32,
}

impl Ends {
    fn write(&self, work: impl FnOnce() -> Result<(), KeepError>) -> Result<(), KeepError> {
        let now = self.now.fetch_add(2, Ordering::SeqCst) + 1;
        if now == self.at {
            std::process::abort();
        }
        let done = work();
        if now + 1 == self.at {
            std::process::abort();
        }
        done
    }
}

impl Keep for Ends {
    fn begin(&self, given: &str) -> Result<(), KeepError> {
        self.write(|| self.store.begin(given))
    }

    fn given(&self) -> Result<Option<String>, KeepError> {
        self.store.given()
    }

    fn commit(&self, checkpoint: &Checkpoint) -> Result<(), KeepError> {
        self.write(|| self.store.commit(checkpoint))
    }

    fn load(&self) -> Result<Option<Loaded>, KeepError> {
        self.store.load()
    }

    fn log(&self, from: u64) -> Result<Vec<String>, KeepError> {
        self.store.log(from)
    }

    fn call_begun(&self, id: &str, question: &str) -> Result<(), KeepError> {
        self.write(|| self.store.call_begun(id, question))
    }

    fn call_settled(&self, id: &str, answer: &str) -> Result<(), KeepError> {
        self.write(|| self.store.call_settled(id, answer))
    }

    fn call_dropped(&self, id: &str) -> Result<(), KeepError> {
        self.write(|| self.store.call_dropped(id))
    }

    fn call(&self, id: &str) -> Result<Option<KeptCall>, KeepError> {
        self.store.call(id)
    }
}

const AGENTS: [&str; 3] = ["ada", "bob", "cleo"];
const TICKS: u64 = 40;

fn asked(driver: &dyn Driver, agent: &str, tick: u64, attempt: u32) -> Result<String, OracleError> {
    let event = tick as u32;
    let (state, step) = ("s".into(), "think".into());
    let name = CallName { state, step, event, attempt, element: None };
    let id = CallId { run: agent.into(), path: Vec::new(), name, nth: 0, is_tool: false };
    let question = Question { prompt: tick.to_string(), ..Question::default() };
    let mut asking = driver.ask(&id, question.into());
    match asking.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer.map(|answer| answer.text),
        Poll::Pending => panic!("no answer"),
    }
}

/// Runs the world to its end, from where it was: three agents, each with a call a tick.
fn resume(folder: &Path, ticks: u64, at: u32) {
    let store = WorldStore::own(&folder.join("s.db"), Safety::Full).expect("a store");
    let store = Arc::new(Ends { store, at, now: AtomicU32::new(0) });
    if store.given().expect("it can be read").is_none() {
        store.begin("{}").expect("a disk");
    }
    let drivers: Vec<_> = AGENTS
        .iter()
        .map(|agent| {
            let calls = Arc::new(KeptCalls::new(store.clone(), agent));
            Journaled::new(calls, Arc::new(Provider(folder.join("bill"))))
        })
        .collect();
    let done = store.load().expect("it can be read").map_or(0, |loaded| loaded.number);
    for tick in done + 1..=ticks {
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
    let Some(folder) = std::env::var_os("CHARTC_WORLD_OF_A_TEST") else { return };
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    let ticks = number("CHARTC_TICKS_OF_A_TEST").map_or(TICKS, u64::from);
    resume(Path::new(&folder), ticks, number("CHARTC_END_OF_A_TEST").unwrap_or(0));
}

fn process(folder: &Folder) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .args(["--exact", "a_process_of_another_test", "--nocapture"])
        .env("CHARTC_WORLD_OF_A_TEST", &folder.0);
    command
}

/// Nothing half done, and at least what the process has said that it has done.
fn is_whole_at(folder: &Folder, said: u64) {
    let store = WorldStore::own(&folder.0.join("s.db"), Safety::Full).expect("a store");
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
    let folder = Folder::new("killed");
    let (mut said, mut kills, mut is_done) = (0, 0, false);
    while !is_done {
        let mut child = process(&folder).stdout(Stdio::piped()).spawn().expect("it runs");
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
    let vain = is_paid_once(&folder, TICKS);
    println!("{kills} processes were killed; {vain} calls were paid for in vain");
}

/// Each call is paid for once, and each agent has an answer in each tick. Returns how many calls were paid for without an answer.
fn is_paid_once(folder: &Folder, ticks: u64) -> usize {
    let bill = std::fs::read_to_string(folder.0.join("bill")).expect("a bill");
    let mut paid: Vec<&str> = bill.lines().collect();
    let all = paid.len();
    paid.sort_unstable();
    paid.dedup();
    assert_eq!(paid.len(), all, "each call is paid for once:\n{bill}");
    let answered: BTreeSet<&str> =
        paid.iter().filter_map(|id| id.rsplit_once('.')).map(|(call, _)| call).collect();
    assert_eq!(answered.len(), AGENTS.len() * ticks as usize);
    all - answered.len()
}

#[test]
fn a_process_may_end_before_and_after_each_write() {
    // A beginning, and in each tick a checkpoint and three calls with two writes each.
    let writes = 1 + 3 * 7;
    for at in 1..=2 * writes {
        let folder = Folder::new(&format!("ends-{at}"));
        let run = |at: u32| {
            let mut command = process(&folder);
            command.env("CHARTC_TICKS_OF_A_TEST", "3").env("CHARTC_END_OF_A_TEST", at.to_string());
            command.output().expect("it runs").status.success()
        };
        assert!(!run(at), "{at}: it ends");
        let before = WorldStore::open(&folder.0.join("s.db")).expect("a store");
        let tick = before.load().expect("as it was written").map_or(0, |loaded| loaded.number);
        drop(before);
        // The checkpoint of a tick is its last write.
        assert_eq!(tick, u64::from(((at / 2).saturating_sub(1)) / 7), "{at}");
        assert!(run(0), "{at}: it goes on");
        is_whole_at(&folder, 3);
        let vain = is_paid_once(&folder, 3);
        assert!(vain <= 1, "{at}");
    }
}
