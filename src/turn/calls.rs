//! Model calls in the walk of a turn.

use crate::facts::Facts;
use crate::facts::place::Place;
use crate::facts::reach::entries;
use crate::facts::uses::is_where;
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{
    AskOn, Chart, ExprKind, Failure, Otherwise, StateKind, Step, StepKind, Trigger,
};

/// A step that no turn comes to: its model calls are used up before, or it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hiding {
    /// The step.
    pub step: StepId,
    /// The step at which each turn ends before; `None` where it is the step itself that finds no call left.
    pub ends: Option<StepId>,
    /// The step that takes the last call; `None` where `ends` ends the turn by what it says.
    pub caller: Option<StepId>,
    /// Model calls that a turn has to allow before one comes to the step.
    pub needs: u32,
}

/// Work that is done at most; a chart that takes more has thousands of steps over thousands of states, and a program wrote it.
const WORK: usize = 1 << 20;

/// Every such step, ascending. The walk is followed over all leaves at once, each with the fewest calls that can be used up there.
pub fn hidden(chart: &Chart, facts: &Facts) -> Vec<Hiding> {
    let stops = chart.steps.iter().any(always_ends);
    let calls = chart.steps.iter().filter(|step| is_model(step)).count();
    let binds = chart.calls_per_turn.is_some_and(|most| calls > most as usize);
    if !binds && !stops {
        return Vec::new();
    }
    let walked = |cap, stops| Walk::new(chart, facts, cap, stops).all();
    let (Some(free), Some(held)) = (walked(None, false), walked(chart.calls_per_turn, true)) else {
        return Vec::new();
    };
    let all = free.into_iter().zip(held).enumerate();
    all.filter_map(|(i, (free, held))| {
        let (Arrival::Runs(needs), Arrival::Never(Some(end))) = (free, held) else { return None };
        let step = StepId::at(i);
        let ends = Some(end.at).filter(|at| *at != step);
        Some(Hiding { step, ends, caller: end.caller, needs })
    })
    .collect()
}

/// Where a walk is, with the fewest calls used up, and who took the last of these.
#[derive(Debug, Clone, Copy)]
struct Here {
    calls: u32,
    by: Option<StepId>,
}

/// What ends the walk in a leaf.
#[derive(Debug, Clone, Copy)]
struct End {
    at: StepId,
    caller: Option<StepId>,
}

/// Whether some walk comes to a step.
#[derive(Debug, Clone, Copy)]
enum Arrival {
    /// With so many calls used up, its own with them.
    Runs(u32),
    /// Because of this, where that is known.
    Never(Option<End>),
}

struct Walk<'c> {
    chart: &'c Chart,
    facts: &'c Facts,
    cap: Option<u32>,
    /// Whether what ends the turn does.
    stops: bool,
    leaves: Vec<StateId>,
    here: Vec<Option<Here>>,
    ended: Vec<Option<End>>,
    /// By leaf: how many options are offered there whatever the variables.
    options: Vec<u32>,
    /// By leaf: the innermost state with a question of the walk. Those further out are not put there.
    innermost: Vec<Option<StateId>>,
    /// Whether lines may move that are no outcomes of steps.
    loose: bool,
    /// Whether a turn's line may keep questions from being put.
    turn_lines: bool,
    work: usize,
}

impl<'c> Walk<'c> {
    fn new(chart: &'c Chart, facts: &'c Facts, cap: Option<u32>, stops: bool) -> Self {
        let leaves: Vec<StateId> = facts.reach.leaves(chart).collect();
        let count = leaves.len();
        let own =
            |t: &Trigger| t.step().is_some() || matches!(t, Trigger::Choice(_) | Trigger::Turn);
        let begins = Here { calls: 0, by: None };
        let mut walk = Self {
            chart,
            facts,
            cap,
            stops,
            leaves,
            here: vec![Some(begins); count],
            ended: vec![None; count],
            options: vec![0; count],
            innermost: vec![None; count],
            loose: chart.transitions.iter().any(|t| !own(&t.trigger))
                || chart.steps.iter().any(|s| s.tools.is_some()),
            turn_lines: chart.transitions.iter().any(|t| matches!(t.trigger, Trigger::Turn)),
            work: 0,
        };
        for (i, line) in chart.transitions.iter().enumerate() {
            if matches!(line.trigger, Trigger::Choice(_)) && line.guard.is_none() {
                for leaf in walk.covered(facts.places.line(TransitionId::at(i))) {
                    walk.options[leaf] += 1;
                }
            }
        }
        let asks = |s: &&Step| matches!(&s.kind, StepKind::Ask { on, .. } if *on == AskOn::Turn);
        for step in chart.steps.iter().filter(asks) {
            for leaf in walk.covered(&Place::of(step.state)) {
                let known = walk.innermost[leaf];
                // What lies further in has the greater number.
                walk.innermost[leaf] = known.max(Some(step.state));
            }
        }
        walk
    }

    /// By step; `None` where that takes too much work.
    fn all(mut self) -> Option<Vec<Arrival>> {
        let mut found = Vec::with_capacity(self.chart.steps.len());
        for i in 0..self.chart.steps.len() {
            found.push(self.step(StepId::at(i)));
            if self.work > WORK {
                return None;
            }
        }
        Some(found)
    }

    /// The numbers of the leaves of a place.
    fn covered(&mut self, place: &Place) -> Vec<usize> {
        let mut found = Vec::new();
        for state in &place.within {
            let from = self.leaves.partition_point(|leaf| leaf < state);
            let below = self.leaves[from..].iter().take_while(|l| self.chart.contains(*state, **l));
            found.extend((from..).zip(below).map(|(i, _)| i));
        }
        self.work += found.len() + 1;
        found.retain(|leaf| !place.leaves_out(self.chart, self.leaves[*leaf]));
        found
    }

    fn step(&mut self, id: StepId) -> Arrival {
        let step = &self.chart.steps[id.index()];
        let beside = match &step.kind {
            StepKind::Ask { on, .. } => *on != AskOn::Turn,
            StepKind::Run(run) => run.on_entry,
            StepKind::Llm | StepKind::Code(_) | StepKind::Call(..) | StepKind::Human(_) => false,
        };
        let place = self.facts.places.step(id);
        let covered = self.covered(place);
        if beside {
            return Arrival::Runs(0);
        }
        let sure = step.guard.as_ref().is_none_or(is_where)
            && !place.is_loose
            && !in_region(self.chart, step.state);
        let mut least: Option<u32> = None;
        let mut end = None;
        let mut after: Option<Here> = None;
        for leaf in covered {
            let Some(here) = self.here[leaf] else {
                end = end.or(self.ended[leaf]);
                continue;
            };
            let calls = is_model(step) && self.surely_asks(step, leaf);
            if is_model(step) && self.cap.is_some_and(|cap| here.calls >= cap) {
                let none = End { at: id, caller: here.by };
                end = Some(none);
                if sure && calls {
                    self.here[leaf] = None;
                    self.ended[leaf] = Some(none);
                }
                if calls || !matches!(step.kind, StepKind::Ask { .. }) {
                    continue;
                }
            }
            // An `ask` that may be settled unasked calls at most.
            let taken = u32::from(calls);
            let then =
                Here { calls: here.calls + taken, by: if calls { Some(id) } else { here.by } };
            least = Some(least.map_or(then.calls, |least| least.min(then.calls)));
            if self.stops && always_ends(step) {
                if sure {
                    self.here[leaf] = None;
                    self.ended[leaf] = Some(End { at: id, caller: None });
                }
                continue;
            }
            if sure {
                self.here[leaf] = Some(then);
            }
            if after.is_none_or(|after| then.calls < after.calls) {
                after = Some(then);
            }
        }
        if let Some(then) = after {
            self.moves(id, step, then);
        }
        least.map_or(Arrival::Never(end), Arrival::Runs)
    }

    /// Goes on where the step may lead from any of its leaves, with the fewest calls of them.
    fn moves(&mut self, id: StepId, step: &Step, then: Here) {
        let quiet = matches!(step.kind, StepKind::Code(_)) && step.outcomes.is_empty();
        let whens = || self.chart.transitions.iter().any(|t| t.trigger == Trigger::When);
        if self.loose && (!quiet || whens()) {
            self.work += self.leaves.len();
            for leaf in 0..self.leaves.len() {
                self.comes(leaf, then);
            }
            return;
        }
        let failing = match step.failure.then {
            Failure::Take(line) => Some(line),
            Failure::Fail | Failure::Skip => None,
        };
        let mut lines: Vec<TransitionId> = step.outcomes.iter().copied().chain(failing).collect();
        if let StepKind::Ask { otherwise, .. } = &step.kind {
            if let Otherwise::Take(line) = otherwise {
                lines.push(*line);
            }
            let place = self.facts.places.step(id).clone();
            for (i, line) in self.chart.transitions.iter().enumerate() {
                let of = &self.facts.places.line(TransitionId::at(i)).within;
                if matches!(line.trigger, Trigger::Choice(_))
                    && !crate::facts::place::meet(self.chart, &place.within, of).is_empty()
                {
                    lines.push(TransitionId::at(i));
                }
            }
            self.work += self.chart.transitions.len();
        }
        for line in lines {
            for state in entries(self.chart, self.chart.transition(line)) {
                // A history leads to what lies beside it.
                let history = matches!(self.chart.state(state).kind, StateKind::History { .. });
                let below = self.chart.state(state).parent.filter(|_| history).unwrap_or(state);
                for leaf in self.covered(&Place::of(below)) {
                    self.comes(leaf, then);
                }
            }
        }
    }

    fn comes(&mut self, leaf: usize, then: Here) {
        let fewer = |here: Here| then.calls < here.calls;
        if self.here[leaf].is_none_or(fewer) {
            self.here[leaf] = Some(then);
        }
    }

    /// Whether a model step calls, where it runs: an `ask` without options does not, and may take a single one unasked.
    fn surely_asks(&self, step: &Step, leaf: usize) -> bool {
        match &step.kind {
            StepKind::Ask { always, .. } => {
                let options = self.options[leaf];
                let put = !self.turn_lines && self.innermost[leaf] == Some(step.state);
                put && (options > 1 || *always && options > 0)
            }
            StepKind::Llm
            | StepKind::Code(_)
            | StepKind::Call(..)
            | StepKind::Human(_)
            | StepKind::Run(..) => true,
        }
    }
}

/// Whether a step takes a model call of the walk.
pub fn is_model(step: &Step) -> bool {
    match &step.kind {
        StepKind::Llm => true,
        StepKind::Ask { on, .. } => *on == AskOn::Turn,
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Human(_) | StepKind::Run(..) => false,
    }
}

/// Whether the turn is over wherever the step has run.
fn always_ends(step: &Step) -> bool {
    step.failure.then == Failure::Fail
        && step.ends_turn.as_ref().is_some_and(|ends| ends.kind == ExprKind::Bool(true))
}

/// Whether regions take turns for the call of the state's steps.
pub(crate) fn in_region(chart: &Chart, state: StateId) -> bool {
    chart.ancestors(state).any(|s| {
        let parent = chart.state(s).parent;
        parent.is_some_and(|p| matches!(chart.state(p).kind, StateKind::Parallel))
    })
}
