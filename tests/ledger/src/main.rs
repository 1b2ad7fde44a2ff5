//! Kills processes that go on with the runs of one store, and then compares two books: what was paid, as the world has written it down,
//! and what the store knows of its calls.
//!
//! ```console
//! cargo run --release -p chartc-ledger                 # 20,000 calls of 1,000 agents, 60 times kill -9
//! cargo run --release -p chartc-ledger -- 100 20 10 7  # agents, turns of each, kills, seed
//! ```
#![allow(
    clippy::disallowed_methods,
    reason = "it starts and kills processes, and reads their files"
)]

mod audit;
mod work;

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, SystemTime};

const USAGE: &str = "usage: chartc-ledger [AGENTS [TURNS [KILLS [SEED]]]]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [word, folder, agents, turns] = args.as_slice()
        && word == "work"
    {
        let (agents, turns) = (agents.parse().unwrap_or(0), turns.parse().unwrap_or(0));
        return work::work(&PathBuf::from(folder), agents, turns);
    }
    let Ok(numbers) = args.iter().map(|arg| arg.parse()).collect::<Result<Vec<u64>, _>>() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let number = |nth: usize, default: u64| numbers.get(nth).copied().unwrap_or(default);
    let (agents, turns, kills) = (number(0, 1000), number(1, 20), number(2, 60));
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seed = number(3, now.as_nanos() as u64 | 1);
    println!("{agents} agents, {turns} turns of each, kill -9 {kills} times, seed {seed}");
    let folder = std::env::temp_dir().join(format!("chartc-ledger-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the store");
    let killed = campaign(&folder, (agents, turns), kills, seed);
    let is_right = audit::audit(&folder, agents * turns, killed >= kills);
    std::fs::remove_dir_all(&folder).expect("it is this program's own");
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs processes one after another until one has done all the work. Returns how many were killed.
fn campaign(folder: &PathBuf, (agents, turns): (u64, u64), kills: u64, seed: u64) -> u64 {
    let mut dice = Dice(seed);
    let program = std::env::current_exe().expect("this program");
    let paid = folder.join("paid");
    let bytes = || std::fs::metadata(&paid).map_or(0, |file| file.len());
    // A little less than all work is done when the last one is killed.
    let each = (agents * turns * 2 * 9 / 10 / kills.max(1)).max(1);
    for killed in 0.. {
        let mut child = Command::new(&program)
            .arg("work")
            .arg(folder)
            .args([agents.to_string(), turns.to_string()])
            .stdin(Stdio::null())
            .spawn()
            .expect("this program starts");
        let is_last = killed >= kills;
        let until = bytes() + dice.below(each) * work::BYTES;
        let mut later = None;
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child") {
                break status;
            }
            if !is_last && bytes() >= until {
                // A moment that has nothing to do with the line in the book: also within commits, and while nothing is paid.
                let at = *later.get_or_insert_with(|| {
                    std::time::Instant::now() + Duration::from_micros(dice.below(40_000))
                });
                if std::time::Instant::now() >= at {
                    child.kill().expect("it is ours");
                    break child.wait().expect("a child");
                }
            }
            std::thread::sleep(Duration::from_micros(300));
        };
        if status.success() {
            return killed;
        }
        assert!(status.code().is_none(), "a process failed by itself: {status}");
    }
    0
}

/// Pseudo-random numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound.max(1)
    }
}
