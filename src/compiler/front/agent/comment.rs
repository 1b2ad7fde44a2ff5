//! Keeps YAML comments in a converted chart: each goes to the item that corresponds to the YAML below it or on its line.
//!
//! Without such an item, a comment goes to the next item that has a counterpart; after the last item of a step, to the end of the
//! step; after the last item of all, to the end of the chart.

use super::definition::{Agent, Source as Condition};
use super::node::{Node, Value};
use super::python;
use super::text::Text;
use crate::front::chart::may_divide;
use crate::syntax::source::{FileId, Source, Span};
use crate::syntax::{
    Action, Chart, ChartItem, Comment, File, Item, Noted, StateItem, Step, StepKind, Trivia,
};

/// A comment of the file, with what its position says about the item to which it belongs.
struct Remark {
    /// The text, without the `#`.
    text: String,
    /// Its first byte.
    at: usize,
    /// One past its last byte.
    end: usize,
    /// The first byte of its line.
    line: usize,
    /// Whether something precedes it on its line.
    beside: bool,
    /// Whether a blank line precedes it.
    blank_above: bool,
    /// Whether a blank line follows it.
    blank_below: bool,
    /// The start of what it describes: the next word after it, or the first of its line.
    next: usize,
    /// The end of the code that contains it, which bounds the search for an item.
    limit: usize,
}

/// The texts of all comments of a file.
pub(super) fn texts(source: &Source, node: &Node) -> Vec<String> {
    remarks(source, node).into_iter().map(|remark| remark.text).collect()
}

/// Attaches the comments of an agent's file to the items of its chart.
pub(super) fn keep(source: &Source, node: &Node, agent: &Agent, file: &mut File) {
    let mut remarks = remarks(source, node);
    for text in code(agent) {
        for range in python::comments(text) {
            let Span { start, end, .. } = text.span(range.clone());
            let written = &text.value[range.start + 1..range.end];
            let mut found = remark(source, start as usize, end as usize, written);
            let is_word = written.trim().chars().all(char::is_alphanumeric)
                && !written.trim().starts_with(|c: char| c.is_ascii_digit());
            if found.beside && !is_word && may_divide(written) {
                // `x = a // 2` would look like a division.
                found.text = format!(" #{written}");
            }
            // A comment after the last statement is not about what follows the code.
            found.limit = text.whole().end as usize;
            remarks.push(found);
        }
    }
    if remarks.is_empty() {
        return;
    }
    remarks.sort_by_key(|remark| remark.at);
    // A YAML alias repeats the text of a code step.
    remarks.dedup_by_key(|remark| remark.at);
    let spans = remarks.iter().map(|remark| Span::new(file.id, remark.at, remark.end));
    file.comments = spans.collect();
    // Comments directly above one another are about the same item.
    for i in (1..remarks.len()).rev() {
        if remarks[i - 1].next == remarks[i].at {
            remarks[i - 1].next = remarks[i].next;
        }
    }
    let mut anchors = Anchors { file: node.span.file, all: Vec::new() };
    each(file, &mut |span, kind, _| anchors.add(span, kind));
    anchors.all.sort_unstable();
    let mut placed: Vec<Vec<(Remark, bool)>> = Vec::new();
    placed.resize_with(anchors.all.len(), Vec::new);
    let mut rest = Vec::new();
    for remark in remarks {
        let line = remark.beside.then_some(remark.line);
        let beside = line.and_then(|line| anchors.on_line(line, remark.at));
        match beside.or_else(|| anchors.from(remark.next.min(remark.limit))) {
            Some(number) => placed[number].push((remark, beside.is_some())),
            None => rest.push(remark.comment()),
        }
    }
    let mut number = 0;
    each(file, &mut |span, _, slot| {
        if span.file == anchors.file {
            put(slot, std::mem::take(&mut placed[number]));
            number += 1;
        }
    });
    if let Some(Item::Chart(chart)) = file.items.last_mut().map(|item| &mut item.node) {
        chart.end.append(&mut rest);
    }
}

/// All Python code of an agent.
fn code(agent: &Agent) -> impl Iterator<Item = &Text> {
    let workflow = agent.workflow.iter();
    let permits = workflow.clone().flat_map(|w| &w.machine).flat_map(|m| &m.transitions);
    let conditions = permits.filter_map(|permit| match &permit.condition {
        Some(Condition::Text(text)) => Some(text),
        Some(Condition::Invoke(_)) | None => None,
    });
    let steps = workflow.clone().flat_map(|w| &w.steps);
    let guards = steps.clone().filter_map(|step| match &step.run_if {
        Some(Condition::Text(text)) => Some(text),
        Some(Condition::Invoke(_)) | None => None,
    });
    guards.chain(steps.filter_map(|step| step.code.as_ref())).chain(conditions)
}

impl Remark {
    fn comment(self) -> Comment {
        Comment { blank_before: self.blank_above, text: self.text }
    }
}

/// Attaches comments to a place, each with whether it is on the same line.
fn put(slot: Slot<'_>, remarks: Vec<(Remark, bool)>) {
    let trivia = match slot {
        Slot::Item(trivia) => trivia,
        Slot::End(comments) => {
            comments.extend(remarks.into_iter().map(|(remark, _)| remark.comment()));
            return;
        }
    };
    for (remark, beside) in remarks {
        if beside && trivia.after.is_none() {
            trivia.after = Some(remark.text);
            continue;
        }
        if trivia.before.is_empty() {
            trivia.blank_before |= remark.blank_above;
        }
        trivia.blank_after = remark.blank_below && !remark.beside;
        trivia.before.push(remark.comment());
    }
}

/// All comments of a file, in order: `#` after a blank, outside of keys and values.
fn remarks(source: &Source, node: &Node) -> Vec<Remark> {
    let mut leaves = Vec::new();
    gather(node, &mut leaves);
    leaves.sort_unstable();
    let length = source.text.len();
    let mut found = Vec::new();
    let mut at = 0;
    for (start, end) in leaves.into_iter().chain([(length, length)]) {
        if start > at {
            gap(source, at, start, &mut found);
        }
        at = at.max(end);
    }
    found
}

/// The ranges of all scalar keys and values.
fn gather(node: &Node, leaves: &mut Vec<(usize, usize)>) {
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| gather(item, leaves)),
        Value::Map(entries) => entries.iter().for_each(|(key, value)| {
            gather(key, leaves);
            gather(value, leaves);
        }),
        _ => {
            leaves.push((node.span.start as usize, node.span.end as usize));
        }
    }
}

fn gap(source: &Source, from: usize, to: usize, found: &mut Vec<Remark>) {
    let text = source.text.as_str();
    let mut at = from;
    while let Some(sign) = text.get(at..to).and_then(|rest| rest.find('#')).map(|i| at + i) {
        let before = text[..sign].chars().next_back();
        if before.is_some_and(|c| !c.is_whitespace()) {
            at = sign + 1;
            continue;
        }
        let end = text[sign..].find('\n').map_or(text.len(), |i| sign + i);
        let written = text[sign + 1..end].trim_end();
        found.push(remark(source, sign, end, written));
        at = end;
    }
}

/// The comment `start..end` of the file.
fn remark(source: &Source, start: usize, end: usize, written: &str) -> Remark {
    let text = source.text.as_str();
    let line = text[..start].rfind('\n').map_or(0, |i| i + 1);
    let beside = !text[line..start].trim().is_empty();
    let above = text[..line].trim_end_matches([' ', '\t', '\r']).strip_suffix('\n');
    let below = text[end..].strip_prefix('\n').and_then(|rest| rest.split('\n').next());
    // `///` would be documentation.
    let blank = if written.starts_with('/') { " " } else { "" };
    Remark {
        text: format!("{blank}{written}"),
        at: start,
        end,
        line,
        beside,
        blank_above: above.is_some_and(|rest| rest.is_empty() || ends_in_blank(rest)),
        blank_below: below.is_some_and(|line| line.trim().is_empty()),
        next: word(text, if beside { line } else { end }),
        limit: usize::MAX,
    }
}

/// The start of the next key, value, statement or comment at or after `at`; skips blanks and dashes.
fn word(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let word = rest.trim_start();
        at += rest.len() - word.len();
        if !["- ", "-\n", "-\r"].iter().any(|dash| word.starts_with(dash)) {
            return at;
        }
        at += 1;
    }
}

/// Whether the last line is blank.
fn ends_in_blank(text: &str) -> bool {
    text.rsplit('\n').next().is_some_and(|line| line.trim().is_empty())
}

/// A place for comments.
enum Slot<'a> {
    /// Before an item and on its line.
    Item(&'a mut Trivia),
    /// After the last item of a step.
    End(&'a mut Vec<Comment>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum AnchorKind {
    /// An item of the file.
    Own,
    /// An item that follows from a name, which is an item itself.
    Derived,
    /// The end of a step.
    End,
}

/// An item that may take comments, in the order of the search.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Anchor {
    start: usize,
    kind: AnchorKind,
    /// Its number in the order of the chart.
    number: usize,
    end: usize,
}

struct Anchors {
    file: FileId,
    all: Vec<Anchor>,
}

impl Anchors {
    fn add(&mut self, span: Span, kind: AnchorKind) {
        if span.file == self.file {
            let (start, end) = (span.start as usize, span.end as usize);
            let number = self.all.len();
            self.all.push(Anchor { start, kind, number, end });
        }
    }

    /// The first anchor that starts at or after `place`.
    fn from(&self, place: usize) -> Option<usize> {
        let first = self.all.partition_point(|anchor| anchor.start < place);
        self.all.get(first).map(|anchor| anchor.number)
    }

    /// The last anchor that starts on the line before `place`, or one that contains it and starts on the same line.
    fn on_line(&self, line: usize, place: usize) -> Option<usize> {
        let first = self.all.partition_point(|anchor| anchor.start < line);
        let behind = self.all.partition_point(|anchor| anchor.start < place);
        let here = self.all.get(first..behind)?;
        let of = |kind: AnchorKind| here.iter().rev().find(|anchor| anchor.kind == kind);
        let last = of(AnchorKind::Own).or(of(AnchorKind::Derived))?;
        let holds = |one: &&Anchor| one.start <= last.start && one.end >= last.end;
        here.iter().find(holds).map(|anchor| anchor.number)
    }
}

/// Called for each place with its span, its kind and the slot for comments.
type Visit<'v> = dyn FnMut(Span, AnchorKind, Slot<'_>) + 'v;

/// Visits every place that could take comments, in the order of the chart.
fn each(file: &mut File, visit: &mut Visit<'_>) {
    for item in &mut file.items {
        visit(item.span, AnchorKind::Own, Slot::Item(&mut item.trivia));
        if let Item::Chart(chart) = &mut item.node {
            in_chart(chart, visit);
        }
    }
}

fn in_chart(chart: &mut Chart, visit: &mut Visit<'_>) {
    let head = chart.name.span;
    for item in &mut chart.items {
        let Noted { node, trivia, span, .. } = item;
        match node {
            ChartItem::Meta(entries) => {
                for key in entries.iter().map(|entry| entry.key.span).filter(|key| *key != head) {
                    visit(key, AnchorKind::Own, Slot::Item(trivia));
                }
            }
            ChartItem::Client(client) => {
                visit(*span, AnchorKind::Own, Slot::Item(trivia));
                for option in client.options.iter_mut().skip(1) {
                    visit(option.span, AnchorKind::Own, Slot::Item(&mut option.trivia));
                }
            }
            ChartItem::Defaults(_) if *span != head => {
                visit(*span, AnchorKind::Own, Slot::Item(trivia));
            }
            ChartItem::State(node) => in_state(node, *span, trivia, visit),
            ChartItem::Component(_) => visit(*span, AnchorKind::Own, Slot::Item(trivia)),
            _ => {}
        }
    }
}

fn in_state(node: &mut StateItem, span: Span, trivia: &mut Trivia, visit: &mut Visit<'_>) {
    match node {
        StateItem::Initial(_) => visit(span, AnchorKind::Derived, Slot::Item(trivia)),
        StateItem::State(state) => {
            visit(span, AnchorKind::Own, Slot::Item(trivia));
            for item in state.body.iter_mut().flat_map(|body| &mut body.items) {
                in_state(&mut item.node, item.span, &mut item.trivia, visit);
            }
        }
        StateItem::Step(step) => {
            visit(span, AnchorKind::Own, Slot::Item(trivia));
            in_step(step, visit);
            let end = Span { start: span.end, ..span };
            visit(end, AnchorKind::End, Slot::End(&mut step.end));
        }
        StateItem::Line(_) | StateItem::Allow(_) => {
            visit(span, AnchorKind::Own, Slot::Item(trivia));
        }
        _ => {}
    }
}

fn in_step(step: &mut Step, visit: &mut Visit<'_>) {
    let name = step.name.span;
    if let StepKind::Code(statements) = &mut step.kind {
        // The policy of a code step follows its braces, where no comment can be.
        in_code(statements, visit);
        return;
    }
    // Items with the span of the name are generated.
    for item in step.items.iter_mut().filter(|item| item.span != name) {
        visit(item.span, AnchorKind::Own, Slot::Item(&mut item.trivia));
    }
}

/// The recursion is as deep as blocks of Python are nested.
fn in_code(statements: &mut [Noted<Action>], visit: &mut Visit<'_>) {
    for one in statements {
        visit(one.span, AnchorKind::Own, Slot::Item(&mut one.trivia));
        match &mut one.node {
            Action::Assign(..)
            | Action::Do(..)
            | Action::Raise(..)
            | Action::Send { .. }
            | Action::Cancel(_)
            | Action::Log(_) => {}
            Action::If(_, then, other) => {
                in_code(then, visit);
                in_code(other, visit);
            }
            Action::For(_, _, body) => in_code(body, visit),
        }
    }
}
