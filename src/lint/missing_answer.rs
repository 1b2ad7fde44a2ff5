//! Lines that are taken when a step fails and that use what it would have answered.

use super::{Context, Lint, words};
use crate::analysis::uses::{early_reads, own_expressions, written};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use chartc_core::arena::{StepId, TransitionId, VarId};
use chartc_core::model::{Action, Chart, ExprKind, Transition, Trigger};

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: true, run };

static RULE: Rule = Rule {
    code: "C0433",
    name: "missing-answer",
    severity: Severity::Warning,
    page: include_str!("missing_answer.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (i, line) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let Some((step, variable)) = unanswered(chart, line) else { continue };
        if !facts.reach.takes(id)
            || !reads(chart, line, variable)
            || is_set_elsewhere(chart, step, variable)
        {
            continue;
        }
        // What an earlier answer left may be meant.
        let done = chart.steps[step.index()].outcomes.iter().map(|l| chart.transition(*l));
        let again = facts.moves.leads_to([chart.steps[step.index()].state]);
        let mut targets = done.filter(|l| l.trigger == Trigger::StepDone(step)).flat_map(|l| {
            if l.targets.is_empty() {
                vec![l.source]
            } else {
                l.targets.iter().map(|t| t.state).collect()
            }
        });
        if targets.any(|state| again[state.index()]) {
            continue;
        }
        let (name, of) = (&chart.variables[variable.index()].name, words::step(chart, step));
        let message = format!(
            "{} uses `{name}`, which is to hold the answer of {of}: there is none when it fails",
            words::line(chart, id)
        );
        let found = RULE.at(map.line(id).whole, message);
        diagnostics.push(
            found
                .help("use another value here; `error` gives the reason why the step failed")
                .related(map.step(step).name, "its answer goes there"),
        );
    }
}

/// The step that gave no answer where the line is taken, and the variable that keeps its answers.
fn unanswered(chart: &Chart, line: &Transition) -> Option<(StepId, VarId)> {
    let step = match line.trigger {
        Trigger::StepError(step) | Trigger::StepTimeout(step, _) | Trigger::StepElse(step) => step,
        Trigger::Event(_)
        | Trigger::AnyEvent
        | Trigger::AnyOccurrence
        | Trigger::Turn
        | Trigger::When
        | Trigger::StateDone(_)
        | Trigger::After(_)
        | Trigger::AfterTurns(_)
        | Trigger::Choice(_)
        | Trigger::StepDone(_)
        | Trigger::StepDoubt(_)
        | Trigger::Error(_)
        | Trigger::LimitWarn(_) => return None,
    };
    Some((step, chart.steps[step.index()].into?))
}

/// Whether what the line does reads the variable before the line sets it; what is given a default does not count.
fn reads(chart: &Chart, line: &Transition, variable: VarId) -> bool {
    let mut found = false;
    let mut look = |expr| {
        early_reads(chart, expr, &mut |e| {
            found |= matches!(e.kind, ExprKind::Variable(id) if id == variable);
        });
    };
    line.targets.iter().flat_map(|t| &t.arguments).for_each(&mut look);
    for action in &line.actions {
        // A value that asks for itself is not lost.
        if matches!(action, Action::Assign(id, _) if *id == variable)
            || matches!(action, Action::If(..))
        {
            break;
        }
        own_expressions(action).into_iter().for_each(&mut look);
    }
    found
}

/// Whether anything but the step sets the variable, or it begins with more than an empty value.
fn is_set_elsewhere(chart: &Chart, step: StepId, variable: VarId) -> bool {
    let mut set = false;
    for actions in written(chart) {
        Action::walk(actions, &mut |action| {
            set |= matches!(action, Action::Assign(id, _) if *id == variable);
        });
    }
    let others = chart.steps.iter().enumerate().filter(|(i, _)| *i != step.index());
    let empty = chart.variables[variable.index()].default.as_ref().is_none_or(|e| match &e.kind {
        ExprKind::None => true,
        ExprKind::Text(text) => text.literal().is_some_and(str::is_empty),
        ExprKind::List(items) => items.is_empty(),
        ExprKind::Map(entries) => entries.is_empty(),
        ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Duration(_)
        | ExprKind::Enum(..)
        | ExprKind::Variable(_)
        | ExprKind::Local(_)
        | ExprKind::Payload(_)
        | ExprKind::Answer(_)
        | ExprKind::Predicate(_)
        | ExprKind::Observable(_)
        | ExprKind::Field(..)
        | ExprKind::Index(..)
        | ExprKind::Slice(..)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Compare(..)
        | ExprKind::If(..)
        | ExprKind::Default(..)
        | ExprKind::Builtin(..)
        | ExprKind::Call(..)
        | ExprKind::Record(..)
        | ExprKind::Comprehension { .. }
        | ExprKind::Unknown(_) => false,
    });
    set || !empty || others.into_iter().any(|(_, s)| s.into == Some(variable))
}
