//! Entries that are of no use, and addresses.

use crate::agents::{plan, session};
use crate::ledger::chart;
use crate::server::{GROUP, Server};
use chartc_adapters::redis::{Counts, Intake, IntakeError, Notice, Options};
use chartc_runtime::RunError;
use chartc_runtime::agents::{Engine, Memory};
use chartc_runtime::clock::VirtualClock;
use redis::cmd;
use std::collections::BTreeMap;
use std::future::{pending, ready};
use std::sync::Arc;
use std::time::Duration;

type Dead = Vec<(String, Vec<(String, Vec<u8>)>)>;

fn ledger() -> impl Engine + Sync {
    let plan = plan(&chart()).expect("a chart");
    Memory::new(Arc::new(VirtualClock::new()), move |_: &str, clock| {
        session(&plan, None, clock, ()).map_err(RunError::Start)
    })
}

/// Takes all in that is there.
async fn taken(server: &Server, engine: &(impl Engine + Sync)) -> (Counts, Vec<Notice>) {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut notices = Vec::new();
    let intake = Intake::new(Options::new(&server.url(), "s", GROUP)).expect("an address");
    let run = intake.run(engine, async { drop(stopped.await) }, |notice| notices.push(notice));
    let rest = async {
        server.drained("s").await;
        drop(stop);
    };
    let (counts, ()) = tokio::join!(run, rest);
    (counts.expect("it ends well"), notices)
}

#[tokio::test]
async fn misfits_are_put_aside_with_a_reason_and_block_nothing() {
    let Some(server) = Server::start("misfits", &[]) else { return };
    let add = |fields: &[(&str, &str)]| server.add("s", fields);
    let ada = ("agent", "ada");
    let first = add(&[("event", "add"), ("data", "{\"n\": 1}"), ("trace", "\u{1b}[31m")]);
    add(&[ada, ("event", "add"), ("data", "{\"n\": 1}")]);
    add(&[ada, ("event", "sub"), ("data", "{\"n\": 1}")]);
    add(&[ada, ("event", "add"), ("data", "{\"n\": ")]);
    add(&[ada, ("event", "add"), ("data", "{\"n\": \"one\"}")]);
    add(&[ada, ("event", "add")]);
    add(&[ada, ("event", "add"), ("data", "{\"n\": 2}"), ("id", "two")]);
    add(&[ada, ("event", "add"), ("data", "{\"n\": 2}"), ("id", "two")]);
    let many: Vec<(String, String)> = (0..9_000).map(|n| (n.to_string(), "x".into())).collect();
    let _: String = server.ask(cmd("XADD").arg("s").arg("*").arg(&many));
    add(&[ada, ("event", "add"), ("data", "{\"n\": 3}")]);
    let engine = ledger();
    let (counts, notices) = taken(&server, &engine).await;
    assert_eq!(counts, Counts { applied: 3, repeated: 1, dead: 6, busy: 0 });
    let state = engine.read("ada").await.expect("it works").expect("it is there");
    assert_eq!(format!("{:?}", state.variables.get("all")), "Some(List([Int(1), Int(2), Int(3)]))");

    let dead: Dead = server.ask(cmd("XRANGE").arg("s:dead").arg("-").arg("+"));
    let told = notices.iter().filter_map(|notice| match notice {
        Notice::Dead { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    let mut told: Vec<String> = told.collect();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    let mut reasons: Vec<String> = dead.iter().map(|(_, fields)| text(&fields[0].1)).collect();
    told.sort();
    reasons.sort();
    assert_eq!(told, reasons);
    assert_eq!(reasons.iter().filter(|reason| reason.contains("`agent`")).count(), 2);
    let of_first =
        dead.iter().find(|(_, fields)| text(&fields[2].1) == first).expect("it is there");
    let fields: BTreeMap<_, _> =
        of_first.1.iter().map(|(name, value)| (name.as_str(), text(value))).collect();
    let wanted = [
        ("dead:reason", "it has no field `agent`"),
        ("dead:stream", "s"),
        ("dead:entry", &first),
        ("event", "add"),
        ("data", "{\"n\": 1}"),
        ("trace", "\u{1b}[31m"),
    ];
    assert_eq!(fields, wanted.map(|(name, value)| (name, value.to_owned())).into());
    assert!(dead.iter().any(|(_, fields)| fields.len() == 9_003), "all of a long one");
}

#[tokio::test]
async fn an_entry_that_was_deleted_while_it_was_pending_is_told_of() {
    let Some(server) = Server::start("deleted", &[]) else { return };
    let group = |name| {
        let mut read = cmd("XREADGROUP");
        read.arg("GROUP").arg(GROUP).arg(name).arg("COUNT").arg(1).arg("STREAMS").arg("s").arg(">");
        read
    };
    let _: String =
        server.ask(cmd("XGROUP").arg("CREATE").arg("s").arg(GROUP).arg("0").arg("MKSTREAM"));
    let fields = [("agent", "ada"), ("event", "add"), ("data", "{\"n\": 1}")];
    let gone = [server.add("s", &fields), server.add("s", &fields)];
    let _: redis::Value = server.ask(&group("chartc"));
    let _: redis::Value = server.ask(&group("other"));
    let _: u64 = server.ask(cmd("XDEL").arg("s").arg(&gone));
    let (counts, _) = taken(&server, &ledger()).await;
    assert_eq!(counts, Counts { dead: 2, ..Counts::default() });
    let dead: Dead = server.ask(cmd("XRANGE").arg("s:dead").arg("-").arg("+"));
    let entries: Vec<&[u8]> = dead.iter().map(|(_, fields)| fields[2].1.as_slice()).collect();
    assert!(gone.iter().all(|gone| entries.contains(&gone.as_bytes())), "{dead:?}");
}

#[tokio::test]
async fn a_password_is_needed_and_not_told() {
    let Some(server) = Server::start("password", &["--requirepass", "geheim"]) else { return };
    for credentials in ["", ":falsch@", "someone:falsch@"] {
        let url = server.url().replace("redis://", &format!("redis://{credentials}"));
        let intake = Intake::new(Options::new(&url, "s", GROUP)).expect("an address");
        let refused = intake.run(&ledger(), pending(), |notice| panic!("{notice:?}")).await;
        let refused = refused.expect_err("no entry");
        assert!(matches!(refused, IntakeError::Refused { .. }), "{refused:?}");
        assert!(!format!("{refused} {refused:?}").contains("falsch"), "{refused}");
    }
    let url = server.url().replace("redis://", "redis://:geheim@");
    let intake = Intake::new(Options::new(&url, "s", GROUP)).expect("an address");
    assert!(!intake.address().contains("geheim"));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut stop = Some(stop);
    let tell = |notice| {
        assert!(!format!("{notice:?}").contains("geheim"));
        stop.take();
    };
    intake.run(&ledger(), async { drop(stopped.await) }, tell).await.expect("it ends well");
}

#[tokio::test]
async fn addresses_are_refused_or_tried_again() {
    for bad in
        ["", "localhost", "http://localhost", "redis://:geheim@host:port", "rediss://:geheim@h"]
    {
        let refused = Intake::new(Options::new(bad, "s", GROUP)).err().expect(bad);
        assert!(matches!(refused, IntakeError::Address), "{refused:?}");
        assert!(!refused.to_string().contains("geheim"));
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let url = format!("redis://:geheim@127.0.0.1:{port}");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let (mut stop, mut lost) = (Some(stop), Vec::new());
    let intake = Intake::new(Options::new(&url, "s", GROUP)).expect("an address");
    let tell = |notice: Notice| {
        assert!(!format!("{notice:?}").contains("geheim"));
        let Notice::Lost { pause, .. } = notice else { panic!("{notice:?}") };
        lost.push(pause);
        if lost.len() == 3 {
            stop.take();
        }
    };
    intake.run(&ledger(), async { drop(stopped.await) }, tell).await.expect("it ends well");
    assert!(lost.is_sorted() && lost[0] < lost[2], "{lost:?}");
    let stopped = Intake::new(Options::new(&url, "s", GROUP)).expect("an address");
    let counts = stopped.run(&ledger(), ready(()), |_| {}).await.expect("it ends at once");
    assert_eq!(counts, Counts::default());
    let idle = Options::new(&url, "s", GROUP).with_idle(Duration::from_millis(1));
    assert!(matches!(Intake::new(idle).err(), Some(IntakeError::Option(_))));
}
