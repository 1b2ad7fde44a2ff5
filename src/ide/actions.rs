//! Computes actions for findings: their fixes, comments that allow them, and explanations.

use super::hover::title;
use chartc_compiler::compile::Compilation;
use chartc_compiler::rules::{FAULTY_ALLOW, UNUSED_ALLOW};
use chartc_compiler::syntax::diagnostic::{Diagnostic, Fix, Rule};
use chartc_compiler::syntax::source::{FileId, Source, Span};
use chartc_compiler::syntax::{Chart, File, Item, Scenario};
use chartc_compiler::{allow, fix, front};
use chartc_core::visible;
use std::collections::BTreeSet;

/// The maximum number of characters of a replacement that a title shows.
const SHOWN: usize = 40;

/// The reason in a comment that allows a finding, until the user writes one.
const REASON: &str = "TODO: say why";

/// An action that an editor offers for findings.
#[derive(Debug, Clone)]
pub struct Action {
    /// The title, in a few words, without hidden characters.
    pub title: String,
    /// The effect of the action.
    pub kind: ActionKind,
    /// The findings that it is about: indices into the diagnostics of the compilation, ascending.
    pub about: Vec<usize>,
    /// The replacements. Their spans do not overlap. Empty if the action changes nothing.
    pub edits: Vec<(Span, String)>,
}

/// The effect of an action.
#[derive(Debug, Clone, Copy)]
pub enum ActionKind {
    /// Removes a finding.
    Fix {
        /// Whether the change is certainly what the author meant. Editors prefer such a fix.
        is_safe: bool,
    },
    /// Applies all safe fixes of the file.
    FixAll,
    /// Inserts a comment that allows a finding.
    Allow,
    /// Shows the page of a rule.
    Explain(&'static Rule),
}

/// The actions for the findings that touch a span: safe fixes first, then the others, comments and explanations.
pub fn actions(done: &Compilation, span: Span) -> Vec<Action> {
    let touches =
        |other: Span| other.file == span.file && other.start <= span.end && span.start <= other.end;
    let is_here = |found: &Diagnostic| {
        let edits = found.fix.iter().flat_map(|fix| &fix.edits);
        // A fix may change a place far from its finding, such as a missing declaration.
        touches(found.span) || edits.into_iter().any(|(place, _)| touches(*place))
    };
    let here: Vec<(usize, &Diagnostic)> =
        done.diagnostics.iter().enumerate().filter(|(_, found)| is_here(found)).collect();
    let mut all = Vec::new();
    let fixes = here.iter().filter_map(|(nth, found)| Some((*nth, found.fix.as_ref()?)));
    let (safe, unsafe_): (Vec<_>, Vec<_>) = fixes.partition(|(_, fix)| fix.is_safe);
    for (nth, fix) in safe.into_iter().chain(unsafe_) {
        all.push(Action {
            title: fix_title(done, fix),
            kind: ActionKind::Fix { is_safe: fix.is_safe },
            about: vec![nth],
            edits: fix.edits.clone(),
        });
    }
    if !here.is_empty() {
        all.extend(fix_all(done, span));
    }
    let mut known = BTreeSet::new();
    for (nth, found) in &here {
        let line = done.sources.get(found.span.file).line_of(found.span.start);
        if known.insert((found.rule.code, line)) {
            all.extend(permit(done, *nth));
        }
    }
    let mut known = BTreeSet::new();
    for (nth, found) in &here {
        if known.insert(found.rule.code) {
            all.push(Action {
                title: format!("Explain {}: {}", found.rule.code, title(found.rule.page)),
                kind: ActionKind::Explain(found.rule),
                about: vec![*nth],
                edits: Vec::new(),
            });
        }
    }
    all
}

fn shown(text: &str) -> String {
    let text = visible::line(text);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

fn fix_title(done: &Compilation, fix: &Fix) -> String {
    let [(span, new)] = &fix.edits[..] else {
        return match &fix.edits[..] {
            [(_, new), rest @ ..] if rest.iter().all(|(_, other)| other == new) => {
                format!("Write `{}` in {} places", shown(new.trim()), fix.edits.len())
            }
            all => format!("Change {} places", all.len()),
        };
    };
    let old = done.sources.get(span.file).slice(*span).trim();
    match (old.is_empty(), new.trim().is_empty()) {
        (true, _) => format!("Insert `{}`", shown(new.trim())),
        (false, true) => format!("Remove `{}`", shown(old)),
        (false, false) => format!("Replace `{}` by `{}`", shown(old), shown(new.trim())),
    }
}

/// All safe fixes of a file that can be applied together; `None` if there are none.
pub fn fix_all(done: &Compilation, span: Span) -> Option<Action> {
    let (about, edits) = fix::together(done, span.file);
    let plural = if about.len() == 1 { "" } else { "s" };
    let title = format!("Fix {} problem{plural} of this file safely", about.len());
    (!about.is_empty()).then_some(Action { title, kind: ActionKind::FixAll, about, edits })
}

/// An action that inserts a comment: on a line of its own before that of the finding or, if it would not be read as a comment there, at the
/// end of the line. `None` if the finding cannot be allowed, or no comment fits.
fn permit(done: &Compilation, nth: usize) -> Option<Action> {
    let found = &done.diagnostics[nth];
    let code = found.rule.code;
    let about_comments = [FAULTY_ALLOW.code, UNUSED_ALLOW.code].contains(&code);
    if found.rule.is_firm() || about_comments {
        return None;
    }
    let source = done.sources.get(found.span.file);
    let (open, close) = front::of(source).comment;
    let close = if close.is_empty() { String::new() } else { format!(" {close}") };
    let comment = format!("{open} chartc: allow({code}) {REASON}{close}");
    let line = source.line(source.line_of(found.span.start));
    let text = source.text.get(line.clone())?;
    let indent = &text[..text.len() - text.trim_start().len()];
    let end = if source.text[line.end..].starts_with('\r') { "\r\n" } else { "\n" };
    let before = (line.start, format!("{indent}{comment}{end}"), line.start + indent.len());
    let behind = (line.end, format!(" {comment}"), line.end + 1);
    let (at, text, _) = [before, behind].into_iter().find(|(at, text, begins)| {
        let added = usize::from(*at == line.start);
        is_about(source, found.span, (*at, text, *begins), added)
    })?;
    let title = format!("Allow {code} here");
    let edits = vec![(Span::new(found.span.file, at, at), text)];
    Some(Action { title, kind: ActionKind::Allow, about: vec![nth], edits })
}

/// Whether the text, inserted at `at`, is read as a comment that begins at `begins` and applies to the line of a finding, and everything
/// else is read as before. `added` is the number of lines inserted before the finding.
fn is_about(
    old: &Source,
    found: Span,
    (at, text, begins): (usize, &str, usize),
    added: usize,
) -> bool {
    let mut new = old.text.clone();
    new.insert_str(at, text);
    let new = Source::new(old.name.clone(), new);
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    let known = front::parse(found.file, old, &mut before);
    let file = front::parse(found.file, &new, &mut behind);
    let comment = file.comments.iter().find(|comment| comment.start as usize == begins);
    let line = old.line_of(found.start) + added;
    // Inside a text in quotes the insertion is no comment, and between two lines of a construct it could break it: parse and compare.
    comment.is_some_and(|comment| allow::line_of(&new, &file.comments, *comment) == line)
        && file.comments.len() == known.comments.len() + 1
        && behind.len() <= before.len()
}

// Computes lenses: actions that an editor shows above declarations, to run tests and show pictures.

/// An action that is shown above a declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lens {
    /// The span of the name of the test or the chart.
    pub span: Span,
    /// The title that is shown.
    pub title: String,
    /// The task of the editor.
    pub task: Task,
}

/// A task of the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    /// Run one test.
    RunTest {
        /// The file of the test.
        file: FileId,
        /// The name of the test.
        name: String,
    },
    /// Run every test of a chart.
    RunTests {
        /// The file of the chart.
        file: FileId,
        /// The name of the chart.
        chart: String,
    },
    /// Show a drawing of a chart.
    ShowPicture {
        /// The file of the chart.
        file: FileId,
        /// The name of the chart.
        chart: String,
    },
}

/// The lenses of a file, by position.
pub fn lenses(done: &Compilation, file: FileId) -> Vec<Lens> {
    let Some(syntax) = done.files.iter().find(|one| one.id == file) else { return Vec::new() };
    let mut found = Vec::new();
    for noted in &syntax.items {
        match &noted.node {
            Item::Chart(chart) => of_chart(done, file, chart, &mut found),
            Item::Scenario(scenario) => {
                let name = scenario.name.node.clone();
                let task = Task::RunTest { file, name };
                found.push(Lens { span: scenario.name.span, title: "Run test".into(), task });
            }
            _ => {}
        }
    }
    found
}

fn of_chart(done: &Compilation, file: FileId, chart: &Chart, found: &mut Vec<Lens>) {
    let (span, name) = (chart.name.span, &chart.name.node);
    let is_drawn = done.charts.iter().any(|one| one.map().name == span);
    if is_drawn {
        let task = Task::ShowPicture { file, chart: name.clone() };
        found.push(Lens { span, title: "Show picture".into(), task });
    }
    let count = tests(done, span).count();
    if count > 0 {
        let title = format!("Run all {count} tests of {}", visible::line(name));
        let title =
            if count == 1 { format!("Run the test of {}", visible::line(name)) } else { title };
        found.push(Lens { span, title, task: Task::RunTests { file, chart: name.clone() } });
    }
}

/// The tests of the chart that is declared at `chart`, in all files that were read.
fn tests(done: &Compilation, chart: Span) -> impl Iterator<Item = &Scenario> {
    let all = done.files.iter().flat_map(scenarios);
    all.filter(move |scenario| {
        let place = scenario.chart.span;
        let from = done.uses.partition_point(|one| one.at < place);
        let here = done.uses[from..].iter().take_while(|one| one.at == place);
        here.into_iter().any(|one| one.declared == chart)
    })
}

fn scenarios(file: &File) -> impl Iterator<Item = &Scenario> {
    file.items.iter().filter_map(|noted| match &noted.node {
        Item::Scenario(scenario) => Some(scenario),
        _ => None,
    })
}
