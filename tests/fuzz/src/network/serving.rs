//! `chartc serve` in one thread, and clients that send bytes. Time is virtual: it advances when nobody works.

use chartc_adapters::server::{
    AccessRules, Feed, Limits, Offer, Order, RunRequest, Runs, Token, serve,
};
use chartc_core::expr::{Map, Value as ChartValue};
use chartc_core::plan::Plan;
use chartc_runtime::RunSetup;
use chartc_runtime::clock::RealClock;
use chartc_runtime::driver::Parts;
use chartc_runtime::oracle::{Deny, Script};
use chartc_runtime::trace::Origin;
use chartc_store::{Options, Safety, Service, Store, Worker};
use serde_json::json;
use std::collections::BTreeMap;
use std::future::pending;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const CHARTS: [&str; 2] = [
    include_str!("../../../command/serve/desk.chart"),
    include_str!("../../../command/serve/turns.chart"),
];
pub(super) const TOKEN: &str = "client-token-0123456789";
pub(super) const PEOPLE: &str = "people-token-0123456789";

/// How long a client waits, in virtual time.
const PATIENCE: Duration = Duration::from_secs(100);

/// What a client has read, and whether the server has closed the connection.
pub(super) type Read = (Vec<u8>, bool);

/// Serves the charts with a store of two runs, sends each request over its own connection, and returns what the clients read.
pub(super) fn replies(requests: &[Vec<u8>]) -> Vec<Read> {
    static BEGUN: OnceLock<Vec<u8>> = OnceLock::new();
    let begun = BEGUN.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("s.db");
        serving(&file, async |runs: Arc<Runs>, _| {
            for run in ["r-0", "r-1"] {
                let params = map([("owner", ChartValue::Text("Ada".into()))]);
                let (chart, run) = (Some("Desk".into()), Some(run.into()));
                runs.begin(Order { chart, run, params, ..Order::default() }, None)
                    .await
                    .expect("it fits");
            }
            let by = map([("by", ChartValue::Int(3))]);
            runs.fire("r-0", Some("a".into()), "add".into(), by, &None).await.expect("it fits");
            runs.fire("r-0", None, "ask".into(), Map::new(), &None).await.expect("it fits");
            runs.fire("r-1", None, "finish".into(), Map::new(), &None).await.expect("it fits");
            // Time for the turn in which the person is asked.
            tokio::time::sleep(Duration::from_secs(1)).await;
        });
        std::fs::read(file).expect("a file")
    });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("s.db");
    std::fs::write(&file, begun).expect("a disk");
    let replies = serving(&file, async |_, address| {
        let mut replies = Vec::new();
        for request in requests {
            replies.push(said(address, request).await);
        }
        replies
    });
    let store = Store::open(&file).expect("a store");
    assert_eq!(store.check().expect("it can be read"), [""; 0]);
    for run in ["r-0", "r-1"] {
        let row = store.find(run).expect("it can be read").expect("it is still there");
        assert!(row.chart == "Desk" && row.status != "broken", "{row:?}");
    }
    replies
}

/// Serves the charts from a store until `client` is done.
fn serving<R>(file: &Path, client: impl AsyncFnOnce(Arc<Runs>, std::net::SocketAddr) -> R) -> R {
    static PLANS: OnceLock<BTreeMap<String, Arc<[Plan]>>> = OnceLock::new();
    let plans = PLANS.get_or_init(|| {
        let checked = |text: &&str| {
            let done =
                chartc::check(&["a.chart".into()], &chartc::load::Memory::of("a.chart", text));
            (done.charts[0].chart().name.clone(), done.charts[0].plans())
        };
        CHARTS.iter().map(checked).collect()
    });
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let store = Store::own(file, Safety::Process).expect("a store");
        let clock = Arc::new(RealClock::starting_at(store.moment(None, true).expect("a time")));
        let feed = Feed::default();
        let show = feed.clone();
        let options = Options {
            make: Box::new(|making| {
                let given: BTreeMap<String, ChartValue> =
                    serde_json::from_str(making.given).map_err(|why| why.to_string())?;
                let part = |name: &str| match given.get(name) {
                    Some(ChartValue::Map(map)) => map.clone(),
                    _ => Map::new(),
                };
                let Some(ChartValue::Text(chart)) = given.get("chart") else {
                    return Err("no chart".into());
                };
                let setup = RunSetup {
                    plans: &plans[chart],
                    params: &part("params"),
                    inputs: &part("inputs"),
                    host: Script::empty(),
                    driver: making.driver,
                    clock: making.clock,
                    run: making.run,
                    origin: Origin::default(),
                    saved: making.saved,
                };
                setup.session(making.journal)
            }),
            driver: Arc::new(Parts::of(Arc::new(Deny))),
            clock,
            is_real: true,
            replies: true,
            workers: 8,
            show: Box::new(move |run, _| {
                show.grown(run);
                Ok(())
            }),
            after: Box::new(|_, _| Ok(())),
            given: String::new(),
            service: Some(Service { at_rest: 2, on_outage: Box::new(|_| panic!("an outage")) }),
        };
        let (engine, mut worker) = Worker::new(store, options);
        worker.load_all().expect("a store");
        let offer = |plans: &Arc<[Plan]>| Offer::new(plans[0].chart(), (5, 10), &|_| false);
        let offers = plans.values().map(offer).collect();
        let limits = Limits { runs: 4, events: None, store: None };
        let note = |given: &RunRequest<'_>| {
            json!({ "chart": given.chart, "params": given.params, "inputs": given.inputs })
                .to_string()
        };
        let runs = Arc::new(Runs::new(engine, feed, offers, limits, note));
        let token = |text| Token::new(text).expect("a token");
        let hosts = vec!["localhost".to_owned()];
        let access =
            AccessRules { clients: vec![(None, token(TOKEN))], people: token(PEOPLE), hosts };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::select! {
            done = client(runs.clone(), address) => done,
            served = serve(listener, runs, access, pending()) => panic!("{served:?}"),
            worked = worker.work() => panic!("{worked:?}"),
        }
    })
}

fn map<const N: usize>(entries: [(&str, ChartValue); N]) -> Map {
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Sends a request and reads until the server closes the connection.
async fn said(address: std::net::SocketAddr, request: &[u8]) -> Read {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    // So that no connection waits in the system after the input.
    stream.set_zero_linger().expect("a socket");
    let mut bytes = Vec::new();
    let talk = async {
        // The server may refuse a request before it has read all of it.
        drop(stream.write_all(request).await);
        drop(stream.read_to_end(&mut bytes).await);
    };
    let is_closed = tokio::time::timeout(PATIENCE, talk).await.is_ok();
    (bytes, is_closed)
}
