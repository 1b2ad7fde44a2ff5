//! Whatever is renamed, only its name changes, and it can be renamed back.

use super::corpus::{Set, pages, shared, shipped};
use chartc::Compilation;
use chartc::diagnostic::Severity;
use chartc::ide::names::{self, NameKind, Refusal, Renaming};
use chartc::load::Memory;
use chartc::span::{FileId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Whether a finding is about how something is named, or whether a text for a model names it: another name may have others.
fn is_about_names(code: &str) -> bool {
    code.starts_with("C04") || ["C0011", "C0502"].contains(&code)
}

/// Most names that are renamed in one set of files.
const MOST: usize = 6;

/// What was done, by kind of name.
#[derive(Default)]
pub(super) struct Tally {
    /// Renamed.
    pub(super) done: BTreeMap<String, usize>,
    /// Refused: the reason, and whether it is declared in a `.chart`; how often, and an example.
    pub(super) refused: BTreeMap<(NameKind, &'static str, bool), (usize, String)>,
}

fn reason(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Breaks(..) => "breaks",
        Refusal::Changes(_) => "changes",
        Refusal::Captures(_) => "captures",
        Refusal::Unwritten(_) => "unwritten",
        Refusal::Syntax(_) => "syntax",
        Refusal::NoName
        | Refusal::Import
        | Refusal::Same
        | Refusal::Spelling(_)
        | Refusal::Stale(_) => "other",
    }
}

/// What is refused in agents and SCXML documents, and why it must be.
const REFUSED: &[(NameKind, &str, &str)] = &[
    (NameKind::Chart, "unwritten", "the chart is `Orders`, the document calls it `orders`"),
    (NameKind::Choice, "changes", "the prompt tells the model what it may answer"),
    (NameKind::Choice, "captures", "likewise: what the front end reads from the prompt is another"),
    (NameKind::Component, "breaks", "the name of a component is that of its file"),
    (NameKind::Event, "unwritten", "`*` is no name"),
    (
        NameKind::Variable,
        "captures",
        "code also reads it by a text, as something that the host may supply",
    ),
    (NameKind::Step, "unwritten", "`done.invoke.x` is read as a whole"),
    (
        NameKind::Variable,
        "changes",
        "the front end knows what some variables begin with; scripts of other files have names, too",
    ),
];

/// Checks that charts refuse nothing, and other files only what they must.
fn assert_refused(tally: &Tally) {
    for ((kind, why, is_plain), row) in &tally.refused {
        let is_known = REFUSED.iter().any(|(k, w, _)| (k, w) == (kind, why));
        assert!(is_known && !is_plain, "{kind:?} {why}: {row:?}");
    }
}

fn fresh(kind: NameKind) -> &'static str {
    if matches!(kind, NameKind::Chart | NameKind::Type) { "ZzFresh" } else { "zz_fresh" }
}

/// The texts with the edits.
pub(super) fn applied(files: &Memory, renaming: &Renaming) -> Memory {
    let mut files = files.clone();
    for file in &renaming.edits {
        let text = files.0.get_mut(&file.file).expect("an edited file was read");
        for edit in file.edits.iter().rev() {
            text.replace_range(edit.range.clone(), &edit.text);
        }
    }
    files
}

/// One place of each name, of all kinds first.
fn places(done: &Compilation, most: usize) -> Vec<(Span, NameKind)> {
    let mut seen: BTreeSet<Span> = BTreeSet::new();
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    let mut kinds = BTreeSet::new();
    for one in done.uses.iter().filter(|one| one.is_written && one.kind != NameKind::File) {
        if seen.insert(one.declared) {
            let list = if kinds.insert(one.kind) { &mut first } else { &mut rest };
            list.push((one.at, one.kind));
        }
    }
    let stride = rest.len() / most.saturating_sub(first.len()).max(1) + 1;
    first.extend(rest.into_iter().step_by(stride));
    first
}

/// The charts and findings of a compilation, as text.
fn told(done: &Compilation) -> (Vec<String>, Vec<String>) {
    let charts = done.lowered.iter().map(|one| format!("{:?} {:?}", one.chart, one.tests));
    let about = done.diagnostics.iter().filter(|found| !is_about_names(found.rule.code));
    let findings = about.map(|found| {
        let name = &done.sources.get(found.span.file).name;
        format!("{name} {} {}", found.rule.code, found.message)
    });
    (charts.collect(), findings.collect())
}

/// A text without the numbers of places.
fn placeless(text: &str) -> String {
    let mut out = String::new();
    for (nth, part) in text.split("Span {").enumerate() {
        out.push_str(if nth == 0 {
            part
        } else {
            part.split_once('}').map_or("", |(_, rest)| rest)
        });
    }
    out
}

/// Renames names of a set to a fresh one and back.
pub(super) fn try_all(set: &Set, most: usize, tally: &mut Tally) {
    let done = chartc_compiler::compile::check_indexed(&set.roots, &set.files, 0);
    // A name that is itself an error would be corrected.
    let faulty: BTreeSet<Span> = done.diagnostics.iter().map(|found| found.span).collect();
    for (at, kind) in places(&done, most).into_iter().filter(|(at, _)| !faulty.contains(at)) {
        let (file, offset) = (at.file, at.start as usize);
        let source = done.sources.get(file);
        let old = source.slice(at).trim_matches('`').to_owned();
        let place = source.position(at.start);
        let label =
            format!("{}: {} `{old}` of {}:{}", set.name, source.name, place.line, place.column);
        match names::rename(&done, file, offset, fresh(kind), &[], &set.files) {
            Err(refusal) => {
                let all = names::definition(&done, file, offset);
                let is_plain =
                    all.iter().all(|at| done.sources.get(at.file).name.ends_with(".chart"));
                let row = tally.refused.entry((kind, reason(&refusal), is_plain)).or_default();
                row.0 += 1;
                row.1 = format!("{label}: {refusal}");
            }
            Ok(renaming) => {
                *tally.done.entry(format!("{kind:?}")).or_default() += 1;
                check(set, &done, (file, offset), &old, fresh(kind), &renaming, &label);
            }
        }
    }
}

fn check(
    set: &Set,
    done: &Compilation,
    (file, offset): (FileId, usize),
    old: &str,
    new: &str,
    renaming: &Renaming,
    label: &str,
) {
    let edits: usize = renaming.edits.iter().map(|file| file.edits.len()).sum();
    let references = names::references(done, file, offset, true);
    assert!(edits >= references.len(), "{label}: {edits} edits, {references:?}");
    let files = applied(&set.files, renaming);
    let again = chartc_compiler::compile::check_indexed(&set.roots, &files, 0);
    let back = |texts: Vec<String>| -> Vec<String> {
        texts.iter().map(|text| placeless(&text.replace(new, old))).collect()
    };
    let same = |texts: Vec<String>| -> Vec<String> { texts.iter().map(|t| placeless(t)).collect() };
    let (charts, findings) = told(done);
    let (charts_again, findings_again) = told(&again);
    for (a, b) in same(charts).iter().zip(back(charts_again)) {
        assert!(*a == b, "{label}: another chart\n{a}\n{b}");
    }
    // A new name may correct an error, such as a name that is declared twice.
    let is_sound = done.diagnostics.iter().all(|found| found.severity != Severity::Error);
    if is_sound {
        let (findings, again) = (same(findings), back(findings_again));
        assert_eq!(findings.len(), again.len(), "{label}: {findings:?} {again:?}");
        for (a, b) in findings.iter().zip(&again) {
            // A longer name may shorten what is quoted.
            let is_short = a.contains('…') || b.contains('…');
            assert!(a == b || is_short, "{label}: {a} {b}");
        }
    }
    // The first edit of the file in which it was renamed.
    let name = &done.sources.get(file).name;
    let (id, _) = again.sources.iter().find(|(_, source)| source.name == *name).expect("the file");
    let before = renaming.edits.iter().find(|edits| edits.file == *name).expect("an edit there");
    let shift: isize = before
        .edits
        .iter()
        .filter(|edit| edit.range.end <= offset)
        .map(|edit| edit.text.len() as isize - edit.range.len() as isize)
        .sum();
    let offset = offset.checked_add_signed(shift).expect("a place in the file");
    let there = names::references(&again, id, offset, true);
    assert_eq!(there.len(), references.len(), "{label}");
    let undone = match names::rename(&again, id, offset, old, &[], &files) {
        Ok(undone) => undone,
        // It was in back-quotes.
        Err(Refusal::Spelling(_)) => return,
        // It was an error.
        Err(Refusal::Breaks(..)) if !is_sound => return,
        Err(why) => panic!("{label}: not back: {why}"),
    };
    assert!(applied(&files, &undone).0 == set.files.0, "{label}: other bytes");
}

fn run(sets: &[Set], most: usize) -> Tally {
    let mut tally = Tally::default();
    for set in sets {
        try_all(set, most, &mut tally);
    }
    println!("{} sets: {:#?}\n{:#?}", sets.len(), tally.done, tally.refused);
    tally
}

#[test]
fn shipped_charts_keep_all_but_the_name() {
    assert_refused(&run(&shipped(), MOST));
}

#[test]
fn examples_of_the_pages_keep_all_but_the_name() {
    // Some have errors of syntax, as they should.
    let tally = run(&pages(), 2);
    let all = tally.done.values().sum::<usize>();
    let refused: usize = tally.refused.values().map(|(count, _)| count).sum();
    assert!(all > 20 * refused, "{all}: {:#?}", tally.refused);
}

#[test]
fn shared_agents_keep_all_but_the_name() {
    assert_refused(&run(&shared("agent_yaml/files", ".yaml", "agent.yaml"), MOST));
}

#[test]
fn shared_documents_keep_all_but_the_name() {
    assert_refused(&run(&shared("conformance", ".scxml", "a.scxml"), 3));
}
