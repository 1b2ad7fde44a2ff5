//! Small rules about lines and steps: what a line has beside it, items that may stand once, `each after`, `cut ok`, `doubt retry`.

use super::context::Cx;
use super::{Follower, TransitionSpans};
use crate::rules::{ILLEGAL_STRUCTURE, illegal_structure};
use crate::syntax::diagnostic::{Diagnostic, Severity};
use crate::syntax::source::Span;
use crate::syntax::{self, LineKind, Noted, StateItem, StepItem};
use chartc_core::arena::{ChoiceId, StateId, StepId, TransitionId};
use chartc_core::model::{Choice, StepKind, Transition, TransitionKind, Trigger, Type};
use std::collections::BTreeSet;

/// An item to which a condition may belong.
#[derive(Clone, Copy)]
pub(super) enum Neighbour<'s> {
    Line(&'s syntax::Line),
    Allow(&'s syntax::Allow),
    Step(&'s syntax::Step),
}

/// The neighbours of a line in its body.
#[derive(Clone, Copy)]
pub(super) struct Beside<'s> {
    pub(super) before: Option<Neighbour<'s>>,
    pub(super) next: Option<Follower>,
}

impl<'s> Beside<'s> {
    pub(super) fn new(
        before: Option<(Neighbour<'s>, Span)>,
        next: Option<(Neighbour<'s>, Span)>,
    ) -> Self {
        let next = next.and_then(|(item, span)| match item {
            Neighbour::Line(line) => Some(follower(line, span)),
            Neighbour::Allow(_) | Neighbour::Step(_) => None,
        });
        Self { before: before.map(|(item, _)| item), next }
    }
}

/// The item, if a condition may belong to it.
pub(super) fn item(item: &StateItem) -> Option<Neighbour<'_>> {
    match item {
        StateItem::Line(line) => Some(Neighbour::Line(line)),
        StateItem::Allow(allow) => Some(Neighbour::Allow(allow)),
        StateItem::Step(step) => Some(Neighbour::Step(step)),
        _ => None,
    }
}

fn follower(line: &syntax::Line, span: Span) -> Follower {
    let word = match line.kind {
        LineKind::On(_) => "on",
        LineKind::When(_) => "when",
        LineKind::After { each: false, .. } => "after",
        LineKind::After { each: true, .. } => "each",
        LineKind::May(_) => "may",
    };
    let is_condition = matches!(line.kind, LineKind::When(_)) && line.tail.guard.is_none();
    Follower { word, span: first(span, word), is_condition }
}

/// The span of the first word of an item.
fn first(span: Span, word: &str) -> Span {
    Span { end: span.start + word.len() as u32, ..span }
}

/// The finding for a `when` line that does nothing, whose condition may have been meant for the item before it.
pub(super) fn idle_when(span: Span, before: Option<Neighbour<'_>>) -> Diagnostic {
    let word = first(span, "when");
    match before {
        Some(Neighbour::Allow(allow)) if allow.guard.is_none() => {
            illegal_structure::idle_when(span, "a condition is `if`: `allow a -> b if …`")
                .replace(word, "if", false)
        }
        Some(Neighbour::Line(line))
            if line.tail.guard.is_none() && !line.tail.targets.is_empty() =>
        {
            illegal_structure::idle_when(
                span,
                "give it `-> state`, or actions that make its condition false; the condition of the line before it is written `if`, before the arrow",
            )
        }
        Some(Neighbour::Step(step)) if is_open(step) => illegal_structure::idle_when(
            span,
            "the condition of a step is `if`, before its body: `llm s if … { }`",
        )
        .replace(word, "if", false),
        Some(Neighbour::Line(_) | Neighbour::Allow(_) | Neighbour::Step(_)) | None => {
            illegal_structure::idle_when(span, illegal_structure::GIVE_TARGET)
        }
    }
}

/// Whether a condition and a body may still follow a step as it is written.
fn is_open(step: &syntax::Step) -> bool {
    step.guard.is_none() && step.items.is_empty() && step.then.is_none()
}

// `cut ok` of a step: an answer that was cut off is accepted.

/// Lowers `cut ok`, which only `llm` steps that return a text have.
pub(super) fn ok(cx: &mut Cx<'_>, id: StepId, span: Span) {
    let step = &cx.chart.steps[id.index()];
    let is_llm = matches!(step.kind, StepKind::Llm);
    if is_llm && *step.one_returns() == Type::Text {
        cx.chart.steps[id.index()].accepts_cut = true;
        return;
    }
    let (message, help) = if is_llm {
        ("only a text can be cut off and still be an answer", "return `Text`, or leave it out")
    } else {
        ("`cut ok` is allowed only in `llm` steps, whose answers may be cut off", "leave it out")
    };
    cx.report(ILLEGAL_STRUCTURE.at(span, message).help(help));
}

// `doubt retry` of a step: after a doubt, the call is made again.

/// Lowers `doubt retry`, which only steps with a call of their own have.
pub(super) fn retry(cx: &mut Cx<'_>, id: StepId, span: Span) {
    let finding = match &cx.chart.steps[id.index()].kind {
        StepKind::Llm | StepKind::Ask { .. } | StepKind::Call(..) => None,
        StepKind::Human(_) => {
            let message = "`doubt retry` has no effect: a person is asked again in any case";
            Some(ILLEGAL_STRUCTURE.at(span, message).help("leave it out"))
        }
        StepKind::Code(_) | StepKind::Run(_) => {
            let message =
                "`doubt retry` is allowed only in steps that make a call: `llm`, `ask`, `call`";
            Some(ILLEGAL_STRUCTURE.at(span, message))
        }
    };
    if let Some(finding) = finding {
        cx.report(finding);
        return;
    }
    cx.chart.steps[id.index()].retries_doubt = true;
    cx.map.steps[id.index()].doubt_retry = Some(span);
}

/// Reports `doubt` lines that are never taken, because the call is made again.
pub(super) fn close(cx: &mut Cx<'_>) {
    let mut seen = BTreeSet::new();
    for (transition, spans) in cx.chart.transitions.iter().zip(&cx.map.transitions) {
        let Trigger::StepDoubt(id) = transition.trigger else { continue };
        let row = &cx.chart.steps[id.index()];
        let span = spans.whole;
        if cx.chart.may_doubt(id) || !seen.insert((span.file, span.start)) {
            continue;
        }
        let finding = match (&row.kind, cx.map.steps[id.index()].doubt_retry) {
            (StepKind::Call(tool, _), None) => {
                let tool = &cx.chart.tools[tool.index()].name;
                let message = format!(
                    "this line is never taken: `{tool}` is called again, it is `idempotent`"
                );
                let mut finding = ILLEGAL_STRUCTURE.at(span, message);
                finding.severity = Severity::Warning;
                finding.help("leave the line out")
            }
            (_, declared) => {
                let message = "this line is never taken: with `doubt retry` the call is made again";
                let finding = ILLEGAL_STRUCTURE.at(span, message);
                let finding = finding.help("leave one of the two out");
                match declared {
                    Some(declared) => finding.related(declared, "here"),
                    None => finding,
                }
            }
        };
        cx.findings.push(finding);
    }
}

// `each after`: copies of a transition for every leaf below its state.

/// The maximum number of copies of `each after` lines in a chart. There could be as many as states times lines.
const MOST_COPIES: usize = 200_000;

/// Adds to a leaf its copies of the `each after` transitions above it, innermost state first.
pub(super) fn copy(cx: &mut Cx<'_>, leaf: StateId) {
    let mut above = cx.nodes[leaf.index()].each_above;
    while let Some(state) = above {
        for index in 0..cx.nodes[state.index()].each.len() {
            cx.copies += 1;
            if cx.copies > MOST_COPIES {
                return too_many_copies(cx, state, index);
            }
            let (mut transition, spans) = cx.nodes[state.index()].each[index].clone();
            transition.source = leaf;
            // A leaf has no descendants to which an internal transition could lead.
            if transition.kind == TransitionKind::Internal {
                transition.kind = TransitionKind::External;
            }
            add(cx, Draft { transition, spans, choice: None, each: false });
        }
        above = cx.chart.state(state).parent.and_then(|p| cx.nodes[p.index()].each_above);
    }
}

fn too_many_copies(cx: &mut Cx<'_>, state: StateId, index: usize) {
    // Reported once, at the first copy that is too many.
    if cx.copies == MOST_COPIES + 1 {
        let span = cx.nodes[state.index()].each[index].1.whole;
        let message = format!("`each after` makes more than {MOST_COPIES} lines in this chart");
        cx.report(
            ILLEGAL_STRUCTURE
                .at(span, message)
                .help("each is copied to every state below: write fewer, or further inside"),
        );
    }
    cx.dropped = true;
}

// Items that a step may have only once.

/// Reports the second item of a kind in a step. A second prompt or policy is found where it is lowered.
pub(super) fn items(cx: &mut Cx<'_>, items: &[Noted<StepItem>]) {
    let mut seen: [Option<Span>; 9] = [None; 9];
    for noted in items {
        let (nth, what) = match &noted.node {
            StepItem::Returns(..) => (0, "`returns` in one step"),
            StepItem::Tools(..) => (1, "`tools` in one step"),
            StepItem::EndsTurn(_) => (2, "`ends turn` in one step"),
            StepItem::AtATime(_) => (3, "`at a time` in one step"),
            StepItem::UpTo(_) => (4, "`up to` in one step"),
            StepItem::Enough(_) => (5, "`enough` in one step"),
            StepItem::Lost(_) => (6, "`else` in one step"),
            StepItem::DoubtRetry => (7, "`doubt retry` in one step"),
            StepItem::CutOk => (8, "`cut ok` in one step"),
            _ => {
                continue;
            }
        };
        match seen[nth] {
            Some(first) => cx.report(illegal_structure::second(what, noted.span, first)),
            None => seen[nth] = Some(noted.span),
        }
    }
}

/// A transition that has no id yet.
pub(super) struct Draft {
    pub(super) transition: Transition,
    pub(super) spans: TransitionSpans,
    pub(super) choice: Option<(Choice, Span)>,
    pub(super) each: bool,
}

/// Adds a transition, and its option if it has one, to the model.
pub(super) fn add(cx: &mut Cx<'_>, mut draft: Draft) -> TransitionId {
    let id = TransitionId::at(cx.chart.transitions.len());
    if let Some((mut choice, span)) = draft.choice {
        draft.transition.trigger = Trigger::Choice(ChoiceId::at(cx.chart.choices.len()));
        choice.transition = id;
        cx.chart.choices.push(choice);
        cx.map.choices.push(span);
    }
    cx.chart.states[draft.transition.source.index()].transitions.push(id);
    cx.chart.transitions.push(draft.transition);
    cx.map.transitions.push(draft.spans);
    id
}
