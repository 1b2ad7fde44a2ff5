//! Calls of regions that are open at the same time: how long they take, what the trace tells of them, and runs that are saved among them.

pub(crate) mod pair;

use super::*;
use chartc_core::expr::Map;
use chartc_runtime::Saved;
use chartc_runtime::trace::JsonLines;
use pair::{SCRIPT, pair};

/// When questions were put and answered, and by which step.
fn told(lines: &[Line]) -> Vec<String> {
    let told = lines.iter().filter_map(|line| match &line.what {
        What::Question { step, .. } => Some(format!("{} {step}?", line.at_ms)),
        What::Answer { step, text, .. } => Some(format!("{} {step}: {text}", line.at_ms)),
        _ => None,
    });
    told.collect()
}

#[test]
fn calls_of_two_regions_take_as_long_as_the_longer_one() {
    for (first, second) in [("pro", "contra"), ("contra", "pro")] {
        let chart = chart(&pair(first, second));
        let ran = run(&chart, &[], SCRIPT, None, async |session| {
            let report = session.turn().await?;
            assert_eq!((report.turn, report.calls), (1, 3), "each walk has had its call");
            Ok(())
        });
        assert_eq!((ran.error.as_ref(), ran.status), (None, Some("ok")));
        let (one, two) = (format!("0 write_{first}?"), format!("0 write_{second}?"));
        let expected = [
            one.as_str(),
            &two,
            "4000 write_contra: no",
            "5000 write_pro: yes",
            "5000 judge?",
            "6000 judge: perhaps",
        ];
        assert_eq!(told(&ran.lines), expected, "{first} first");
        let judged = ran.lines.iter().find_map(|line| match &line.what {
            What::Question { step, prompt, .. } if step == "judge" => Some(prompt.as_str()),
            _ => None,
        });
        assert_eq!(judged, Some("For: yes Against: no"));
    }
}

#[test]
fn answers_that_are_ready_together_apply_in_the_order_in_which_their_calls_began() {
    let script = SCRIPT.replace("5s", "4s");
    for (first, second) in [("pro", "contra"), ("contra", "pro")] {
        let chart = chart(&pair(first, second));
        let ran = run(&chart, &[], &script, None, async |session| session.turn().await.map(drop));
        let answered = told(&ran.lines)[2..4].join(", ");
        let words = |name| if name == "pro" { "yes" } else { "no" };
        let (one, two) = (words(first), words(second));
        assert_eq!(answered, format!("4000 write_{first}: {one}, 4000 write_{second}: {two}"));
    }
}

#[test]
fn a_failed_call_is_made_again_while_the_other_region_waits() {
    let chart = chart(&pair("pro", "contra").replace("prompt \"Argue", "retry 1  prompt \"Argue"));
    let script = SCRIPT.replace("no, after: 4s}", "never, after: 9s}");
    let script = script.replace("[{text: never", "[{fail: connection, after: 1s}, {text: no");
    let ran = run(&chart, &[], &script, None, async |session| session.turn().await.map(drop));
    assert_eq!(ran.error, None);
    let told = told(&ran.lines);
    assert_eq!(told.len(), 7, "{told:?}");
    let first = ["0 write_pro?", "0 write_contra?", "1000 write_contra?", "5000 write_pro: yes"];
    assert_eq!(told[..4], first);
    // Half of the pause before the second attempt is by chance.
    let answered = told[4].strip_suffix(" write_contra: no").and_then(|ms| ms.parse::<u64>().ok());
    assert!(answered.is_some_and(|ms| (10_250..=10_500).contains(&ms)), "{told:?}");
}

/// One that begins anew, or goes on.
fn session(plan: &Plan, saved: Option<&Saved>) -> Session<Interpreter<Script>, JsonLines<Vec<u8>>> {
    let clock = Arc::new(VirtualClock::starting_at(saved.map_or(0, Saved::now)));
    let script = Script::parse("s", SCRIPT, clock.clone()).expect("a script");
    let machine = match saved {
        Some(saved) => Interpreter::resume(plan, [], Script::empty(), saved.machine()),
        None => {
            return Session::new(
                Interpreter::new(plan, Script::empty(), Map::new()).expect("no params"),
                Arc::new(script),
                clock,
                JsonLines(Vec::new()),
            );
        }
    };
    let machine = machine.expect("of this chart");
    let mut session = Session::new(machine, Arc::new(script), clock, JsonLines(Vec::new()));
    session.resume(saved.expect("above")).expect("it goes on");
    session
}

fn lines(sink: JsonLines<Vec<u8>>) -> Vec<Line> {
    chartc_runtime::trace::read(&String::from_utf8(sink.0).expect("text")).expect("a trace")
}

#[test]
fn a_run_that_is_saved_among_its_calls_asks_only_what_was_open() {
    let chart = chart(&pair("pro", "contra"));
    let plan = Plan::new(&chart);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let cases: [(u64, &[&str]); 3] = [
        (0, &["write_pro?", "write_contra?"]),
        (2000, &["write_pro?", "write_contra?"]),
        (4500, &["write_pro?"]),
    ];
    for (at, open) in cases {
        runtime.block_on(async {
            let mut first = session(&plan, None);
            first.begin_turn().await.expect("it begins");
            first.advance(at).await.expect("time passes");
            let saved = first.save().expect("it runs");
            let text = saved.text().expect("it is data");
            let saved = Saved::read(&text).expect("it is one");
            let mut second = session(&plan, Some(&saved));
            second.settle().await.expect("it is answered");
            assert_eq!((second.configuration(), second.turns()), (vec!["judged".into()], 1));
            let lines = lines(second.into_parts().1);
            let asked: Vec<String> = told(&lines)
                .into_iter()
                .filter(|line| line.ends_with('?') && !line.ends_with("judge?"))
                .map(|line| line.split(' ').next_back().unwrap_or_default().to_owned())
                .collect();
            assert_eq!(asked, open, "saved at {at}");
            let judged = lines.iter().find_map(|line| match &line.what {
                What::Question { step, prompt, .. } if step == "judge" => Some(prompt.clone()),
                _ => None,
            });
            assert_eq!(judged.as_deref(), Some("For: yes Against: no"), "saved at {at}");
        });
    }
}
