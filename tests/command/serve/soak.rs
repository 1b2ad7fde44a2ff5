//! A server under load for a long time: many clients and people, killed tools, restarts, and a disk that fills up. No run is lost or
//! stuck, nothing is paid twice, and memory stays flat.

use super::trouble::small_disk;
use super::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use test_support::chance::Chance;
use test_support::project::number;

const TILL: &str = include_str!("soak.chart");

/// Writes each payment into the ledger. The pauses leave time to be killed before and after it.
const PAY: &str = "sleep 0.0$(($$ % 5)); echo \"$2 $3\" >> \"$1\"; sleep 0.0$(($$ % 7)); echo paid";

/// The duration in seconds, unless `CHARTC_SOAK_SECONDS` sets another.
const SECONDS: u64 = 6;

/// The memory that a later server may need beyond the first one, in kilobytes.
const ROOM: u64 = 32 * 1024;

/// What all clients share.
struct Soak {
    /// The address of the present server; `None` during a restart.
    address: Mutex<Option<SocketAddr>>,
    /// Whether clients still begin runs.
    begins: AtomicBool,
    /// The number of requests that were refused because the disk was full.
    full: AtomicUsize,
    /// The number of requests without a reply.
    unanswered: AtomicUsize,
}

/// A run that has ended, with its sum and the sum of what the client added.
struct Ended {
    run: String,
    state: String,
    sum: i64,
    added: i64,
}

impl Soak {
    /// Sends a request, again if there is no reply or the server asks for it, and returns the reply.
    fn send(&self, token: &str, method: &str, path: &str, body: &Value) -> Reply {
        let mut last = None;
        let limit = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < limit, "{method} {path} gets nothing but {last:?}");
            let address = *self.address.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(address) = address {
                let client = Client { address, token: token.into() };
                match client.requested(method, path, body) {
                    Some(reply) if matches!(reply.status, 429 | 503 | 507) => {
                        self.full.fetch_add(usize::from(reply.status == 507), Ordering::Relaxed);
                        last = Some(reply);
                    }
                    Some(reply) => return reply,
                    None => drop(self.unanswered.fetch_add(1, Ordering::Relaxed)),
                }
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Begins a run, sends it events, answers its question, and waits for its end.
    fn run(&self, run: &str, chance: &mut Chance) -> Ended {
        let order = json!({"chart": "Till", "run": run, "params": {"order": run}});
        let begun = self.send(TOKEN, "POST", "/runs", &order);
        assert!(matches!(begun.status, 200 | 201), "{run}: {begun:?}");
        let (events, path) = (format!("/runs/{run}/events"), format!("/runs/{run}"));
        let mut added = 0;
        for nth in 0..=chance.below(4) {
            let by = 1 + chance.below(10) as i64;
            let event = json!({"event": "add", "data": {"by": by}, "id": format!("add {nth}")});
            let reply = self.send(TOKEN, "POST", &events, &event);
            assert_eq!(reply.status, 200, "{run}: {reply:?}");
            added += by;
        }
        let pay = json!({"event": "pay", "id": "pay"});
        let reply = self.send(TOKEN, "POST", &events, &pay);
        assert_eq!(reply.status, 200, "{run}: {reply:?}");
        let limit = Instant::now() + PATIENCE;
        loop {
            let read = self.send(TOKEN, "GET", &path, &Value::Null);
            assert_eq!(read.status, 200, "{run}: {read:?}");
            let read = read.json();
            if read["status"] != "running" {
                let state = read["state"].as_str().expect("a state").to_owned();
                let sum = read["variables"]["sum"].as_i64().expect("a sum");
                return Ended { run: run.to_owned(), state, sum, added };
            }
            if let Some(id) = read["waits_for"][0]["id"].as_str() {
                let said = *chance.of(&["pay", "pay", "refuse"]);
                let answer = json!({"id": id, "answer": said});
                let reply = self.send(PEOPLE, "POST", &format!("{path}/answers"), &answer);
                assert!(matches!(reply.status, 200 | 409), "{run}: {reply:?}");
            }
            assert!(Instant::now() < limit, "{run} is stuck: {read}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Plays one run after another until no more are to begin.
    fn client(&self, nth: usize) -> Vec<Ended> {
        let mut chance = Chance(nth as u64);
        let mut ended = Vec::new();
        while self.begins.load(Ordering::Relaxed) {
            ended.push(self.run(&format!("c{nth}-{}", ended.len()), &mut chance));
        }
        ended
    }
}

/// The ids of the processes that a server has started.
fn tools_of(server: &Server) -> Vec<String> {
    let id = server.child.id();
    let Ok(threads) = std::fs::read_dir(format!("/proc/{id}/task")) else { return Vec::new() };
    let children = threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    children
        .flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

#[test]
fn a_day_of_trouble_loses_doubles_and_blocks_nothing() {
    let seconds = number("CHARTC_SOAK_SECONDS", SECONDS);
    let clients = number("CHARTC_SOAK_CLIENTS", 20) as usize;
    let folder = charts("soak");
    let disk = small_disk(&folder, if seconds > 60 { "2g" } else { "64m" });
    let (ledger, place) = (folder.join("ledger"), folder.join("disk"));
    std::fs::write(folder.join("till.chart"), TILL).expect("a file");
    let tools = format!(
        "[tools.\"till.pay\"]\ncommand = [\"sh\", \"-c\", {PAY:?}, \"pay\", {ledger:?}, \"{{order}}\", \"{{amount}}\"]\n"
    );
    std::fs::write(folder.join("tools.toml"), tools).expect("a file");
    std::fs::write(&ledger, "").expect("a file");
    let soak = Soak {
        address: Mutex::new(None),
        begins: AtomicBool::new(true),
        full: AtomicUsize::new(0),
        unanswered: AtomicUsize::new(0),
    };
    let start = || {
        Server::of(
            &folder,
            &[
                "till.chart",
                "--store",
                "disk/s.db",
                "--tools",
                "tools.toml",
                "--token-env",
                "TOKEN",
                "--people-token-env",
                "PEOPLE",
            ],
        )
    };
    let set = |address| *soak.address.lock().unwrap_or_else(PoisonError::into_inner) = address;
    let life = Duration::from_mins(1).min(Duration::from_secs(seconds) / 3);
    let (mut memory, mut killed_tools, mut lives) = (Vec::new(), 0, 0);
    let mut chance = Chance(seconds);
    let end = Instant::now() + Duration::from_secs(seconds);
    let ended: Vec<Ended> = std::thread::scope(|scope| {
        let soak = &soak;
        let all: Vec<_> = (0..clients).map(|nth| scope.spawn(move || soak.client(nth))).collect();
        // The last server stays until all runs have ended.
        loop {
            let server = start();
            set(Some(server.address));
            lives += 1;
            let (began, filler) = (Instant::now(), place.join("filler"));
            let is_last = began + life >= end;
            while began.elapsed() < life || (is_last && all.iter().any(|one| !one.is_finished())) {
                soak.begins.store(Instant::now() < end, Ordering::Relaxed);
                // No condition is waited for: any moment will do.
                std::thread::sleep(Duration::from_millis(20 + chance.below(200)));
                let tools = tools_of(&server);
                if !tools.is_empty() && chance.below(3) == 0 {
                    let one = chance.of(&tools);
                    let kill =
                        Command::new("kill").args(["-9", one]).stderr(Stdio::null()).status();
                    killed_tools += usize::from(kill.is_ok_and(|status| status.success()));
                }
                // The disk is full during the third quarter of each server's life.
                let is_full = disk.is_some()
                    && !is_last
                    && began.elapsed() > life / 2
                    && began.elapsed() < life * 3 / 4;
                if is_full {
                    let mut file = std::fs::File::options().append(true).create(true).open(&filler);
                    while let Ok(file) = &mut file
                        && file.write_all(&[0; 4096]).is_ok()
                    {}
                } else if filler.exists() {
                    std::fs::remove_file(&filler).expect("it is there");
                }
            }
            drop(std::fs::remove_file(&filler));
            memory.push(server.memory("VmHWM:"));
            if lives % 2 == 1 && !is_last {
                server.kill();
            } else {
                let (code, said) = server.stop();
                assert_eq!(code, Some(0), "{said}");
            }
            set(None);
            if is_last {
                break;
            }
        }
        all.into_iter().flat_map(|one| one.join().expect("a client that is served")).collect()
    });
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &ended {
        *states.entry(&one.state).or_default() += 1;
        let is_final = ["paid", "refused", "failed", "unsure"].contains(&one.state.as_str());
        assert!(is_final, "{} stopped in {}", one.run, one.state);
        assert_eq!(one.sum, one.added, "{}: an event was lost or doubled", one.run);
    }
    let mut paid: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for line in std::fs::read_to_string(&ledger).expect("a ledger").lines() {
        let (run, sum) = line.split_once(' ').expect("a run and a sum");
        paid.entry(run.to_owned()).or_default().push(sum.parse().expect("a number"));
    }
    for one in &ended {
        let paid = paid.remove(&one.run).unwrap_or_default();
        let is_right = match one.state.as_str() {
            "paid" => paid == [one.sum],
            "unsure" => paid.is_empty() || paid == [one.sum],
            _ => paid.is_empty(),
        };
        assert!(is_right, "{} is {}, and {paid:?} was paid of {}", one.run, one.state, one.sum);
    }
    assert!(paid.is_empty(), "paid for nothing: {paid:?}");
    let (code, out, err) = crate::run::command::chartc(&folder, &["store", "disk/s.db", "check"]);
    assert_eq!(code, 0, "{out}{err}");
    let (full, unanswered) = (soak.full.into_inner(), soak.unanswered.into_inner());
    println!(
        "{seconds} s, {clients} clients, {lives} lives, {killed_tools} tools killed, {full} requests on a full disk, \
         {unanswered} without a reply; {} runs: {states:?}; kB at most in each life: {memory:?}",
        ended.len()
    );
    assert!(ended.len() >= clients && states.contains_key("paid"), "{states:?}");
    let most = memory.iter().max().copied().unwrap_or_default();
    assert!(most < memory[0] + ROOM, "memory grows from life to life: {memory:?}");
}
