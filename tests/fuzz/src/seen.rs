//! What a person sees: findings and their places.

use chartc::diagnostic::Diagnostic;
use chartc::report::REPORTS;
use chartc::report::Terminal;
use chartc_compiler::lower::SourceMap;
use chartc_compiler::syntax::source::{FileId, Source, Sources, Span};
use chartc_compiler::{front, syntax};
use std::fmt::Write;

/// Texts up to here are looked through for every place of their tree, which takes longer than reading them.
const SHORT: usize = 240;

/// Reads a text alone; every place of its tree and its findings lies in it.
pub fn read(name: &str, text: &str) -> (syntax::File, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let id = sources.add(Source::new(name, text));
    let mut found = Vec::new();
    let file = front::parse(id, sources.get(id), &mut found);
    findings(&found, &sources);
    if text.len() <= SHORT {
        places(&file, &sources);
    }
    (file, found)
}

/// Every place of a source map.
pub fn places_of(map: &SourceMap, sources: &Sources) {
    let states = map.states.iter().flat_map(|s| [s.name, s.whole].into_iter().chain(s.initial));
    let lines = map.transitions.iter().flat_map(|l| {
        let parts = [l.whole, l.trigger].into_iter().chain(l.from).chain(l.guard);
        parts.chain(l.targets.iter().copied())
    });
    let steps = map.steps.iter().flat_map(|s| {
        let parts = [s.name, s.whole].into_iter().chain(s.guard).chain(s.prompt).chain(s.child);
        parts.chain(s.prompt_parts.iter().copied())
    });
    let lists = [&map.types, &map.variables, &map.events, &map.functions, &map.predicates];
    let more = [&map.choices, &map.permissions, &map.checks, &map.components];
    let others = lists.into_iter().chain(more).chain(&map.component_parts).flatten().copied();
    let posts = map.posts.iter().map(|post| post.span);
    for span in
        [map.name].into_iter().chain(states).chain(lines).chain(steps).chain(others).chain(posts)
    {
        lies_in_its_file(span, sources, "a part of a chart");
    }
}

/// Every place of the findings lies in its file, and each says something.
pub fn findings(found: &[Diagnostic], sources: &Sources) {
    for one in found {
        let related = one.related.iter().map(|(span, _)| *span);
        for span in related.chain([one.span]) {
            lies_in_its_file(span, sources, one.rule.code);
        }
        assert!(!one.message.is_empty(), "{} says nothing", one.rule.code);
    }
}

/// Findings that are drawn: a picture of each takes longer than finding it.
const DRAWN: usize = 4;

/// Every format can be written.
pub fn reports(found: &[Diagnostic], sources: &Sources) {
    let narrow = found.len() % 2 == 1;
    let paper = Terminal { colour: narrow, width: if narrow { 20 } else { 100 } };
    for report in REPORTS {
        let drawn = if report.name == "human" { DRAWN.min(found.len()) } else { found.len() };
        let shown = report.render(&found[..drawn], sources, paper);
        let ends = shown.is_empty() || shown.ends_with('\n');
        assert!(ends, "{} does not end its last line", report.name);
    }
}

fn lies_in_its_file(span: Span, sources: &Sources, what: &str) {
    let text = &sources.get(span.file).text;
    let lies = span.start <= span.end && text.get(span.start as usize..span.end as usize).is_some();
    assert!(lies, "{what} is at {span:?}, which is no place of\n{text}");
}

/// The places of anything that shows them in its debug form.
fn places(tree: &impl std::fmt::Debug, sources: &Sources) {
    let mut text = String::new();
    let _ = write!(text, "{tree:?}");
    for rest in text.split("Span { file: FileId(").skip(1) {
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
        let mut next = || numbers.next().and_then(|n| n.parse().ok()).unwrap_or(u32::MAX);
        let (file, start, end) = (next(), next(), next());
        lies_in_its_file(Span { file: FileId(file), start, end }, sources, "a part of the tree");
    }
}
