//! Findings as `.cases` files list them. Not of `test_support`, which uses no crate of the project.

use chartc::Compilation;
use chartc::diagnostic::Diagnostic;
use chartc::load::Memory;
use test_support::cases::{Files, Found};

/// Checks the files of a section.
pub(crate) fn checked(files: &Files) -> Compilation {
    chartc::check(&files.checked, &Memory(files.texts.iter().cloned().collect()))
}

/// The finding with its notes.
pub(crate) fn listed(done: &Compilation, d: &Diagnostic) -> Found {
    let mut found = brief(done, d);
    for (name, text) in [("label", &d.label), ("help", &d.help)] {
        if let Some(text) = text {
            found.shown += &format!("   {name}: {}\n", one_line(text));
        }
    }
    for (span, what) in &d.related {
        let source = done.sources.get(span.file);
        let elsewhere =
            if span.file == d.span.file { String::new() } else { format!("{} ", source.name) };
        let line = source.position(span.start).line;
        let marked = one_line(source.slice(*span));
        found.shown += &format!("   see: {elsewhere}{line} |{marked}| {}\n", one_line(what));
    }
    found
}

/// The text with a sign for each end of a line.
pub(crate) fn one_line(text: &str) -> String {
    text.replace('\n', "⏎")
}

/// The finding with its level, if that is not the default one.
pub(crate) fn brief(done: &Compilation, d: &Diagnostic) -> Found {
    let source = done.sources.get(d.span.file);
    let at = source.position(d.span.start);
    let level = if d.severity == d.rule.severity { "" } else { d.severity.word() };
    let gap = if level.is_empty() { "" } else { " " };
    let marked = source.slice(d.span);
    let line = source.text.lines().nth(at.line - 1).unwrap_or_default();
    let before = &source.text[..d.span.start as usize];
    let before = before.len() - before.rfind('\n').map_or(0, |n| n + 1);
    let nth = nth(line, marked, before);
    let shown = format!(
        "=> {}{gap}{level} |{}|{nth} {}\n",
        d.rule.code,
        one_line(marked),
        one_line(&d.message)
    );
    Found { file: source.name.clone(), line: at.line, shown }
}

/// Which of the same words of its line it is, if it is not the first.
fn nth(line: &str, marked: &str, at: usize) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_whole = |n: &usize| {
        let (before, after) = (&line[..*n], &line[n + marked.len()..]);
        !(marked.starts_with(is_word) && before.ends_with(is_word)
            || marked.ends_with(is_word) && after.starts_with(is_word))
    };
    if marked.is_empty() {
        return String::new();
    }
    let before = line.match_indices(marked).map(|(n, _)| n).filter(is_whole);
    let before = before.filter(|n| *n < at).count();
    if before == 0 { String::new() } else { (before + 1).to_string() }
}
