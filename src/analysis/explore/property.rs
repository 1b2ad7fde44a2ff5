//! Whether a `check` line holds: proved, refuted by a run, or neither within the states that were looked at.

use super::witness::{Witness, witness};
use super::{Edge, Explored, Happened, Search, explore};
use crate::analysis::Facts;
use crate::analysis::place::meet;
use crate::analysis::reach::is_end;
use chartc_core::arena::{EventId, StateId, TransitionId};
use chartc_core::model::{
    Chart, Check, CheckArgument, ChoiceKind, ExprKind, StepKind, Transition, Trigger,
};
use std::collections::VecDeque;

/// What became of a `check` line.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// Every run is as it says.
    Holds,
    /// No run enters this state.
    NeverEntered(StateId),
    /// A run that is not as it says, and the leaves where it stands.
    Refuted(Box<Witness>, Vec<StateId>),
    /// No run against it was found in so many states, and why there may be one.
    Open(usize, Vec<String>),
    /// It is not understood.
    Unknown,
}

/// Decides the `check` lines of one chart.
pub struct Properties<'c> {
    chart: &'c Chart,
    facts: &'c Facts,
    states: usize,
    /// Shared by the lines that count nothing.
    plain: Option<Explored>,
}

impl<'c> Properties<'c> {
    /// `states` is how many may be looked at for each line.
    pub fn of(chart: &'c Chart, facts: &'c Facts, states: usize) -> Self {
        Self { chart, facts, states, plain: None }
    }

    /// Decides one line.
    pub fn decide(&mut self, check: &Check) -> Verdict {
        match (check.name.as_str(), &check.arguments[..]) {
            ("reaches", [CheckArgument::State(state)]) => self.reaches(*state),
            ("always_reaches", [CheckArgument::State(state)]) => self.always(*state),
            ("no_call", [CheckArgument::State(state)]) => self.no_call(*state),
            ("never", [CheckArgument::Before(first, then)]) => self.never(*first, *then),
            ("ends_within", [CheckArgument::Bound(bound, unit)]) if unit == "turns" => {
                let turns = Some(bound.clone());
                self.counted(Search { turns, ..self.search() })
            }
            ("at_most", [CheckArgument::Bound(bound, unit)]) if unit == "calls" => {
                if self.makes_no_calls() && matches!(bound.kind, ExprKind::Int(0..)) {
                    return Verdict::Holds;
                }
                let calls = Some(bound.clone());
                self.counted(Search { calls, ..self.search() })
            }
            _ => Verdict::Unknown,
        }
    }

    fn makes_no_calls(&self) -> bool {
        self.chart
            .steps
            .iter()
            .all(|step| !matches!(step.kind, StepKind::Llm | StepKind::Ask { .. }))
    }

    fn search(&self) -> Search {
        Search { states: self.states, ..Search::default() }
    }

    /// Itself and what exploring found, once and for all lines.
    fn explored(&mut self) -> (&Self, &Explored) {
        if self.plain.is_none() {
            self.plain = Some(explore(self.chart, &self.search()));
        }
        let found = self.plain.as_ref().expect("it was explored");
        (self, found)
    }

    fn counted(&self, search: Search) -> Verdict {
        let found = explore(self.chart, &search);
        match found.goal {
            Some(goal) => self.refuted(&found, &found.way(goal), goal),
            None => closed(&found),
        }
    }

    fn refuted(&self, found: &Explored, way: &[&Edge], at: usize) -> Verdict {
        let leaves = found.points[at].leaves.clone();
        Verdict::Refuted(Box::new(witness(self.chart, way)), leaves)
    }

    fn reaches(&mut self, state: StateId) -> Verdict {
        if !self.facts.reach.enters(state) {
            return Verdict::NeverEntered(state);
        }
        let enters =
            |found: &Explored, edge: &Edge| found.story(edge).contains(&Happened::Entered(state));
        if self.plain.as_ref().is_some_and(|f| f.all_edges().any(|(_, e)| enters(f, e))) {
            return Verdict::Holds;
        }
        let distances = self.facts.moves.distances(state);
        let search = Search { entered: Some(state), distances, ..self.search() };
        let found = explore(self.chart, &search);
        if found.goal.is_some() {
            Verdict::Holds
        } else if found.is_complete() {
            Verdict::NeverEntered(state)
        } else {
            closed(&found)
        }
    }

    fn always(&mut self, state: StateId) -> Verdict {
        let facts = self.facts;
        let chart = self.chart;
        if !facts.reach.enters(state) {
            return Verdict::NeverEntered(state);
        }
        if at_once(chart, state) {
            return Verdict::Holds;
        }
        let leads = facts.moves.leads_to([state]);
        let (this, found) = self.explored();
        let good = leading(found, |edge| found.story(edge).contains(&Happened::Entered(state)));
        let complete = found.is_complete();
        let lost = (0..found.points.len()).find(|nth| {
            let point = &found.points[*nth];
            let inside = point.leaves.iter().any(|leaf| chart.contains(state, *leaf));
            !point.ended
                && !inside
                && if complete {
                    !good[*nth]
                } else {
                    point.leaves.iter().all(|leaf| !leads[leaf.index()])
                }
        });
        match lost {
            Some(lost) => this.refuted(found, &found.way(lost), lost),
            None => closed(found),
        }
    }

    /// Whether the graph has a call inside the state at all.
    fn may_call(&self, state: StateId) -> bool {
        let Self { chart, facts, .. } = self;
        let lines = chart.transitions.iter().enumerate().filter(|(_, line)| {
            matches!(line.trigger, Trigger::Choice(choice)
                if matches!(chart.choices[choice.index()].kind, ChoiceKind::Call(..)))
        });
        let lines = lines.map(|(i, _)| facts.places.line(TransitionId::at(i)));
        let steps = chart.steps.iter().zip(&facts.places.steps);
        let steps = steps.filter(|(step, _)| matches!(step.kind, StepKind::Call(..)));
        lines
            .chain(steps.map(|(_, place)| place))
            .any(|place| !meet(chart, &place.within, &[state]).is_empty())
    }

    fn no_call(&mut self, state: StateId) -> Verdict {
        if !self.facts.reach.enters(state) || !self.may_call(state) {
            return Verdict::Holds;
        }
        let chart = self.chart;
        let (this, found) = self.explored();
        let calls = |edge: &Edge| {
            found
                .story(edge)
                .iter()
                .any(|one| matches!(one, Happened::Called(leaf) if chart.contains(state, *leaf)))
        };
        let first = found.all_edges().find(|(_, edge)| calls(edge));
        let Some((from, edge)) = first else { return closed(found) };
        let mut way = from.map(|from| found.way(from)).unwrap_or_default();
        way.push(edge);
        let at = from.unwrap_or(edge.to);
        this.refuted(found, &way, at)
    }

    /// `first` is not entered on any run before `then` is.
    fn never(&mut self, first: StateId, then: StateId) -> Verdict {
        if !self.facts.reach.enters(first) {
            return Verdict::Holds;
        }
        let (this, found) = self.explored();
        let mut by: Vec<Option<(Option<usize>, &Edge)>> = vec![None; found.points.len()];
        let mut todo: VecDeque<usize> = VecDeque::new();
        let mut edges: VecDeque<(Option<usize>, &Edge)> =
            found.starts.iter().map(|edge| (None, edge)).collect();
        loop {
            while let Some((from, edge)) = edges.pop_front() {
                let story = found.story(edge).iter();
                let met = story.filter_map(|one| match one {
                    Happened::Entered(state) => Some(*state),
                    Happened::Taken(_) | Happened::Called(_) => None,
                });
                match met.into_iter().find(|state| *state == first || *state == then) {
                    Some(state) if state == first => {
                        let mut way = vec![edge];
                        let mut at = from;
                        while let Some((before, edge)) = at.and_then(|point| by[point]) {
                            way.push(edge);
                            at = before;
                        }
                        way.reverse();
                        return this.refuted(found, &way, edge.to);
                    }
                    Some(_) => {}
                    None => {
                        if by[edge.to].is_none() {
                            by[edge.to] = Some((from, edge));
                            todo.push_back(edge.to);
                        }
                    }
                }
            }
            let Some(point) = todo.pop_front() else { return closed(found) };
            edges.extend(found.edges[point].iter().map(|edge| (Some(point), edge)));
        }
    }
}

/// By point: whether an edge that is a goal can still be taken from it.
pub fn leading(found: &Explored, goal: impl Fn(&Edge) -> bool) -> Vec<bool> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); found.points.len()];
    let mut good = vec![false; found.points.len()];
    let mut todo = Vec::new();
    for (from, edge) in found.all_edges() {
        let Some(from) = from else { continue };
        before[edge.to].push(from);
        if goal(edge) && !std::mem::replace(&mut good[from], true) {
            todo.push(from);
        }
    }
    while let Some(point) = todo.pop() {
        for from in &before[point] {
            if !std::mem::replace(&mut good[*from], true) {
                todo.push(*from);
            }
        }
    }
    good
}

/// What is concluded where nothing against a line was found.
fn closed(found: &Explored) -> Verdict {
    if found.is_complete() {
        Verdict::Holds
    } else {
        Verdict::Open(found.points.len(), found.reasons.iter().cloned().collect())
    }
}

/// Whether an event that nothing else reacts to leads into the state from wherever a run is.
fn at_once(chart: &Chart, state: StateId) -> bool {
    let in_time = chart.transitions.iter().all(|line| {
        let (Trigger::After(bound) | Trigger::StepTimeout(_, bound)) = &line.trigger else {
            return true;
        };
        matches!(bound.kind, ExprKind::Duration(1..))
    });
    let takes = |line: &Transition, event: EventId| {
        matches!(line.trigger, Trigger::AnyEvent | Trigger::AnyOccurrence)
            || matches!(&line.trigger, Trigger::Event(events) if events.contains(&event))
    };
    let alone = |event: &EventId| {
        chart.transitions.iter().filter(|other| takes(other, *event)).count() == 1
    };
    let leads = |line: &Transition| {
        line.source == StateId(0)
            && line.guard.is_none()
            && line.scope.as_ref().is_none_or(|scope| {
                // Where it does not hold, the run is over or there already.
                let over = |s: &StateId| chart.contains(state, *s) || is_end(chart, *s);
                scope.any_of.is_empty() && scope.none_of.iter().all(over)
            })
            && line.targets.iter().any(|target| chart.contains(state, target.state))
            && matches!(&line.trigger, Trigger::Event(events) if events.iter().any(alone))
    };
    in_time && chart.transitions.iter().any(leads)
}
