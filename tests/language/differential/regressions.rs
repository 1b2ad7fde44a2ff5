//! Charts that were found by chance, made smaller, and kept: each once did something else interpreted and generated, or broke
//! a law.

use super::{checked, laws};
use crate::batch::Batch;
use crate::batch::act::{acts, play, prepared};
use crate::batch::random::Random;
use chartc_core::plan::Plan;

/// Runs of each chart.
const RUNS: u8 = 12;

fn charts() -> Vec<(&'static str, String)> {
    let raises = "raise r ".repeat(150);
    vec![
        // The reason of a failed call had no place in the generated payload.
        (
            "tools without a question",
            "tool w.find(q: Text) -> Json chart R { event a var j: Json = none initial s \
             state s { may call w.find into j  on a -> s } }"
                .to_owned(),
        ),
        // Behind the `else` of a branch stood an `if` whose own branches do the same, which is written as none.
        (
            "a branch of no consequence behind an else",
            "chart R { event a event b var m: Int = 0 var n: Int = 0 initial s state s { \
             on a { if m > 3 { n = 1 } else if 7 div m > 1 { n = 2 } else { n = 2 }  m = m + 1 } \
             on b { if n > 1 { n = 0 } else if m > 2 { }  m = 0 }  on error.execution { n = 5  m = 2 } } }"
                .to_owned(),
        ),
        // Arguments that have no value: nothing is called, and the value for a failure holds.
        (
            "a call without arguments that have a value",
            "chart R { event a event b fn many(n: Int) -> Int else 3 fn must(n: Int) -> Int var m: Int = 0 var t: Int = 0 \
             var faults: Int = 0 initial s state s { on a if many(7 div m) == 3 -> s { t = many(1 div m) + many(many(1 div m)) \
             m = 1 - m }  on b if must(7 div m) == 3 -> s  on b { t = must(1 div m) } \
             on error.execution { faults = faults + 1 } } }"
                .to_owned(),
        ),
        (
            "a call with texts that have no value",
            "chart R { event a event b fn ask(j: Json, t: Text) -> Json from \"x\" \"y\" else \"z\" var j: Json = none \
             var l: List(Text) = [] var t: Json = none initial s state s { \
             on a { t = ask(j[\"k\"], \"{l[0]}\")  j = {\"k\": 1}  l = [\"w\"] } \
             on b if ask(ask(j[\"k\"], \"\"), l[0]) == \"z\" -> s { j = none  l = [] } } }"
                .to_owned(),
        ),
        // Asked which events would be handled, generated code gave up before it came to the value for a failure.
        (
            "a call with what comes with an event",
            "chart R { event a(n: Int) event b fn many(n: Int) -> Int else 3 var m: Int = 0 initial s \
             state s { on a(n) if many(n) > 5 -> t { m = n }  on b if m > 2 -> t } state t { on a(n) if many(n + 1) > n -> s  on b -> s } }"
                .to_owned(),
        ),
        // A question shows an input that the host may not have set.
        (
            "what a question shows of an input",
            "chart R { event a event b(n: Int) input y: Int var m: Int = 0 initial s state s { on a -> s \
             human k \"{y}?\" { returns Bool  done -> t { m = asked.y }  error -> t } } \
             state t { ask q on b(n) else s { prompt \"{n} {options}\" }  may one -> s { m = asked.n }  may two -> s } }"
                .to_owned(),
        ),
        // Where no line lets a model call tools, a call was forbidden interpreted, and unusable generated.
        (
            "a tool that no line permits",
            "tool w.find(q: Text) -> Json chart R { event a initial s state s { call k w.find(\"x\") \
             ask n on a else s { prompt \"{options}\" retry 2 }  may one -> s  may two -> s } }"
                .to_owned(),
        ),
        // The prompt of a step that is no question asked the host for the guards of options.
        (
            "an option beside a step",
            "chart R { event a fn many(n: Int) -> Int var m: Int = 0 initial s state s { \
             llm k { prompt \"{m}\" }  may o(k: Int) if many(m) > 2 -> s } }"
                .to_owned(),
        ),
        // The queue of raised events was shorter in code that needs no allocator.
        (
            "more raised than there is room for",
            format!(
                "chart R {{ event a event r event b var n: Int = 0 initial s state s {{ \
                 on a {{ {raises} }}  on b {{ {} }}  on r {{ n = n + 1 }}  on error.execution -> t }} \
                 state t {{ on b -> s }} }}",
                "raise r ".repeat(40)
            ),
        ),
        // Advice that only prompts read, of no state, had no method in generated code.
        (
            "advice of nobody",
            "chart R { event a initial s state s { llm k { prompt \"{advice}{m}\" } -> s \
             on a -> s { m = m + 1 } } var m: Int = 0 }"
                .to_owned(),
        ),
        // Written out, the first of the values was one that nobody reads, which rustc warns of.
        (
            "assigned twice in a block that may fail",
            "type Level { size: Int } chart R { event a event b var t: Text = \"\" var m: Int = 0 \
             var level: Level = Level { size: 1 } initial s \
             state s { on a -> u { m = 1  level = Level { size: 2 }  level = Level { size: m } \
             m = 7 div level.size  t = \"a\"  t = \"b\" } } state u { on b -> s { m = 0  t = t[0]  m = 3 } } }"
                .to_owned(),
        ),
        // The data of events that a livelock gave up were taken for those of events raised later.
        (
            "raised after a livelock",
            "chart R { event a event b event c(n: Int) event d(n: Int, m: Int) var m: Int = 0 initial s \
             state s { on a { m = 1  raise c(4)  raise d(5, 6) }  when m == 1 { m = 1 } \
             on error.livelock { m = 3 }  on b { raise c(7)  raise d(8, 9) }  on c(n) { m = n } \
             on d(k, l) -> u { m = m * k - l } }  state u { on a -> s  on b { raise c(2) }  on c(n) { m = n } } }"
                .to_owned(),
        ),
        // Generated code kept JSON however deep it was nested.
        (
            "json that nests deeper and deeper",
            format!(
                "chart R {{ event a event put(j: Json) event b(l: List(Json)) var j: Json = none var o: Json? = none \
                 var l: List(Json) = [] var faults: Int = 0 initial s state s {{ \
                 on a {{ {}  o = j  l = [j]  raise put([j]) }}  on put(k) {{ j = [k]  raise b([j]) }} \
                 on b(k) -> u {{ l = k }}  on error.execution {{ faults = faults + 1 }} }} \
                 state u {{ on a -> s {{ j = [j]  o = [o]  l = [l[0]] }} }} }}",
                "j = [j] ".repeat(45)
            ),
        ),
        // Each of a thousand deadlines had a macrostep of a thousand microsteps, all in one input.
        (
            "deadlines of no length that circle",
            "chart R { event a event b var m: Int = 0 initial s \
             state s { on a -> u  when m > 1 -> s { m = 3 } } \
             state u { after 0s -> v } state v { enter { m = 2 }  on b -> u { m = 0 }  \
             when m > 1 -> u } }"
                .to_owned(),
        ),
        // Ranges, with and without an allocator, and in code with all kinds of data.
        (
            "ranges of numbers",
            "chart R { event a(n: Int in 1..9) event b(x: Float in -0.5..1.5) event c(n: Int) var m: Int = 0 var f: Float = 0.0 \
             initial s state s { on a(n) { m = n } on b(x) -> s { f = x } on c(n) { m = 1  raise a(n - 2)  raise b(f * 2)  m = 7 } \
             on error.execution { m = -1 } } }"
                .to_owned(),
        ),
        (
            "ranges of records, answers, options and tools",
            "type P { n: Int in 0..9  t: Text } tool w.count(n: Int in 0..9) -> Int \
             fn many(n: Int in 0..9) -> Int else -3 \
             chart R { event a(p: P) event b(k: Int) event c(all: List(P)) var m: Int = 0 var p: P = P { n: 1 t: \"\" } \
             var talk: List(Message) = [] var t: Text = \"\" initial s \
             state s { on a(q) { p = q } on b(k) -> u { m = 1  p = P { n: k  t: \"b\" }  m = many(p.n + 3) } on c(all) { m = len(all) } \
             llm k { prompt \"{talk}\" returns Int in 0..9 into m  retry 1 then skip } -> u } \
             state u { ask q on turn else s { prompt \"{options}\" retry 1 } \
             may o(n: Int in 0..9, x: Float in 0..1) -> s { p = P { n: n * 2  t: \"o\" }  talk = talk[0:3] + [Message { role: Role.user  text: p.t }] } \
             may call w.count into m -> s { t = \"{talk}\" } call z w.count(m + 4) { retry 0 then skip  done -> s } \
             on b(k) -> f(m) } final f(n: Int in 0..4) }"
                .to_owned(),
        ),
    ]
}

#[test]
fn found_by_chance() {
    let mut batch = Batch::default();
    let (mut scripts, mut texts) = (Vec::new(), Vec::new());
    for (label, text) in charts() {
        let checked = checked(&text).unwrap_or_else(|errors| panic!("{label}: {errors}"));
        batch.add(label, &checked).unwrap_or_else(|why| panic!("{label}: {why}"));
        let plan = Plan::new(checked.chart());
        for seed in 0..RUNS {
            let mut random = Random::new(u64::from(seed));
            let script = prepared(label, checked.chart(), &mut random);
            let acts = acts(&mut random, 40);
            laws::kept(checked.chart(), seed, &acts).unwrap_or_else(|why| panic!("{label}: {why}"));
            let played = play(&plan, script, &acts, &mut |_| Ok(()));
            let (script, text) = played.expect("nothing is asked of it");
            scripts.push(script);
            texts.push(text);
        }
    }
    let programs = batch.build("regressions");
    if let Some((nth, fault)) = programs.differences("runs", &scripts, &texts).first() {
        panic!("{}:\n{fault}", scripts[*nth].chart);
    }
}
