//! Runs that only wait, for a person or for a deadline. [`CHARTS`] are those of `chartc serve`, too.

use super::*;
use crate::run::command::chartc;
use chartc_runtime::trace::What;

/// A person is asked, with a limit on the turns and without one; beside another region; and where a turn could start nothing.
pub(crate) const CHARTS: [(&str, &str); 4] = [
    (
        "limited",
        "limits { turns 10 }  initial ask  state ask { human ok \"Pay?\" { returns Bool }  on done(ok) -> paid }  final paid",
    ),
    (
        "unlimited",
        "initial ask  state ask { human ok \"Pay?\" { returns Bool }  on done(ok) -> paid }  final paid",
    ),
    (
        "counting",
        "limits { turns 10 }  initial ask  state ask { human ok \"Pay?\" { returns Bool }  on done(ok) -> paid  after 3 turns -> late }  final late : stuck  final paid",
    ),
    (
        "guarded",
        "limits { turns 10 }  var wanted: Bool = false  initial ask\n  state ask { human ok \"Pay?\" { returns Bool }  llm think if wanted { prompt \"x\" }  on done(ok) -> paid }  final paid",
    ),
];

fn written(name: &str, body: &str) -> PathBuf {
    let folder = folder(&format!("waits-{name}"));
    std::fs::write(folder.join("pay.chart"), format!("chart Pay {{ {body} }}\n")).expect("a file");
    folder
}

fn turns(folder: &Path) -> usize {
    let lines = Store::open(&folder.join("s.db")).and_then(|s| s.lines("ada")).expect("a run");
    lines.iter().filter(|line| matches!(line.what, What::Turn { .. })).count()
}

#[test]
fn a_stored_run_that_waits_for_a_person_uses_no_turns() {
    let run =
        ["run", "pay.chart", "--human", "later", "--store", "s.db", "--run", "ada", "--llm=first"];
    for (name, body) in CHARTS {
        let folder = written(name, body);
        let (code, out, err) = chartc(&folder, &run);
        assert_eq!((code, out.contains("ended")), (0, false), "{name}: {out}{err}");
        assert!(err.contains("`ada` waits for ok\n"), "{name}: {err}");
        let (_, id) = err.split_once("store s.db reply ada ").expect("it says how to answer");
        let id = id.split(' ').next().expect("a word");
        let made = turns(&folder);
        assert!(made <= 2, "{name}: {made} turns");
        for again in [&run[..], &["store", "s.db", "resume", "ada"]] {
            let before = turns(&folder);
            let (code, out, err) = chartc(&folder, again);
            // A guard may have become true outside, so one turn looks at it.
            let most = usize::from(name == "guarded");
            assert_eq!((code, turns(&folder) - before <= most), (0, true), "{name}: {out}{err}");
        }
        assert_eq!(chartc(&folder, &["store", "s.db", "reply", "ada", id, "true"]).0, 0, "{name}");
        let (code, out, err) = chartc(&folder, &["store", "s.db", "resume", "ada"]);
        assert_eq!(code, 0, "{name}: {out}{err}");
        assert!(out.contains("paid: ended ok"), "{name}: {out}{err}");
    }
}

#[test]
fn a_run_without_turns_to_make_reaches_its_deadline() {
    let body = "initial a  state a { llm x { prompt \"x\" }  on done(x) -> b }  state b { after 5s -> done }  final done";
    let folder = written("deadline", body);
    let (code, out, err) = chartc(&folder, &["run", "pay.chart", "--llm", "first"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("done: ended ok (1 turn, 1 model call)"), "{out}");
    let stored = ["run", "pay.chart", "--llm", "first", "--store", "s.db", "--run", "ada"];
    let (code, out, err) = chartc(&folder, &stored);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("done: ended ok (1 turn, 1 model call)"), "{out}");
    std::fs::write(
        folder.join("pay.chart"),
        format!("chart Pay {{ {} }}\n", body.replace("5s", "2s")),
    )
    .expect("a file");
    let (code, out, err) =
        chartc(&folder, &["run", "pay.chart", "--llm", "first", "--clock", "real"]);
    assert_eq!((code, out.contains("done: ended ok")), (0, true), "{out}{err}");
    assert!(err.contains("for the next deadline"), "{err}");
    // Deadlines that follow one another without end do not keep the command.
    let circle = "initial a  state a { llm x { prompt \"x\" }  on done(x) -> b }  state b { after 5s -> c }  state c { after 5s -> b }";
    std::fs::write(folder.join("pay.chart"), format!("chart Pay {{ {circle} }}\n"))
        .expect("a file");
    let (code, out, err) = chartc(&folder, &["run", "pay.chart", "--llm", "first"]);
    assert_eq!((code, out.contains("stopped (1 turn")), (0, true), "{out}{err}");
}
