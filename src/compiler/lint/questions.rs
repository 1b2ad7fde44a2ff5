//! Findings about questions to models and people: their options, prompts and answers.
//!
//! The problem: the options of a question are lines of its state and of all states around it, and its answer is read elsewhere, so a gap
//! between them is not visible in one place. The idea: each lint collects both sides and compares them. In the order of this file:
//!
//! - `DEAD_OPTION`: no question offers the option, or earlier lines offer all of its tools.
//! - `TOO_FEW_OPTIONS`: in no leaf are there two options to choose from (`most`).
//! - `UNPUT_QUESTION`: a line always takes the event of the question, or the turn, first.
//! - `MISSING_PROMPT`: neither a prompt nor a component tells the model anything.
//! - `UNREAD_ANSWER`: the chart declares the type of an answer, and nothing reads it.
//! - `MISSING_ANSWER`: a line that is taken when the step fails uses its answer.
//!
//! For example:
//!
//! ```text
//! state open {
//!   on turn -> closed
//!   ask next on turn else stay { prompt "{options}" }
//!   may stop -> done
//! }
//! ```
//!
//! `on turn` takes every turn before `next` can be asked: an unput question. That it has only one option is not reported as well, because
//! it is never asked.

use super::{Context, Lint, words};
use crate::analysis::facts::Facts;
use crate::analysis::facts::conditions::is_impossible;
use crate::analysis::facts::reach::{is_end, is_leaf};
use crate::analysis::facts::usage::{Usage, early_reads};
use crate::rules;
use crate::syntax::diagnostic::Diagnostic;
use chartc_core::arena::{StateId, StepId, ToolSetId, TransitionId, VarId};
use chartc_core::model::{
    Action, Chart, ChoiceKind, ExprKind, Otherwise, Step, StepKind, Template, Transition, Trigger,
    Type,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static DEAD_OPTION: Lint =
    Lint { rule: &rules::DEAD_OPTION, needs_whole: true, run: find_dead_option };

fn find_dead_option(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (transition, why) in unoffered(chart, facts) {
        let name = words::transition(chart, transition);
        let at = map.transition(transition).trigger;
        diagnostics.push(match why {
            DeadReason::Unasked => {
                let state = words::state(chart, chart.transition(transition).source);
                rules::DEAD_OPTION.at(at, format!("{name} is never offered: nothing asks while {state} is active"))
                    .help("add an `ask` step to the state or an ancestor, or write an `on`, `when` or `after` line instead")
            }
            DeadReason::Empty(set) => {
                let set = &chart.tool_sets[set.index()].name;
                rules::DEAD_OPTION.at(at, format!("{name} is never offered: there is no tool in `{set}`"))
                    .help("declare the tools and name them in the set, or remove the line")
            }
            DeadReason::Taken(by) => {
                let found = rules::DEAD_OPTION
                    .at(at, format!("{name} is never offered: lines above it offer all of its tools"))
                    .help("a tool belongs to the first line that offers it: put the narrower set first, or take its tools out of the wider one, `any - name`");
                by.iter().take(3).fold(found, |found, by| {
                    found.related(map.transition(*by).whole, "offers them first")
                })
            }
        });
    }
}

/// The maximum number of earlier transitions of a state with which a later one is compared.
const MOST: usize = 20;

/// The reason why an option is never offered.
#[derive(Debug, Clone, PartialEq, Eq)]
enum DeadReason {
    /// No question is asked while its state is active.
    Unasked,
    /// The set of the transition contains no tool.
    Empty(ToolSetId),
    /// These earlier transitions offer all of its tools.
    Taken(Vec<TransitionId>),
}

/// Finds the `may` transitions of reachable states whose guards may hold and that no question offers, in document order. Linear,
/// with at most [`MOST`] comparisons for each.
fn unoffered(chart: &Chart, facts: &Facts) -> Vec<(TransitionId, DeadReason)> {
    let mut found = Vec::new();
    let asks = chart.steps.iter().filter(|step| matches!(step.kind, StepKind::Ask { .. }));
    let asks: BTreeSet<StateId> = asks.map(|step| step.state).collect();
    for state in chart.state_ids().filter(|s| facts.reach.can_enter(*s)) {
        let mut earlier: Vec<(TransitionId, ToolSetId)> = Vec::new();
        for id in &chart.state(state).transitions {
            let transition = chart.transition(*id);
            let Trigger::Choice(choice) = transition.trigger else { continue };
            let never = |guard| is_impossible(chart, &[(guard, true)]);
            if transition.guard.as_ref().is_some_and(never)
                || !facts.scopes.forbidden[id.index()].is_empty()
            {
                continue;
            }
            if facts.scopes.transition(*id).within.is_empty() {
                // C0303 reports a scope that is never active.
                if transition.scope.is_none() && !asked(chart, &asks, state) {
                    found.push((*id, DeadReason::Unasked));
                }
                continue;
            }
            let ChoiceKind::Call(set, _) = chart.choices[choice.index()].kind else { continue };
            // Only a transition that is always enabled takes its tools away from later ones.
            if let Some(why) = shut(chart, set, &earlier) {
                found.push((*id, why));
            } else if transition.guard.is_none()
                && transition.scope.is_none()
                && earlier.len() < MOST
            {
                earlier.push((*id, set));
            }
        }
    }
    found
}

/// Whether the state, an ancestor or a descendant has an `ask` step, reachable or not.
fn asked(chart: &Chart, asks: &BTreeSet<StateId>, state: StateId) -> bool {
    let below = asks.range(state..chart.state(state).end).next().is_some();
    below || chart.ancestors(state).any(|around| asks.contains(&around))
}

/// The reason why a set of tools is never offered, given the sets of earlier transitions; `None` if it may be offered.
fn shut(
    chart: &Chart,
    set: ToolSetId,
    earlier: &[(TransitionId, ToolSetId)],
) -> Option<DeadReason> {
    let row = &chart.tool_sets[set.index()];
    let tools = chart.tools_of(set);
    if row.any {
        // The host may register more tools, so only another `any` set covers this one.
        let wider = |other: &ToolSetId| {
            let other = &chart.tool_sets[other.index()];
            other.any && other.minus.iter().all(|pattern| row.minus.contains(pattern))
        };
        return earlier
            .iter()
            .find(|(_, other)| wider(other))
            .map(|(by, _)| DeadReason::Taken(vec![*by]));
    }
    if tools.is_empty() {
        return Some(DeadReason::Empty(set));
    }
    let mut by = Vec::new();
    for tool in &tools {
        let first = earlier.iter().find(|(_, other)| chart.tools_of(*other).contains(tool))?;
        by.push(first.0);
    }
    by.sort_unstable();
    by.dedup();
    Some(DeadReason::Taken(by))
}

// Questions with fewer than two options.

pub(super) static TOO_FEW_OPTIONS: Lint =
    Lint { rule: &rules::TOO_FEW_OPTIONS, needs_whole: true, run: find_too_few_options };

fn find_too_few_options(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let mut offers = Offers::default();
    for (i, transition) in chart.transitions.iter().enumerate() {
        if matches!(transition.trigger, Trigger::Choice(_)) {
            for state in &facts.scopes.transitions[i].within {
                offers.open.entry(*state).or_default().push(TransitionId::at(i));
            }
            for target in &transition.targets {
                offers.into.entry(target.state).or_default().push(TransitionId::at(i));
            }
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        if !matches!(step.kind, StepKind::Ask { .. }) {
            continue;
        }
        let Some(most) = most(context, StepId::at(i), &offers) else { continue };
        let name = format!("`{}`", step.name);
        let found = match most[..] {
            // The model still chooses the tool and its arguments.
            [only] if is_call(context, only) => continue,
            [] => rules::TOO_FEW_OPTIONS
                .at(
                    map.steps[i].name,
                    format!("{name} has nothing to offer: no `may` line is open where it asks"),
                )
                .help(
                    "add `may` lines to its state or to the states below, or remove the question",
                ),
            [only] => rules::TOO_FEW_OPTIONS
                .at(
                    map.steps[i].name,
                    format!("{name} offers one option only, {}", words::transition(chart, only)),
                )
                .help("add a second option, or write an ordinary line instead of the question")
                .related(map.transition(only).whole, "the only option"),
            _ => continue,
        };
        diagnostics.push(found);
    }
}

/// The `may` transitions of the chart.
#[derive(Default)]
struct Offers {
    /// The transitions by the states in which they are enabled.
    open: BTreeMap<StateId, Vec<TransitionId>>,
    /// The transitions by their targets.
    into: BTreeMap<StateId, Vec<TransitionId>>,
}

impl Offers {
    /// The options that lead to the leaf itself and can be chosen although nothing permits that move: with `always` and `else
    /// stay`, the question is asked with any options, and an answer that is not enabled leaves the state unchanged.
    fn stays(&self, context: &Context<'_>, step: StepId, leaf: StateId) -> Vec<TransitionId> {
        let chart = context.chart;
        let ask = &chart.steps[step.index()].kind;
        if !matches!(ask, StepKind::Ask { always: true, otherwise: Otherwise::Stay, .. }) {
            return Vec::new();
        }
        let transitions = self.into.get(&leaf).into_iter().flatten();
        transitions
            .filter(|transition| chart.contains(chart.transition(**transition).source, leaf))
            .copied()
            .collect()
    }
}

/// Whether the transition offers tools.
fn is_call(context: &Context<'_>, transition: TransitionId) -> bool {
    let Trigger::Choice(choice) = context.chart.transition(transition).trigger else {
        return false;
    };
    matches!(context.chart.choices[choice.index()].kind, ChoiceKind::Call(..))
}

/// The largest set of options that are enabled together in a leaf where the step asks, cut to two; `None` if it never asks.
fn most(context: &Context<'_>, step: StepId, offers: &Offers) -> Option<Vec<TransitionId>> {
    let Context { chart, facts, .. } = context;
    let place = facts.scopes.step(step);
    let mut most: Option<Vec<TransitionId>> = None;
    for top in &place.within {
        for leaf in (top.0..chart.state(*top).end.0).map(StateId) {
            let asked = is_leaf(chart, leaf)
                && facts.reach.can_enter(leaf)
                && !place.excludes_leaf(chart, leaf);
            if !asked || nearer(context, step, leaf) {
                continue;
            }
            let mut open: Vec<TransitionId> = chart
                .ancestors(leaf)
                .filter_map(|s| offers.open.get(&s))
                .flatten()
                .filter(|l| !facts.scopes.transition(**l).excludes_leaf(chart, leaf))
                .copied()
                .collect();
            let stays = offers.stays(context, step, leaf);
            open.extend(
                stays
                    .iter()
                    .filter(|transition| !open.contains(transition))
                    .copied()
                    .collect::<Vec<_>>(),
            );
            // One or none is reported, so more than two need not be distinguished.
            open.truncate(2);
            if most.as_ref().is_none_or(|m| m.len() < open.len()) {
                let enough = open.len() == 2;
                most = Some(open);
                if enough {
                    return most;
                }
            }
        }
    }
    most
}

/// Whether a state between the step's state and the leaf has its own question.
fn nearer(context: &Context<'_>, step: StepId, leaf: StateId) -> bool {
    let home = context.chart.steps[step.index()].state;
    let between = context.chart.ancestors(leaf).take_while(|s| *s != home);
    let asks = |s: &StepId| matches!(context.chart.steps[s.index()].kind, StepKind::Ask { .. });
    between.flat_map(|s| &context.chart.state(s).steps).any(asks)
}

// Questions that are never asked, because transitions always take their event or the turn.

pub(super) static UNPUT_QUESTION: Lint =
    Lint { rule: &rules::UNPUT_QUESTION, needs_whole: false, run: find_unput_question };

fn find_unput_question(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (step, transitions) in &facts.scopes.unput {
        let row = &chart.steps[step.index()];
        let name = &row.name;
        let line = words::transition(chart, transitions[0]);
        let in_turns = row.is_walked();
        let never =
            if matches!(row.kind, StepKind::Ask { .. }) { "is never put" } else { "never starts" };
        let what = if in_turns { "the turn" } else { "its event" };
        let message = if let [_] = transitions[..] {
            format!("`{name}` {never}: {line} always takes {what} first")
        } else {
            format!("`{name}` {never}: in every state a line such as {line} takes {what} first")
        };
        let mut found = rules::UNPUT_QUESTION.at(map.step(*step).name, message).help(if in_turns {
            "a turn that a line takes asks nothing: give the line a condition, let it lead to another state, or do in a `code` step what it does"
        } else {
            "an event starts a step only if no line takes it: give the line a condition, or let it lead to a state whose step waits for no event"
        });
        for transition in transitions.iter().take(3) {
            let takes = if in_turns { "takes every turn" } else { "takes the event" };
            found = found.related(map.transition(*transition).whole, takes);
        }
        diagnostics.push(found);
    }
}

// Model calls without a prompt.

pub(super) static MISSING_PROMPT: Lint =
    Lint { rule: &rules::MISSING_PROMPT, needs_whole: true, run: find_missing_prompt };

fn find_missing_prompt(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let mut told = vec![false; chart.steps.len()];
    // A component may be all that a prompt says.
    for component in chart.components.iter().filter(|c| !is_blank(&c.text)) {
        for insert in &component.inserts {
            told[insert.step.index()] = true;
        }
    }
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        let calls = matches!(step.kind, StepKind::Llm | StepKind::Ask { .. });
        let says = told[i] || step.prompt.as_ref().is_some_and(|prompt| !is_blank(prompt));
        if calls && !says {
            let name = words::step(chart, id);
            let found = rules::MISSING_PROMPT
                .at(map.step(id).name, format!("{name} tells the model nothing"));
            let help = "give it a prompt, or a component that goes into it";
            diagnostics.push(found.help(help).about(map.step(id).whole));
        }
    }
}

/// Whether a text is blank, whatever the data.
fn is_blank(text: &Template) -> bool {
    text.literal().is_some_and(|text| text.trim().is_empty())
}

// Answers that nothing reads.

pub(super) static UNREAD_ANSWER: Lint =
    Lint { rule: &rules::UNREAD_ANSWER, needs_whole: true, run: find_unread_answer };

fn find_unread_answer(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    if !context.all_read {
        return;
    }
    let mut usage = None;
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        if !is_typed(step) || step.into.is_some() || facts.scopes.step(id).within.is_empty() {
            continue;
        }
        let usage = usage.get_or_insert_with(|| Usage::new(chart));
        if usage.last_result || usage.answers[i] || only_ends(chart, step, id) {
            continue;
        }
        let message = format!("nothing reads the answer of {}", words::step(chart, id));
        diagnostics.push(rules::UNREAD_ANSWER.at(map.step(id).name, message).help(
            "keep it (`returns … into` a variable), decide by it (`done if …`), or do not ask for it",
        ));
    }
}

/// Whether the chart declares the type of the answer. An undeclared answer is an action for the host, and the Text of a person may be a
/// mere confirmation.
fn is_typed(step: &Step) -> bool {
    match step.kind {
        StepKind::Llm => step.returns != Type::Json,
        StepKind::Human(_) => !matches!(step.returns, Type::Json | Type::Text),
        _ => false,
    }
}

/// Whether the answer always ends the run, and so is the last entry of its trace.
fn only_ends(chart: &Chart, step: &Step, id: StepId) -> bool {
    let transitions = step.outcomes.iter().map(|transition| chart.transition(*transition));
    let mut done =
        transitions.filter(|transition| transition.trigger == Trigger::StepDone(id)).peekable();
    done.peek().is_some()
        && done.all(|transition| {
            !transition.targets.is_empty()
                && transition.targets.iter().all(|t| is_end(chart, t.state))
        })
}

// Transitions that are taken when a step fails and that read its answer.

pub(super) static MISSING_ANSWER: Lint =
    Lint { rule: &rules::MISSING_ANSWER, needs_whole: true, run: find_missing_answer };

fn find_missing_answer(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let Some(step) = unanswered(transition) else { continue };
        let missing =
            |id: &VarId| reads(chart, transition, *id) && !is_set_elsewhere(chart, step, *id);
        let Some(variable) =
            kept(chart, step).into_iter().find(missing).filter(|_| facts.reach.can_take(id))
        else {
            continue;
        };
        // The answer of an earlier run of the step may be meant.
        let done = chart.transitions.iter();
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
            "{} uses `{name}`, which holds the answer of {of}: when it fails, there is none",
            words::transition(chart, id)
        );
        let found = rules::MISSING_ANSWER.at(map.transition(id).whole, message);
        diagnostics.push(
            found
                .help("use another value here; `error` gives the reason why the step failed")
                .related(map.step(step).name, "its answer goes there"),
        );
    }
}

/// The step that has failed, and so has no answer, when the transition is taken.
fn unanswered(transition: &Transition) -> Option<StepId> {
    match transition.trigger {
        Trigger::StepError(step) | Trigger::StepTimeout(step, _) | Trigger::StepElse(step) => {
            Some(step)
        }
        _ => None,
    }
}

/// The variables that hold the step's answer, or a value computed from it.
fn kept(chart: &Chart, step: StepId) -> BTreeSet<VarId> {
    let mut found: BTreeSet<VarId> = chart.steps[step.index()].into.into_iter().collect();
    for transition in chart.transitions.iter().filter(|l| l.trigger == Trigger::StepDone(step)) {
        for action in &transition.actions {
            if let Action::Assign(id, value) = action {
                let mut answers = false;
                value.walk(&mut |e| {
                    answers |= matches!(e.kind, ExprKind::Payload(_))
                        || matches!(e.kind, ExprKind::Answer(of) if of == step);
                });
                found.extend(answers.then_some(*id));
            }
        }
    }
    found
}

/// Whether the transition reads the variable before it sets it. A read with a default does not count.
fn reads(chart: &Chart, transition: &Transition, variable: VarId) -> bool {
    let mut found = false;
    let mut look = |expr| {
        early_reads(chart, expr, &mut |e| {
            found |= matches!(e.kind, ExprKind::Variable(id) if id == variable);
        });
    };
    transition.targets.iter().flat_map(|t| &t.arguments).for_each(&mut look);
    for action in &transition.actions {
        // An assignment that reads the variable itself is harmless; behind an `if`, the variable may have been set.
        if matches!(action, Action::Assign(id, _) if *id == variable)
            || matches!(action, Action::If(..))
        {
            break;
        }
        action.expressions().into_iter().for_each(&mut look);
    }
    found
}

/// Whether anything but the step sets the variable, or its initial value is not empty.
fn is_set_elsewhere(chart: &Chart, step: StepId, variable: VarId) -> bool {
    let count = |actions: &Vec<Action>| {
        let mut set = 0;
        Action::walk(actions, &mut |action| {
            set += usize::from(matches!(action, Action::Assign(id, _) if *id == variable));
        });
        set
    };
    let done = chart.transitions.iter().filter(|l| l.trigger == Trigger::StepDone(step));
    let own: usize = done.map(|transition| count(&transition.actions)).sum();
    let set = chart.bodies().map(count).sum::<usize>() > own;
    let others = chart.steps.iter().enumerate().filter(|(i, _)| *i != step.index());
    let empty = chart.variables[variable.index()].default.as_ref().is_none_or(|e| match &e.kind {
        ExprKind::None => true,
        ExprKind::Text(text) => text.literal().is_some_and(str::is_empty),
        ExprKind::List(items) => items.is_empty(),
        ExprKind::Map(entries) => entries.is_empty(),
        ExprKind::Int(n) => *n == 0,
        ExprKind::Float(n) => *n == 0.0,
        _ => false,
    });
    set || !empty || others.into_iter().any(|(_, s)| s.into == Some(variable))
}
