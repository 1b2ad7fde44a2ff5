//! Names parts of a chart in findings. The user's text is in backticks.

pub(super) use crate::rules::{names, row, short};

use crate::analysis::facts::reach::{Witness, witness};
use crate::notation;
use crate::syntax::source::{Sources, Span};
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::expr::Value;
use chartc_core::model::{Chart, ChoiceKind, Expr, Subject, Trigger};
use std::ops::Range;

/// Names a state by its path, the root by the chart's name.
pub(super) fn state(chart: &Chart, id: StateId) -> String {
    let row = chart.state(id);
    format!("`{}`", if row.path.is_empty() { &row.name } else { &row.path })
}

/// Says that a run does something that a `check` line names: "`pay` can be called", "`approve` is done".
pub(super) fn happens(chart: &Chart, subject: &Subject, is: &str) -> String {
    let (name, done) = match subject {
        Subject::State(id) => return format!("{} {is} entered", state(chart, *id)),
        Subject::Effect(id) => (&chart.functions[id.index()].name, "called"),
        Subject::Tool(id) => (&chart.tools[id.index()].name, "called"),
        Subject::Step(id) => (&chart.steps[id.index()].name, "done"),
        Subject::Option(name) => (name, "chosen"),
        Subject::Event(id) => (&chart.events[id.index()].name, "handled"),
    };
    format!("`{name}` {is} {done}")
}

/// Lists states, as in `a`, `b` and `c`; after the fourth, only their number.
pub(super) fn states(chart: &Chart, ids: &[StateId]) -> String {
    let shown: Vec<String> = ids.iter().take(4).map(|s| state(chart, *s)).collect();
    match (ids.len(), shown.split_last()) {
        (0, _) | (_, None) => "none".into(),
        (1, Some((last, _))) => last.clone(),
        (n, Some(_)) if n > shown.len() => {
            format!("{} and {} more", shown.join(", "), n - shown.len())
        }
        (_, Some((last, rest))) => format!("{} and {last}", rest.join(", ")),
    }
}

/// Names a step, in backticks.
pub(super) fn step(chart: &Chart, id: StepId) -> String {
    format!("`{}`", chart.steps[id.index()].name)
}

/// The beginning of a transition, by which findings name it.
pub enum TransitionHead<'c> {
    /// The first words of a line.
    Line(String),
    /// An outcome of the step with this name.
    Outcome(&'static str, &'c str),
}

/// Names a transition by its trigger, as written in a chart.
pub fn transition(chart: &Chart, id: TransitionId) -> String {
    match head(chart, id) {
        TransitionHead::Line(words) => format!("`{words}`"),
        TransitionHead::Outcome(what, step) => format!("`{what}` of `{step}`"),
    }
}

/// The beginning of a transition, as written in a chart.
pub fn head(chart: &Chart, id: TransitionId) -> TransitionHead<'_> {
    let row = chart.transition(id);
    let step = |id: &StepId| chart.steps[id.index()].name.as_str();
    let payload = notation::payload(row);
    TransitionHead::Line(match &row.trigger {
        Trigger::Event(events) => format!("on {}", notation::event_pattern(chart, events)),
        Trigger::AnyEvent => "on *".into(),
        Trigger::AnyOccurrence => "on **".into(),
        Trigger::Turn => "on turn".into(),
        Trigger::When => {
            let guard = row.guard.as_ref().map(|g| notation::expression_in(chart, g, &payload));
            format!("when {}", short(&guard.unwrap_or_else(|| "true".into())))
        }
        Trigger::StateDone(s) => {
            format!("on done({})", notation::path(&chart.state(*s).path))
        }
        Trigger::After(bound) => format!("after {}", notation::expression(chart, bound)),
        Trigger::AfterTurns(bound) => format!("after {} turns", notation::expression(chart, bound)),
        Trigger::Choice(choice) => {
            let choice = &chart.choices[choice.index()];
            match choice.kind {
                ChoiceKind::Option(_) => format!("may {}", notation::name(&choice.name)),
                ChoiceKind::Call(..) => format!("may call {}", notation::path(&choice.name)),
            }
        }
        Trigger::StepDone(id) => return TransitionHead::Outcome("done", step(id)),
        Trigger::StepError(id) => return TransitionHead::Outcome("error", step(id)),
        Trigger::StepTimeout(id, _) => return TransitionHead::Outcome("timeout", step(id)),
        Trigger::StepDoubt(id) => return TransitionHead::Outcome("doubt", step(id)),
        Trigger::StepElse(id) => return TransitionHead::Outcome("else", step(id)),
        Trigger::Error(pattern) => format!("on {}", chartc_core::wording::error_event(pattern)),
        Trigger::LimitWarn(pattern) => format!("on limit.warn.{pattern}"),
    })
}

/// The guard of a transition, abbreviated.
pub(super) fn guard(chart: &Chart, id: TransitionId) -> Option<String> {
    let row = chart.transition(id);
    let guard = row.guard.as_ref()?;
    Some(short(&notation::expression_in(chart, guard, &notation::payload(row))))
}

/// Describes a run to the state, as the end of a help text; empty if the run starts there.
pub(super) fn way(context: &super::Context<'_>, id: StateId) -> String {
    let found = witness(&context.facts.reach, id).filter(|way| !way.hops.is_empty());
    found.map_or_else(String::new, |way| {
        format!("; a run that gets there: {}", run(context.chart, &way))
    })
}

/// Describes a run by its states and the transitions between them.
pub(super) fn run(chart: &Chart, witness: &Witness) -> String {
    let Some((first, _, _)) = witness.hops.first() else { return "the run begins there".into() };
    let mut text = format!("in {}", state(chart, *first));
    for (_, by, to) in &witness.hops {
        text.push_str(&format!(", {} leads to {}", transition(chart, *by), state(chart, *to)));
    }
    text
}

/// The span of the piece `at` of a text, where `part` is the span of the whole text. Returns `part` if escapes or line ends make
/// the piece ambiguous.
pub(super) fn piece(sources: &Sources, part: Span, text: &str, at: &Range<usize>) -> Span {
    let written = sources.get(part.file).slice(part);
    let piece = &text[at.clone()];
    let nth = text[..at.start].matches(piece).count();
    if piece.is_empty() || written.matches(piece).count() != text.matches(piece).count() {
        return part;
    }
    written.match_indices(piece).nth(nth).map_or(part, |(from, _)| {
        let start = part.start as usize + from;
        Span::new(part.file, start, start + piece.len())
    })
}

/// Formats the values of a case as conditions.
pub(super) fn case(chart: &Chart, id: TransitionId, case: &[(Expr, Value)]) -> String {
    let payload = notation::payload(chart.transition(id));
    let one = |(term, value): &(Expr, Value)| {
        let term = notation::expression_in(chart, term, &payload);
        match value {
            Value::Bool(true) => format!("`{term}`"),
            Value::Bool(false) => format!("`not {term}`"),
            Value::Text(name) => format!("`{term} == {name}`"),
            Value::Int(n) => format!("`{term} == {n}`"),
            Value::Float(n) => format!("`{term} == {n:?}`"),
            Value::None => format!("`{term} == none`"),
            Value::Duration(_) | Value::List(_) | Value::Map(_) => String::new(),
        }
    };
    let said: Vec<String> = case.iter().map(one).filter(|text| !text.is_empty()).collect();
    said.join(" and ")
}
