//! Steps that are written out as code do what the engine does.

use crate::batch::Batch;
use crate::batch::act::{acts, play, prepared};
use crate::batch::random::Random;
use chartc::load::Memory;
use chartc_core::plan::Plan;

/// Runs of each chart.
const RUNS: u64 = 60;
/// Inputs of each run.
const LENGTH: usize = 40;

const CHARTS: &[(&str, &str)] = &[
    (
        "the order in which lines are tried, and what becomes of those that are not taken",
        "chart T { event e(n: Int) event f event g var m: Int = 0 initial s
           on * if m > 4 { m = 1 }
           state s { initial a
             on e(n) if 6 div n > 2 -> b { m = m + n }
             on e(n) if m > 2 -> a { m = 0 }
             on f if 4 div m > 1 { m = m + 2 }
             from a { on g -> b }
             from * except a { on g if m > 1 -> a { m = 3 } }
             state a { on e(n) if 3 div (n - 1) > 1 { m = m - 1 }  on f if m < 2 { m = m + 1 } }
             state b { on f -> a reenter  on e(n) if n < 0 { m = n } } }
           on error.execution if 1 div (m - 1) > 0 { m = m + 3 }
           on error.execution { m = m * 2 } }",
    ),
    (
        "what is left, entered and run, and in which order",
        "chart T { event e event f event tell(n: Int) var m: Int = 0 var t: Text = \"\" initial s { t = \"i\" }
           enter { t = t + \"T\" }
           on tell(n) { t = t[-30:] + \"{n}\" }
           on f -> s.b { t = t[-30:] + \"f\" }
           on done(s) -> s.a { t = t[-30:] + \"d\" }
           state s { initial a { t = t[-30:] + \"j\" }
             enter { t = t[-30:] + \"S\"  raise tell(1) } enter { m = 4 div m  t = t[-30:] + \"X\" } enter { t = t[-30:] + \"Y\" }
             exit { t = t[-30:] + \"s\"  raise tell(2) } exit { m = m + 1 }
             state a { enter { t = t[-30:] + \"A\" } exit { t = t[-30:] + \"a\" } on e -> b.c }
             state b { initial d enter { t = t[-30:] + \"B\" } exit { t = t[-30:] + \"b\"  m = m + 1 }
               state c { enter { raise tell(3) } on e -> d }
               state d { enter { t = t[-30:] + \"D\" } exit { t = t[-30:] + \"x\" } on e -> z } }
             final z { enter { t = t[-30:] + \"Z\"  raise tell(4) } } } }",
    ),
    (
        "macrosteps: by itself first, then the queue, with an end",
        "chart T { event e event f event r(n: Int) event q var m: Int = 0 var k: Int = 0 initial a
           when m == 3 { m = 4  raise r(m) }
           when 8 div (m - 9) > 7 { m = 2 }
           on r(n) if n > 3 { k = k + n }
           state a { on e -> b { raise r(1)  raise q  m = m + 1 }  on f if m == 0 { m = 9  raise r(5)  raise r(6) }  on f { m = 5 } }
           state b { when 1 < m < 9 -> c { raise r(2) }  on f -> b { m = 9  raise r(5)  raise r(6) }  on r -> a  on q { k = k + 100  m = 3 } }
           state c { on r(n) -> a { m = n }  on q -> b  on e { m = 5 }  on f -> a { m = 10 } }
           when m == 5 { k = k + 1 }
           on error.livelock { m = 0  raise r(9) } on error.execution { k = k - 1  m = m + 1 } }",
    ),
    (
        "turns",
        "chart T { event e event late var m: Int = 0 var v: Int = m per turn var w: Int = 7 per turn initial a
           on turn if turns > 2 and v > 0 { m = m + 10 }
           state a { on turn -> b { v = v + 5  w = 1 }  on e { v = 9 } }
           state b { when v < 2 -> c  on turn if w == 7 { raise e }  on e -> a { m = m + 1 }  on late -> c }
           state c { when turns > 4 -> a { m = m - 1 }  on turn { w = w + 1 }  on e if event == \"e\" { m = w } } }",
    ),
    (
        "ends",
        "chart T { event e event f event g event r var m: Int = 0 initial a
           exit { m = m + 1000 }
           state a { on e -> b  on f -> x { raise r }  on g { m = m + 1 }  exit { m = m + 100 } }
           state b { initial c state c { on e -> y  on f -> over(m)  on g -> z } final y
             state z { on g -> c } enter { m = m + 1 } exit { m = m + 7 } }
           on done(b) { m = m + 3  raise r }
           on r { m = m + 1 }
           state x { initial n state n { on r -> o } state o }
           final over(k: Int) : partial { enter { m = m + 5  raise r } } }",
    ),
    (
        "regions",
        "chart T { event e event f event g event r(n: Int) var m: Int = 0 initial p
           parallel p {
             state q { initial a enter { m = m + 1 } exit { raise g }
               state a { on e -> b { m = m * 2 % 1000 } } state b { on e -> a  on f -> z { raise r(4) } } final z }
             state s { initial c
               state c { on e -> d { raise r(m) }  exit { m = m + 3 } } state d { on r(n) -> c { m = n }  on f -> y  on g { m = m + 7 } } final y }
             on f { m = m + 5 }
             on done(s) { m = m + 11 }
             on done(p) -> o }
           state o { on e -> p  on g -> p.q.b, p.s.d { m = 7 div (m - 20) } }
           on r -> p.s.d { m = m + 13 }
           on error.execution { m = m + 17 } }",
    ),
    (
        "dead ends",
        "chart T { event e event f var m: Int = 0 initial a
           state a { on e -> x  on f { m = m + 1 } }
           state x { initial n state n { on e -> o } state o }
           on error.stuck.dead if m < 9 -> x { m = m + 3 } }",
    ),
];

#[test]
fn out_as_the_engine_takes_them() {
    let mut batch = Batch::default();
    let (mut scripts, mut texts) = (Vec::new(), Vec::new());
    for (label, text) in CHARTS {
        let mut done = chartc::check(&["t.chart".into()], &Memory::of("t.chart", text));
        let shown = chartc::report::short(&done.diagnostics, &done.sources);
        let checked = done.charts.pop().unwrap_or_else(|| panic!("{label}: {shown}"));
        batch.add(label, &checked).unwrap_or_else(|why| panic!("{label}: {why}"));
        let plan = Plan::new(checked.chart());
        for seed in 0..RUNS {
            let mut random = Random::new(seed);
            let script = prepared(label, checked.chart(), &mut random);
            let played = play(&plan, script, &acts(&mut random, LENGTH), &mut |_| Ok(()));
            let (script, text) = played.expect("nothing is asked of it");
            scripts.push(script);
            texts.push(text);
        }
    }
    let shapes: Vec<&str> = batch.shapes().filter(|s| s.starts_with("bit sets")).collect();
    assert!(shapes.is_empty(), "not written out: {shapes:?}");
    let programs = batch.build("written");
    let differences = programs.differences("runs", &scripts, &texts);
    if let Some((nth, fault)) = differences.first() {
        panic!("{} runs differ; {}:\n{fault}", differences.len(), scripts[*nth].chart);
    }
}
