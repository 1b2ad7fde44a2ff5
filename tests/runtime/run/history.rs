//! `trace N`: the last transitions of an instance.

use super::*;
use chartc_core::expr::Map;
use chartc_runtime::Saved;
use std::sync::Arc;

/// A lamp that keeps what `trace` says.
fn lamp(trace: &str) -> Arc<Chart> {
    chart(&format!(
        "chart Lamp {{ event press  {trace}  initial off
  state off {{ on press -> on }}
  state on {{ on press -> off }} }}"
    ))
}

/// The transitions in a trace.
fn taken(lines: &[Line]) -> Vec<Line> {
    lines.iter().filter(|line| matches!(line.what, What::Taken { .. })).cloned().collect()
}

#[test]
fn the_last_ones_are_kept_first_in_first_out() {
    for (trace, most) in
        [("trace 3", 3), ("trace 1", 1), ("trace 0", 0), ("", 100), ("trace all", 1000)]
    {
        let chart = lamp(trace);
        for presses in [0, 1, 2, 3, 4, 99, 100, 101, 130] {
            let mut kept = Vec::new();
            let ran = run(&chart, &[], "{}", None, async |session| {
                for _ in 0..presses {
                    session.send("press", Map::new()).await?;
                    session.advance(10).await?;
                }
                kept = session.history();
                Ok(())
            });
            assert_eq!(ran.error, None);
            let all = taken(&ran.lines);
            assert_eq!(all.len(), presses, "{trace}");
            assert_eq!(kept, all[presses - presses.min(most)..], "{trace}, {presses} presses");
        }
    }
}

#[test]
fn nobody_has_to_listen() {
    let chart = lamp("trace 2");
    let plan = Plan::new(&chart);
    let machine = Interpreter::new(&plan, Script::empty(), Map::new()).expect("no params");
    let clock = Arc::new(VirtualClock::new());
    let mut deaf = Session::new(machine, Arc::new(Script::empty()), clock, ());
    let ran = run(&chart, &[], "{}", None, async |heard| {
        for _ in 0..5 {
            heard.send("press", Map::new()).await?;
            deaf.send("press", Map::new()).await?;
        }
        assert_eq!(heard.history(), deaf.history());
        assert_eq!(heard.history().len(), 2);
        Ok(())
    });
    assert_eq!(ran.error, None);
}

const KIN: &str = "
chart Main {
  event press
  trace 2
  initial off
  parallel off {
    state left { initial a  state a { on press -> b }  state b { on press -> a } }
    state right { run lamp Lamp events all }
  }
}
chart Lamp {
  event press
  trace 3
  initial off
  state off { on press -> on }
  state on { on press -> off }
}
";

#[test]
fn a_snapshot_keeps_it_of_every_chart_that_runs() {
    let done = chartc::check(&["t.chart".to_owned()], &Memory::of("t.chart", KIN));
    let charts: Vec<Arc<Chart>> = done.charts.iter().map(|c| c.chart().clone()).collect();
    let plans: Arc<[Plan]> = charts.iter().map(Plan::new).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let machine = Interpreter::new(&plans[0], Script::empty(), Map::new());
        let machine = machine.expect("no params").with_charts(plans.clone());
        let clock = Arc::new(VirtualClock::new());
        let mut session = Session::new(machine, Arc::new(Script::empty()), clock, Vec::new());
        session.turn().await.expect("it runs");
        for _ in 0..5 {
            session.send("press", Map::new()).await.expect("declared");
        }
        let saved = session.save().expect("it runs");
        let of = |saved: &Saved, child: &str| -> Vec<Line> {
            saved.history().filter(|line| line.child == child).collect()
        };
        assert_eq!(of(&saved, ""), session.history());
        assert_eq!((of(&saved, "").len(), of(&saved, "lamp").len()), (2, 3));
        let text = saved.text().expect("it is data");
        let saved = Saved::read(&text).expect("it is one");
        let machine =
            Interpreter::resume(&plans[0], plans.clone(), Script::empty(), saved.machine());
        let clock = Arc::new(VirtualClock::starting_at(saved.now()));
        let mut again = Session::new(
            machine.expect("of these charts"),
            Arc::new(Script::empty()),
            clock,
            Vec::new(),
        );
        again.resume(&saved).expect("it goes on");
        assert_eq!(again.history(), session.history());
        assert_eq!(of(&again.save().expect("it runs"), "lamp"), of(&saved, "lamp"));
        again.send("press", Map::new()).await.expect("declared");
        assert_eq!(again.history().len(), 2, "the oldest one is dropped here, too");
        assert_eq!(again.history()[0], session.history()[1]);
    });
}
