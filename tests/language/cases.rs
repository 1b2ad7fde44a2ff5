//! Small charts and agents of the shared folder with one fault each: what is found, where, and that nothing is left once it is mended.
//!
//! Source: `cases` of the shared folder and the table of its README.

use chartc::diagnostic::Diagnostic;
use chartc::load::Memory;
use std::collections::BTreeSet;
use test_support::project::shared;

/// One file: the findings that it must have, each a line and the codes that may tell of it, and the edits that mend it and whatever
/// else is true of it.
struct Case {
    file: &'static str,
    told: &'static [(usize, &'static [&'static str])],
    mended: &'static [(&'static str, &'static str)],
}

const fn case(
    file: &'static str,
    told: &'static [(usize, &'static [&'static str])],
    mended: &'static [(&'static str, &'static str)],
) -> Case {
    Case { file, told, mended }
}

/// What the twins of event data and of record fields have beside their fault.
const SPARE: [(&str, &str); 2] =
    [("  var v: S = S.neither\n", ""), ("  var r: R = R { side: S.neither n: 0 }\n", "")];

const CASES: &[Case] = &[
    case(
        "charts/after_on_an_event_line.chart",
        &[(5, &["C0340"])],
        &[("  event ping\n", ""), ("on ping after", "after"), ("  state u\n", "")],
    ),
    case(
        "charts/answer_never_read.chart",
        &[(6, &["C0428"])],
        &[("returns P } -> x", "returns P done if q.ok -> x }")],
    ),
    case("charts/binding_names_permuted.chart", &[(5, &["C0431"])], &[("text, by)", "by, text)")]),
    case(
        "charts/calls_limit_below_per_turn.chart",
        &[(3, &["C0504"])],
        &[("calls 1 calls 3 per turn", "calls 5 calls 1 per turn")],
    ),
    case(
        "charts/count_goes_down.chart",
        &[(7, &["C0418"])],
        &[("n = n - 1", "n = n + 1"), ("  event go\n", "")],
    ),
    case(
        "charts/count_never_made.chart",
        &[(13, &["C0412"])],
        &[
            ("max_drafts -> writing", "max_drafts -> writing { drafts = drafts + 1 }"),
            ("returns Text }", "returns Text into text }"),
            ("  var ok", "  var text: Text = \"\"\n  var ok"),
            ("Good?", "Good? {text}"),
        ],
    ),
    case(
        "charts/effect_again_on_reentry.chart",
        &[(8, &["C0434"])],
        &[("    enter { post(\"the review\") }\n", "")],
    ),
    case(
        "charts/empty_outcome.chart",
        &[(4, &["C0340"])],
        &[("returns Text done } after 3s on", "returns Text } on")],
    ),
    case(
        "charts/enum_value_no_line_takes.chart",
        &[(7, &["C0305"])],
        &[("lost == Side.pro", "lost != none")],
    ),
    case(
        "charts/gap_over_answer.chart",
        &[(9, &["C0314"])],
        &[("done if q == S.pro -> z", "done -> z")],
    ),
    case(
        "charts/gap_over_event_data.chart",
        &[(13, &["C0314"])],
        &[
            SPARE[0],
            SPARE[1],
            ("  limits { calls 9 }\n", ""),
            ("on e(s, k) if s == S.pro -> z", "on e -> z"),
            ("on e(s, k)", "on e(s)"),
            ("  state q { on go -> w }\n", ""),
        ],
    ),
    case(
        "charts/gap_over_record_field.chart",
        &[(13, &["C0314"])],
        &[
            SPARE[0],
            SPARE[1],
            ("  event e(s: S, k: Int)\n", ""),
            ("done if a.side == S.pro -> z", "done -> z"),
            ("  state q { on go -> w }\n", ""),
        ],
    ),
    case(
        "charts/implausible_timeouts.chart",
        &[(3, &["C0509"]), (5, &["C0509"])],
        &[("60ms", "60s"), ("5ms", "50s")],
    ),
    case(
        "charts/index_of_empty_list.chart",
        &[(6, &["C0432"])],
        &[("page(owners(\"x\")[0])", "for who in owners(\"x\")[:1] { page(who) }")],
    ),
    case(
        "charts/inner_limit_above_outer.chart",
        &[(5, &["C0504"])],
        &[("calls 8", "calls 3"), ("\"a\" returns Text", "\"a\"")],
    ),
    case(
        "charts/left_at_once.chart",
        &[(7, &["C0344", "C0345", "C0346", "C0347"])],
        &[("fleeing { when hp < 40", "fleeing { when hp > 60")],
    ),
    case("charts/needless_except.chart", &[(8, &["C0348"])], &[("* except fight", "*")]),
    case(
        "charts/permission_never_true.chart",
        &[(7, &["C0412"])],
        &[("b -> a if poor", "b -> a"), ("  var poor: Bool = false per turn\n", "")],
    ),
    case(
        "charts/prompt_word_not_in_enum.chart",
        &[(6, &["C0410"])],
        &[("partial or", "partly or")],
    ),
    case(
        "charts/prompt_words_not_enum2.chart",
        &[(7, &["C0410"])],
        &[("yes, partially or no", "relevant, partly or off_topic")],
    ),
    case(
        "charts/read_never_assigned.chart",
        &[(10, &["C0412", "C0424", "C0407"]), (7, &["C0428"])],
        &[
            ("returns Text }", "returns Text into draft }"),
            ("  var n: Int = 0\n", ""),
            (" {n}", ""),
        ],
    ),
    case(
        "charts/shadow_by_implication.chart",
        &[(9, &["C0302"])],
        &[("    when len(kept) == 0 -> j\n", "")],
    ),
    case(
        "charts/shadow_over_answer.chart",
        &[(9, &["C0302"])],
        &[("Decision.edit -> posting", "Decision.post -> posting")],
    ),
    case(
        "charts/shadow_over_event_data.chart",
        &[(14, &["C0302"])],
        &[
            SPARE[0],
            SPARE[1],
            ("  limits { calls 9 }\n", ""),
            ("    on e(s, k) if s == S.con and k > 3 -> z\n", ""),
            ("if s == S.con -> x", "if s == S.con -> z"),
        ],
    ),
    case(
        "charts/shadow_over_record_field.chart",
        &[(13, &["C0302"])],
        &[
            SPARE[0],
            SPARE[1],
            ("  event e(s: S, k: Int)\n", ""),
            (" done if a.side == S.con and t > 3 -> z", ""),
            ("  state z { on go -> w }\n", ""),
        ],
    ),
    case(
        "charts/unstored_answer.chart",
        &[(6, &["C0407"])],
        &[("done -> writing error", "done -> writing { docs = find } error")],
    ),
    case(
        "charts/when_written_for_if.chart",
        &[(8, &["C0340"])],
        &[("on go when n == 1", "on go if n >= 1")],
    ),
    case(
        "agents/ask_takes_the_call.yaml",
        &[(12, &["C0307"])],
        &[("type: transition\n", "type: transition\n      run_if: balance > 3\n")],
    ),
    // No more than a note, that another engine has no `context`.
    case(
        "agents/context_get_of_unknown_name.yaml",
        &[],
        &[
            ("context.get('successes', 0)", "locals().get('successes', 0)"),
            ("context.get('total', 1)", "locals().get('total', 1)"),
            ("        context['success_rate'] = success_rate\n", ""),
            ("        context['should_pivot'] = should_pivot\n", ""),
        ],
    ),
    case(
        "agents/fallback_no_key.yaml",
        &[(11, &["C0410"])],
        &[("fallback: \"continue\"", "fallback: \"true\"")],
    ),
    case(
        "agents/observe_decide_act.yaml",
        &[(7, &["C0307"]), (10, &["C0307"])],
        &[(
            "type: \"llm\"\n      prompt: \"Based on observations, choose an action\"",
            "type: \"code\"\n      action: \"choose\"",
        )],
    ),
    case(
        "agents/row_never_true_and_row_covered.yaml",
        &[(7, &["C0342"]), (8, &["C0412"])],
        &[
            ("      - {from: \"*\", to: b, condition: rich}\n", ""),
            ("rich = balance > 10\\npoor = False", "poor = balance < 5"),
        ],
    ),
    case(
        "agents/transition_without_map_or_target.yaml",
        &[(10, &["C0405"]), (15, &["C0405"])],
        &[
            ("b->a]", "b->a, a->a, b->b]"),
            ("      transition_to: b\n", "      transition_map: {go: b, stay: a}\n"),
            ("Say something to {agent_id}.", "Say go or stay to {agent_id}."),
            (
                "Go on, {agent_id}.\n",
                "Go or stay, {agent_id}.\n      transition_map: {go: a, stay: b}\n",
            ),
            (
                "    - name: three\n      in_state: b\n      prompt: Decide on continue, pivot or ship.\n      transition_map: {continue: a, pivot: b, ship: a}\n",
                "",
            ),
        ],
    ),
];

/// What is found in the text, what is off by default included if its code is asked for.
fn findings(name: &str, text: &str, asked: &BTreeSet<&str>) -> Vec<(usize, &'static str, String)> {
    let done = chartc::check(&[name.into()], &Memory::of(name, text));
    let line = |d: &Diagnostic| done.sources.get(d.span.file).position(d.span.start).line;
    let off = done.silent.iter().filter(|d| asked.contains(d.rule.code));
    let all = done.diagnostics.iter().chain(off);
    all.map(|d| (line(d), d.rule.code, d.message.clone())).collect()
}

#[test]
fn each_fault_is_found_and_silent_when_mended() {
    let Some(folder) = shared().map(|f| f.join("cases")) else { return };
    let mut failed = Vec::new();
    for Case { file, told, mended } in CASES {
        let text = std::fs::read_to_string(folder.join(file)).expect("the case can be read");
        let asked: BTreeSet<&str> =
            told.iter().flat_map(|(_, codes)| codes.iter().copied()).collect();
        let found = findings(file, &text, &asked);
        for (line, codes) in *told {
            let is_there = |(at, code, _): &(usize, &str, String)| {
                at.abs_diff(*line) <= 1 && codes.contains(code)
            };
            if !found.iter().any(is_there) {
                failed.push(format!("{file}:{line}: no {codes:?} among {found:#?}"));
            }
        }
        let mut now = text.clone();
        for (from, to) in *mended {
            assert!(now.contains(from), "{file}: there is no `{from}` to mend");
            now = now.replacen(from, to, 1);
        }
        let rest = findings(file, &now, &asked);
        if !rest.is_empty() {
            failed.push(format!("{file}: mended, it still has {rest:#?}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_file_of_the_folder_is_a_case() {
    let Some(folder) = shared().map(|f| f.join("cases")) else { return };
    let known: BTreeSet<&str> = CASES.iter().map(|c| c.file).collect();
    for kind in ["charts", "agents"] {
        let entries = std::fs::read_dir(folder.join(kind)).expect("the folder can be read");
        for entry in entries {
            let name = entry.expect("it can be read").file_name();
            let file = format!("{kind}/{}", name.to_string_lossy());
            assert!(known.contains(file.as_str()), "{file} is in no row");
        }
    }
}
