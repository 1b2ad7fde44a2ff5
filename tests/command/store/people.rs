//! Ids of questions: which askings have the same one, and which have others.

use super::*;
use crate::run::command::chartc;
use std::collections::BTreeSet;

fn asks(name: &str, text: &str) -> PathBuf {
    let folder = folder(&format!("store-people-{name}"));
    std::fs::write(folder.join("asks.chart"), text).expect("a file");
    folder
}

/// Begins the run `ada`, or goes on with it.
fn run(folder: &Path, turns: &str) {
    let run = ["run", "asks.chart", "--human", "later", "--store", "s.db", "--run", "ada"];
    let (code, out, err) = chartc(folder, &[&run[..], &["--turns", turns]].concat());
    assert_eq!(code, 0, "{out}{err}");
}

fn store(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let (code, _, err) = chartc(folder, &[&["store", "s.db"], arguments].concat());
    (code, err.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The open questions: ids and texts.
fn asked(folder: &Path) -> Vec<(String, String)> {
    let asked = Store::open(&folder.join("s.db")).and_then(|store| store.asked("ada"));
    asked.expect("a store").into_iter().map(|one| (one.id, one.prompt)).collect()
}

#[test]
fn each_asking_has_an_id_of_its_own() {
    let folder = asks(
        "own",
        "chart Asks {
  event again
  var all: List(Int) = []
  var n: Int = 0
  initial one
  state one { human first \"One?\" { returns Int into n  retry 1 then -> two  done -> two }  on again -> one }
  state two { human all each x in [1, 1] \"Two?\" { returns Int into all  done -> both  error -> both } }
  parallel both {
    state left { initial l  state l { human same \"Three?\" { returns Int into n } } }
    state right { initial r  state r { human same2 \"Three?\" { returns Int into n } } }
  }
}
",
    );
    let mut seen = BTreeSet::new();
    let mut is_new = |count: usize| {
        let asked = asked(&folder);
        assert_eq!(asked.len(), count, "{asked:?}");
        for (id, _) in &asked {
            assert!(seen.insert(id.clone()), "{id} was there before");
        }
        asked
    };
    run(&folder, "1");
    let first = is_new(1);
    // The state is entered again.
    assert_eq!(store(&folder, &["send", "ada", "again"]).0, 0);
    assert_eq!(store(&folder, &["send", "ada", "turn"]).0, 0);
    assert_eq!(store(&folder, &["resume", "ada"]).0, 0);
    let second = is_new(1);
    assert_eq!(first[0].1, second[0].1, "the text is the same");
    let (code, said) = store(&folder, &["reply", "ada", &first[0].0, "1"]);
    assert!(code == 2 && said.contains("it was withdrawn"), "{said}");
    // An answer that cannot be used comes past the check of the command: the question is asked again.
    let file = folder.join("s.db");
    let letter = chartc_store::Letter::Reply(second[0].0.clone(), "many".into());
    Store::open(&file).and_then(|store| store.post("ada", &letter)).expect("it is open");
    assert_eq!(store(&folder, &["resume", "ada"]).0, 0);
    let third = is_new(1);
    assert!(third[0].1.starts_with("One?") && third[0].1.len() > 4, "{third:?}");
    assert_eq!(store(&folder, &["reply", "ada", &third[0].0, "1"]).0, 0);
    assert_eq!(store(&folder, &["send", "ada", "turn"]).0, 0);
    assert_eq!(store(&folder, &["resume", "ada"]).0, 0);
    // Two elements are asked the same; whoever answers one has not answered the other.
    let elements = is_new(2);
    assert_eq!(store(&folder, &["reply", "ada", &elements[1].0, "1"]).0, 0);
    assert_eq!(store(&folder, &["resume", "ada"]).0, 0);
    assert_eq!(asked(&folder), elements[..1]);
    assert_eq!(store(&folder, &["reply", "ada", &elements[0].0, "1"]).0, 0);
    assert_eq!(store(&folder, &["send", "ada", "turn"]).0, 0);
    assert_eq!(store(&folder, &["resume", "ada"]).0, 0);
    is_new(2);
    let (code, out, err) = chartc(&folder, &["replay", "--store", "s.db", "ada"]);
    assert_eq!(code, 0, "{out}{err}");
}

/// A variable that the question shows has changed since it was asked. It was shown with the old value, and stays so.
#[test]
fn an_open_question_keeps_its_text_and_its_id_over_restarts() {
    let folder = asks(
        "kept",
        "chart Asks {
  event pay_for(n: Int)
  var amount: Int = 3
  initial a
  state a { human approve \"Pay {amount}?\" { returns Bool }  on pay_for(n) { amount = n }  on done(approve) -> b }
  final b
}
",
    );
    run(&folder, "1");
    let before = asked(&folder);
    assert_eq!(before[0].1, "Pay 3?");
    assert_eq!(store(&folder, &["send", "ada", "pay_for", "{\"n\": 999}"]).0, 0);
    for _ in 0..2 {
        assert_eq!(store(&folder, &["resume", "ada"]).0, 0);
        assert_eq!(asked(&folder), before);
    }
    assert_eq!(store(&folder, &["reply", "ada", &before[0].0, "yes"]).0, 0);
    assert_eq!(store(&folder, &["resume", "ada"]).0, 0);
    assert_eq!(asked(&folder), []);
}

/// Nobody knows whether a person was asked at a terminal when the process died: they are asked again, and what they see then has its own id.
#[test]
fn a_question_that_is_put_again_with_another_text_has_another_id() {
    let charts = charts(
        "chart Asks {
  event pay_for(n: Int)
  var amount: Int = 3
  initial a
  state a { human approve \"Pay {amount}?\" { returns Bool }  on pay_for(n) { amount = n }  on done(approve) -> b }
  final b
}",
    );
    let plans = plans(&charts);
    let file = fresh("people-doubt");
    let ids = |change: bool| {
        let world = Arc::new(World { silent: Mutex::new(Some(0)), ..World::default() });
        let begun = engine(&plans, &file, world, Box::new(|_, _| Ok(())));
        let (handle, mut worker) = begun.expect("a store");
        let host = async {
            let handle = handle;
            use chartc_runtime::agents::Engine;
            handle.fire("ada", Event::turn("1")).await.expect("a turn");
            if change {
                let data = [("n".to_owned(), Value::Int(999))].into_iter().collect();
                handle.fire("ada", Event::new("2", "pay_for").with(data)).await.expect("it fits");
            }
        };
        wait(while_worked(&mut worker, host)).expect("a disk");
        let lines = Store::open(&file).and_then(|store| store.lines("ada")).expect("as written");
        let questions = lines.into_iter().filter_map(|line| match line.what {
            chartc_runtime::trace::What::Question { id, prompt, .. } => Some((id, prompt)),
            _ => None,
        });
        questions.collect::<Vec<_>>()
    };
    let first = ids(true);
    assert_eq!(first.len(), 1);
    // Put again after the crash, with the amount of now, and then once more with the same.
    ids(false);
    let all = ids(false);
    let texts: Vec<&str> = all.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["Pay 3?", "Pay 999?", "Pay 999?"]);
    assert!(all[0].0 != all[1].0 && all[1].0 == all[2].0, "{all:?}");
}

/// An answer that was given in time is taken, although its run goes on only after the deadline; one that comes too late is refused.
#[test]
fn an_accepted_answer_comes_before_a_deadline_that_passes_later() {
    let text = "chart Asks { initial a  state a { human approve \"Fine?\" { returns Bool  done -> b  error -> b }  after 8h -> late }  final b  final late : partial }";
    for is_late in [false, true] {
        let folder = asks(&format!("deadline-{is_late}"), text);
        let begin = ["run", "asks.chart", "--human", "later", "--store", "s.db", "--run", "ada"];
        let begin = [&begin[..], &["--turns", "1", "--clock", "real"]].concat();
        assert_eq!(chartc(&folder, &begin).0, 0);
        let file = folder.join("s.db");
        let hours_pass = || {
            assert_eq!(row::changed(&file, "UPDATE run SET updated_ms = updated_ms - 36000000"), 1);
            row::sealed(&file, "run", "name = 'ada'");
        };
        let id = open_question(&file, "ada");
        if is_late {
            hours_pass();
        }
        let (code, said) = store(&folder, &["reply", "ada", &id, "yes"]);
        if is_late {
            assert!(code == 2 && said.contains("a deadline has passed"), "{said}");
        } else {
            assert_eq!(code, 0, "{said}");
            hours_pass();
            row::letter_is_older(&file, 36_000_000);
        }
        let (code, out, err) = chartc(&folder, &["store", "s.db", "resume", "ada"]);
        let end = if is_late { "a -> late" } else { "a -> b" };
        assert!(code == 0 && out.contains(end), "{code} {out}{err}");
        let (code, out, err) = chartc(&folder, &["replay", "--store", "s.db", "ada"]);
        assert_eq!(code, 0, "{out}{err}");
    }
}

/// Stores that were written before there were ids: open questions have the ids that they would have had, and an answer that names a step is
/// not taken.
#[test]
fn a_store_without_ids_is_read() {
    let text = "chart Asks { initial a  state a { human approve \"Fine?\" { returns Bool  done -> b  error -> b } }  final b }";
    let folder = asks("old", text);
    run(&folder, "1");
    let file = folder.join("s.db");
    let id = open_question(&file, "ada");
    let question = "text LIKE '%\"kind\":\"question\"%'";
    for (table, column, which) in
        [("call", "call", "true"), ("run", "saved", "true"), ("line", "text", question)]
    {
        let with = format!("{column} LIKE '%{id}%'");
        let change = format!(
            "UPDATE {table} SET {column} = replace({column}, '\"id\":\"{id}\",', '') WHERE {with}"
        );
        assert_eq!(row::changed(&file, &change), 1, "{table}");
        row::sealed(&file, table, which);
        let left = format!("UPDATE {table} SET {column} = {column} WHERE {with}");
        assert_eq!(row::changed(&file, &left), 0, "{table} has no id any more");
    }
    assert_eq!(open_question(&file, "ada"), id);
    row::letter(&file, ["ada", "reply", "approve", "yes"]);
    assert_eq!(store(&folder, &["resume", "ada"]).0, 0);
    assert_eq!(open_question(&file, "ada"), id, "a step is no question");
    let lines = Store::open(&file).and_then(|store| store.lines("ada")).expect("as written");
    let last = serde_json::to_string(lines.last().expect("a line")).expect("JSON");
    assert!(last.contains("an answer was not taken: question `approve` is not open"), "{last}");
    assert_eq!(store(&folder, &["reply", "ada", &id, "yes"]).0, 0);
    assert_eq!(store(&folder, &["resume", "ada"]).0, 0);
    let (code, out, err) = chartc(&folder, &["replay", "--store", "s.db", "ada"]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(store(&folder, &["check"]).0, 0);
}
