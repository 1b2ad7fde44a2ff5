//! Effects of an `enter` block that are repeated when a detour returns to the state. For example:
//!
//! ```text
//! state posting { enter { post(text) }  on asked -> answering }
//! state answering { llm reply { … } -> posting }
//! ```
//!
//! `asked` leads away, and the answer of `reply` leads back without a change of `text`: the same text is posted again.

use super::{Context, Lint, words};
use crate::analysis::facts::Facts;
use crate::analysis::facts::endless::{is_outside_parallel, landing};
use crate::analysis::facts::reach::{domain, is_history};
use crate::analysis::facts::usage::{assigned, changed_variables, reads, walk};
use crate::rules::REPEATED_EFFECT;
use crate::syntax::diagnostic::Diagnostic;
use chartc_core::arena::{FunctionId, StateId, TransitionId, VarId};
use chartc_core::model::{
    Action, Chart, Expr, ExprKind, StateKind, StepKind, Transition, Trigger, VariableKind,
};
use std::collections::{BTreeSet, VecDeque};

pub(super) static LINT: Lint = Lint { rule: &REPEATED_EFFECT, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for Detour { state, block, effect, away, through, back } in detours(context) {
        let spans = map.state(state);
        let message = format!(
            "coming back from {} does `{}` again, with the same arguments",
            words::state(chart, through),
            chart.functions[effect.index()].name
        );
        let at = spans.entry.get(block).copied().unwrap_or(spans.name);
        diagnostics.push(
            REPEATED_EFFECT
                .at(at, message)
                .help(format!(
                    "do it on the line that first leads to {}, or send something new",
                    words::state(chart, state)
                ))
                .related(map.transition(away).whole, "leads away")
                .related(map.transition(back).whole, "leads back"),
        );
    }
}

/// The maximum number of transitions in a detour.
const LONGEST: usize = 8;

/// An effect that a detour repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Detour {
    /// The state that is re-entered.
    state: StateId,
    /// The index of the `enter` block of the state.
    block: usize,
    /// The function that the block calls.
    effect: FunctionId,
    /// The transition for an event that leaves the state.
    away: TransitionId,
    /// The last state of the detour.
    through: StateId,
    /// The transition that re-enters the state.
    back: TransitionId,
}

/// Finds the first detour for each effect with arguments in an `enter` block: an event leads away, and the run returns by itself or to a
/// history state. No variable that the arguments read changes meanwhile; whatever the host may change counts as changed. Guards are assumed
/// to hold. Two cases are excluded, because re-entering then restores something: a state of the detour performs the same effect, with any
/// arguments, or the state has an effect in its `exit` block.
fn detours(context: &Context<'_>) -> Vec<Detour> {
    let Context { chart, facts, .. } = context;
    let mut found = Vec::new();
    for state in chart.state_ids() {
        let row = chart.state(state);
        let acts = matches!(row.kind, StateKind::Atomic | StateKind::Compound { .. });
        let undoes = row.exit.iter().any(|block| does(block, None));
        if row.entry.is_empty()
            || !acts
            || undoes
            || !context.enters(state)
            || !is_outside_parallel(chart, state)
        {
            continue;
        }
        for (block, actions) in row.entry.iter().enumerate() {
            for action in actions {
                let Action::Do(effect, arguments) = action else { continue };
                let Some(read) = settled(chart, arguments) else { continue };
                let search = DetourSearch { chart, facts, state, effect: *effect, read: &read };
                if let Some((away, through, back)) = search.run() {
                    found.push(Detour { state, block, effect: *effect, away, through, back });
                }
            }
        }
    }
    found
}

/// The variables that the arguments read; `None` if they may also change for other reasons, or if there are no arguments.
fn settled(chart: &Chart, arguments: &[Expr]) -> Option<BTreeSet<VarId>> {
    let mut read = BTreeSet::new();
    let mut settled = !arguments.is_empty();
    for argument in arguments {
        settled &= !reads(chart, argument, &mut read);
        walk(chart, argument, &mut |e| {
            settled &= !matches!(
                e.kind,
                ExprKind::Call(..)
                    | ExprKind::Observable(_)
                    | ExprKind::Answer(_)
                    | ExprKind::Unknown(_)
            );
        });
    }
    settled &= read.iter().all(|v| !matches!(chart.variables[v.index()].kind, VariableKind::Input));
    settled.then_some(read)
}

struct DetourSearch<'c> {
    chart: &'c Chart,
    facts: &'c Facts,
    state: StateId,
    effect: FunctionId,
    read: &'c BTreeSet<VarId>,
}

impl DetourSearch<'_> {
    fn run(&self) -> Option<(TransitionId, StateId, TransitionId)> {
        let Self { chart, state, .. } = *self;
        let inside = (state.0..chart.state(state).end.0).map(StateId);
        let around = chart.ancestors(state).skip(1);
        for source in inside.chain(around) {
            for away in &chart.state(source).transitions {
                let transition = chart.transition(*away);
                let leaves = domain(chart, transition)
                    .is_some_and(|d| d != state && chart.contains(d, state));
                if !is_sudden(&transition.trigger) || !leaves || !self.acts_inside(*away) {
                    continue;
                }
                let Some(leaf) = landing(chart, transition) else { continue };
                if chart.contains(state, leaf) || self.is_new(transition, leaf) {
                    continue;
                }
                if let Some((through, back)) = self.find_return(leaf) {
                    return Some((*away, through, back));
                }
            }
        }
        None
    }

    /// Whether the transition may be taken while the state is active.
    fn acts_inside(&self, transition: TransitionId) -> bool {
        let Self { chart, facts, state, .. } = *self;
        let inside = (state.0..chart.state(state).end.0).map(StateId);
        let mut leaves = inside.filter(|s| matches!(chart.state(*s).kind, StateKind::Atomic));
        facts.reach.can_take(transition)
            && leaves.any(|leaf| facts.scopes.transition(transition).may_hold_in(chart, leaf))
    }

    /// Searches for a way back from a leaf outside of the state. Returns the last leaf of the detour and the transition that re-enters the
    /// state.
    fn find_return(&self, first: StateId) -> Option<(StateId, TransitionId)> {
        let Self { chart, facts, state, .. } = *self;
        let mut seen = BTreeSet::from([first]);
        let mut open = VecDeque::from([(first, 0)]);
        while let Some((leaf, length)) = open.pop_front() {
            if length == LONGEST || self.sets_in(leaf) {
                continue;
            }
            for id in chart.ancestors(leaf).flat_map(|s| &chart.state(s).transitions) {
                let transition = chart.transition(*id);
                if !facts.reach.can_take(*id)
                    || !facts.scopes.transition(*id).may_hold_in(chart, leaf)
                    || self.is_answered(transition)
                {
                    continue;
                }
                // The history of an ancestor restores the state, which was active when the ancestor was exited.
                let recorded = transition.targets.iter().any(|t| {
                    let parent = chart.state(t.state).parent;
                    is_history(chart, t.state)
                        && parent.is_some_and(|p| p != state && chart.contains(p, state))
                });
                if recorded && !self.is_new(transition, state) {
                    return Some((leaf, *id));
                }
                let Some(next) = landing(chart, transition) else { continue };
                if !is_alone(&transition.trigger) || self.is_new(transition, next) {
                    continue;
                }
                if chart.contains(state, next) {
                    return Some((leaf, *id));
                }
                if seen.insert(next) {
                    open.push_back((next, length + 1));
                }
            }
        }
        None
    }

    /// Whether the transition or a block that runs with it sets a variable that is read, or such a block performs the same
    /// effect.
    fn is_new(&self, transition: &Transition, leaf: StateId) -> bool {
        let Self { chart, state, effect, read, .. } = *self;
        let outside = |s: &StateId| !chart.contains(state, *s) && !chart.contains(*s, state);
        let blocks = |s: StateId| chart.state(s).entry.iter().chain(&chart.state(s).exit);
        let states = chart.ancestors(leaf).chain([transition.source]).filter(outside);
        let again = states.flat_map(blocks).any(|block| does(block, Some(effect)));
        again || changed_variables(chart, transition, leaf, read)
    }

    /// Whether a `code` step that is active in the leaf may set a variable that is read.
    fn sets_in(&self, leaf: StateId) -> bool {
        let around: BTreeSet<StateId> = self.chart.ancestors(leaf).collect();
        self.chart.steps.iter().filter(|s| around.contains(&s.state)).any(|step| {
            matches!(&step.kind, StepKind::Code(actions) if !assigned(actions).is_disjoint(self.read))
        })
    }

    /// Whether the transition stores the answer of its step in a variable that is read.
    fn is_answered(&self, transition: &Transition) -> bool {
        let Trigger::StepDone(step) = transition.trigger else { return false };
        self.chart.steps[step.index()].into.is_some_and(|v| self.read.contains(&v))
    }
}

/// Whether the actions perform the effect; any effect, if none is given.
fn does(actions: &[Action], effect: Option<FunctionId>) -> bool {
    let mut found = false;
    Action::walk(actions, &mut |action| {
        let Action::Do(id, _) = action else { return };
        found |= effect.is_none_or(|effect| effect == *id);
    });
    found
}

/// Whether the host, not the run itself, triggers the transition.
fn is_sudden(trigger: &Trigger) -> bool {
    matches!(trigger, Trigger::Event(_) | Trigger::AnyEvent)
}

/// Whether the run triggers the transition without the host and without a model's choice.
fn is_alone(trigger: &Trigger) -> bool {
    matches!(
        trigger,
        Trigger::When
            | Trigger::StateDone(_)
            | Trigger::After(_)
            | Trigger::AfterTurns(_)
            | Trigger::StepDone(_)
            | Trigger::StepError(_)
            | Trigger::StepTimeout(..)
            | Trigger::StepElse(_)
    )
}
