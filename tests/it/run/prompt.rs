//! `chartc prompt`: whole prompts of the charts that are shipped.

use super::command::chartc;
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
