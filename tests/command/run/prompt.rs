//! `chartc prompt`: whole prompts of the charts that are shipped.

use super::command::{chartc, folder};
use super::root;

/// What is shown, and what is complained of.
fn shown(arguments: &[&str], code: i32) -> String {
    let arguments = [&["prompt"], arguments].concat();
    let (exit, out, complaint) = chartc(root(), &arguments);
    assert_eq!(exit, code, "{out}{complaint}");
    out + &complaint
}

#[test]
fn builder_in_each_state() {
    let mut all = String::new();
    for state in ["observing", "ideating", "implementing", "testing", "reflecting"] {
        all += &shown(
            &[
                "charts/builder.chart",
                "--at",
                state,
                "--param",
                "agent_id=ada",
                "--input",
                "balance=7.5",
            ],
            0,
        );
    }
    insta::assert_snapshot!(all);
}

#[test]
fn phases_says_where_it_is_and_what_it_may() {
    let at = |state| {
        shown(
            &[
                "charts/phases.chart",
                "--at",
                state,
                "--param",
                "goal=find owls",
                "--var",
                "notes=two seen",
            ],
            0,
        )
    };
    insta::assert_snapshot!(
        ["run.init", "run.searching", "run.analyzing", "run.stuck.search"].map(at).concat()
    );
}

#[test]
fn social_on_the_event_that_it_waits_for() {
    insta::assert_snapshot!(shown(
        &[
            "charts/social.chart",
            "--at",
            "active.evaluating",
            "--param",
            "name=Ada",
            "--param",
            "interests=[\"owls\"]",
            "--param",
            "personality=Curious.",
            "--var",
            r#"post={"id":"1","text":"An owl","velocity":0.5}"#,
            "--functions",
            "charts/social.script.yaml",
        ],
        0,
    ));
}

#[test]
fn support_as_json() {
    insta::assert_snapshot!(shown(
        &[
            "charts/support.chart",
            "--at",
            "open.sorting",
            "--param",
            "signature=Ann",
            "--format",
            "json"
        ],
        0
    ));
}

#[test]
fn what_is_not_there_is_said() {
    let said = |arguments: &[&str], code, words: &str| {
        let shown = shown(
            &[&["charts/builder.chart", "--param", "agent_id=ada"], arguments].concat(),
            code,
        );
        assert!(shown.contains(words), "{shown}");
    };
    said(&["--at", "observin"], 2, "did you mean `observing`?");
    said(&["--step", "observ"], 2, "did you mean `observe`?");
    said(&["--at", "ideating", "--step", "observe"], 1, "nothing is asked at `ideating`");
    said(&["--at", "shipping"], 1, "nothing is asked at `shipping`");
    said(&["--var", "sen=1"], 2, "`sen`");
    said(&["--var", "seen=many"], 2, "seen");
}

/// The fixture that has components of all four kinds, at all three places, with conditions, and formats of all sorts.
fn stall(arguments: &[&str]) -> String {
    let agent = "tests/language/fixtures/stall/keeper/agent.yaml";
    shown(&[&[agent], arguments].concat(), 0)
}

#[test]
fn an_agent_with_components_and_formats() {
    let inputs = |balance, taken| {
        let stock = r#"my_artifacts=["lamp", {"id": "oil"}]"#;
        let all = ["tick=42", balance, taken, "successful_actions=7", stock];
        all.iter().flat_map(|input| ["--input", input]).collect::<Vec<_>>()
    };
    let few = inputs("balance=1234", "actions_taken=8");
    let many = inputs("balance=2500000", "actions_taken=101");
    let at_closing = |inputs: &[&str]| stall(&[&["--at", "closing"], inputs].concat());
    let debts = inputs("balance=-3", "actions_taken=0");
    insta::assert_snapshot!(
        [stall(&few), stall(&many), at_closing(&few), at_closing(&debts)].concat()
    );
}

const INBOX: &str = r#"
chart Inbox {
  input seen: Json = {}
  event mail.came(from: Text)
  event mail.went(count: Int)
  var read: Int = 0
  initial open
  state open {
    enter { read = read + 1 }
    initial first
    state first {
      enter { read = read + 10 }
      human look "Read {read}. All well?"
      ask next on mail else stay { prompt """Read {read}. {options}""" }
      may keep
      may drop -> gone
      llm sum { prompt """Seen {seen.last.by:>8}, {read:d} of {str(seen.count)}""" }
    }
  }
  final gone
}
"#;

/// `chartc prompt inbox.chart`.
fn inbox(name: &str, arguments: &[&str], code: i32) -> String {
    let folder = folder(&format!("prompt-{name}"));
    std::fs::write(folder.join("inbox.chart"), INBOX).expect("it can be written");
    let (exit, out, complaint) = chartc(&folder, &[&["prompt", "inbox.chart"], arguments].concat());
    assert_eq!(exit, code, "{out}{complaint}");
    out + &complaint
}

#[test]
fn people_and_each_event_that_a_question_waits_for() {
    let all = inbox("all", &["--data", r#"{"from": "ben"}"#], 1);
    insta::assert_snapshot!("prompt_inbox", all);
    let went = inbox("went", &["--event", "mail.went", "--data", r#"{"count": 3}"#], 0);
    assert!(went.starts_with("ask next on mail.went in open.first\n"), "{went}");
    assert!(!went.contains("human") && !went.contains("mail.came"), "{went}");
    let json = inbox("json", &["--event", "mail.went", "--format", "json"], 2);
    assert!(json.contains("`count`: expected Int, found none: set it with `--data`"), "{json}");
    let strange = inbox("strange", &["--event", "mail.cam"], 2);
    assert!(strange.contains("did you mean `mail.came`?"), "{strange}");
}

#[test]
fn what_entering_does_is_done_where_it_is_asked_for() {
    let read = |arguments: &[&str]| {
        let arguments = [&["--step", "look"], arguments].concat();
        let shown = inbox(&format!("enter-{}", arguments.len()), &arguments, 0);
        shown.lines().nth(2).map(str::to_owned).expect("a prompt")
    };
    assert_eq!(read(&["--at", "open.first"]), "Read 0. All well?");
    assert_eq!(read(&["--at", "open.first", "--enter"]), "Read 11. All well?");
    assert_eq!(read(&["--at", "open", "--enter", "--var", "read=5"]), "Read 16. All well?");
    // Where the chart starts, it does what it does at its start.
    assert_eq!(read(&[]), "Read 11. All well?");
}

#[test]
fn a_placeholder_of_a_component_is_named_with_its_place() {
    let folder = folder("prompt-component");
    let chart = r#"
chart Small {
  input seen: Json = {}
  initial only
  state only { llm look { prompt "What now?" } }
  component first into look if seen.never == 1 "Never {seen.a}"
  component second into look "Then {seen.a} and {seen.b[2]}"
}
"#;
    std::fs::write(folder.join("small.chart"), chart).expect("it can be written");
    let shown = |input| {
        let (exit, out, complaint) = chartc(&folder, &["prompt", "small.chart", "--input", input]);
        (exit, out + &complaint)
    };
    let (exit, said) = shown(r#"seen={"a": 1, "b": [1]}"#);
    let why = "`look` cannot be written:\n  small.chart:7:49: {seen.b[2]}: no element 2, the list has 1\n";
    assert_eq!((exit, said.as_str()), (1, why));
    assert_eq!(shown(r#"seen={"a": 1, "b": [1, 2, 3]}"#).0, 0);
}

const GRADES: &str = r#"
type Page { text: Text  size: Int  tags: List(Text) }
enum Mood { glad cross }

chart Grades {
  param least: Int = 1
  var pages: List(Page) = []
  var moods: List(Mood) = [Mood.cross]
  initial grading
  state grading {
    llm grade each page in [p for p in pages if p.size / least > 0] {
      prompt """Does this help? {page.text} ({page.size:d}) {page.tags}"""
      returns Bool
      done -> graded
    }
    human sure each mood in moods "Is {mood} right?" { returns Bool }
  }
  final graded
}
"#;

#[test]
fn a_step_is_shown_for_the_first_element_of_its_list_or_the_given_one_or_an_example() {
    let folder = folder("prompt-each");
    std::fs::write(folder.join("grades.chart"), GRADES).expect("it can be written");
    let shown = |arguments: &[&str], code| {
        let (exit, out, complaint) =
            chartc(&folder, &[&["prompt", "grades.chart"], arguments].concat());
        assert_eq!(exit, code, "{out}{complaint}");
        out + &complaint
    };
    insta::assert_snapshot!("prompt_each", shown(&[], 0));
    let pages = r#"pages=[{"text":"Owls","size":3,"tags":[]},{"text":"b","size":2,"tags":[]}]"#;
    let first = shown(&["--step", "grade", "--var", pages], 0);
    assert!(first.contains("the first element") && first.contains("Owls (3) []"), "{first}");
    let element = r#"{"text":"Mice","size":4,"tags":["a"]}"#;
    for list in [&[][..], &["--var", pages]] {
        let given = shown(&[&["--step", "grade", "--element", element], list].concat(), 0);
        assert!(given.contains("--- element\n") && given.contains("Mice (4) ['a']"), "{given}");
    }
    let json = shown(&["--step", "grade", "--format", "json"], 0);
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json[0]["element"]["value"]["text"], "<text>");
    let misfit = shown(&["--step", "grade", "--element", "7"], 2);
    assert!(misfit.contains("`--element`: expected Page, found Int"), "{misfit}");
    let fails = shown(&["--step", "grade", "--var", pages, "--param", "least=0"], 1);
    assert!(fails.contains("the list of `grade` cannot be computed: division by zero"), "{fails}");
    // A step without a list.
    let none = inbox("element", &["--element", "7"], 2);
    assert!(none.contains("no step that is shown has an `each`"), "{none}");
}
