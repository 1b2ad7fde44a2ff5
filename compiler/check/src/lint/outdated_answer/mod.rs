//! Answers to questions whose values may change while they wait, and that lead to effects with these values.

mod effects;
mod window;

use super::{Context, Lint, words};
use crate::facts::uses::reads;
use crate::turn::flow::{Flow, Site};
use chartc_core::arena::{StateId, StepId, VarId};
use chartc_core::model::{BinaryOp, Builtin, Chart, Expr, ExprKind, StepKind, TemplatePart};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::front::chart::lex::{TokenKind, tokens};
use chartc_text::rules::outdated_answer::RULE;
use chartc_text::span::Span;
use effects::{Effect, Search, Spot, equality};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use window::{By, Change, Window, mentions};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    if !context.all_read {
        return;
    }
    let lazy = OnceCell::new();
    for (i, row) in chart.steps.iter().enumerate() {
        let step = StepId::at(i);
        let StepKind::Human(question) = &row.kind else { continue };
        if facts.places.step(step).within.is_empty() {
            continue;
        }
        let mut shown = BTreeSet::new();
        let list = row.each.iter().map(|each| &each.list);
        question.holes().chain(list).for_each(|e| drop(reads(chart, e, &mut shown)));
        let window = Window::of(chart, facts, step);
        let effects = Search::run(chart, facts, step, &window, &shown);
        if effects.is_empty() {
            continue;
        }
        let changes = window.changes();
        let flow = || lazy.get_or_init(|| Flow::of(chart, facts));
        for effect in effects {
            let id = effect.variable;
            // A step starts in a turn after the answer, so that events may come in between.
            let later = match effect.spot {
                Spot::Step(step) => Window::of(chart, facts, step).changes(),
                Spot::Line(_) | Spot::State(_) => Vec::new(),
            };
            let own = changes.iter().filter(|_| !window.is_watched(id));
            let mut all = own.chain(&later).filter(|change| change.variable == id);
            let Some(change) = all.find(|change| may_happen(context, flow(), step, change)) else {
                continue;
            };
            if shown.remove(&id) {
                diagnostics.push(finding(context, step, effect, change));
            }
        }
    }
}

/// Whether the conditions of a change can hold while the step waits.
fn may_happen(context: &Context<'_>, flow: &Flow<'_>, step: StepId, change: &Change<'_>) -> bool {
    let Change { variable, leaf, guards, .. } = change;
    let is_first = guards.iter().any(|guard| is_unset(context.chart, guard, *variable));
    let asks_without = flow.is_exact() && flow.may_be_fresh(&[Site::Arguments(step)], *variable);
    let holds = |leaf: StateId| guards.iter().all(|guard| flow.may_hold(guard, leaf));
    (!is_first || asks_without) && leaf.is_none_or(holds)
}

/// Whether a condition holds only as long as the variable has one value, such as an empty one.
fn is_unset(chart: &Chart, condition: &Expr, variable: VarId) -> bool {
    let is_it = |e: &Expr| match &e.kind {
        ExprKind::Builtin(Builtin::Len, of) => {
            of.iter().all(|e| e.kind == ExprKind::Variable(variable))
        }
        kind => *kind == ExprKind::Variable(variable),
    };
    if let ExprKind::Predicate(id) = condition.kind {
        is_unset(chart, &chart.predicates[id.index()].expr, variable)
    } else if let ExprKind::Binary(BinaryOp::And, a, b) = &condition.kind {
        is_unset(chart, a, variable) || is_unset(chart, b, variable)
    } else if let Some((a, b)) = equality(condition) {
        let reads_nothing = |e: &Expr| {
            let mut read = BTreeSet::new();
            !reads(chart, e, &mut read) && read.is_empty()
        };
        is_it(a) && reads_nothing(b) || is_it(b) && reads_nothing(a)
    } else {
        false
    }
}

fn finding(context: &Context<'_>, step: StepId, effect: Effect, change: &Change<'_>) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let id = effect.variable;
    let name = &chart.variables[id.index()].name;
    let asker = words::step(chart, step);
    let (span, how, cure) = match change.by {
        By::Line(line) => (
            set_in(context, id, map.line(line).whole),
            format!("{} may change it before this", words::line(chart, line)),
            format!(
                "ask again when it changes (a target with `reenter`), or set it only where {asker} does not wait"
            ),
        ),
        By::Step(other) => (
            set_in(context, id, map.step(other).whole),
            format!("{} may change it before this", words::step(chart, other)),
            format!("let {} run in a state before the question", words::step(chart, other)),
        ),
        By::Host | By::Turn => (
            map.variables[id.index()],
            match change.by {
                By::Turn => "each turn resets it",
                By::Host | By::Line(_) | By::Step(_) => "the host may set it before this",
            }
            .to_owned(),
            "keep it in a variable on the way to the question, and show and use that".to_owned(),
        ),
    };
    let whole = match effect.spot {
        Spot::Line(line) => {
            let spans = map.line(line);
            let from = spans.guard.map_or(spans.whole.start, |guard| guard.end);
            Span { start: from, ..spans.whole }
        }
        Spot::State(state) => {
            let spans = map.state(state);
            // The values of a final state are written in its head.
            spans.entry.first().copied().unwrap_or(spans.name)
        }
        Spot::Step(step) => map.step(step).whole,
    };
    let at = mention(context, whole, name).unwrap_or(match effect.spot {
        Spot::Line(line) => map.line(line).whole,
        Spot::State(_) => whole,
        Spot::Step(step) => map.step(step).name,
    });
    let message = format!("`{name}` may have changed since {asker} showed it");
    RULE.at(at, message)
        .help(cure)
        .related(shown_at(context, step, id), "the question shows it")
        .related(span, how)
}

/// Where the question of a step shows a variable.
fn shown_at(context: &Context<'_>, step: StepId, id: VarId) -> Span {
    let Context { chart, map, .. } = context;
    let spans = map.step(step);
    let parts = chart.own_prompt(step).into_iter().flat_map(|text| &text.parts);
    let shows = |part: &TemplatePart| matches!(part, TemplatePart::Hole { expr, .. } if mentions(chart, expr, id));
    let nth = parts.into_iter().position(shows);
    nth.and_then(|nth| spans.prompt_parts.get(nth).copied()).or(spans.list).unwrap_or(spans.name)
}

/// The first assignment to a variable within a place; the place itself without one.
fn set_in(context: &Context<'_>, id: VarId, place: Span) -> Span {
    let inside =
        |span: Span| span.file == place.file && place.start <= span.start && span.end <= place.end;
    let mut all = context.map.assignments.iter();
    all.find(|(of, span)| *of == id && inside(*span)).map_or(place, |(_, span)| *span)
}

/// The first place within a part of a chart where a name is read: after an assignment to it nothing is meant.
fn mention(context: &Context<'_>, place: Span, name: &str) -> Option<Span> {
    let text = context.sources.get(place.file).slice(place);
    let found = tokens(text);
    let nth = found.iter().enumerate().position(|(nth, token)| {
        let next = found.get(nth + 1).map(|next| next.text(text));
        let written = token.text(text);
        match token.kind {
            TokenKind::Word => written == name && !matches!(next, Some("=" | ":")),
            TokenKind::Quoted => written.trim_matches('`') == name,
            TokenKind::Text | TokenKind::Block => written.contains(&format!("{{{name}")),
            TokenKind::Comment
            | TokenKind::Doc
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Duration
            | TokenKind::Sign
            | TokenKind::Open
            | TokenKind::Close
            | TokenKind::Other => false,
        }
    })?;
    let start = place.start as usize;
    Some(Span::new(place.file, start + found[nth].start, start + found[nth].end))
}
