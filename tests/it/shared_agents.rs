//! The shared `agent.yaml` files: what is wrong with each is named, and the sound ones have only findings that are true of them.

use crate::project::shared;
use chartc::load::Memory;

/// All findings of a file, `line:column C0102 message`.
fn findings(number: usize) -> Option<Vec<String>> {
    let path = shared()?.join(format!("agent_yaml/files/agent_{number:02}.yaml"));
    let text = std::fs::read_to_string(path).expect("the shared files can be read");
    let done = chartc::check(&["agent.yaml".into()], &Memory::of("agent.yaml", &text));
    let line = |d: &chartc::diagnostic::Diagnostic| {
        let at = done.sources.get(d.span.file).position(d.span.start);
        format!("{}:{} {} {}", at.line, at.column, d.rule.code, d.message)
    };
    Some(done.diagnostics.iter().map(line).collect())
}

/// Why a file did not run as meant, as its recorded traces show: where a finding says so, and what it names.
const CAUSES: &[(usize, &str, &str)] = &[
    (2, "20:27 C0102", "`recent_successes`"),
    (2, "62:14 C0402", "`strategy`"),
    (3, "84:25 C0405", "`context`"),
    (3, "30:7 C0407", "`has_context`"),
    (3, "143:20 C0306", "from `testing` to `ideating`"),
    (4, "109:27 C0401", "`Text`"),
    (4, "81:13 C0403", "`{{`"),
    (6, "37:25 C0405", "`context`"),
    (7, "18:73 C0405", "`agent_id`"),
    (8, "28:73 C0405", "`agent_id`"),
    (8, "30:11 C0307", "`strategic_review`"),
    (12, "123:14 C0405", "`recent_events`"),
    (13, "123:14 C0405", "`recent_events`"),
    (14, "56:82 C0405", "`agent_id`"),
    (15, "56:82 C0405", "`agent_id`"),
    (16, "10:68 C0405", "`tick`"),
    (17, "68:14 C0405", "`recent_events`"),
];

#[test]
fn every_defect_is_named() {
    for (number, place, names) in CAUSES {
        let Some(found) = findings(*number) else { return };
        let told = found.iter().any(|f| f.starts_with(place) && f.contains(names));
        assert!(told, "{number}: {place} {names}\n{found:#?}");
    }
}

/// What is true of the files that ran: each looked at by hand.
const TRUE: &[(usize, &[&str])] = &[
    (1, &[]),
    // The table leads on to states that no step moves to; one prompt has single braces.
    (5, &["C0203", "C0203", "C0203", "C0403"]),
    // A step that runs in every state comes first; an option leads where the table does not.
    (9, &["C0307", "C0306", "C0306"]),
    (10, &["C0307"]),
    (11, &["C0307"]),
    (18, &[]),
    (19, &[]),
    // `building` is in the table, and no step moves to it.
    (20, &["C0203"]),
];

#[test]
fn sound_files_have_no_false_findings() {
    for (number, codes) in TRUE {
        let Some(found) = findings(*number) else { return };
        let told: Vec<&str> = found.iter().filter_map(|f| f.split(' ').nth(1)).collect();
        // C0405 tells how the original engine differs, C0104 that components are not loaded.
        let told: Vec<&str> =
            told.into_iter().filter(|c| !["C0405", "C0104"].contains(c)).collect();
        assert_eq!(told, *codes, "{number}\n{found:#?}");
    }
}
