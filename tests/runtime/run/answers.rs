//! How answers are read in a run: those that were cut off, and the page about all of them.

use super::*;
use chartc_runtime::oracle::{Answer, Asking, Question, ready};
use test_support::project::{read, shared};

/// Says this, cut off at its maximum number of tokens.
struct Cut(String);

impl Oracle for Cut {
    fn ask(&self, _: Arc<Question>) -> Asking {
        ready(Ok(Answer { text: self.0.clone(), usage: None, cut: true }))
    }

    fn name(&self) -> String {
        "cut".into()
    }
}

/// How a step with these items ends if its answer is cut off: the status, why it is unusable, what was repaired and read.
fn ends(step: &str, said: &str) -> (Option<&'static str>, String) {
    let chart = chart(&format!(
        "client c {{ model \"m:m\"  max_tokens 20 }}
enum Kind {{ good bad }}
chart Teller {{
  initial a
  state a {{
    {step}
    may ship \"\" -> told
  }}
  final told
  final failed : error
}}"
    ));
    let oracle: Arc<dyn Oracle> = Arc::new(Cut(said.to_owned()));
    let ran = run(&chart, &[], "{}", Some(oracle), async |s| s.run_turns(1).await.map(drop));
    let of = ran.lines.iter().filter_map(|line| match &line.what {
        What::Unusable { why, .. } => Some(why.clone()),
        What::Answer { repairs, value, .. } => Some(format!("{repairs:?} {value:?}")),
        _ => None,
    });
    (ran.status, of.collect::<Vec<_>>().join("; "))
}

#[test]
fn an_answer_that_was_cut_off_is_unusable_whatever_its_type() {
    let llm = |returns: &str| {
        format!("llm t with c {{ prompt \"Say.\" {returns} error -> failed done -> told }}")
    };
    let plain = "cut off at `max_tokens` (20): raise it";
    let text = format!("{plain}, or write `cut ok` in the step if a cut text will do");
    for (returns, said, why) in [
        ("returns Text", "Once upon a", &*text),
        ("returns Text", r#"{"value": "Once upon a"}"#, &*text),
        ("returns Kind", "good", plain),
        ("returns Int", r#"{"value": 4"#, plain),
        ("", r#"{"reasoning": "r", "action": "noop"}"#, plain),
    ] {
        assert_eq!(ends(&llm(returns), said), (Some("error"), why.to_owned()), "{returns} {said}");
    }
    let ask = "ask q with c on turn always else failed { prompt \"{options}\" retry 0 }";
    assert_eq!(
        ends(ask, r#"{"choice": "ship", "reasoning": "I thi"#),
        (Some("error"), plain.to_owned())
    );
}

#[test]
fn a_step_may_say_that_a_cut_text_will_do() {
    let step = "llm t with c { prompt \"Say.\" returns Text cut ok error -> failed done -> told }";
    for (said, text) in [
        ("Once upon a", "Once upon a"),
        (r#"{"value": "Once upon a"#, "Once upon a"),
        (r#"{"value": "one\ntwo\u00"#, "one\ntwo"),
        ("<think>a story</think>Once", "Once"),
    ] {
        let (status, told) = ends(step, said);
        assert_eq!(status, Some("ok"), "{said}: {told}");
        assert!(
            told.contains("cut off at `max_tokens`") && told.contains(&format!("{text:?}")),
            "{told}"
        );
    }
    for said in [r#"{"value": "#, r#"{"val"#, "<think>a sto"] {
        assert_eq!(ends(step, said).0, Some("error"), "{said}");
    }
}

/// 260 answers of two small models, of which 95 were cut off.
#[test]
fn what_small_models_answer_is_read_or_refused() {
    use chartc_runtime::answer::value;
    let Some(path) = shared().map(|folder| folder.join("cases/model/answers.jsonl")) else {
        return;
    };
    let rows = std::fs::read_to_string(path).expect("answers");
    let rows: Vec<serde_json::Value> =
        rows.lines().map(|row| serde_json::from_str(row).expect("a row is JSON")).collect();
    assert_eq!(rows.len(), 260);
    let text =
        |row: &serde_json::Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let llm = |returns: &str| {
        format!("llm t with c {{ prompt \"Say.\" {returns} error -> failed done -> told }}")
    };
    for row in rows.iter().filter(|row| row["finish_reason"] == "length") {
        for returns in ["returns Text", "returns Kind", "returns List(Text)", ""] {
            assert_eq!(ends(&llm(returns), &text(row, "answer")).0, Some("error"), "{row}");
        }
    }
    let whole = rows.iter().filter(|row| row["finish_reason"] != "length");
    let actions = whole.filter(|row| text(row, "system").contains("\"action\": \"its name\""));
    let (mut read, mut refused) = (0, 0);
    for row in actions {
        let Ok(reading) = value(&text(row, "answer"), "") else {
            refused += 1;
            continue;
        };
        let Value::Map(action) = reading.meant else { panic!("{row}") };
        let Some(Value::Text(name)) = action.get("action") else { panic!("{row}") };
        assert!(!["", "its name", "name", "why", "…"].contains(&name.trim()), "{row}");
        read += 1;
    }
    assert!(read >= 3 && refused >= 20, "{read} read, {refused} refused");
}

#[test]
fn the_page_about_answers_shows_rows_of_the_table() {
    let table = read("runtime/src/executor/table.txt");
    let page = read("docs/answers.md");
    let mut shown = 0;
    for line in
        page.lines().filter(|line| line.starts_with("| `") && line.matches(" | ").count() > 1)
    {
        let cells: Vec<&str> = line.trim_matches(['|', ' ']).split(" | ").collect();
        let [question, answer, meaning] = cells.as_slice() else { panic!("{line}") };
        let bare = |cell: &str| cell.trim_matches('`').to_owned();
        let meaning = if *meaning == "asked again" { "-".to_owned() } else { bare(meaning) };
        let row = format!("{} | {} | {meaning}", bare(question), bare(answer));
        assert!(table.lines().any(|known| known == row), "{row}");
        shown += 1;
    }
    assert!(shown >= 60, "{shown} rows");
}

#[test]
fn names_in_prose_with_any_marks_around_them() {
    let Some(folder) = shared().map(|folder| folder.join("cases/public")) else { return };
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a case");
    let chart = chart(&text("40_enum_prose.chart"));
    let kinds = |script: &str, turns: u32| {
        let ran = run(&chart, &[], script, None, async |s| s.run_turns(turns).await.map(drop));
        let values = ran.lines.iter().filter_map(|line| match &line.what {
            What::Answer { value: Value::Text(kind), .. } => Some((line.seq, kind.clone())),
            What::Unusable { .. } => Some((line.seq, "unusable".to_owned())),
            _ => None,
        });
        values.map(|(_, kind)| kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&text("40b.script.yaml"), 7), ["spam"; 7]);
    let script = text("40.script.yaml");
    let wanted = script.lines().filter(|line| line.contains("- {text:"));
    let wanted: Vec<&str> =
        wanted.map(|line| line.rsplit_once('#').expect("a comment").1.trim()).collect();
    let got = kinds(&script, 17);
    assert_eq!(got.len(), wanted.len());
    for (got, wanted) in got.iter().zip(wanted) {
        let may = wanted.split(", never").next().unwrap_or_default();
        assert!(may.split(" or ").any(|one| one == got), "{got}, not {wanted}");
    }
}
