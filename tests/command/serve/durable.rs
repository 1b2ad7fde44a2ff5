//! Servers that end, and stores that stay.

use super::till::{self, Till};
use super::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Starts a server and kills it soon, in most cases before it listens.
fn kill_while_starting(folder: &Path, more: &[&str], chance: &mut Chance) {
    let mut child = command(folder, &[&OWN, more].concat()).spawn().expect("chartc runs");
    // No condition is waited for: any moment will do.
    std::thread::sleep(Duration::from_millis(chance.below(60)));
    child.kill().expect("it is there");
    ended(&mut child);
}

/// Kills the server `CHARTC_SERVE_KILLS` times at random moments, while clients follow a run, send events and order payments.
#[test]
fn a_server_that_is_killed_loses_nothing_and_pays_nothing_twice() {
    let (kills, seed) = (number("CHARTC_SERVE_KILLS", 4), number("CHARTC_SEED", 1));
    let mut chance = Chance(seed);
    let folder = charts("kill");
    let more = [till::SERVED.as_slice(), &["--store", "s.db"]].concat();
    let till = Till::new(&folder);
    let mut server = Server::new(&folder, &more);
    begin(&server.client(), "a");
    let order = json!({"chart": "Turns", "run": "t", "params": {"most": 3}, "turns": 2});
    assert_eq!(server.client().post("/runs", &order).status, 201);
    till::begin(&server.client());
    let mut seen: Vec<(u64, Value)> = Vec::new();
    let (mut added, mut paid) = (0_u64, 0_u64);
    for killed in 0..=kills {
        // The last server is not killed.
        let until_they_end = if killed < kills { u64::MAX } else { 20 };
        let taken = Arc::new(AtomicU64::new(0));
        let counted = taken.clone();
        let client = server.client();
        let after = seen.last().map(|(seq, _)| *seq);
        let events = client.follow("a", after);
        let following = std::thread::spawn(move || events.collect::<Vec<_>>());
        // Whoever got no reply sends the same event again, as a careful client does.
        let adder = client.clone();
        let adding = std::thread::spawn(move || {
            let most = added.saturating_add(until_they_end);
            let mut adds = added..most;
            let add = |nth: &u64| {
                let event = json!({"event": "add", "data": {"by": 1}, "id": format!("add {nth}")});
                adder.tried("/runs/a/events", &event).map(|reply| {
                    assert_eq!(reply.status, 200, "{}", reply.body);
                    counted.fetch_add(1, Ordering::Relaxed)
                })
            };
            adds.find(|nth| add(nth).is_none()).unwrap_or(most)
        });
        let payer = client.clone();
        let paying = std::thread::spawn(move || {
            let most = paid.saturating_add(until_they_end);
            (paid..most).find(|nth| till::pay(&payer, *nth) != Some(200)).unwrap_or(most)
        });
        if killed < kills {
            let least = chance.below(40);
            until("it is at work", || taken.load(Ordering::Relaxed) >= least);
            // No condition is waited for: any moment will do.
            std::thread::sleep(Duration::from_micros(chance.below(20_000)));
            server.kill();
            if chance.below(3) == 0 {
                kill_while_starting(&folder, &more, &mut chance);
            }
            server = Server::new(&folder, &more);
        }
        added = adding.join().expect("it sends");
        paid = paying.join().expect("it sends");
        if killed == kills {
            assert_eq!(event(&server.client(), "a", "finish").status, 200);
        }
        seen.extend(following.join().expect("it follows"));
    }
    let client = server.client();
    let read = client.get("/runs/a").json();
    assert_eq!(read["result"], json!({"total": added}), "{read}");
    let trace = client.get("/runs/a/trace").body;
    let mut lines: Vec<Value> =
        trace.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let seen: Vec<Value> = seen.into_iter().map(|(_, line)| line).collect();
    let end = lines.iter().position(|line| line["kind"] == "ended").expect("it has ended");
    lines.truncate(end + 1);
    assert!(seen == lines, "the stream that was followed across {kills} ends is the trace");
    let doubts = till.balances(&client, paid);
    // The other run made its turns once, whichever process made them.
    until("its turns are made", || client.get("/runs/t").json()["variables"]["n"] == 2);
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    for arguments in [["store", "s.db", "check"], ["store", "s.db", "list"]] {
        let (code, out, err) = crate::run::command::chartc(&folder, &arguments);
        assert_eq!(code, 0, "{out}{err}");
    }
    println!(
        "{kills} kills, seed {seed}: {added} events and {paid} payments taken, none lost, none twice, {doubts} in doubt"
    );
}

#[test]
fn a_question_outlives_the_server_that_asked_it() {
    let folder = charts("asked");
    let server = Server::new(&folder, &["--store", "s.db"]);
    begin(&server.client(), "a");
    let id = ask(&server.client(), "a");
    server.kill();
    let server = Server::new(&folder, &["--store", "s.db"]);
    let (client, person) = (server.client(), server.person());
    assert_eq!(client.get("/runs/a").json()["waits_for"][0]["id"], json!(id));
    assert_eq!(answer(&client, "a", &id, "yes").status, 403);
    assert_eq!(answer(&person, "a", &id, "yes").status, 200);
    assert_eq!(client.get("/runs/a").json()["result"], json!({"total": 0}));
}

#[test]
fn a_server_ends_when_it_is_told_to_even_while_others_follow() {
    let folder = charts("term");
    for signal in ["-TERM", "-INT", "-HUP"] {
        let mut server = Server::new(&folder, &[]);
        begin(&server.client(), "a");
        let following = server.client().follow("a", None);
        let idle = server.connect();
        server.signal(signal);
        let status = server.end();
        assert_eq!(status.code(), Some(0), "{signal}: {}", server.said());
        assert!(following.count() > 0, "what was committed was sent");
        drop(idle);
    }
}

#[test]
fn a_store_has_one_server() {
    let folder = charts("two");
    let server = Server::new(&folder, &["--store", "s.db"]);
    begin(&server.client(), "a");
    let second = ["desk.chart", "--listen", "127.0.0.1:0", "--store", "s.db"];
    let done = command(&folder, &second).stdin(Stdio::null()).output().expect("chartc runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("s.db"), "{said}");
    assert!(!said.contains("token of"), "it never listened: {said}");
    // The first one does not notice.
    assert_eq!(add(&server.client(), "a", "x", 1).status, 200);
}

#[test]
fn an_address_that_is_taken_is_told() {
    let folder = charts("address");
    let server = Server::new(&folder, &[]);
    let address = server.address.to_string();
    let second = ["desk.chart", "--listen", &address];
    let done = command(&folder, &second).stdin(Stdio::null()).output().expect("chartc runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains(&address), "{said}");
}

#[test]
fn a_run_whose_chart_is_not_served_is_told() {
    let folder = charts("other");
    let server = Server::new(&folder, &["--store", "s.db"]);
    begin(&server.client(), "a");
    assert_eq!(server.stop().0, Some(0));
    let tokens = ["--token-env", "TOKEN", "--people-token-env", "PEOPLE"];
    let other = Server::of(&folder, &[&["turns.chart", "--store", "s.db"], &tokens[..]].concat());
    let read = other.client().get("/runs/a");
    let run = read.json();
    assert_eq!((read.status, &run["status"]), (200, &json!("broken")), "{run}");
    assert!(
        run["stopped"].as_str().is_some_and(|why| why.contains("`Desk` is not served")),
        "{run}"
    );
    assert_eq!(add(&other.client(), "a", "x", 1).status, 409);
    assert_eq!(other.stop().0, Some(0));
    // With its chart it goes on.
    let server = Server::new(&folder, &["--store", "s.db"]);
    assert_eq!(add(&server.client(), "a", "x", 1).status, 200);
}
