//! Tests of what goes on at the same time: charts that run others, elements of a step, regions.

use super::play;

const CHART: &str = r#"
tool find(query: Text) -> Text

chart Child {
  param word: Text
  initial a
  state a {
    llm think { prompt "What of {word}?"  returns Text  done -> good(think)  error -> bad }
  }
  final good(said: Text)
  final bad : error
}

chart Main {
  var found: List(Text) = []
  var said: Text = ""
  initial both
  parallel both {
    state left {
      initial run_it
      state run_it { run helper Child("owls")  on done(helper) as it -> done_left { said = it["said"] } }
      final done_left
    }
    state right {
      initial search
      state search {
        llm grade each x in ["a", "b", "c"] { prompt "Grade {x}."  returns Text into found  else skip  done -> done_right }
      }
      final done_right
    }
    on done(both) -> finished
  }
  final finished
}
"#;

/// `name` is of the test alone: tests run side by side.
fn main(name: &str, body: &str) -> (String, i32) {
    play(&format!("together-{name}"), &format!("{CHART}\ntest \"t\" for Main {{\n{body}\n}}\n"))
}

#[test]
fn answers_come_in_the_order_of_the_test() {
    let (out, code) = main(
        "answers_come_in_the_order_of_the_test",
        "turn\n answers grade[2] \"C\"\n answers grade[0] \"A\"\n answers grade \"B\"
         expect found == [\"A\", \"B\", \"C\"]
         turn\n answers helper/think \"they hoot\"
         expect said == \"they hoot\"\n expect ended ok",
    );
    assert_eq!(code, 0, "{out}");
}

#[test]
fn calls_of_children_and_of_elements_fail() {
    let (out, code) = main(
        "calls_of_children_and_of_elements_fail",
        "turn\n fails grade[1] timeout\n answers grade[0] \"A\"\n answers grade[2] \"C\"
         expect found == [\"A\", \"C\"]
         turn\n fails helper/think \"no\"
         expect not ended",
    );
    assert_eq!(code, 0, "{out}");
}

#[test]
fn who_does_not_ask_is_told_with_what_waits() {
    let (out, code) = main(
        "who_does_not_ask_is_told_with_what_waits",
        "turn\n answers grade[0] \"A\"\n answers grade[0] \"A\"",
    );
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("`grade[0]` does not ask now"), "{out}");
    assert!(out.contains("`grade[1]`, `grade[2]`"), "{out}");
    let (out, code) =
        main("who_does_not_ask_is_told_with_what_waits", "turn\n answers helper/thnk \"A\"");
    assert!(code == 1 && out.contains("`helper/thnk` does not ask now"), "{out}");
    let (out, code) =
        main("who_does_not_ask_is_told_with_what_waits", "turn\n answers helpr/think \"A\"");
    assert!(code == 1 && out.contains("did you mean `helper`"), "{out}");
    let text = format!(
        "{CHART}\ntest \"t\" for Child {{ given word = \"a\"  turn  answers think[0] \"A\" }}\n"
    );
    let (out, code) = play("together", &text);
    assert!(code == 1 && out.contains("`think` has no `each`"), "{out}");
}

#[test]
fn the_printer_writes_who_is_asked() {
    let said = "answers helper/think \"x\"";
    let text = format!("{CHART}\ntest \"t\" for Main {{ turn  {said}  fails grade[1] timeout }}\n");
    let done = chartc::check(&["a.chart".into()], &chartc::load::Memory::of("a.chart", &text));
    let printed = chartc_compiler::syntax::print::print(&done.files[0]);
    assert!(printed.contains(said) && printed.contains("fails grade[1] timeout"), "{printed}");
    assert!(printed.contains("llm grade each x in [\"a\", \"b\", \"c\"] {"), "{printed}");
    assert!(printed.contains("else skip"), "{printed}");
}
