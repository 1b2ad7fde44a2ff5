//! Whether a `check` line holds: proved, refuted by a run, or neither within the states that were looked at.

use super::seen::Seen;
use super::walk::MORE;
use super::witness::{Witness, plays, witness};
use super::{Edge, Explored, Happened, Search, explore};
use crate::analysis::Facts;
use crate::analysis::place::meet;
use crate::analysis::reach::is_end;
use chartc_core::arena::{EventId, StateId, TransitionId};
use chartc_core::model::{
    Chart, Check, CheckArgument, ChoiceKind, ExprKind, StepKind, Transition, Trigger,
};
use std::collections::VecDeque;

/// Points from which nothing leads to a state that are tried, until the chart itself plays one.
const TRIED: usize = 20;

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
    /// Likewise, with limits as they are.
    exact: Option<Explored>,
}

/// A run was found that only a chart with other limits has.
struct Unconfirmed;

impl<'c> Properties<'c> {
    /// `states` is how many may be looked at for each line.
    pub fn of(chart: &'c Chart, facts: &'c Facts, states: usize) -> Self {
        Self { chart, facts, states, plain: None, exact: None }
    }

    /// Decides all lines of the chart, and gives what its runs do if every one of them was tried.
    pub fn decide_all(mut self) -> (Vec<Verdict>, Option<Seen>) {
        let chart = self.chart;
        // Those that only look for one state come last: what others find may answer them.
        let (later, first): (Vec<usize>, Vec<usize>) =
            (0..chart.checks.len()).partition(|nth| chart.checks[*nth].name == "reaches");
        let mut verdicts = vec![Verdict::Unknown; chart.checks.len()];
        for nth in first.into_iter().chain(later) {
            verdicts[nth] = self.decide(&chart.checks[nth]);
        }
        let seen = match &self.plain {
            Some(found) => found.is_complete().then(|| Seen::in_all(chart, found)),
            None => Seen::of(chart),
        };
        (verdicts, seen)
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

    /// A search that lets limits be used up whenever they like: what holds of its runs holds of the chart's.
    fn search(&self) -> Search {
        Search { states: self.states, relax: true, ..Search::default() }
    }

    /// Decides by what exploring finds, once and for all lines; with limits as they are if a run is found that the chart has not.
    fn by(&mut self, judge: impl Fn(&Self, &Explored) -> Result<Verdict, Unconfirmed>) -> Verdict {
        let found = self.plain.take().filter(|found| found.goal.is_none());
        let found = found.unwrap_or_else(|| explore(self.chart, &self.search()));
        let verdict = judge(self, &found);
        self.plain = Some(found);
        if let Ok(verdict) = verdict {
            return verdict;
        }
        let found = self
            .exact
            .take()
            .unwrap_or_else(|| explore(self.chart, &Search { relax: false, ..self.search() }));
        let verdict = judge(self, &found).unwrap_or(Verdict::Unknown);
        self.exact = Some(found);
        verdict
    }

    fn counted(&self, search: Search) -> Verdict {
        let judge = |found: &Explored| match found.goal {
            Some(goal) => self.refuted(found, &found.way(goal), goal),
            None => Ok(closed(found)),
        };
        judge(&explore(self.chart, &search)).unwrap_or_else(|Unconfirmed| {
            let found = explore(self.chart, &Search { relax: false, ..search });
            judge(&found).unwrap_or(Verdict::Unknown)
        })
    }

    fn refuted(&self, found: &Explored, way: &[&Edge], at: usize) -> Result<Verdict, Unconfirmed> {
        if found.relaxed && !plays(self.chart, found, way) {
            return Err(Unconfirmed);
        }
        let leaves = found.points[at].leaves.clone();
        Ok(Verdict::Refuted(Box::new(witness(self.chart, way)), leaves))
    }

    fn reaches(&mut self, state: StateId) -> Verdict {
        if !self.facts.reach.enters(state) {
            return Verdict::NeverEntered(state);
        }
        let chart = self.chart;
        let enters = |found: &Explored| {
            let entered = Happened::Entered(state);
            let edge = found.all_edges().find(|(_, edge)| found.story(edge).contains(&entered));
            edge.map(|(from, edge)| {
                let mut way = from.map(|from| found.way(from)).unwrap_or_default();
                way.push(edge);
                !found.relaxed || plays(chart, found, &way)
            })
        };
        if let Some(found) = &self.plain {
            match enters(found) {
                Some(true) => return Verdict::Holds,
                None if found.is_complete() => return Verdict::NeverEntered(state),
                Some(false) | None => {}
            }
        }
        let distances = self.facts.moves.distances(state);
        let search = Search { entered: Some(state), distances, ..self.search() };
        let found = explore(chart, &search);
        match enters(&found) {
            Some(true) => Verdict::Holds,
            Some(false) => {
                let found = explore(chart, &Search { relax: false, ..search });
                if found.goal.is_some() { Verdict::Holds } else { closed(&found) }
            }
            None if found.is_complete() => {
                self.plain = Some(found);
                Verdict::NeverEntered(state)
            }
            None => closed(&found),
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
        let inside = |leaf: StateId| chart.contains(state, leaf);
        // Where the graph always leads there, only all runs together tell that some do not.
        let is_open = facts.reach.leaves(chart).any(|leaf| !leads[leaf.index()] && !inside(leaf));
        if self.plain.is_none() && !is_open {
            let whole = !chart.checks.iter().any(|check| match &check.arguments[..] {
                [CheckArgument::State(of)] => check.name == "no_call" && self.may_call(*of),
                [CheckArgument::Before(first, _)] => facts.reach.enters(*first),
                _ => false,
            });
            let found = explore(chart, &Search { whole, ..self.search() });
            if whole && !found.is_complete() && !found.reasons.contains(MORE) {
                return Verdict::Open(0, found.reasons.into_iter().collect());
            }
            self.plain = Some(found);
        }
        self.by(|this, found| {
            let good = leading(found, |edge| found.story(edge).contains(&Happened::Entered(state)));
            let complete = found.is_complete();
            let lost = (0..found.points.len()).filter(|nth| {
                let point = &found.points[*nth];
                !point.ended
                    && !point.leaves.iter().any(|leaf| inside(*leaf))
                    && if complete {
                        !good[*nth]
                    } else {
                        point.leaves.iter().all(|leaf| !leads[leaf.index()])
                    }
            });
            let mut verdict = Ok(closed(found));
            for lost in lost.take(TRIED) {
                verdict = this.refuted(found, &found.way(lost), lost);
                if verdict.is_ok() {
                    break;
                }
            }
            // With limits as they are, most runs get nowhere just before one is used up: that is not what is asked.
            verdict.or_else(|Unconfirmed| {
                let mut reasons = found.reasons.clone();
                reasons.insert("a limit is used up before".into());
                Ok(Verdict::Open(found.points.len(), reasons.into_iter().collect()))
            })
        })
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
        let steps = steps
            .filter(|(step, _)| step.tools.is_some() || matches!(step.kind, StepKind::Call(..)));
        lines
            .chain(steps.map(|(_, place)| place))
            .any(|place| !meet(chart, &place.within, &[state]).is_empty())
    }

    fn no_call(&mut self, state: StateId) -> Verdict {
        if !self.facts.reach.enters(state) || !self.may_call(state) {
            return Verdict::Holds;
        }
        let chart = self.chart;
        self.by(|this, found| {
            let calls = |edge: &Edge| {
                found.story(edge).iter().any(
                    |one| matches!(one, Happened::Called(leaf) if chart.contains(state, *leaf)),
                )
            };
            let first = found.all_edges().find(|(_, edge)| calls(edge));
            let Some((from, edge)) = first else { return Ok(closed(found)) };
            let mut way = from.map(|from| found.way(from)).unwrap_or_default();
            way.push(edge);
            let at = from.unwrap_or(edge.to);
            this.refuted(found, &way, at)
        })
    }

    /// `first` is not entered on any run before `then` is.
    fn never(&mut self, first: StateId, then: StateId) -> Verdict {
        if !self.facts.reach.enters(first) {
            return Verdict::Holds;
        }
        self.by(|this, found| this.never_in(found, first, then))
    }

    fn never_in(
        &self,
        found: &Explored,
        first: StateId,
        then: StateId,
    ) -> Result<Verdict, Unconfirmed> {
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
                        return self.refuted(found, &way, edge.to);
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
            let Some(point) = todo.pop_front() else { return Ok(closed(found)) };
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
