//! `always_reaches` proved by what a host can surely do, though the data are unbounded.

use super::budget::chart;
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::explore::property::{Properties, Verdict};

fn is_proved(text: &str) -> bool {
    let chart = chart(text);
    let verdicts = Properties::new(&chart, &Facts::new(&chart), 0).decide_all().0;
    matches!(verdicts[0], Verdict::Holds)
}

#[test]
fn a_review_that_the_host_can_keep_from_being_due() {
    let cases = [
        ("w >= 10", "", true),
        ("not (w < 5) or w < 0 - 3", "", true),
        ("w >= 5 and t > 7", "", true),
        // With the inputs as they are tried it is due.
        ("w >= 0", "", false),
        // Nothing tells how much it is.
        ("t >= 10", "", false),
        ("w + r >= 10", "", false),
        // Another step asks before, or a line takes the turn.
        ("w >= 10", "llm first { prompt \"p\" }", false),
        ("w >= 10", "on turn if r > 3 -> planning", false),
        ("w >= 10", "when w > 3 -> over", false),
    ];
    for (guard, line, proved) in cases {
        let text = format!(
            "chart A {{\n  event e\n  input t: Int = 0\n  var r: Int = 0\n  var w: Int = 0\n  code c {{ w = t - r }}\n  \
             llm review if {guard} {{ prompt \"p\" done -> planning {{ r = t }} }}\n  initial planning\n  {line}\n  \
             state planning {{ llm plan {{ prompt \"q\" }} -> acting }}\n  state acting {{ on e -> planning }}\n  final over\n  \
             check always_reaches(acting)\n}}\n"
        );
        assert_eq!(is_proved(&text), proved, "{guard} {line}");
    }
}

#[test]
fn a_question_with_an_option_that_is_always_there() {
    let cases = [
        ("may go -> c", "", true),
        ("may go if relevance(x) > 0.5 -> c", "", false),
        ("may go -> c", "on e if relevance(x) > 0.5 -> over", false),
        ("may go -> c", "on e if relevance(x) > 0.5 -> c", true),
        ("may go -> over", "", false),
        ("may go(n: Int) -> c", "", false),
    ];
    for (option, line, proved) in cases {
        let text = format!(
            "fn relevance(x: Text) -> Float\nchart A {{\n  event e\n  event g(x: Text)\n  var x: Text = \"\"\n  initial a\n  \
             state a {{ on g(y) -> b {{ x = y }} }}\n  state b {{ ask q on e else stay {{ prompt \"{{options}}\" }}\n    {line}\n    \
             {option}\n    may other \"o\" if x == \"y\" -> a }}\n  state c {{ on e -> a }}\n  final over\n  check always_reaches(c)\n}}\n"
        );
        assert_eq!(is_proved(&text), proved, "{option} {line}");
    }
}

#[test]
fn a_list_may_be_too_long_for_its_step() {
    let text = |each: &str| {
        format!(
            "chart A {{\n  param qs: List(Text)\n  initial a\n  state a {{ llm x {each} {{ prompt \"p\" returns Text done -> d }} }}\n  \
             final d\n  check always_reaches(d)\n}}\n"
        )
    };
    assert!(is_proved(&text("")));
    assert!(!is_proved(&text("each q in qs")));
    // Nor by a search, which tries some lists only.
    let found = chartc::check(
        &["a.chart".into()],
        &chartc::load::Memory::of("a.chart", &text("each q in qs")),
    );
    let codes: Vec<&str> = found.diagnostics.iter().map(|d| d.rule.code).collect();
    // And the list is read: nothing is said of an unused param.
    assert!(codes.contains(&"C0391") && !codes.contains(&"C0411"), "{codes:?}");
}
