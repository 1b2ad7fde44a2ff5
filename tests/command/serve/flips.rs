//! Flips bits of the store's file, before the server starts or while it serves. Each damage is either reported or harmless.

use super::*;
use crate::run::command::chartc;
use std::collections::BTreeMap;

/// By run: the part of its state that turns and restarts do not change, and its trace.
type All = BTreeMap<String, (Value, String)>;

const RUNS: [&str; 5] = ["ada", "asked", "ended", "turns", "long"];

/// Makes a store with runs that wait, ask, have ended and have made turns. Stops the server and returns what it said of them.
fn made(folder: &Path) -> All {
    let server = Server::new(folder, &["--store", "s.db"]);
    let client = server.client();
    for run in ["ada", "asked", "ended", "long"] {
        begin(&client, run);
        for nth in 0..if run == "long" { 120 } else { 4 } {
            assert_eq!(add(&client, run, &format!("{nth}"), 1).status, 200);
        }
    }
    ask(&client, "asked");
    assert_eq!(event(&client, "ended", "finish").status, 200);
    let order = json!({"chart": "Turns", "run": "turns", "params": {"most": 30}, "turns": 20});
    assert_eq!(client.post("/runs", &order).status, 201);
    until("its turns are made", || client.get("/runs/turns").json()["variables"]["n"] == 20);
    let (all, told) = read(&client);
    assert!(told.is_empty(), "{told:?}");
    assert_eq!(server.stop().0, Some(0));
    all
}

/// Reads each run. Returns what the server says of it, and the errors that it reports.
fn read(client: &Client) -> (All, Vec<String>) {
    let (mut all, mut told) = (All::new(), Vec::new());
    for run in RUNS {
        let (state, trace) = (
            client.get(&format!("/runs/{run}")),
            client.requested("GET", &format!("/runs/{run}/trace"), &Value::Null),
        );
        // If a line of the trace cannot be read, the connection closes before the end of the body.
        let trace =
            trace.map_or((500, "it has no end".to_owned()), |trace| (trace.status, trace.body));
        for (status, body) in [(state.status, &state.body), (trace.0, &trace.1)] {
            match status {
                200 => {}
                404 | 409 | 500 => told.push(format!("{run}: {status} {body}")),
                _ => panic!("{run}: {status} {body}"),
            }
        }
        if state.status == 200 {
            let state = state.json();
            if state["status"] == "broken" {
                assert!(state["stopped"].is_string(), "{state}");
                told.push(format!("{run}: broken"));
            }
            let fields = ["chart", "status", "configuration", "variables", "result"];
            let kept = fields.map(|field| (field, state[field].clone()));
            all.insert(run.to_owned(), (json!(BTreeMap::from(kept)), trace.1));
        }
    }
    (all, told)
}

/// Sends an event to each run and begins another run. Adds what is refused to `told`.
fn write(client: &Client, told: &mut Vec<String>) {
    for run in ["ada", "asked", "long"] {
        let reply = add(client, run, "new", 1);
        match reply.status {
            200 => {}
            404 | 409 | 500 => told.push(format!("{run}: {} {}", reply.status, reply.body)),
            _ => panic!("{run}: {} {}", reply.status, reply.body),
        }
    }
    let order = json!({"chart": "Desk", "params": {"owner": "Ada"}});
    let reply = client.post("/runs", &order);
    match reply.status {
        201 => {}
        500 => told.push(format!("a new run: {}", reply.body)),
        _ => panic!("a new run: {} {}", reply.status, reply.body),
    }
}

/// Flips this number of bits of the file. Returns their places: byte and bit.
fn flip(file: &Path, bits: u64, chance: &mut Chance) -> Vec<(u64, u64)> {
    let mut bytes = std::fs::read(file).expect("a store");
    let flipped: Vec<(u64, u64)> =
        (0..bits).map(|_| (chance.below(bytes.len() as u64), chance.below(8))).collect();
    for (at, bit) in &flipped {
        bytes[*at as usize] ^= 1 << bit;
    }
    // In place: the server may have the file open.
    let mut file = std::fs::OpenOptions::new().write(true).open(file).expect("a store");
    file.write_all(&bytes).expect("it can be written");
    flipped
}

/// Flips bits `CHARTC_SERVE_FLIPS` times. The server neither crashes nor hangs, and what it reads without an error is what was written.
#[test]
fn a_flipped_bit_is_told_or_does_not_matter() {
    let (flips, seed) = (number("CHARTC_SERVE_FLIPS", 10), number("CHARTC_SEED", 1));
    let mut chance = Chance(seed);
    let folder = charts("flips");
    let whole = made(&folder);
    let file = folder.join("s.db");
    let bytes = std::fs::read(&file).expect("a store");
    let (mut refused, mut named, mut found, mut unused) = (0, 0, 0, 0);
    for round in 0..flips {
        for end in ["-wal", "-shm", ".lock"] {
            drop(std::fs::remove_file(folder.join(format!("s.db{end}"))));
        }
        std::fs::write(&file, &bytes).expect("it can be written");
        let bits = if chance.below(4) == 0 { 1 + chance.below(16) } else { 1 };
        let is_early = chance.below(2) == 0;
        let mut flipped = Vec::new();
        if is_early {
            flipped = flip(&file, bits, &mut chance);
        }
        let started = Server::tried(&folder, &[OWN.as_slice(), &["--store", "s.db"]].concat());
        let mut server = match started {
            Ok(server) => server,
            Err((code, said)) => {
                assert_eq!(code, Some(2), "round {round}, {flipped:?}: {said}");
                assert!(said.contains("s.db"), "round {round}, {flipped:?}: {said}");
                refused += 1;
                continue;
            }
        };
        let client = server.client();
        if !is_early {
            flipped = flip(&file, bits, &mut chance);
        }
        let place = format!("round {round} of seed {seed}, early {is_early}, {flipped:?}");
        println!("{place}");
        let (all, mut told) = read(&client);
        let (code, out, err) = chartc(&folder, &["store", "s.db", "check"]);
        assert!(code == 0 || code == 1 || code == 2, "{place}: {code} {out}{err}");
        write(&client, &mut told);
        let listed = client.get("/runs");
        assert!(matches!(listed.status, 200 | 500), "{place}: {listed:?}");
        let has_ended = server.child.try_wait().expect("it is a child");
        assert!(has_ended.is_none(), "{place}: {has_ended:?} {}", server.said());
        let (stopped, said) = server.stop();
        assert_eq!(stopped, Some(0), "{place}: {said}");
        if !told.is_empty() {
            named += 1;
        } else if code != 0 {
            found += 1;
        } else {
            for (run, (state, trace)) in &whole {
                let (state_now, trace_now) = &all[run];
                assert_eq!(state_now, state, "{place}: {run}");
                assert!(trace_now.starts_with(trace), "{place}: {run}: {trace_now}");
            }
            unused += 1;
        }
    }
    println!(
        "{flips} rounds, seed {seed}: the server does not start in {refused} and reports an error in {named}; only `store check` does in {found}; no harm in {unused}"
    );
}
