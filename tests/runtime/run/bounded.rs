//! Charts that try to use up the memory of their host: the data of a run, and the records and host calls of one input, are bounded.

use super::*;
use chartc_core::expr::Map;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::DATA_BYTES;
use chartc_runtime::host::{HostLog, Watched};
use chartc_runtime::oracle::Deny;

/// A chart whose texts double with each `go`.
fn doubling(texts: usize, actions: &dyn Fn(usize) -> String) -> Arc<Chart> {
    let all = |line: &dyn Fn(usize) -> String| (0..texts).map(line).collect::<String>();
    let declared = all(&|nth| format!("  var t{nth}: Text = \"0123456789\"\n"));
    let doubled = all(&|nth| format!("t{nth} = concat(t{nth}, t{nth})  "));
    chart(&format!(
        "chart Doubling {{\n{declared}  var failed: Int = 0\n  event go\n  event kept(text: Text)\n  initial a\n  \
         on error.execution {{ failed = failed + 1 }}\n  on kept(text) {{ t0 = text }}\n  \
         state a {{ on go if len(t0) < 800000 {{ {doubled} }}  on go {{ {} }} }}\n}}\n",
        all(actions)
    ))
}

fn session(chart: &Arc<Chart>, bound: Option<usize>) -> Session<Interpreter<()>, Vec<Line>> {
    let mut machine = Interpreter::new(&Plan::new(chart), (), []).expect("it has no params");
    if let Some(bytes) = bound {
        machine.set_data_bound(bytes);
    }
    Session::new(machine, Arc::new(Deny), Arc::new(VirtualClock::new()), Vec::new())
}

/// The bytes of all variables, and how many blocks have failed.
fn size(session: &Session<Interpreter<()>, Vec<Line>>) -> (usize, i64) {
    let all = session.machine().variables();
    let failed = all.iter().find_map(|(name, value)| match value {
        Value::Int(failed) if name == "failed" => Some(*failed),
        _ => None,
    });
    (all.iter().map(|(_, value)| value.bytes()).sum(), failed.expect("it is declared"))
}

#[tokio::test]
async fn the_data_of_a_run_is_bounded() {
    let chart = doubling(60, &|_| String::new());
    for (bound, most) in [(None, DATA_BYTES), (Some(1_000_000), 1_000_000)] {
        let mut session = session(&chart, bound);
        session.start().await.expect("it starts");
        let mut largest = 0;
        for _ in 0..40 {
            session.send("go", Map::default()).await.expect("the run goes on");
            largest = largest.max(size(&session).0);
        }
        let failed = size(&session).1;
        assert!(largest <= most && largest > most / 4, "{largest} of {most}");
        assert!(failed > 0, "the chart is told");
        let why = format!("the data of the run would take more than {most} bytes");
        let told =
            |line: &Line| matches!(&line.what, What::Note { text, .. } if text.contains(&why));
        let (_, lines) = session.into_parts();
        assert!(lines.iter().any(told), "the trace has the reason");
    }
}

#[tokio::test]
async fn little_data_that_is_replaced_again_and_again_is_no_more_data() {
    let chart = chart(
        "chart Replaces { event go  var t: Text = \"\"  var n: Int = 0  var ten: List(Int) = [0,1,2,3,4,5,6,7,8,9]  initial a
           on error.* { n = 0 - 1000000 }
           state a { on go { t = \"0123456789\"
             for i in ten { t = concat(t, t) } n = n + 1 } } }",
    );
    let mut session = session(&chart, Some(200_000));
    session.start().await.expect("it starts");
    for _ in 0..200 {
        session.send("go", Map::default()).await.expect("the run goes on");
    }
    let all = session.machine().variables();
    assert!(all.contains(&("n".to_owned(), Value::Int(200))), "{:?}", all[1]);
}

#[tokio::test]
async fn events_on_their_way_count() {
    let send = |nth: usize| format!("send kept(t{nth}) after 1h  ");
    let chart = doubling(8, &send);
    let mut session = session(&chart, None);
    session.start().await.expect("it starts");
    for _ in 0..60 {
        session.send("go", Map::default()).await.expect("the run goes on");
    }
    let waiting = session.save().expect("it is at rest");
    let saved = serde_json::to_string(&waiting).expect("JSON").len();
    assert!(saved < 2 * DATA_BYTES, "{saved} bytes");
    assert!(size(&session).1 > 0, "the chart is told");
}

#[tokio::test]
async fn child_charts_share_the_room_of_their_parent() {
    let texts: String =
        (0..8).map(|nth| format!("  var t{nth}: Text = \"0123456789\"\n")).collect();
    let doubled: String = (0..8).map(|nth| format!("t{nth} = concat(t{nth}, t{nth})  ")).collect();
    let text = format!(
        "chart Parent {{ var all: List(Int) = [0,1,2,3,4,5,6,7,8,9]  initial a  state a {{ run many each n in all Child {{ 10 at a time }} }} }}
         chart Child {{\n{texts}  var n: Int = 0\n  initial b  state b {{ on turn if n < 17 {{ n = n + 1  {doubled} }} }} }}"
    );
    let done = chartc::check(&["t.chart".to_owned()], &Memory::of("t.chart", &text));
    let found: Vec<&String> = done.diagnostics.iter().map(|found| &found.message).collect();
    assert_eq!(done.charts.len(), 2, "{found:?}");
    let plans: Arc<[Plan]> = done.charts[0].plans();
    let machine = Interpreter::new(&plans[0], (), []).expect("it has no params");
    let machine = machine.with_charts(plans.clone());
    let clock = Arc::new(VirtualClock::new());
    let mut session = Session::new(machine, Arc::new(Deny), clock, Vec::<Line>::new());
    session.start().await.expect("it starts");
    for _ in 0..30 {
        session.turn().await.expect("the run goes on");
    }
    let mut held = 0;
    session.machine().each_child(&mut |_, child| {
        held += child.variables().iter().map(|(_, value)| value.bytes()).sum::<usize>();
    });
    assert!(held <= DATA_BYTES && held > DATA_BYTES / 4, "{held} bytes");
}

#[tokio::test]
async fn what_one_input_reports_is_bounded() {
    // A hundred regions switch back and forth: a thousand microsteps with 400 records each.
    let regions: String = (0..100)
        .map(|nth| {
            format!(
                "    state r{nth} {{ initial on{nth} state on{nth} {{ on tick -> off{nth} }} state off{nth} {{ on tick -> on{nth} }} }}\n"
            )
        })
        .collect();
    let chart = chart(&format!(
        "chart Swings {{\n  event go\n  event tick\n  var n: Int = 0\n  initial p\n  on error.livelock {{ n = n + 1 }}\n  \
         parallel p {{\n    on go {{ raise tick }}\n    state again {{ initial x  state x {{ on tick {{ raise tick }} }} }}\n{regions}  }}\n}}\n"
    ));
    let mut session = session(&chart, None);
    session.start().await.expect("it starts");
    session.send("go", Map::default()).await.expect("the run goes on");
    let (_, lines) = session.into_parts();
    assert!(lines.len() > 50_000 && lines.len() < 120_000, "{} lines", lines.len());
    let told = lines.iter().filter(|line| matches!(&line.what, What::Error { .. }));
    assert_eq!(told.count(), 1, "the chart is told once");
}

#[tokio::test]
async fn calls_of_host_functions_in_one_input_are_bounded() {
    struct Counts(Arc<std::sync::atomic::AtomicUsize>);
    impl Host for Counts {
        fn call(&mut self, _: &str, _: &[Value]) -> Result<Value, String> {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(Value::None)
        }
    }
    let chart = chart(
        "do note(text: Text)
         chart Calls { event many  event large  var t: Text = \"0123456789\"
           var xs: List(Int) = [0,1,2,3,4,5,6,7,8,9,10,11]  initial a
           state a {
             on many { for i in xs { for j in xs { for k in xs { for l in xs { note(\"x\") } } } } }
             on large { for i in xs { t = concat(t, t) }  t = concat(t, t, t, t, t, t, t, t)
               for i in xs { for j in xs { note(t) } } } } }",
    );
    for (event, most) in [("many", 10_000), ("large", 60)] {
        let (called, log) = (Arc::default(), HostLog::default());
        let host = Watched::new(Counts(Arc::clone(&called)), log.clone());
        let machine = Interpreter::new(&Plan::new(&chart), host, []).expect("it has no params");
        let clock = Arc::new(VirtualClock::new());
        let mut session =
            Session::new(machine, Arc::new(Deny), clock, Vec::<Line>::new()).with_host_log(log);
        session.start().await.expect("it starts");
        session.send(event, Map::default()).await.expect("the run goes on");
        let called = called.load(std::sync::atomic::Ordering::Relaxed);
        assert!(called > 10 && called <= most, "{event}: {called}");
        let (_, lines) = session.into_parts();
        let bytes = serde_json::to_string(&lines).expect("JSON").len();
        assert!(bytes < 64 << 20, "{event}: {bytes} bytes of trace");
    }
}
