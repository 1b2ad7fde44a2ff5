//! Faults of one run, of the file and of peers: none of them harms the other runs.

use super::till::{self, Till};
use super::*;
use rusqlite::Connection;
use std::io::{BufReader, Read as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The tables with rows of runs, each with its columns and the one that names the run.
const TABLES: [(&str, &[&str]); 5] = [
    ("run", &["chart", "given", "status", "waits_for", "wake", "now", "saved", "sum"]),
    ("event", &["reply", "at_ms", "seq", "sum"]),
    ("line", &["seq", "text", "sum"]),
    ("call", &["stage", "call", "planned", "sum"]),
    ("inbox", &["kind", "name", "data", "sum"]),
];

/// What may become of a value, as SQL.
const DAMAGES: [&str; 10] = [
    "CAST(X'ff00fe' AS TEXT)",
    "X'00'",
    "'x'",
    "''",
    "-1",
    "9223372036854775807",
    "0.5",
    "substr(OLD, 1, length(OLD) / 2)",
    "OLD || ' '",
    "CAST(OLD AS BLOB)",
];

fn changed(store: &Connection, sql: &str) -> usize {
    store.execute(sql, []).unwrap_or_else(|why| panic!("{sql}: {why}"))
}

/// Whether the server answers, and a run takes events.
fn is_well(client: &Client, run: &str, id: &str) {
    let reply = add(client, run, id, 1);
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(client.get("/runs").status, 200);
}

#[test]
fn a_damaged_row_harms_its_run_only() {
    let folder = charts("damaged");
    let server = Server::new(&folder, &["--store", "s.db"]);
    let client = server.client();
    begin(&client, "well");
    let mut damaged = Vec::new();
    for (table, columns) in TABLES {
        for (nth, column) in columns.iter().enumerate() {
            // Each damage to each kind of column would take minutes: columns and damages meet in turn, and rows are deleted, too.
            for at in 0..3 {
                let damage = (nth * 3 + at * 7) % (DAMAGES.len() + 1);
                damaged.push((format!("{table}-{column}-{damage}"), table, *column, damage));
            }
            if table == "run" {
                damaged.push((format!("{table}-{column}-no-text"), table, *column, 0));
            }
        }
    }
    for (run, table, ..) in &damaged {
        begin(&client, run);
        assert_eq!(add(&client, run, "known", 2).status, 200);
        if matches!(*table, "call" | "inbox") {
            ask(&client, run);
        }
    }
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    let store = Connection::open(folder.join("s.db")).expect("an SQLite file");
    let mut broken = Vec::new();
    for (run, table, column, damage) in &damaged {
        if *table == "inbox" {
            let put = "INSERT INTO inbox (run, kind, name, data, sum) VALUES (?1, 'event', 'add', '{\"by\": 5}', 0)";
            assert_eq!(store.execute(put, [run]).expect("a row"), 1);
        }
        let whose = if *table == "run" { "name" } else { "run" };
        let which = format!("rowid = (SELECT max(rowid) FROM {table} WHERE {whose} = '{run}')");
        let which = if *table == "event" {
            format!("{whose} = '{run}' AND id = 'client:known'")
        } else {
            which
        };
        let value = format!("SELECT quote({column}) FROM {table} WHERE {which}");
        let value = || store.query_row(&value, [], |row| row.get::<_, String>(0)).ok();
        let before = value();
        let sql = match DAMAGES.get(*damage) {
            Some(value) => {
                let value = value.replace("OLD", column);
                format!("UPDATE OR IGNORE {table} SET {column} = {value} WHERE {which}")
            }
            None => format!("DELETE FROM {table} WHERE {which}"),
        };
        changed(&store, &sql);
        // Some damages leave some values as they are.
        if *table == "run" && *damage < DAMAGES.len() && value() != before {
            broken.push(run.clone());
        }
    }
    drop(store);
    let server = Server::new(&folder, &["--store", "s.db"]);
    let client = server.client();
    is_well(&client, "well", "after the start");
    for (nth, (run, ..)) in damaged.iter().enumerate() {
        let statuses = [
            client.get(&format!("/runs/{run}")).status,
            add(&client, run, "known", 2).status,
            add(&client, run, "new", 1).status,
            client.get(&format!("/runs/{run}/trace")).status,
            client
                .post("/runs", &json!({"chart": "Desk", "run": run, "params": {"owner": "Ada"}}))
                .status,
        ];
        let is_told = |status: &u16| matches!(status, 200..=202 | 404 | 409 | 422 | 500);
        assert!(statuses.iter().all(is_told), "{run}: {statuses:?}");
        is_well(&client, "well", &format!("beside {nth}"));
    }
    let sum = client.get("/runs/well").json()["variables"]["sum"].clone();
    assert_eq!(sum, damaged.len() as i64 + 1);
    // A row of a run that was changed is never taken for what was written.
    assert!(broken.len() > 10, "{broken:?}");
    for run in broken {
        let read = client.get(&format!("/runs/{run}")).json();
        assert_eq!(read["status"], "broken", "{run}: {read}");
    }
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_damaged_row_that_is_met_while_serving_breaks_its_run_and_says_why() {
    let folder = charts("met");
    let server = Server::new(&folder, &["--store", "s.db"]);
    let client = server.client();
    begin(&client, "a");
    begin(&client, "b");
    assert_eq!(add(&client, "a", "one", 2).status, 200);
    let store = Connection::open(folder.join("s.db")).expect("an SQLite file");
    assert_eq!(changed(&store, "UPDATE event SET reply = 'handled' WHERE id = 'client:one'"), 1);
    let again = add(&client, "a", "one", 2);
    assert_eq!(again.status, 409, "{}", again.body);
    assert!(again.body.contains("client:one"), "{}", again.body);
    let read = client.get("/runs/a").json();
    assert_eq!(read["status"], "broken", "{read}");
    assert!(read["stopped"].as_str().is_some_and(|why| why.contains("client:one")), "{read}");
    is_well(&client, "b", "after it");
}

#[test]
fn a_write_that_needs_a_damaged_page_is_refused_and_the_server_goes_on() {
    let folder = charts("page");
    let server = Server::new(&folder, &["--store", "s.db"]);
    begin(&server.client(), "a");
    assert_eq!(server.stop().0, Some(0));
    let file = folder.join("s.db");
    let store = Connection::open(&file).expect("an SQLite file");
    let number =
        |sql: &str| store.query_row(sql, [], |row| row.get::<_, u32>(0)).expect("it") as usize;
    let page = number("SELECT rootpage FROM sqlite_schema WHERE name = 'line'");
    let size = number("PRAGMA page_size");
    drop(store);
    let mut bytes = std::fs::read(&file).expect("a store");
    bytes[(page - 1) * size..page * size].fill(0xff);
    std::fs::write(&file, bytes).expect("it can be written");
    let server = Server::new(&folder, &["--store", "s.db"]);
    let client = server.client();
    for nth in 0..3 {
        let refused = add(&client, "a", &format!("{nth}"), 1);
        assert_eq!((refused.status, refused.kind().as_str()), (500, "store"), "{}", refused.body);
        assert!(refused.body.contains("is damaged"), "{}", refused.body);
        let read = client.get("/runs/a").json();
        assert_eq!((&read["status"], &read["variables"]["sum"]), (&json!("running"), &json!(0)));
    }
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_file_that_is_overwritten_while_serving_does_not_end_the_server() {
    let folder = charts("overwritten");
    let server = Server::new(&folder, &["--store", "s.db"]);
    let client = server.client();
    begin(&client, "a");
    let file = folder.join("s.db");
    let store = Connection::open(&file).expect("an SQLite file");
    store.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("nobody writes");
    drop(store);
    let mut bytes = std::fs::read(&file).expect("a store");
    let whole = bytes.clone();
    bytes.fill(b'x');
    std::fs::write(&file, &bytes).expect("it can be written");
    let refused = add(&client, "a", "one", 1);
    assert_eq!((refused.status, refused.kind().as_str()), (500, "store"), "{}", refused.body);
    assert_eq!(client.get("/charts").status, 200, "the server goes on");
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("the file of the store is damaged"), "{said}");
    for end in ["-wal", "-shm"] {
        drop(std::fs::remove_file(folder.join(format!("s.db{end}"))));
    }
    std::fs::write(&file, whole).expect("it can be written");
    let server = Server::new(&folder, &["--store", "s.db"]);
    is_well(&server.client(), "a", "after the backup is back");
}

#[test]
fn a_trace_with_a_damaged_line_is_an_error() {
    let folder = charts("torn");
    let server = Server::new(&folder, &["--store", "s.db"]);
    let client = server.client();
    for run in ["first", "middle", "gone"] {
        begin(&client, run);
        for nth in 0..400 {
            assert_eq!(add(&client, run, &format!("{nth}"), 1).status, 200);
        }
    }
    let store = Connection::open(folder.join("s.db")).expect("an SQLite file");
    changed(&store, "UPDATE line SET text = text || ' ' WHERE run = 'first' AND seq = 2");
    changed(&store, "UPDATE line SET text = text || ' ' WHERE run = 'middle' AND seq = 390");
    changed(&store, "DELETE FROM line WHERE run = 'gone' AND seq = 7");
    for (run, seq) in [("first", 2), ("gone", 7)] {
        let reply = client.get(&format!("/runs/{run}/trace"));
        assert_eq!((reply.status, reply.kind().as_str()), (500, "store"), "{}", reply.body);
        assert!(reply.body.contains(&format!("line {seq} of its trace")), "{}", reply.body);
        assert_eq!(client.may_follow(run), Some(500), "a browser does not connect again");
    }
    // The head was sent before the line was met: the last line says so, and the body has no end.
    let mut stream = server.connect();
    stream
        .write_all(client.request("GET", "/runs/middle/trace", "", "").as_bytes())
        .expect("it is taken");
    let mut text = String::new();
    BufReader::new(stream).read_to_string(&mut text).expect("text");
    assert!(text.contains("line 390 of its trace"), "{text}");
    assert!(!text.ends_with("0\r\n\r\n"), "the body is not whole");
    is_well(&client, "middle", "after it");
}

#[test]
fn another_writer_is_waited_for_and_reads_go_on() {
    let folder = charts("writer");
    let server = Server::new(&folder, &["--store", "s.db"]);
    let client = server.client();
    begin(&client, "a");
    let store = Connection::open(folder.join("s.db")).expect("an SQLite file");
    store.execute_batch("BEGIN IMMEDIATE").expect("nobody writes");
    // One that is over soon is not noticed.
    let short = std::thread::scope(|scope| {
        let sent = scope.spawn(|| add(&client, "a", "short", 1));
        until("the server waits", || server.said().contains("another process writes"));
        assert_eq!(client.get("/runs/a").json()["variables"]["sum"], 0, "reads go on");
        store.execute_batch("COMMIT").expect("nothing was written");
        sent.join().expect("a reply")
    });
    assert_eq!(short.status, 200, "{}", short.body);
    until("it says that it is over", || server.said().contains("can be written again"));
    // One that takes longer than events wait. Meanwhile many reads are answered.
    store.execute_batch("BEGIN IMMEDIATE").expect("nobody writes");
    let (reply, reads) = std::thread::scope(|scope| {
        let sent = scope.spawn(|| add(&client, "a", "long", 10));
        let mut reads = 0;
        while !sent.is_finished() {
            assert_eq!(client.get("/runs/a").json()["variables"]["sum"], 1);
            reads += 1;
        }
        (sent.join().expect("a reply"), reads)
    });
    assert_eq!((reply.status, reply.kind().as_str()), (503, "busy"), "{}", reply.body);
    assert!(reads >= 20, "reads go on while the event waits: {reads}");
    store.execute_batch("COMMIT").expect("nothing was written");
    until("the event is taken", || add(&client, "a", "long", 10).status == 200);
    assert_eq!(client.get("/runs/a").json()["variables"]["sum"], 11, "once");
}

/// Mounts a disk of a size such as `2m` at `disk` below `folder`. Where nothing can be mounted, it is an ordinary folder, and this returns
/// `None`.
pub(super) fn small_disk(folder: &Path, size: &str) -> Option<Disk> {
    let place = folder.join("disk");
    std::fs::create_dir_all(&place).expect("a folder");
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
        .arg(&place)
        .stderr(Stdio::null())
        .status();
    mounted.is_ok_and(|status| status.success()).then_some(Disk(place))
}

pub(super) struct Disk(PathBuf);

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}

/// Writes until nothing fits any more.
fn fill(filler: &Path) {
    let mut file = std::fs::File::create(filler).expect("a file");
    for size in [1 << 16, 1 << 10, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

/// A client that sends events one after another, each of them until it is taken. It counts the taken events and the refused requests.
struct Sending {
    is_over: AtomicBool,
    taken: AtomicU64,
    refused: AtomicU64,
}

impl Sending {
    fn send(&self, mut status_of: impl FnMut(u64) -> u16) {
        while !self.is_over.load(Ordering::Relaxed) {
            match status_of(self.taken.load(Ordering::Relaxed)) {
                200 => self.taken.fetch_add(1, Ordering::Relaxed),
                507 => self.refused.fetch_add(1, Ordering::Relaxed),
                other => panic!("{other}"),
            };
        }
    }
}

/// Fills the disk `CHARTC_SERVE_FILLS` times at random moments, while clients send events and order payments.
#[test]
fn a_full_disk_refuses_what_writes_until_there_is_room() {
    let (fills, seed) = (number("CHARTC_SERVE_FILLS", 3), number("CHARTC_SEED", 1));
    let mut chance = Chance(seed);
    let folder = charts("full");
    let Some(disk) = small_disk(&folder, &format!("{}m", 4 + fills)) else {
        eprintln!("skipped: no disk can be mounted here");
        return;
    };
    let till = Till::new(&folder);
    let server =
        Server::new(&folder, &[till::SERVED.as_slice(), &["--store", "disk/s.db"]].concat());
    let client = server.client();
    begin(&client, "a");
    begin(&client, "b");
    till::begin(&client);
    let filler = disk.0.join("filler");
    let note = |nth: u64| {
        let data = json!({"what": {"text": "x".repeat(2_000), "weight": nth}});
        let event = json!({"event": "note", "data": data, "id": format!("note {nth}")});
        client.post("/runs/a/events", &event)
    };
    let all: [Sending; 3] = std::array::from_fn(|_| Sending {
        is_over: AtomicBool::new(false),
        taken: AtomicU64::new(0),
        refused: AtomicU64::new(0),
    });
    let sum = |of: fn(&Sending) -> &AtomicU64| -> u64 {
        all.iter().map(|one| of(one).load(Ordering::Relaxed)).sum()
    };
    let each = |of: fn(&Sending) -> &AtomicU64| {
        all.iter().map(|one| of(one).load(Ordering::Relaxed)).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let _over = Over(&all);
        scope.spawn(|| all[0].send(|nth| note(nth).status));
        scope.spawn(|| all[1].send(|nth| add(&client, "b", &format!("{nth}"), 1).status));
        scope.spawn(|| all[2].send(|nth| till::pay(&client, nth).expect("it listens")));
        for _ in 0..fills {
            let least = sum(|one| &one.taken) + chance.below(40);
            until("it is at work", || sum(|one| &one.taken) >= least);
            // No condition is waited for: any moment will do.
            std::thread::sleep(Duration::from_micros(chance.below(20_000)));
            let before = sum(|one| &one.refused);
            fill(&filler);
            // The log of the database may have room for some more.
            until("the disk is full", || sum(|one| &one.refused) > before);
            let refused = client.post("/runs/b/events", &json!({"event": "ask"}));
            assert_eq!((refused.status, refused.kind().as_str()), (507, "full"), "{refused:?}");
            let read = client.get("/runs/a").json();
            assert_eq!(read["status"], "running", "reads go on: {read}");
            for path in ["/runs", "/runs/b/trace"] {
                assert_eq!(client.get(path).status, 200);
            }
            std::thread::sleep(Duration::from_millis(chance.below(60)));
            let before = each(|one| &one.taken);
            std::fs::remove_file(&filler).expect("it is there");
            until("there is room again for each", || {
                each(|one| &one.taken).iter().zip(&before).all(|(now, before)| now > before)
            });
            // Moves the write-ahead log into the database, so that the next one fills the disk again.
            let store = Connection::open(disk.0.join("s.db")).expect("an SQLite file");
            drop(store.execute_batch(
                "DELETE FROM line WHERE run = 'nobody'; PRAGMA wal_checkpoint(TRUNCATE);",
            ));
        }
    });
    let [notes, adds, orders] = all.each_ref().map(|one| one.taken.load(Ordering::Relaxed));
    assert_eq!(client.get("/runs/b").json()["variables"]["sum"], adds, "each was taken once");
    assert_eq!(note(notes - 1).json()["repeated"], true, "it was taken");
    assert_eq!(till.balances(&client, orders), 0, "the results of calls are kept");
    let said = server.said();
    assert!(said.contains("is full") && said.contains("can be written again"), "{said}");
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    let (code, out, err) = crate::run::command::chartc(&folder, &["store", "disk/s.db", "check"]);
    assert_eq!(code, 0, "{out}{err}");
    println!(
        "{fills} times full, seed {seed}: {notes} notes, {adds} sums and {orders} payments taken, {} requests refused, none lost",
        sum(|one| &one.refused)
    );
}

/// Stops the clients when it is dropped, also after a panic.
struct Over<'a>(&'a [Sending]);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|one| one.is_over.store(true, Ordering::Relaxed));
    }
}

#[test]
fn a_pruned_name_is_free_while_serving() {
    let folder = charts("pruned");
    let server = Server::new(&folder, &["--store", "s.db"]);
    let client = server.client();
    begin(&client, "r");
    assert_eq!(add(&client, "r", "one", 5).status, 200);
    assert_eq!(event(&client, "r", "finish").status, 200);
    assert_eq!(client.get("/runs/r").json()["status"], "ok");
    until("it is old enough", || {
        let (code, out, err) =
            crate::run::command::chartc(&folder, &["store", "s.db", "prune", "--days", "0"]);
        assert_eq!(code, 0, "{out}{err}");
        out.contains('1')
    });
    assert_eq!(client.get("/runs/r").status, 404);
    let order = json!({"chart": "Desk", "run": "r", "params": {"owner": "Bob", "start": 3}});
    assert_eq!(client.post("/runs", &order).status, 201);
    until("it is a new one", || {
        let read = client.get("/runs/r").json();
        read["status"] == "running" && read["variables"]["sum"] == 3
    });
    assert_eq!(add(&client, "r", "one", 5).json()["repeated"], false);
    let (code, out, err) = crate::run::command::chartc(&folder, &["store", "s.db", "check"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn peers_without_a_token_keep_nobody_out() {
    let server = Server::new(&charts("peers"), &[]);
    let client = server.client();
    begin(&client, "a");
    // One that asks without a token is closed, so that it takes no place with further requests.
    let mut stream = server.connect();
    stream.write_all(b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it is taken");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("the end comes without a request for it");
    assert!(text.starts_with("HTTP/1.1 401") && text.contains("connection: close"), "{text}");
    // Far more than there are places. Each says something now and then, and never what lets it in.
    let mut peers: Vec<TcpStream> = (0..700).map(|_| server.connect()).collect();
    for peer in &mut peers {
        drop(peer.write_all(b"GET /x HTTP/1.1\r\nX-Slow: "));
    }
    for nth in 0..20 {
        is_well(&client, "a", &format!("{nth}"));
        for peer in peers.iter_mut().skip(nth).step_by(20) {
            drop(peer.write_all(b"y"));
        }
    }
    // Whoever has shown a token keeps the connection.
    let mut streams: Vec<_> = (0..8).map(|_| client.follow("a", None)).collect();
    let more: Vec<TcpStream> = (0..600).map(|_| server.connect()).collect();
    assert_eq!(add(&client, "a", "the last", 1).status, 200);
    for stream in &mut streams {
        assert!(stream.any(|(_, line)| line["event"] == "add"), "it is told");
    }
    drop((peers, more));
}

#[test]
fn an_id_or_a_key_that_is_used_twice_is_refused() {
    let server = Server::new(&charts("twice"), &[]);
    let client = server.client();
    begin(&client, "a");
    assert_eq!(add(&client, "a", "one", 2).status, 200);
    assert_eq!(add(&client, "a", "one", 2).json()["repeated"], true);
    let other = add(&client, "a", "one", 3);
    assert_eq!((other.status, other.kind().as_str()), (409, "taken"), "{}", other.body);
    let other = client.post("/runs/a/events", &json!({"event": "finish", "id": "one"}));
    assert_eq!((other.status, other.kind().as_str()), (409, "taken"), "{}", other.body);
    let kind = "Content-Type: application/json\r\n";
    for body in [
        r#"{"event": "add", "data": {"by": 1, "by": 1000}}"#,
        r#"{"event": "add", "event": "ask", "data": {"by": 1}}"#,
        r#"{"event": "note", "data": {"what": {"text": "a", "weight": 1, "text": "b"}}}"#,
    ] {
        let reply = client.send("POST", "/runs/a/events", kind, body);
        assert_eq!((reply.status, reply.kind().as_str()), (400, "json"), "{body}: {}", reply.body);
        assert!(reply.body.contains("occurs twice"), "{}", reply.body);
    }
    assert_eq!(client.get("/runs/a").json()["variables"]["sum"], 2);
}

#[test]
fn a_client_has_no_more_turns_than_the_operator_allows() {
    let server = Server::new(&charts("bounded"), &["--turns", "20"]);
    let client = server.client();
    let order = |turns: u32| {
        client.post(
            "/runs",
            &json!({"chart": "Turns", "params": {"most": 1_000_000}, "turns": turns}),
        )
    };
    for turns in [21, u32::MAX] {
        let reply = order(turns);
        assert_eq!((reply.status, reply.kind().as_str()), (422, "misfit"), "{}", reply.body);
        assert!(reply.body.contains("at most 20"), "{}", reply.body);
    }
    let run = order(20).json()["run"].as_str().expect("a name").to_owned();
    until("it has made them", || client.get(&format!("/runs/{run}")).json()["turns"] == 20);
}

/// A tool that never answers, and one that does.
const GREEDY: &str = r"
tool slow.wait(n: Int) -> Text
tool quick.say() -> Text
enum Kind { greedy  modest }
chart Calls {
  param kind: Kind
  var xs: List(Int) = [NUMBERS]
  initial choosing
  state choosing { when kind == Kind.greedy -> many  when true -> one }
  state many { call waiting each x in xs slow.wait(x) { 64 at a time  done -> over error -> over } }
  state one { call say quick.say() { done -> said error -> over } }
  final said
  final over
}
";

#[test]
fn a_run_with_many_calls_holds_no_other_run_up() {
    let folder = charts("greedy");
    let numbers: Vec<String> = (0..64).map(|nth| nth.to_string()).collect();
    let chart = GREEDY.replace("NUMBERS", &numbers.join(", "));
    std::fs::write(folder.join("calls.chart"), chart).expect("a file");
    let tools = "[tools.\"slow.wait\"]\ncommand = [\"sleep\", \"600\"]\ntimeout = \"10m\"\n[tools.\"quick.say\"]\ncommand = [\"echo\", \"hi\"]\n";
    std::fs::write(folder.join("tools.toml"), tools).expect("a file");
    let own = [
        "calls.chart",
        "--tools",
        "tools.toml",
        "--token-env",
        "TOKEN",
        "--people-token-env",
        "PEOPLE",
    ];
    let server = Server::of(&folder, &own);
    let client = server.client();
    let order = |kind: &str, run: &str| {
        let reply = client.post("/runs", &json!({"run": run, "params": {"kind": kind}}));
        assert_eq!(reply.status, 201, "{}", reply.body);
    };
    for nth in 0..10 {
        order("greedy", &format!("greedy-{nth}"));
    }
    for nth in 0..6 {
        let run = format!("modest-{nth}");
        order("modest", &run);
        until("it is answered while the others wait", || {
            client.get(&format!("/runs/{run}")).json()["configuration"] == json!(["said"])
        });
    }
}

#[test]
fn long_lists_come_in_parts() {
    let server = Server::new(&charts("parts"), &["--max-runs", "2000"]);
    let client = server.client();
    let mut on = std::net::TcpStream::connect(server.address).expect("a connection");
    for nth in 0..1100 {
        let body = json!({"chart": "Turns", "run": format!("r{nth:04}"), "turns": 0}).to_string();
        let head = client.head("POST", "/runs", "Content-Type: application/json\r\n");
        let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        on.write_all(request.as_bytes()).expect("it is taken");
        let mut from = BufReader::new(on.try_clone().expect("a handle"));
        assert_eq!(client::read(&mut from).map(|reply| reply.status), Some(201));
    }
    let first = client.get("/runs");
    assert_eq!(first.json().as_array().map(Vec::len), Some(1000));
    assert!(first.head.contains("link: </runs?after=r0999>; rel=\"next\""), "{}", first.head);
    let rest = client.get("/runs?after=r0999");
    assert_eq!(rest.json().as_array().map(Vec::len), Some(100));
    assert!(!rest.head.contains("link:"), "{}", rest.head);
    assert_eq!(client.get("/runs?before=x").status, 422);
}

/// A step whose name has the separator of lists, and a chart with the name of a tool.
const NAMED: &str = r#"
chart `send_event` {
  var said: Text = ""
  initial asking
  state asking { human `a, b` "Well?" { returns Text into said  done -> answered } }
  final answered
}
"#;

#[test]
fn names_that_mean_something_to_the_server_are_only_names() {
    let folder = charts("named");
    std::fs::write(folder.join("named.chart"), NAMED).expect("a file");
    let own =
        ["named.chart", "--store", "s.db", "--token-env", "TOKEN", "--people-token-env", "PEOPLE"];
    let server = Server::of(&folder, &own);
    let client = server.client();
    assert_eq!(speech::tools(&client), ["begin_send_event", "read_run", "send_event", "list_runs"]);
    let begun = speech::result(&client, "begin_send_event", json!({"run": "a"}));
    let waits = &begun["waits_for"];
    assert_eq!(waits.as_array().map(Vec::len), Some(1), "{waits}");
    assert_eq!((&waits[0]["step"], &waits[0]["person"]), (&json!("a, b"), &json!(true)), "{waits}");
    let id = waits[0]["id"].as_str().expect("an id").to_owned();
    let sent = speech::result(&client, "send_event", json!({"run": "a", "event": "turn"}));
    assert_eq!(sent["configuration"], json!(["asking"]), "{sent}");
    assert_eq!(answer(&server.person(), "a", &id, "fine").status, 200);
    assert_eq!(client.get("/runs/a").json()["variables"]["said"], "fine");
}

#[test]
fn each_client_has_its_own_limits_of_runs_and_events() {
    let folder = charts("shares");
    let args = ["--store", "s.db", "--token-env", "OTHER", "--max-runs", "2", "--max-events", "3"];
    let server = Server::new(&folder, &args);
    let (one, other) = (server.client(), server.other());
    let order = |client: &Client, run: &str| {
        let order = json!({"chart": "Desk", "run": run, "params": {"owner": "Ada"}});
        client.post("/runs", &order).status
    };
    let note = |client: &Client, run: &str| {
        let data = json!({"what": {"text": "x", "weight": 1}});
        client.post(&format!("/runs/{run}/events"), &json!({"event": "note", "data": data})).status
    };
    assert_eq!(["a", "b", "c"].map(|run| order(&one, run)), [201, 201, 429]);
    assert_eq!(["d", "e", "f"].map(|run| order(&other, run)), [201, 201, 429]);
    // The same order of another client is no repetition of the first one.
    assert_eq!(order(&one, "a"), 200);
    assert_eq!(order(&other, "a"), 409);
    assert_eq!([0; 5].map(|_| note(&one, "a")), [200, 200, 200, 429, 429]);
    // Over the other protocol, too.
    let sent = json!({"run": "d", "event": "note", "data": {"what": {"text": "x", "weight": 1}}});
    for _ in 0..2 {
        speech::result(&other, "send_event", sent.clone());
    }
    assert_eq!([0; 2].map(|_| note(&other, "d")), [200, 429]);
    drop(server);

    let server = Server::new(&folder, &args);
    let (one, other) = (server.client(), server.other());
    assert_eq!(order(&one, "c"), 429, "runs of before count");
    let close = json!({"event": "finish"});
    assert_eq!(one.post("/runs/a/events", &close).status, 200);
    assert_eq!((order(&other, "f"), order(&one, "c")), (429, 201));
}

#[test]
fn events_and_the_size_of_the_store_are_limited_by_the_operator() {
    let folder = charts("limits");
    let args = ["--store", "s.db", "--max-events", "5", "--max-store", "1"];
    let server = Server::new(&folder, &args);
    let client = server.client();
    begin(&client, "a");
    let note = |nth: u32, text: &str| {
        let data = json!({"what": {"text": text, "weight": nth}});
        let event = json!({"event": "note", "data": data, "id": format!("n{nth}")});
        client.post("/runs/a/events", &event)
    };
    let replies: Vec<_> = (0..7).map(|nth| note(nth, "x")).collect();
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429]);
    assert_eq!(replies[6].json()["error"]["kind"], "too_fast");
    assert_eq!(client.get("/runs/a").status, 200, "reads go on");
    drop(server);

    let server =
        Server::new(&folder, &args[..2].iter().chain(&args[4..]).copied().collect::<Vec<_>>());
    let client = server.client();
    let note = |nth: u32| {
        let data = json!({"what": {"text": "x".repeat(100_000), "weight": nth}});
        let event = json!({"event": "note", "data": data, "id": format!("m{nth}")});
        client.post("/runs/a/events", &event)
    };
    let refused = (0..40).map(note).find(|reply| reply.status != 200).expect("the store is full");
    assert_eq!((refused.status, &refused.json()["error"]["kind"]), (507, &json!("full")));
    let order = json!({"chart": "Desk", "run": "b", "params": {"owner": "Ada"}});
    let begun = client.post("/runs", &order);
    assert_eq!(begun.status, 507, "{}", begun.body);
    assert_eq!(client.get("/runs/a").status, 200, "reads go on");
}
