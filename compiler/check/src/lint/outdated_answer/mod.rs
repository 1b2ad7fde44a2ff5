//! Answers to questions whose values may change while they wait, and that lead to effects with these values.
//!
//! The problem: a person reads "Pay 3?" and agrees, but an event has changed the amount meanwhile, and the chart pays the new amount. The
//! idea: [`window`] determines where the step waits and what may be executed meanwhile, [`changes`] finds what may change a variable in
//! this window, and [`effects`] follows the answer to the places that read the variable. A variable that the question shows, that may
//! change, and that is read afterwards is reported. For example:
//!
//! ```text
//! state deciding {
//!   on pay_for(n) { amount = n }
//!   human approve "Pay {amount}?" { returns Bool  done if approve -> paid { pay(amount) } }
//! }
//! ```
//!
//! 1. `approve` shows `amount`, and waits in `deciding` for a person, so that events and turns may come.
//! 2. Window: `on pay_for` may be taken meanwhile; it does not exit `deciding`, so the question is not withdrawn.
//! 3. Changes: `on pay_for` assigns `amount`.
//! 4. Effects: `done` follows from the answer, and `pay(amount)` reads the variable. The finding is there.

mod changes;
mod effects;
mod window;

use super::{Context, Lint, reading, words};
use crate::facts::uses::reads;
use crate::turn::flow::{Flow, Site};
use changes::{By, VariableChange, Writers};
use chartc_core::arena::{StepId, VarId};
use chartc_core::model::{BinaryOp, Builtin, Chart, Expr, ExprKind, StepKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::front::chart::lex::{TokenKind, tokens};
use chartc_text::rules::OUTDATED_ANSWER;
use chartc_text::span::Span;
use effects::{Effect, EffectSearch, ReadPlace, equality};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use window::{Wait, Window};

pub(super) static LINT: Lint = Lint { rule: &OUTDATED_ANSWER, needs_whole: true, run };

/// The maximum number of questions, and of changes of one variable, that are examined.
const MOST: usize = 200;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    if !context.all_read {
        return;
    }
    // Both take a pass over the chart, so they are computed only if an answer has effects.
    let (flow, writers) = (OnceCell::new(), OnceCell::new());
    let steps = (0..chart.steps.len()).map(StepId::at);
    for (step, wait, mut shown) in steps.filter_map(|id| question(context, id)).take(MOST) {
        let window = Window::new(chart, facts, step, wait);
        let effects = EffectSearch::run(chart, facts, step, &window, &shown);
        if effects.is_empty() {
            continue;
        }
        let flow = || flow.get_or_init(|| Flow::new(chart, facts));
        let writers = writers.get_or_init(|| Writers::from_chart(chart));
        for effect in effects {
            let id = effect.variable;
            let find = |window: &Window<'_>| {
                let holds = |guard: &Expr, leaf| flow().may_hold(guard, leaf);
                let all = changes::ChangeSearch::new(window, writers).of(id);
                let mut all = all.iter().take(MOST);
                let is_it = |change: &&VariableChange<'_>| {
                    !sets_once(context, flow(), step, change) && window.may_happen(change, &holds)
                };
                all.find(is_it).map(|change| change.by)
            };
            let by = if window.is_watched(id) { None } else { find(&window) };
            // After the answer of a person, the step is called in a later turn, so there is a second window.
            let by = by.or_else(|| match effect.spot {
                ReadPlace::Step(step) if wait == Wait::Turns => {
                    find(&Window::new(chart, facts, step, wait))
                }
                ReadPlace::Step(_) | ReadPlace::Transition(_) | ReadPlace::State(_) => None,
            });
            if let Some(by) = by
                && shown.remove(&id)
            {
                diagnostics.push(finding(context, step, effect, by));
            }
        }
    }
}

/// The kind of wait of a step, and the variables that it shows; `None` for a step that asks nothing or shows no variable.
fn question(context: &Context<'_>, id: StepId) -> Option<(StepId, Wait, BTreeSet<VarId>)> {
    let Context { chart, facts, .. } = context;
    let step = &chart.steps[id.index()];
    let wait = match step.kind {
        StepKind::Human(_) => Wait::Turns,
        StepKind::Llm | StepKind::Ask { .. } => Wait::Call,
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Run(_) => return None,
    };
    let list = step.each.iter().map(|each| &each.list);
    let mut shown = BTreeSet::new();
    for expr in chart.own_prompt(id)?.holes().chain(list) {
        reads(chart, expr, &mut shown);
    }
    let runs = !facts.scopes.step(id).within.is_empty();
    (runs && !shown.is_empty()).then_some((id, wait, shown))
}

/// Whether a change happens only while the variable has one value, which the question never shows.
fn sets_once(
    context: &Context<'_>,
    flow: &Flow<'_>,
    step: StepId,
    change: &VariableChange<'_>,
) -> bool {
    let VariableChange { variable, guards, .. } = change;
    let parts = context.map.step(step).prompt_parts.len();
    let mut sites: Vec<Site> = (0..parts).map(|nth| Site::Prompt(step, nth)).collect();
    sites.push(Site::Arguments(step));
    let shows_it = flow.is_exact() && flow.may_be_fresh(&sites, *variable);
    !shows_it && guards.iter().any(|guard| is_unset(context.chart, guard, *variable))
}

/// Whether a condition holds only as long as the variable has one value, such as an empty one.
fn is_unset(chart: &Chart, condition: &Expr, variable: VarId) -> bool {
    let is_it = |e: &Expr| {
        let whole = ExprKind::Variable(variable);
        let counts = matches!(&e.kind, ExprKind::Builtin(Builtin::Len, of) if of.iter().all(|e| e.kind == whole));
        counts || e.kind == whole
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

fn finding(context: &Context<'_>, step: StepId, effect: Effect, by: By) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let id = effect.variable;
    let name = &chart.variables[id.index()].name;
    let asker = words::step(chart, step);
    let (span, how, cure) = match by {
        By::Transition(transition) => (
            set_in(context, id, map.transition(transition).whole),
            format!("{} may change it before this", words::transition(chart, transition)),
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
            match by {
                By::Turn => "each turn resets it",
                By::Host | By::Transition(_) | By::Step(_) => "the host may set it before this",
            }
            .to_owned(),
            "keep it in a variable on the way to the question, and show and use that".to_owned(),
        ),
    };
    let whole = match effect.spot {
        ReadPlace::Transition(transition) => {
            let spans = map.transition(transition);
            let from = spans.guard.map_or(spans.whole.start, |guard| guard.end);
            Span { start: from, ..spans.whole }
        }
        ReadPlace::State(state) => {
            let spans = map.state(state);
            // The values of a final state are written in its head.
            spans.entry.first().copied().unwrap_or(spans.name)
        }
        ReadPlace::Step(step) => map.step(step).whole,
    };
    let at = mention(context, whole, name).unwrap_or(match effect.spot {
        ReadPlace::Transition(transition) => map.transition(transition).whole,
        ReadPlace::State(_) => whole,
        ReadPlace::Step(step) => map.step(step).name,
    });
    let message = format!("`{name}` may have changed since {asker} showed it");
    OUTDATED_ANSWER
        .at(at, message)
        .help(cure)
        .related(reading::shown_at(context, step, id), "the question shows it")
        .related(span, how)
}

/// The span of the first assignment to a variable within `place`; `place` itself if there is none.
fn set_in(context: &Context<'_>, id: VarId, place: Span) -> Span {
    let inside =
        |span: Span| span.file == place.file && place.start <= span.start && span.end <= place.end;
    let mut all = context.map.assignments.iter();
    all.find(|(of, span)| *of == id && inside(*span)).map_or(place, |(_, span)| *span)
}

/// The first mention of a name within a part of a chart, apart from `name =` and `name:`, which do not read it.
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
            _ => false,
        }
    })?;
    let start = place.start as usize;
    Some(Span::new(place.file, start + found[nth].start, start + found[nth].end))
}
