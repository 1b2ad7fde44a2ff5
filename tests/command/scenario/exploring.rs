//! `chartc explore`.

use super::{DESK, chartc, folder};
use serde_json::Value;

fn explore(name: &str, text: &str, arguments: &[&str]) -> (String, i32) {
    let folder = folder(name);
    std::fs::write(folder.join("it.chart"), text).expect("it can be written");
    chartc(&folder, &[&["explore", "it.chart"], arguments].concat())
}

const LOOP: &str = r#"
chart Loop {
  event go
  initial a
  state a { on go -> b }
  state b { ask q on turn else stay { prompt "{options}" }  may left -> a  may right -> c  may down -> hole }
  state hole
  final c : partial
  state never { on go -> a }
  from * except hole | c {
    on go if in(never) -> a
  }
}
"#;

#[test]
fn in_words() {
    let (text, code) = explore("words", LOOP, &["--depth", "4"]);
    assert_eq!(code, 0, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn counts_by_depth() {
    let runs = |depth: &str| -> Value {
        let (text, _) =
            explore(&format!("depth-{depth}"), LOOP, &["--depth", depth, "--format", "json"]);
        serde_json::from_str(&text).expect("it is JSON")
    };
    let two = runs("2");
    assert_eq!((&two["ends"], &two["worst"]["calls"]), (&serde_json::json!({}), &1.into()));
    let three = runs("3");
    assert_eq!(three["ends"], serde_json::json!({"partial": 1}));
    assert_eq!(three["not_reached"], serde_json::json!(["never"]));
    assert_eq!(three["dead_ends"].as_array().map(Vec::len), Some(0), "the hole was not tried yet");
    let four = runs("4");
    assert_eq!(four["dead_ends"].as_array().map(Vec::len), Some(1));
    assert!(four["worst"]["way"]["events"].as_array().is_some_and(|events| events.len() <= 4));
}

#[test]
fn a_bound_on_the_states_is_told() {
    let (text, code) = explore("bounded", DESK, &["--states", "2"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("not everything was tried: there are more"), "{text}");
}

#[test]
fn the_worst_way_can_be_simulated() {
    let folder = folder("worst");
    std::fs::write(folder.join("it.chart"), LOOP).expect("it can be written");
    let (text, _) = chartc(&folder, &["explore", "it.chart", "--depth", "6", "--format", "json"]);
    let found: Value = serde_json::from_str(&text).expect("it is JSON");
    let events = found["worst"]["way"]["events"].to_string();
    std::fs::write(folder.join("events.json"), events).expect("it can be written");
    let (text, code) = chartc(&folder, &["simulate", "it.chart", "--events", "events.json"]);
    assert_eq!(code, 0, "{text}");
}

const GIVEN: &str = r"
enum Mood { good  bad }
chart Given {
  param mood: Mood
  param most: Int in 1..9 = 2
  event tick
  input rich: Bool = false
  initial a
  state a {
    on tick if mood == Mood.good and rich -> b
    on tick if mood == Mood.bad -> c
    on tick if most > 2 -> b
  }
  final b : ok
  final c : partial
}
";

#[test]
fn what_is_given_has_no_other_value() {
    let ends = |name: &str, given: &[&str]| -> Value {
        let fixed = ["--depth", "1", "--format", "json"];
        let (text, code) = explore(&format!("given-{name}"), GIVEN, &[&fixed[..], given].concat());
        assert_eq!(code, 0, "{text}");
        let told: Value = serde_json::from_str(&text).expect("it is JSON");
        serde_json::json!([told["ends"], told["goes_on"]])
    };
    let good = ["--param", "mood=good"];
    let poor = ["--input", "rich=false", "--param", "most=1"];
    // Any other value of `mood` would end otherwise; the params that are not given have all of theirs.
    assert!(ends("none", &[])[0]["partial"].is_number());
    let some = ends("some", &good);
    assert!(some[0]["partial"].is_null() && some[0]["ok"].as_u64() > Some(9), "{some}");
    let rich = ["--param", "mood=good", "--input", "rich=true", "--param", "most=1"];
    assert_eq!(ends("all", &rich), serde_json::json!([{"ok": 1}, 0]));
    assert_eq!(ends("poor", &[&good[..], &poor].concat()), serde_json::json!([{}, 1]));
    let said = |name: &str, given: &[&str], why: &str| {
        let (text, code) = explore(&format!("given-{name}"), GIVEN, given);
        assert!(code == 2 && text.contains(why), "{code} {text}");
    };
    said("range", &["--param", "most=10"], "10 is not in 1..9");
    said("kind", &["--param", "mood=glad"], "`mood`: ");
    said("name", &["--input", "rick=true"], "did you mean `rich`?");
}

const RUNS: &str = r#"
chart Child {
  event got
  initial waiting
  state waiting { on got -> found("x")  after 1h -> late }
  final found(page: Text)
  final late : stuck
}
chart Parent {
  event got
  event stop
  var page: Json = none
  initial loading
  state loading {
    run child Child() at entry
    on done(child) as answer if answer["page"] != none -> read { page = answer["page"] }
    on error(child) -> failed
    on stop -> stopped
  }
  state read { on stop -> loading }
  final failed : error
  final stopped : canceled
}
"#;

#[test]
fn a_chart_that_is_run_is_a_box() {
    let (text, code) = explore("runs", RUNS, &["--chart", "Parent", "--depth", "4"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("reached       loading, read, failed, stopped"), "{text}");
    assert!(text.contains("taken as a box: `child` runs Child"), "{text}");
}

const DATA: &str = r#"
type Item { kind: Text  score: Int }
tool web.search(query: Text) -> List(Text)
chart Data {
  event tagged(tags: List(Text))
  event paid(amount: Int)
  event items(all: List(Item))
  var sum: Int = 0
  var page: Json = none
  var hits: Json = none
  initial a
  state a {
    on tagged(tags) if "urgent" in tags -> urgent
    on tagged(tags) if len(tags) > 3 -> many
    on paid(n) { sum = sum + n }
    when sum >= 100 -> rich
    on items(all) if len([i for i in all if i.kind == "bug" and i.score > 7]) >= 2 -> bugs
    llm look { prompt "x" returns Json into page
      done if page["kind"] == "spam" and page["score"] > 5 -> spam
      done -> asking
    }
  }
  state urgent
  state many
  state rich
  state bugs
  state spam
  state asking {
    ask next on turn else stay { prompt "{options}" }
    may call web.search into hits
    when streak(tool) >= 3 -> stuck
  }
  state stuck
  state never { on paid -> a }
}
"#;

#[test]
fn values_that_conditions_ask_for_are_tried() {
    let (text, _) = explore("data", DATA, &["--depth", "14"]);
    assert!(
        text.contains("reached       a, urgent, many, rich, bugs, spam, asking, stuck"),
        "{text}"
    );
    let within = "not reached within the values tried: never";
    let bounded = "not reached within 14 inputs and the values tried: never";
    assert!(text.contains(within) || text.contains(bounded), "{text}");
}

#[test]
fn what_no_run_reaches_is_told_without_a_bound() {
    let text =
        LOOP.replace("-> hole }", "-> a }").replace("  state hole\n", "").replace("hole | ", "");
    let (text, _) = explore("whole", &text, &["--depth", "9", "--format", "json"]);
    let found: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(found["not_reached"], serde_json::json!(["never"]), "{text}");
}

/// A chart that runs another, with the ends of that.
fn mother(child: &str) -> String {
    format!(
        "chart Child {{\n  event got(n: Int)\n  var kept: Int = 0\n  {child}\n}}\n\
         chart Mother {{\n  event got(n: Int)\n  var n: Int = 0\n  initial loading\n  \
         state loading {{\n    run child Child() at entry\n    \
         on done(child) as r -> read {{ n = r[\"n\"] }}\n    on error(child) -> failed\n  }}\n  \
         state read {{ when n > 4321 -> much  when n <= 4321 -> little }}\n  \
         final much\n  final little\n  final failed : error\n}}\n"
    )
}

const SURE: &str = "initial waiting\n  state waiting { on got(n) -> found(n)  after 1h -> late(0) }\n  \
                    final found(n: Int)\n  final late(n: Int) : partial";

#[test]
fn what_a_chart_that_is_run_ends_with_is_varied() {
    let of = ["--chart", "Mother"];
    let (text, _) = explore("kid-data", &mother(SURE), &of);
    assert!(text.contains("not everything was tried: unbounded `child: Json`"), "{text}");
    assert!(text.contains("reached       loading, read, much, little\n"), "{text}");
    let bools = mother(SURE)
        .replace("found(n: Int)", "found(n: Bool)")
        .replace("found(n) ", "found(true) ");
    let bools = bools.replace("late(n: Int)", "late(n: Bool)").replace("late(0)", "late(true)");
    let bools = bools.replace("var n: Int = 0\n", "var n: Bool = false\n");
    let bools = bools.replace("when n > 4321", "when n").replace("when n <= 4321", "when not n");
    let (text, _) = explore("kid-bools", &bools, &of);
    assert!(!text.contains("not everything was tried"), "{text}");
    assert!(text.contains("reached       loading, read, much, little\n"), "{text}");
}

#[test]
fn a_chart_that_is_run_fails_only_if_it_can() {
    let of = ["--chart", "Mother"];
    let fails = |name: &str, child: &str| {
        let (text, _) = explore(&format!("kid-{name}"), &mother(child), &of);
        text.contains("much, little, failed\n")
    };
    assert!(!fails("sure", SURE));
    assert!(!fails("unreached", &format!("{SURE}\n  state hole")));
    for (name, from, to) in [
        ("status", ": partial", ": stuck"),
        ("limit", "initial waiting", "limits { turns 3 }\n  initial waiting"),
        ("step", "{ on got(n)", "{ llm think { prompt \"x\" }  on got(n)"),
        ("default", "initial waiting", "var x: Int = 1 div kept\n  initial waiting"),
        ("hole", "{ on got(n)", "{ on got(n) if n > 3 -> hole  on got(n)"),
    ] {
        assert!(SURE.contains(from), "{from}");
        assert!(fails(name, &format!("{}\n  state hole", SURE.replace(from, to))), "{name}");
    }
}

#[test]
fn calls_of_a_chart_that_is_run_are_said_not_to_be_counted() {
    let of = ["--chart", "Mother"];
    let asks = SURE.replace("{ on got(n)", "{ llm think { prompt \"x\" }  on got(n)");
    let (text, _) = explore("kid-calls", &mother(&asks), &of);
    let told = "worst cost    0 model calls, less those of the charts that it runs";
    assert!(text.contains(told), "{text}");
    let (text, _) = explore("kid-no-calls", &mother(SURE), &of);
    assert!(text.contains("worst cost    0 model calls\n"), "{text}");
}

#[test]
fn a_circle_is_told_with_the_way_there() {
    let chart = |least: &str| {
        format!(
            "chart C {{\n  input load: Int in 0..9 = 0\n  event k\n  var mode: Int = 0\n  initial a\n  \
             state a {{ when load > 5 and mode < 3 -> b {{ mode = 1 }}  on k -> z }}\n  \
             state b {{ when mode == 1 -> c }}\n  state c {{ when {least} -> a }}\n  final z\n}}\n"
        )
        .replace(" in 0..9", "")
    };
    let (text, _) = explore("circle", &chart("load > 2"), &["--depth", "2"]);
    assert!(text.contains("  livelock      start with load = "), "{text}");
    let (text, _) = explore("no-circle", &chart("load < 2"), &["--depth", "2"]);
    assert!(!text.contains("livelock"), "{text}");
}

const LOOKED_INTO: &str = "fn f() -> Text else \"\"\nchart F {\n  event go\n  event ok\n  var t: Text = \"\"\n  initial a\n  \
                           state a { on go -> c { t = f() } }\n  \
                           state c { on ok if t == \"no\" -> n  on ok if \"z\" in t and len(t) > 300 -> z  on ok -> a }\n  \
                           final n\n  final z\n}\n";

#[test]
fn results_of_functions_that_are_not_all_tried_are_told() {
    let (text, _) = explore("looked-into", LOOKED_INTO, &[]);
    assert!(text.contains("not everything was tried: unbounded `f: Text`"), "{text}");
    assert!(text.contains("the values tried: z"), "{text}");
    let compared = LOOKED_INTO.replace("\"z\" in t and len(t) > 300", "t == \"z\"");
    let (text, _) = explore("compared", &compared, &["--depth", "4"]);
    assert!(!text.contains("unbounded") && text.contains("reached       a, c, n, z\n"), "{text}");
}
