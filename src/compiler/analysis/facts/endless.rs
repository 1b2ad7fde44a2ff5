//! Cycles that nothing bounds, and states that a run never leaves.
//!
//! **The problem.** A run that never ends pays for model calls for ever, or hangs. Which cycle it is in cannot be seen in one line.
//!
//! **The idea.** Four searches, from the surest to the weakest conclusion:
//!
//! - [`livelocks`]: `when` transitions that lead to each other without end. From each of them, follow the one that must be taken next
//!   (`forced`), assuming only guards that nothing in the cycle changes.
//! - [`undriven`]: leaves in which nothing can happen at all.
//! - [`traps`]: sets of leaves that lead only to each other, the last components of the graph of moves.
//! - [`endless`]: a component of the graph of moves without host events ([`alone`]) that calls a model, and in which no limit, deadline or
//!   condition on a counter applies. A condition on something else may still end it, so this is only likely.
//!
//! **Example.**
//!
//! ```text
//! initial write
//! state write { llm draft { prompt "…" } -> check }
//! state check { llm judge { prompt "…"  returns Bool  done if judge -> published  done -> write } }
//! final published
//! ```
//!
//! `write` and `check` are one component: `draft` leads to `check`, and the second `done` leads back. Both steps call a model, and nothing
//! counts the rounds. So [`endless`] reports `draft` and the transitions of the cycle. With `limits { turns 20 }`, or with
//! `done if tries < 3 -> write { tries = tries + 1 }` in place of the second `done`, it reports nothing.

use super::Facts;
use super::conditions::{Verdict, decide, equals, is_impossible};
use super::reach::{GraphNode, Moves, domain, entries, is_end, is_final, is_leaf};
use super::usage::{assigned, changed_variables, is_where, reads, walk};
use super::values::fails;
use chartc_core::arena::{EventId, StateId, StepId, TransitionId, VarId};
use chartc_core::model::{
    Action, Chart, ChoiceKind, CompareOp, Expr, ExprKind, Limits, Observable, Receiver, StateKind,
    Step, StepKind, Transition, Trigger, Type, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// A cycle that calls a model in each iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// A step of the cycle that calls a model.
    pub step: StepId,
    /// The transitions of the cycle, ascending. Empty if the step may run again in each turn without leaving its state.
    pub transitions: Vec<TransitionId>,
}

/// The first cycle of model calls that a run may repeat without bound although the chart has a reachable end. The cycle needs no input
/// from the host, no limit or deadline ends it, and no condition in it reads a counter. Takes linear time, up to logarithms.
pub fn endless(chart: &Chart, facts: &Facts) -> Option<Round> {
    let ends = chart.state_ids().any(|s| is_end(chart, s) && facts.reach.can_enter(s));
    if !ends || is_limited(&chart.state(StateId::at(0)).limits) || !chart.steps.iter().any(calls) {
        return None;
    }
    let moves = alone(chart, facts)?;
    let around = Around::new(chart, facts, &counted(chart));
    // Components are in reverse topological order: the reverse begins where the run does, so a run reaches the reported cycle first.
    for component in moves.components().iter().rev() {
        let mut transitions: Vec<TransitionId> = Vec::new();
        let mut leaves: Vec<StateId> = Vec::new();
        for node in component {
            match node {
                GraphNode::Transition(transition) => transitions.push(*transition),
                GraphNode::Active(state) if is_leaf(chart, *state) => leaves.push(*state),
                GraphNode::Active(_) | GraphNode::Entered(_) | GraphNode::Any(_) => {}
            }
        }
        transitions.sort_unstable();
        leaves.sort_unstable();
        if let Some(round) = around.round(chart, &leaves, transitions) {
            return Some(round);
        }
    }
    None
}

/// The graph of moves without host events and without answers of people. `None` if some question waits for a host event.
pub fn alone(chart: &Chart, facts: &Facts) -> Option<Moves> {
    let alone = Alone::new(chart)?;
    let mut places = facts.scopes.clone();
    for (i, place) in places.transitions.iter_mut().enumerate() {
        if !alone.takes(chart, TransitionId::at(i)) {
            place.within.clear();
        }
    }
    Some(Moves::new(chart, &places, &facts.reach))
}

/// Whether the step calls a model in the walk of a turn.
fn calls(step: &Step) -> bool {
    step.is_walked() && matches!(step.kind, StepKind::Llm | StepKind::Ask { .. })
}

fn is_limited(limits: &Limits) -> bool {
    *limits != Limits::default()
}

/// The triggers that occur without the host.
struct Alone {
    /// Events that the chart raises or sends to itself.
    own: BTreeSet<EventId>,
}

impl Alone {
    /// `None` if some question waits for a host event, because it is not known which question offers an option.
    fn new(chart: &Chart) -> Option<Self> {
        let mut own = BTreeSet::new();
        for block in chart.blocks() {
            Action::walk(block, &mut |action| match action {
                Action::Raise(event, ..) => {
                    own.insert(*event);
                }
                Action::Send { event, to: Receiver::Own, .. } => {
                    own.insert(*event);
                }
                _ => {}
            });
        }
        let waits = |step: &&Step| {
            matches!(step.kind, StepKind::Ask { .. })
                && step.is_on_event()
                && !step.events().iter().any(|event| own.contains(event))
        };
        (!chart.steps.iter().any(|s| waits(&s))).then_some(Self { own })
    }

    fn takes(&self, chart: &Chart, transition: TransitionId) -> bool {
        match &chart.transition(transition).trigger {
            Trigger::Event(events) => events.iter().any(|event| self.own.contains(event)),
            Trigger::AnyEvent => !self.own.is_empty(),
            // People count as part of the host, and a child chart has limits of its own.
            Trigger::StepDone(step)
            | Trigger::StepError(step)
            | Trigger::StepTimeout(step, _)
            | Trigger::StepDoubt(step)
            | Trigger::StepElse(step) => {
                let step = &chart.steps[step.index()];
                let waits = step.is_on_event()
                    && !step.events().iter().any(|event| self.own.contains(event));
                !waits && !matches!(step.kind, StepKind::Human(_) | StepKind::Run(..))
            }
            _ => true,
        }
    }
}

/// Properties of a state or one of its ancestors, by state.
struct Around {
    /// The first step that calls a model in a turn while the state is active.
    calling: Vec<Option<StepId>>,
    /// Whether a step leaves the state whenever it is done.
    moves_on: Vec<bool>,
    /// Whether an option of a question has no target, so that choosing it stays in the state. Unusable answers do not count.
    asks_on: Vec<bool>,
    /// The number of options that a question may offer. An option with fields counts twice, because even alone it is never chosen
    /// without asking.
    offers: Vec<usize>,
    /// Whether a limit, a deadline or a condition on a counter bounds the time in the state.
    bounded: Vec<bool>,
}

impl Around {
    fn new(chart: &Chart, facts: &Facts, counted: &BTreeSet<VarId>) -> Self {
        let count = chart.states.len();
        let (mut calling, mut moves_on) = (vec![None; count], vec![false; count]);
        let (mut asks_on, mut offers) = (vec![false; count], vec![0_usize; count]);
        let mut bounded: Vec<bool> = chart.states.iter().map(|s| is_limited(&s.limits)).collect();
        for (i, (step, place)) in chart.steps.iter().zip(&facts.scopes.steps).enumerate() {
            let counts = step.guard.as_ref().is_some_and(|guard| counts(chart, guard, counted));
            for state in place.within.iter().map(|s| s.index()) {
                moves_on[state] |= !step.is_on_event() && always_moves_on(chart, step);
                bounded[state] |= counts;
                if calls(step) && place.except.is_empty() {
                    calling[state] = calling[state].or(Some(StepId::at(i)));
                }
            }
        }
        for (transition, place) in chart.transitions.iter().zip(&facts.scopes.transitions) {
            let ends = matches!(transition.trigger, Trigger::After(_) | Trigger::AfterTurns(_))
                || transition.guard.as_ref().is_some_and(|guard| counts(chart, guard, counted));
            if ends {
                place.within.iter().for_each(|state| bounded[state.index()] = true);
            }
            let stays = transition.targets.is_empty();
            if let Trigger::Choice(choice) = transition.trigger {
                let alone = matches!(&chart.choices[choice.index()].kind, ChoiceKind::Option(fields) if fields.is_empty());
                for state in place.within.iter().map(|s| s.index()) {
                    offers[state] += if alone { 1 } else { 2 };
                    asks_on[state] |= stays;
                }
            }
        }
        // Document order visits parents first, so each state inherits from all of its ancestors.
        for (i, state) in chart.states.iter().enumerate() {
            let Some(parent) = state.parent.map(StateId::index) else { continue };
            calling[i] = match (calling[i], calling[parent]) {
                (Some(own), Some(around)) => Some(own.min(around)),
                (one, other) => one.or(other),
            };
            moves_on[i] |= moves_on[parent];
            asks_on[i] |= asks_on[parent];
            offers[i] += offers[parent];
            bounded[i] |= bounded[parent];
        }
        Self { calling, moves_on, asks_on, offers, bounded }
    }

    /// The cycle of these leaves and transitions, if it calls a model and nothing bounds it.
    fn round(
        &self,
        chart: &Chart,
        leaves: &[StateId],
        transitions: Vec<TransitionId>,
    ) -> Option<Round> {
        if leaves.iter().any(|leaf| self.bounded[leaf.index()]) {
            return None;
        }
        let step = leaves.iter().find_map(|leaf| self.calling[leaf.index()])?;
        // A question with a single option takes it without asking a model, unless it is asked `always`.
        let asks = |always: bool| {
            leaves.iter().map(|leaf| leaf.index()).any(|leaf| {
                self.asks_on[leaf] && (self.offers[leaf] > 1 || always && self.offers[leaf] > 0)
            })
        };
        let stays = match chart.steps[step.index()].kind {
            StepKind::Llm => true,
            StepKind::Ask { always, .. } => asks(always),
            _ => false,
        };
        // A step that leaves the state whenever it is done ends the repetition, too.
        let stays = stays && !leaves.iter().any(|leaf| self.moves_on[leaf.index()]);
        (!transitions.is_empty() || stays).then_some(Round { step, transitions })
    }
}

/// Whether the step leaves its state whenever it is done.
fn always_moves_on(chart: &Chart, step: &Step) -> bool {
    step.outcomes.iter().map(|transition| chart.transition(*transition)).any(|transition| {
        matches!(transition.trigger, Trigger::StepDone(_))
            && transition.guard.is_none()
            && !transition.targets.is_empty()
    })
}

/// The variables that the chart counts: those assigned a value that depends on themselves or on others of the same block.
fn counted(chart: &Chart) -> BTreeSet<VarId> {
    let mut counted = BTreeSet::new();
    for block in chart.bodies() {
        // This includes lists and texts, which bound a cycle by their length.
        Action::walk(block, &mut |action| {
            if let Action::Assign(variable, value) = action {
                let mut read = BTreeSet::new();
                reads(chart, value, &mut read);
                if read.contains(variable) || !read.is_disjoint(&assigned(block)) {
                    counted.insert(*variable);
                }
            }
        });
    }
    counted
}

/// Whether a condition reads a quantity that grows: turns, time, calls, failures, or a counted variable.
fn counts(chart: &Chart, guard: &Expr, counted: &BTreeSet<VarId>) -> bool {
    let mut found = false;
    walk(chart, guard, &mut |e| {
        if let ExprKind::Variable(id) = &e.kind {
            found |= counted.contains(id);
        }
        if let ExprKind::Observable(seen) = &e.kind {
            found |= matches!(
                seen,
                Observable::Turns
                    | Observable::TurnsHere
                    | Observable::TurnsIn(_)
                    | Observable::FailsHere
                    | Observable::Calls(_)
                    | Observable::Tokens(_)
                    | Observable::Cost(_)
                    | Observable::Elapsed
                    | Observable::ElapsedHere
                    | Observable::Streak(_)
                    | Observable::Repeated(..)
            );
        }
    });
    found
}

// Livelocks: cycles of `when` transitions that never end once they are entered.
//
// For example, `when x -> b` in `a` and `when x -> a` in `b`, where neither changes `x`. Starting from each `when` transition, the
// analysis assumes its guard and follows the transitions that must be taken next, until it returns to the first one.

/// The maximum length of a cycle, in transitions.
const LONGEST: usize = 64;
/// The maximum number of guards that a livelock assumes to hold.
const GIVEN: usize = 6;

/// A cycle of `when` transitions. If the guards of `given` hold, all of its transitions are taken, and none changes what these guards
/// read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Livelock {
    /// The transitions in the order taken, starting from the one with the least id.
    pub transitions: Vec<TransitionId>,
    /// The transitions whose guards are assumed to hold: the first one, and those that only read what the host or an answer sets.
    pub given: Vec<TransitionId>,
}

/// The livelocks, by their first transition. Each is certain while the assumed guards hold: in each of its states, the first transition
/// whose guard may hold is the next one of the cycle.
pub fn livelocks(chart: &Chart, facts: &Facts) -> Vec<Livelock> {
    let mut found: BTreeMap<Vec<TransitionId>, Vec<TransitionId>> = BTreeMap::new();
    let at_once = chart.transitions.iter().filter(|transition| is_at_once(&transition.trigger));
    let mut sources: Vec<StateId> = at_once.map(|transition| transition.source).collect();
    sources.sort_unstable();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if !is_at_once(&transition.trigger) || !facts.reach.can_take(id) {
            continue;
        }
        let leaves =
            facts.scopes.transition(id).within.iter().filter_map(|s| first_leaf(chart, facts, *s));
        for leaf in leaves {
            let Some(within) = is_alone(chart, &sources, leaf) else { continue };
            if let Some((cycle, given)) = cycle(chart, facts, id, (leaf, within)) {
                let known = found.entry(cycle).or_insert_with(|| given.clone());
                // Of several ways to enter the cycle, keep the one with the fewest assumptions.
                if given.len() < known.len() {
                    *known = given;
                }
            }
        }
    }
    found.into_iter().map(|(transitions, given)| Livelock { transitions, given }).collect()
}

/// Whether a transition with this trigger is taken without an event, and without time that passes.
fn is_at_once(trigger: &Trigger) -> bool {
    match trigger {
        Trigger::When => true,
        Trigger::After(time) => matches!(time.kind, ExprKind::Duration(0)),
        _ => false,
    }
}

/// The first reachable leaf in the state. It matters only for a targetless transition; any other one leaves it at once.
fn first_leaf(chart: &Chart, facts: &Facts, state: StateId) -> Option<StateId> {
    let mut below = (state.0..chart.state(state).end.0).map(StateId);
    below.find(|s| is_leaf(chart, *s) && facts.reach.can_enter(*s))
}

/// The state inside of which a cycle runs while nothing else changes: the root if the leaf is in no parallel, or else the innermost
/// region around the leaf. `None` if a `when` transition outside this region may interfere.
fn is_alone(chart: &Chart, sources: &[StateId], leaf: StateId) -> Option<StateId> {
    let is_region = |state: &StateId| {
        let parent = chart.state(*state).parent;
        parent.is_some_and(|p| matches!(chart.state(p).kind, StateKind::Parallel))
    };
    let Some(region) = chart.ancestors(leaf).find(is_region) else { return Some(StateId::at(0)) };
    let first = sources.partition_point(|source| *source < region);
    let behind = sources.partition_point(|source| *source < chart.state(region).end);
    (behind - first == sources.len()).then_some(region)
}

/// Follows the transitions that are certainly taken after `first`, all inside of `within`. Returns the cycle and the transitions whose
/// guards it assumes.
fn cycle(
    chart: &Chart,
    facts: &Facts,
    first: TransitionId,
    (leaf, within): (StateId, StateId),
) -> Option<(Vec<TransitionId>, Vec<TransitionId>)> {
    let mut given = vec![first];
    let mut transitions = vec![first];
    let (mut at, mut transition) = (leaf, first);
    let mut landed = vec![leaf];
    let mut held = KnownConditions::default();
    while transitions.len() <= LONGEST {
        let taken = chart.transition(transition);
        if !taken.targets.is_empty() {
            at = leaf_of(chart, taken)?;
            let is_inside = |state| chart.contains(within, state) && state != within;
            let is_alone = match chart.state(within).parent {
                None => is_outside_parallel(chart, at),
                Some(_) => is_inside(taken.source) && is_inside(at),
            };
            if !is_alone {
                return None;
            }
        }
        landed.push(at);
        held.follow(chart, taken, at);
        let next = forced(chart, facts, at, &mut given, &held)?;
        if next == first {
            return stays(chart, &transitions, &landed, &given, within).then(|| {
                let least = (0..transitions.len()).min_by_key(|i| transitions[*i]).unwrap_or(0);
                transitions.rotate_left(least);
                (transitions, given)
            });
        }
        // A cycle that does not include `first` is found from one of its own transitions.
        if transitions.contains(&next) {
            return None;
        }
        transitions.push(next);
        transition = next;
    }
    None
}

/// Whether no transition of a cycle changes what the assumed guards read. `landed` lists the leaf before each transition, and the leaf
/// after the last one.
fn stays(
    chart: &Chart,
    transitions: &[TransitionId],
    landed: &[StateId],
    given: &[TransitionId],
    within: StateId,
) -> bool {
    let mut watched: BTreeSet<VarId> = BTreeSet::new();
    let mut local = false;
    for guard in given.iter().filter_map(|id| chart.transition(*id).guard.as_ref()) {
        // A test of states of other regions keeps its value, because the cycle does not move them.
        let is_beside = is_where(guard) && !asks_inside(chart, guard, within);
        local |= reads(chart, guard, &mut watched) && !is_beside;
    }
    transitions.iter().zip(&landed[1..]).all(|(id, at)| {
        let transition = chart.transition(*id);
        (!local || transition.targets.is_empty())
            && !changed_variables(chart, transition, *at, &watched)
    })
}

/// Whether a condition tests whether a state inside `within` is active.
fn asks_inside(chart: &Chart, guard: &Expr, within: StateId) -> bool {
    let mut found = false;
    walk(chart, guard, &mut |part| {
        if let ExprKind::Observable(Observable::In(state)) = part.kind {
            found |= chart.contains(within, state);
        }
    });
    found
}

/// The single leaf that a transition enters. `None` if it enters several or none, or if the leaf is inside a parallel.
pub(crate) fn landing(chart: &Chart, transition: &Transition) -> Option<StateId> {
    leaf_of(chart, transition).filter(|leaf| is_outside_parallel(chart, *leaf))
}

/// The single leaf that a transition enters by default, without history and without actions of an `initial`; `None` otherwise.
fn leaf_of(chart: &Chart, transition: &Transition) -> Option<StateId> {
    let entered = entries(chart, transition);
    let [mut at] = entered[..] else { return None };
    loop {
        match &chart.state(at).kind {
            StateKind::Atomic => return Some(at),
            StateKind::Compound { initial } => match initial[..] {
                [only] if chart.state(at).default_actions.is_empty() => at = only,
                _ => return None,
            },
            StateKind::Final { .. } | StateKind::Parallel | StateKind::History { .. } => {
                return None;
            }
        }
    }
}

/// Whether the leaf is outside of all parallels.
pub(crate) fn is_outside_parallel(chart: &Chart, leaf: StateId) -> bool {
    chart.ancestors(leaf).all(|s| !matches!(chart.state(s).kind, StateKind::Parallel))
}

/// The `when` or `after 0ms` transition that is certainly taken in a leaf, given the assumed guards and the values that were set before. It is the
/// first one whose guard may hold, and that guard must hold. If the guard only reads what the host or an answer sets, it is assumed as
/// well, provided that all assumptions can hold together.
fn forced(
    chart: &Chart,
    facts: &Facts,
    leaf: StateId,
    given: &mut Vec<TransitionId>,
    held: &KnownConditions,
) -> Option<TransitionId> {
    let guard = |id: &TransitionId| chart.transition(*id).guard.as_ref();
    let enabled = |is_kind: fn(&Trigger) -> bool| {
        let all = chart.ancestors(leaf).flat_map(|state| &chart.state(state).transitions).copied();
        all.filter(move |id| {
            let may_hold = || facts.scopes.transition(*id).may_hold_in(chart, leaf);
            is_kind(&chart.transition(*id).trigger) && may_hold()
        })
    };
    // Deadlines fire when no `when` transition is enabled, and in the order of the document. They are looked for only then.
    let deadlines = || {
        let mut all: Vec<_> =
            enabled(|trigger| *trigger != Trigger::When && is_at_once(trigger)).collect();
        all.sort_unstable();
        all
    };
    let whens = enabled(|trigger| *trigger == Trigger::When);
    for id in whens.chain(std::iter::once_with(deadlines).flatten()) {
        let known: Vec<&Expr> = given.iter().filter_map(guard).chain(held.all()).collect();
        let Some(own) = chart.transition(id).guard.as_ref() else { return Some(id) };
        let against: Vec<_> = known.iter().map(|g| (*g, true)).chain([(own, false)]).collect();
        if is_impossible(chart, &against) {
            return Some(id);
        }
        let goals: Vec<_> = known.iter().copied().chain([own]).map(|g| (g, true)).collect();
        match decide(chart, &goals) {
            Verdict::Never => {}
            Verdict::Example(_) if given.len() < GIVEN && is_free(chart, own) => {
                given.push(id);
                return Some(id);
            }
            Verdict::Example(_) | Verdict::Perhaps => return None,
        }
    }
    None
}

/// Whether a condition reads only variables that the host or an answer may set to any value, and at least one.
fn is_free(chart: &Chart, guard: &Expr) -> bool {
    let mut read = BTreeSet::new();
    let local = reads(chart, guard, &mut read);
    let free = |id: &VarId| match chart.variables[id.index()].kind {
        VariableKind::Input | VariableKind::Param { .. } | VariableKind::Asked => true,
        VariableKind::Var { .. } => {
            chart.steps.iter().any(|step| step.into == Some(*id))
                && !chart.bodies().any(|block| assigned(block).contains(id))
        }
    };
    !local && !read.is_empty() && read.iter().all(free)
}

// Conditions that certainly hold after the transitions of a path.

/// Conditions on the data that hold at one point of a path: guards that were tested on it, and values that actions have set since.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownConditions(Vec<Expr>);

impl KnownConditions {
    /// The initial values of these variables.
    pub(crate) fn initial(chart: &Chart, variables: &BTreeSet<VarId>) -> Self {
        let one = |id: &VarId| {
            let row = &chart.variables[id.index()];
            let default = row.default.as_ref()?;
            matches!(row.kind, VariableKind::Var { .. }).then(|| is(chart, *id, default)).flatten()
        };
        Self(variables.iter().filter_map(one).collect())
    }

    /// The conditions that hold when the guard of a transition does.
    pub(crate) fn when(transition: &Transition) -> Self {
        Self(transition.guard.iter().cloned().collect())
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Expr> {
        self.0.iter()
    }

    /// Whether the conditions imply another one when a leaf has just been entered, so that its counts are zero.
    pub(crate) fn imply_on_entry(&self, chart: &Chart, condition: &Expr) -> bool {
        let zeros = [Observable::TurnsHere, Observable::FailsHere].map(|seen| {
            let count = Expr { kind: ExprKind::Observable(seen), ty: Type::Int };
            let zero = Expr { kind: ExprKind::Int(0), ty: Type::Int };
            let kind = ExprKind::Compare(Box::new(count), vec![(CompareOp::Equal, zero)]);
            Expr { kind, ty: Type::Bool }
        });
        let known = self.all().chain(&zeros).map(|known| (known, true));
        is_impossible(chart, &known.chain([(condition, false)]).collect::<Vec<_>>())
    }

    /// Updates the conditions for a transition that is taken and enters `to`.
    pub(crate) fn follow(&mut self, chart: &Chart, transition: &Transition, to: StateId) {
        let Some(top) = domain(chart, transition) else {
            return self.run(chart, &transition.actions);
        };
        self.0.retain(|condition| !reads(chart, condition, &mut BTreeSet::new()));
        // Which of these states are active is not known, so all their exit blocks count.
        for left in (top.0..chart.state(top).end.0).map(StateId) {
            chart.state(left).exit.iter().for_each(|block| self.forget(chart, &assigned(block)));
        }
        self.run(chart, &transition.actions);
        self.enter(chart, top, to);
    }

    /// Updates the conditions for the entry of a state from `top`, an ancestor that is active already.
    pub(crate) fn enter(&mut self, chart: &Chart, top: StateId, state: StateId) {
        let mut path: Vec<StateId> = chart.ancestors(state).take_while(|s| *s != top).collect();
        path.reverse();
        for above in path {
            let row = chart.state(above);
            row.entry.iter().for_each(|block| self.run(chart, block));
            // A transition may enter a descendant directly, without the default actions, so the variables that they set become unknown.
            self.forget(chart, &assigned(&row.default_actions));
        }
        for below in (state.0 + 1..chart.state(state).end.0).map(StateId) {
            let row = chart.state(below);
            let blocks = row.entry.iter().chain([&row.default_actions]);
            blocks.for_each(|block| self.forget(chart, &assigned(block)));
        }
    }

    /// Updates the conditions for a block. A failing action ends its block, so that what follows may not be assigned.
    pub(crate) fn run(&mut self, chart: &Chart, actions: &[Action]) {
        let mut is_sure = true;
        for action in actions {
            self.forget(chart, &assigned(std::slice::from_ref(action)));
            is_sure &= !fails(action);
            if let Action::Assign(id, value) = action
                && is_sure
            {
                self.0.extend(is(chart, *id, value));
            }
        }
    }

    /// Removes the conditions that read one of these variables.
    fn forget(&mut self, chart: &Chart, set: &BTreeSet<VarId>) {
        if set.is_empty() {
            return;
        }
        self.0.retain(|condition| {
            let mut read = BTreeSet::new();
            reads(chart, condition, &mut read);
            read.is_disjoint(set)
        });
    }
}

/// The condition that a variable has this value; `None` if the value is no literal.
fn is(chart: &Chart, id: VarId, value: &Expr) -> Option<Expr> {
    let ty = chart.variables[id.index()].ty.clone();
    equals(Expr { kind: ExprKind::Variable(id), ty }, value)
}

// Traps: sets of states that a run enters and never leaves.

/// A set of states that a run cannot leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trap {
    /// States that lead only to each other, ascending; at least one. A compound or parallel state stands for all leaves inside it.
    pub states: Vec<StateId>,
    /// Whether the chart has a final state that other states reach.
    pub ends: bool,
}

/// The minimal sets of leaves that can be entered and not left. If a final state is reachable: the sets that lead to none. If the chart
/// has no final states: only single states, because every run of such a chart stays in some set. States in which nothing can happen are
/// omitted: see [`undriven`].
pub fn traps(chart: &Chart, facts: &Facts) -> Vec<Trap> {
    let all: Vec<StateId> = chart.state_ids().filter(|s| is_end(chart, *s)).collect();
    let ends: Vec<StateId> = all.iter().copied().filter(|s| facts.reach.can_enter(*s)).collect();
    if !all.is_empty() && ends.is_empty() {
        return Vec::new();
    }
    let leads = facts.moves.leads_to(ends.iter().copied());
    let leaves: BTreeSet<StateId> =
        facts.reach.leaves(chart).filter(|l| !leads[l.index()]).collect();
    let resting: BTreeSet<StateId> = undriven(chart, facts).into_iter().collect();
    let mut found = Vec::new();
    for states in last(facts, &leaves) {
        if states.iter().all(|s| resting.contains(s)) {
            continue;
        }
        if !ends.is_empty() {
            found.push(Trap { states: lift(chart, facts, states), ends: true });
        } else if let [only] = states[..]
            && leaves.len() > 1
            && is_leaf(chart, only)
            && !is_final(chart, only)
            && chart.ancestors(only).all(|s| !matches!(chart.state(s).kind, StateKind::Parallel))
        {
            found.push(Trap { states, ends: false });
        }
    }
    found.sort_by_key(|t| t.states.first().copied());
    found
}

/// Replaces states by an ancestor if the set contains all reachable leaves inside it.
fn lift(chart: &Chart, facts: &Facts, states: Vec<StateId>) -> Vec<StateId> {
    let mut lifted = Vec::new();
    let mut at = 0;
    while let Some(first) = states.get(at).copied() {
        let whole = |top: &StateId| {
            let below = (top.0..chart.state(*top).end.0).map(StateId);
            let mut leaves = below.filter(|s| is_leaf(chart, *s) && facts.reach.can_enter(*s));
            leaves.all(|s| states.binary_search(&s).is_ok())
        };
        let above = chart.ancestors(first).filter(|s| *s != StateId::at(0));
        let top = above.take_while(whole).last().unwrap_or(first);
        // The states are ascending, and the descendants of `top` are a contiguous range.
        at += states[at..].partition_point(|s| *s < chart.state(top).end);
        lifted.push(top);
    }
    lifted
}

/// The sets of `leaves` that lead to each other and to no other of `leaves`.
fn last(facts: &Facts, leaves: &BTreeSet<StateId>) -> Vec<Vec<StateId>> {
    // By component: whether it or one of its successors contains some of `leaves`.
    let mut beyond: Vec<bool> = Vec::new();
    let mut found = Vec::new();
    // Components are in reverse topological order, so `beyond` is known for all successors.
    for (number, nodes) in facts.moves.components().iter().enumerate() {
        let further = nodes
            .iter()
            .flat_map(|n| facts.moves.next(*n))
            .map(|n| facts.moves.component(n))
            .any(|c| c != number && beyond.get(c).copied().unwrap_or(false));
        let mut here: Vec<StateId> = nodes
            .iter()
            .filter_map(|n| if let GraphNode::Active(s) = n { Some(*s) } else { None })
            .filter(|s| leaves.contains(s))
            .collect();
        here.sort_unstable();
        beyond.push(further || !here.is_empty());
        if !further && !here.is_empty() {
            found.push(here);
        }
    }
    found
}

// Leaves in which nothing can ever happen.

/// Reachable atomic states in which no transition can act and no step of the state or its ancestors runs. `code` steps and steps of
/// the root do not count, only the transitions on their outcomes do. States inside a parallel are omitted, because another region may
/// be active.
pub fn undriven(chart: &Chart, facts: &Facts) -> Vec<StateId> {
    // Transitions that exclude some states are tested for each leaf by `moved`.
    let count = chart.states.len();
    let mut acts = vec![false; count];
    for (i, place) in facts.scopes.transitions.iter().enumerate() {
        if facts.reach.can_take(TransitionId::at(i)) && place.except.is_empty() {
            place.within.iter().for_each(|s| acts[s.index()] = true);
        }
    }
    let root = StateId::at(0);
    for (step, place) in chart.steps.iter().zip(&facts.scopes.steps) {
        if !matches!(step.kind, StepKind::Code(_)) {
            place.within.iter().filter(|s| **s != root).for_each(|s| acts[s.index()] = true);
        }
    }
    let mut found = Vec::new();
    // Document order visits a parent before its children, so that `acts` is inherited.
    for state in chart.state_ids().skip(1) {
        let row = chart.state(state);
        let Some(parent) = row.parent else { continue };
        if acts[parent.index()] || matches!(chart.state(parent).kind, StateKind::Parallel) {
            acts[state.index()] = true;
        }
        let rests = is_leaf(chart, state) && !is_final(chart, state);
        if !acts[state.index()] && rests && facts.reach.can_enter(state) && !moved(facts, state) {
            found.push(state);
        }
    }
    found
}

/// Whether a transition that excludes some states can act in the leaf.
fn moved(facts: &Facts, leaf: StateId) -> bool {
    facts
        .moves
        .next(GraphNode::Active(leaf))
        .any(|n| matches!(n, GraphNode::Any(_) | GraphNode::Transition(_)))
}
