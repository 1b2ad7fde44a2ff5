//! `chartc store … migrate --check`, and what `chartc run` and `chartc store … resume` do then.

use super::*;
use crate::run::command::chartc;

const BEFORE: &str = "chart Ticket {
  event closed
  event seen(by: Text)
  var by: Text = \"\"
  var count: Int = 0
  initial waiting
  state waiting { on seen(who) -> open { by = who }  after 1h -> late }
  state open {
    human approve \"Fine, {by}?\" { returns Bool }
    on done(approve) as it -> done
  }
  final done
  final late : partial
}
";

const AFTER: &str = "chart Ticket {
  event closed
  event seen(by: Text)
  var by: Text = \"\"
  var count: Float = 0.5
  var more: Int = 1
  initial idle
  state idle renamed_from waiting { on seen(who) -> open { by = who }  after 1h -> late }
  state open {
    human approve \"Fine, {by}?\" { returns Bool }
    on done(approve) as it -> done
  }
  final done
  final late : partial
}
";

fn run<'a>(name: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let start = [
        "run",
        "ticket.chart",
        "--human",
        "later",
        "--store",
        "s.db",
        "--llm=first",
        "--run",
        name,
    ];
    [&start[..], more].concat()
}

/// A store with a run that waits, one that is open, and one that has ended.
fn begun(name: &str) -> PathBuf {
    let folder = folder(&format!("store-migrate-{name}"));
    std::fs::write(folder.join("ticket.chart"), BEFORE).expect("a file");
    std::fs::write(
        folder.join("open.json"),
        "[{\"event\": \"seen\", \"data\": {\"by\": \"Ada\"}}, {\"turn\": {}}]",
    )
    .expect("a file");
    std::fs::write(folder.join("late.json"), "[{\"after_ms\": 3600000}]").expect("a file");
    assert_eq!(chartc(&folder, &run("idle", &["--turns", "1"])).0, 0);
    assert_eq!(chartc(&folder, &run("open", &["--events", "open.json"])).0, 0);
    assert_eq!(chartc(&folder, &run("over", &["--events", "late.json"])).0, 0);
    folder
}

fn check(folder: &Path, chart: &str, more: &[&str]) -> (i32, String, String) {
    chartc(folder, &[&["store", "s.db", "migrate", "--check", chart], more].concat())
}

#[test]
fn a_check_says_what_a_changed_chart_does_with_each_run() {
    let folder = begun("said");
    let (code, out, err) = check(&folder, "ticket.chart", &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(
        out,
        "idle: loads as it is\nopen: loads as it is\nover: has ended\n2 of 2 runs of `Ticket` load in this version\n"
    );
    std::fs::write(folder.join("new.chart"), AFTER.replace("Float = 0.5", "Int = 0"))
        .expect("a file");
    let (code, out, err) = check(&folder, "new.chart", &[]);
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(
        out,
        "idle: loads with changes\n  the state `waiting` is `idle` now\n  the variable `more` is new and has its default\n\
         open: loads with changes\n  the variable `more` is new and has its default\n\
         over: has ended\n2 of 2 runs of `Ticket` load in this version\n"
    );
    std::fs::write(folder.join("new.chart"), AFTER.replace(" renamed_from waiting", ""))
        .expect("a file");
    let (code, out, _) = check(&folder, "new.chart", &["--format", "json"]);
    assert_eq!(code, 1);
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let gone = "the state `waiting`, which is active, is gone: keep it, or write `renamed_from waiting` in the one that took its place";
    let ty = "`count` was of type Int and is of type Float: keep the type, or give the new one another name";
    assert_eq!(
        json,
        serde_json::json!({"chart": "Ticket", "loads": false, "runs": [
            {"run": "idle", "result": "refused", "changes": [], "reasons": [gone, ty]},
            {"run": "open", "result": "refused", "changes": [], "reasons": [ty]},
            {"run": "over", "result": "ended", "changes": [], "reasons": []},
        ]})
    );
    let other = BEFORE.replace("chart Ticket", "chart Other");
    std::fs::write(folder.join("other.chart"), other).expect("a file");
    let (code, out, err) = check(&folder, "other.chart", &[]);
    assert_eq!((code, out.as_str()), (0, "0 of 0 runs of `Other` load in this version\n"));
    assert!(err.contains("has no run of `Other`, only of `Ticket`"), "{err}");
    assert_eq!(check(&folder, "none.chart", &[]).0, 1);
}

#[test]
fn a_run_does_what_was_said() {
    let folder = begun("done");
    let id = open_question(&folder.join("s.db"), "open");
    let chart = |text: &str| std::fs::write(folder.join("ticket.chart"), text).expect("a file");
    chart(AFTER);
    let (code, out, _) = check(&folder, "ticket.chart", &[]);
    assert!(code == 1 && out.contains("0 of 2 runs"), "{out}");
    let why = "`count` was of type Int and is of type Float";
    for go_on in [run("idle", &["--turns", "1"]), vec!["store", "s.db", "resume", "open"]] {
        let (code, _, err) = chartc(&folder, &go_on);
        assert!(code == 2 && err.contains(why), "{code} {err}");
    }
    chart(&AFTER.replace("Float = 0.5", "Int = 0"));
    let (code, out, _) = check(&folder, "ticket.chart", &[]);
    assert!(code == 0 && out.contains("2 of 2 runs"), "{out}");
    // The question has the id that it had before the chart changed.
    assert_eq!(chartc(&folder, &["store", "s.db", "reply", "open", &id, "yes"]).0, 0);
    let (code, out, err) = chartc(&folder, &["store", "s.db", "resume", "open"]);
    assert!(code == 0 && out.contains("open -> done"), "{out}{err}");
    let (code, out, err) = chartc(&folder, &run("idle", &["--events", "open.json"]));
    assert!(code == 0 && out.contains("idle -> open"), "{out}{err}");
    let store = Store::open(&folder.join("s.db")).expect("a store");
    assert_eq!(store.check().expect("it can be read"), [""; 0]);
}

#[test]
fn a_snapshot_of_another_version_goes_on_or_says_why_not() {
    let folder = folder("snapshot-changed");
    let chart = |text: &str| std::fs::write(folder.join("ticket.chart"), text).expect("a file");
    chart(BEFORE);
    let run = |more: &[&str]| {
        chartc(
            &folder,
            &[&["run", "ticket.chart", "--llm", "first", "--turns", "0"], more].concat(),
        )
    };
    let (code, out, err) = run(&["--snapshot", "s.json"]);
    assert_eq!(code, 0, "{out}{err}");
    chart(&AFTER.replace("Float = 0.5", "Int = 0"));
    std::fs::write(folder.join("late.json"), "[{\"after_ms\": 3600000}]").expect("a file");
    let (code, out, err) = run(&["--resume", "s.json", "--events", "late.json"]);
    assert!(code == 0 && out.contains("idle -> late"), "{out}{err}");
    chart(&AFTER.replace(" renamed_from waiting", ""));
    let (code, _, err) = run(&["--resume", "s.json"]);
    let said = err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(code == 2 && said.contains("the state `waiting`, which is active, is gone"), "{err}");
    assert!(said.contains("`count` was of type Int and is of type Float"), "{err}");
}

const MACHINE: &str = "chart Machine {
  event stop
  event go
  event step
  initial running
  parallel running {
    state left { initial a  state a { on step -> b }  state b {} }
    state right { initial c  state c { on step -> d }  state d {} }
    history back deep -> left.a, right.c
    on stop -> stopped
  }
  state stopped { on go -> running.back }
}
";

#[test]
fn what_a_history_remembers_must_be_there_for_check_and_run() {
    let folder = folder("store-migrate-history");
    let chart = |text: &str| std::fs::write(folder.join("m.chart"), text).expect("a file");
    chart(MACHINE);
    std::fs::write(folder.join("stop.json"), "[{\"event\":\"step\"},{\"event\":\"stop\"}]")
        .expect("a file");
    std::fs::write(folder.join("go.json"), "[{\"event\":\"go\"}]").expect("a file");
    let run = |events| ["run", "m.chart", "--store", "s.db", "--run", "r", "--events", events];
    assert_eq!(chartc(&folder, &run("stop.json")).0, 0);
    let other = MACHINE.replace("on step -> d }  state d", "on step -> e }  state e");
    chart(&other);
    let why = "the state `running.right.d`, which the history `running.back` remembers, is gone: keep it, or write `renamed_from d` in the one that took its place";
    let (code, out, _) = check(&folder, "m.chart", &[]);
    assert!(code == 1 && out.contains(&format!("r: is refused\n  {why}\n")), "{out}");
    let (code, out, err) = chartc(&folder, &run("go.json"));
    let err: Vec<&str> = err.split_whitespace().filter(|word| *word != "│").collect();
    assert!(code == 2 && err.join(" ").contains(why), "{out}{err:?}");
    chart(&other.replace("state e {}", "state e renamed_from d {}"));
    assert_eq!(check(&folder, "m.chart", &[]).0, 0);
    let (code, out, err) = chartc(&folder, &run("go.json"));
    assert!(code == 0 && out.contains("right.e"), "{out}{err}");
}
