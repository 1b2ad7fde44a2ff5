//! Decides lines about the order and the number of what runs do: `never(a unless b)` and `a at most n`.
//!
//! **The idea.** Both say that no run does `a` more than `n` times before it has done `b`: with `never`, `n` is 0; with `at most`, there is
//! no `b`. A *monitor* counts how often a run may still do `a`, and stops when the run has done `b`.
//!
//! 1. The structure proves the line if the part of a run before `b` contains no `a` ([`Sites`]), or if each place that does `a` is reached
//!    at most once.
//! 2. Otherwise an exploration is searched together with the monitor (`Properties::in_order`). The edges of an exploration tell all that
//!    `check` lines name in its order (`watched`), so the search visits pairs of a point and a count, and no run is lost.
//!
//! **Example.** `check never(pay unless approve)`, where the step `approve` leads to `paid`, which calls `pay`. No run takes the line
//! `done -> paid` before the step is done. If nothing else leads to `paid`, no run calls `pay` before, which proves the line. If
//! `after 3d -> paid` does, the search finds the edge on which the time passes and `pay` is called.

use super::relevant::number;
use super::watched::{handles, watched};
use super::{Edge, Happened, HostAct, is_total};
use crate::analysis::facts::Facts;
use crate::analysis::facts::reach::{GraphNode, Reach, ScopeCondition, is_history};
use crate::analysis::facts::values::{self, declared};
use chartc_core::arena::{EventId, FunctionId, StateId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, Chart, CheckArgument, ChoiceKind, Expr, Step, StepKind, Subject, Transition, Trigger,
};

/// What a line claims: no run does `what` more than `most` times before it has done `until`.
#[derive(Clone, Copy)]
pub(super) struct Order<'c> {
    pub(super) what: &'c Subject,
    /// An expression over params; `None` for 0.
    most: Option<&'c Expr>,
    pub(super) until: Option<&'c Subject>,
}

impl<'c> Order<'c> {
    /// The claim of an argument of a `check` line, if it is of this kind.
    pub(super) fn of(argument: &'c CheckArgument) -> Option<Self> {
        match argument {
            CheckArgument::Unless(what, until) => {
                Some(Self { what, most: None, until: Some(until) })
            }
            CheckArgument::AtMost(what, most) => Some(Self { what, most: Some(most), until: None }),
            CheckArgument::State(_) | CheckArgument::Bound(..) => None,
        }
    }

    /// How a story tells of `subject`, which the line names.
    pub(super) fn sign(&self, chart: &Chart, subject: &Subject) -> Option<Happened> {
        match subject {
            Subject::State(state) if self.most.is_none() => Some(Happened::Entered(*state)),
            _ => watched(chart).iter().position(|row| row.subject == subject).map(Happened::Met),
        }
    }

    /// How often a run that begins with this edge may do `what`. `None` if the bound is no sum of params.
    pub(super) fn allowed(&self, chart: &Chart, start: &Edge) -> Option<u32> {
        let Some(most) = self.most else { return Some(0) };
        let HostAct::Start(given) = &start.act else { return None };
        let param = |id: VarId| -> Option<Value> {
            let given = given.iter().find(|(other, _)| *other == id);
            given
                .map(|(_, value)| value.clone())
                .or_else(|| values::literal(chart.variables[id.index()].default.as_ref()?))
        };
        number(most, &param).map(|n| u32::try_from(n.max(0)).unwrap_or(u32::MAX))
    }

    /// Why a story may miss one of the events that the line names: a line for several events does not tell which one was raised.
    pub(super) fn unclear(&self, chart: &Chart) -> Option<String> {
        let events = [Some(self.what), self.until].into_iter().flatten().filter_map(|s| match s {
            Subject::Event(event) => Some(*event),
            _ => None,
        });
        let is_wide = |event: EventId| {
            chart.transitions.iter().any(|transition| {
                let is_own = matches!(&transition.trigger, Trigger::Event(e) if e.len() == 1);
                !is_own && handles(&transition.trigger, event)
            })
        };
        let mut raises = false;
        chart.bodies().for_each(|body| {
            Action::walk(body, &mut |action| raises |= matches!(action, Action::Raise(..)));
        });
        let event = events.into_iter().find(|event| raises && is_wide(*event))?;
        let name = &chart.events[event.index()].name;
        Some(format!("a line that handles `{name}` also handles other events, which may be raised"))
    }
}

// What the structure proves.

/// Whether the structure proves the line.
pub(super) fn proves(chart: &Chart, facts: &Facts, order: Order<'_>) -> bool {
    let Order { what, most, until } = order;
    let Some(until) = until else {
        let least = most.and_then(|most| values::range(most, &|id| declared(chart, id)).low);
        let times = times(chart, facts, what);
        return times == Some(0) || least.zip(times).is_some_and(|(least, times)| times <= least);
    };
    let everywhere = Sites::new(chart, facts, facts.reach.clone(), Vec::new());
    if !everywhere.has(what) {
        return true;
    }
    if what == until {
        return false;
    }
    match (what, until) {
        (_, Subject::State(then)) if is_history(chart, *then) => false,
        // Of two states that are entered together, the outer one comes first.
        (Subject::State(first), Subject::State(then)) if chart.contains(*then, *first) => true,
        (_, Subject::State(then)) => {
            let reach = Reach::before(chart, &facts.scopes, *then);
            !Sites::new(chart, facts, reach, Vec::new()).has(what)
        }
        _ => !Sites::before(chart, facts, until).has(what),
    }
}

/// The places where the beginnings of runs do something, in the over-approximation of [`Reach`].
struct Sites<'c> {
    chart: &'c Chart,
    facts: &'c Facts,
    /// The states that are entered and the transitions that are taken.
    reach: Reach,
    /// Further transitions, at which such a beginning ends.
    last: Vec<TransitionId>,
}

impl<'c> Sites<'c> {
    fn new(chart: &'c Chart, facts: &'c Facts, reach: Reach, last: Vec<TransitionId>) -> Self {
        Self { chart, facts, reach, last }
    }

    /// The beginnings of runs before they do `until`, which is no state. They do not take transitions that follow it, and end in those that
    /// do it themselves.
    fn before(chart: &'c Chart, facts: &'c Facts, until: &Subject) -> Self {
        let mut scopes = facts.scopes.clone();
        let mut last = Vec::new();
        for (i, transition) in chart.transitions.iter().enumerate() {
            let calls = matches!(until, Subject::Effect(effect)
                if surely_calls(chart, &transition.actions, *effect));
            if calls {
                last.push(TransitionId::at(i));
            }
            if calls || follows(chart, transition, until) {
                scopes.transitions[i].within.clear();
            }
        }
        let reach = Reach::compute(chart, &scopes);
        Self::new(chart, facts, reach, last)
    }

    /// Whether something may happen at one of these places.
    fn has(&self, what: &Subject) -> bool {
        let chart = self.chart;
        match what {
            Subject::State(state) => self.reach.can_enter(*state),
            Subject::Effect(effect) => {
                let calls = |block: &Vec<Action>| most_calls(block, *effect) != Some(0);
                let mut states = chart.state_ids().filter(|state| self.reach.can_enter(*state));
                states.any(|state| {
                    let row = chart.state(state);
                    row.entry.iter().chain(&row.exit).chain([&row.default_actions]).any(calls)
                }) || self.transitions().any(|transition| calls(&transition.actions))
                    || self
                        .steps()
                        .any(|step| matches!(&step.kind, StepKind::Code(block) if calls(block)))
            }
            Subject::Tool(tool) => {
                let chooses = |transition: &Transition| {
                    matches!(transition.trigger, Trigger::Choice(choice)
                        if matches!(chart.choices[choice.index()].kind, ChoiceKind::Call(set, _)
                            if chart.tools_of(set).contains(tool)))
                };
                let steps = chart.steps.iter().zip(&self.facts.scopes.steps);
                let mut steps = steps.filter(|(step, _)| {
                    let models = step.tools.as_ref();
                    models.is_some_and(|tools| chart.tools_of(tools.set).contains(tool))
                        || matches!(step.kind, StepKind::Call(of, _) if of == *tool)
                });
                steps.any(|(_, place)| self.meets(place)) || self.transitions().any(chooses)
            }
            Subject::Step(step) => self.meets(&self.facts.scopes.steps[step.index()]),
            // An option may be chosen although its line is not taken.
            Subject::Option(_) => chart.transitions.iter().any(|transition| {
                follows(chart, transition, what) && self.reach.can_enter(transition.source)
            }),
            Subject::Event(event) => {
                self.transitions().any(|transition| handles(&transition.trigger, *event))
                    || self.steps().any(|step| step.events().contains(event))
            }
        }
    }

    /// Whether a transition or a step may act at one of these places.
    fn meets(&self, place: &ScopeCondition) -> bool {
        place.within.iter().any(|state| self.reach.can_enter(*state))
    }

    /// The transitions that may be taken.
    fn transitions(&self) -> impl Iterator<Item = &'c Transition> + '_ {
        let rows = self.chart.transitions.iter().enumerate();
        rows.filter(|(i, _)| {
            let id = TransitionId::at(*i);
            self.reach.can_take(id)
                || self.last.contains(&id) && self.meets(self.facts.scopes.transition(id))
        })
        .map(|(_, transition)| transition)
    }

    /// The steps that may run.
    fn steps(&self) -> impl Iterator<Item = &'c Step> + '_ {
        let steps = self.chart.steps.iter().zip(&self.facts.scopes.steps);
        steps.filter(|(_, place)| self.meets(place)).map(|(step, _)| step)
    }
}

/// Whether a run takes the transition only after it has done this.
fn follows(chart: &Chart, transition: &Transition, what: &Subject) -> bool {
    match (&transition.trigger, what) {
        (Trigger::StepDone(step), Subject::Step(of)) => step == of,
        (Trigger::StepDone(step), Subject::Tool(tool)) => {
            let step = &chart.steps[step.index()];
            // With `each`, an empty list needs no call.
            step.each.is_none() && matches!(step.kind, StepKind::Call(of, _) if of == *tool)
        }
        (Trigger::Choice(choice), Subject::Option(name)) => {
            let choice = &chart.choices[choice.index()];
            matches!(choice.kind, ChoiceKind::Option(_)) && choice.name == *name
        }
        (Trigger::Choice(choice), Subject::Tool(tool)) => {
            matches!(chart.choices[choice.index()].kind, ChoiceKind::Call(set, _)
                if chart.tools_of(set) == [*tool])
        }
        (Trigger::Event(events), Subject::Event(event)) => events[..] == [*event],
        _ => false,
    }
}

/// Whether the block calls the function in any case, as nothing before can fail.
fn surely_calls(chart: &Chart, block: &[Action], effect: FunctionId) -> bool {
    match block.first() {
        Some(Action::Do(of, arguments)) => {
            *of == effect && arguments.iter().all(|argument| is_total(chart, argument, 0))
        }
        _ => false,
    }
}

/// The maximum number of calls of the function in one execution of the block; `None` if a loop repeats them.
fn most_calls(block: &[Action], effect: FunctionId) -> Option<i64> {
    block.iter().try_fold(0, |sum: i64, action| {
        let more = match action {
            Action::Do(of, _) => i64::from(*of == effect),
            Action::If(_, then, otherwise) => {
                most_calls(then, effect)?.max(most_calls(otherwise, effect)?)
            }
            Action::For(_, _, body) => (most_calls(body, effect)? == 0).then_some(0)?,
            _ => 0,
        };
        Some(sum + more)
    })
}

/// The maximum number of times that a run does this, in the graph of moves; `None` if it may repeat it.
fn times(chart: &Chart, facts: &Facts, what: &Subject) -> Option<i64> {
    let sites = Sites::new(chart, facts, facts.reach.clone(), Vec::new());
    if !sites.has(what) {
        return Some(0);
    }
    let is_single = |node| facts.moves.components()[facts.moves.component(node)].len() == 1;
    // The root is entered once, although all its states lead back to it.
    let enters_once = |state: StateId| {
        let is_root = chart.state(state).parent.is_none();
        let node = if is_history(chart, state) { GraphNode::Entered } else { GraphNode::Active };
        is_root || is_single(node(state))
    };
    // The sum of something over all transitions that may be taken, if none with any of it may be taken twice.
    let takings = |of: &dyn Fn(&Transition) -> Option<i64>| {
        let mut sum = 0;
        for (i, transition) in chart.transitions.iter().enumerate() {
            let id = TransitionId::at(i);
            let count = of(transition);
            if count == Some(0) || !facts.reach.can_take(id) {
                continue;
            }
            // Without targets, the source stays active, so the transition may be taken again.
            let is_once = !transition.targets.is_empty() && is_single(GraphNode::Transition(id));
            sum += count.filter(|_| is_once)?;
        }
        Some(sum)
    };
    match what {
        Subject::State(state) => enters_once(*state).then_some(1),
        Subject::Effect(effect) => {
            // A step runs again in each turn.
            if sites.steps().any(|step| {
                matches!(&step.kind, StepKind::Code(block)
                if most_calls(block, *effect) != Some(0))
            }) {
                return None;
            }
            let mut sum = 0;
            for state in chart.state_ids().filter(|state| facts.reach.can_enter(*state)) {
                let row = chart.state(state);
                let blocks = row.entry.iter().chain(&row.exit).chain([&row.default_actions]);
                for block in blocks {
                    let calls = most_calls(block, *effect)?;
                    sum += if calls == 0 || enters_once(state) { calls } else { return None };
                }
            }
            Some(sum + takings(&|transition| most_calls(&transition.actions, *effect))?)
        }
        // A step that the event starts leaves the state as it is, so the event may start it again.
        Subject::Event(event)
            if sites.steps().any(|step| {
                matches!(step.kind, StepKind::Ask { .. }) || step.events().contains(event)
            }) =>
        {
            None
        }
        Subject::Event(event) => {
            takings(&|transition| Some(i64::from(handles(&transition.trigger, *event))))
        }
        Subject::Tool(_) | Subject::Step(_) | Subject::Option(_) => None,
    }
}
