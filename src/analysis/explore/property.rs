//! Whether a `check` line holds: proved, refuted by a run, or neither within the states that were looked at.

use super::ground::Ground;
use super::seen::Seen;
use super::sure::{at_once, ends_within};
use super::walk::{MORE, explore_on, untried};
use super::witness::{Witness, plays, witness_on};
use super::{Edge, Explored, Happened, Search};
use crate::analysis::Facts;
use crate::analysis::place::meet;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{Chart, Check, CheckArgument, ChoiceKind, ExprKind, StepKind, Trigger};
use std::cell::{Cell, OnceCell};
use std::collections::VecDeque;

/// Points from which nothing leads to a state that are tried, until the chart itself plays one.
const TRIED: usize = 20;

/// Things that may happen in all that is explored for the lines of a chart, for each state that may be looked at: see
/// [`Search::work`].
const WORK: usize = 500;

/// Nodes of the graph of moves that are looked at in the time that one thing takes to happen.
const SETTING: usize = 8;

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
    ground: OnceCell<Ground<'c>>,
    /// What may still be done for all lines together.
    left: Cell<usize>,
    /// By state: whether a run was found that enters it.
    met: Vec<bool>,
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
        let left = Cell::new(states.saturating_mul(WORK));
        let met = vec![false; chart.states.len()];
        Self { chart, facts, states, ground: OnceCell::new(), left, met, plain: None, exact: None }
    }

    fn ground(&self) -> &Ground<'c> {
        self.ground.get_or_init(|| Ground::of(self.chart))
    }

    /// Explores with what is left for all lines.
    fn explore(&self, search: &Search) -> Explored {
        let left = self.left.get();
        if left == 0 {
            return untried("the other lines took all that may be tried");
        }
        let found = explore_on(self.ground(), &Search { work: Some(left), ..search.clone() });
        let setting = self.facts.moves.nodes() / SETTING;
        self.left.set(left.saturating_sub(found.work + setting));
        found
    }

    /// Decides all lines of the chart, and gives what its runs do if every one of them was tried.
    pub fn decide_all(mut self) -> (Vec<Verdict>, Option<Seen>) {
        let chart = self.chart;
        // Those that only look for one state come last: what others find may answer them.
        let (later, first): (Vec<usize>, Vec<usize>) =
            (0..chart.checks.len()).partition(|nth| chart.checks[*nth].name == "reaches");
        let mut verdicts = vec![Verdict::Unknown; chart.checks.len()];
        // What comes last is often furthest, and entering it enters others.
        for nth in first.into_iter().chain(later.into_iter().rev()) {
            verdicts[nth] = self.decide(&chart.checks[nth]);
        }
        let seen = match &self.plain {
            Some(found) => found.is_complete().then(|| Seen::all_of(self.ground(), found)),
            None => Seen::on(self.ground()),
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
                if ends_within(self.chart, bound) {
                    return Verdict::Holds;
                }
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
        let found = found.unwrap_or_else(|| self.explore(&self.search()));
        let verdict = judge(self, &found);
        self.plain = Some(found);
        if let Ok(verdict) = verdict {
            return verdict;
        }
        let found = self
            .exact
            .take()
            .unwrap_or_else(|| self.explore(&Search { relax: false, ..self.search() }));
        let verdict = judge(self, &found).unwrap_or(Verdict::Unknown);
        self.exact = Some(found);
        verdict
    }

    fn counted(&self, search: Search) -> Verdict {
        let judge = |found: &Explored| match found.goal {
            Some(goal) => self.refuted(found, &found.way(goal), goal),
            None => Ok(closed(found)),
        };
        judge(&self.explore(&search)).unwrap_or_else(|Unconfirmed| {
            let found = self.explore(&Search { relax: false, ..search });
            judge(&found).unwrap_or(Verdict::Unknown)
        })
    }

    fn refuted(&self, found: &Explored, way: &[&Edge], at: usize) -> Result<Verdict, Unconfirmed> {
        if found.relaxed && !plays(self.ground(), found, way) {
            return Err(Unconfirmed);
        }
        let leaves = found.points[at].leaves.clone();
        Ok(Verdict::Refuted(Box::new(witness_on(self.ground(), way)), leaves))
    }

    fn reaches(&mut self, state: StateId) -> Verdict {
        if !self.facts.reach.enters(state) {
            return Verdict::NeverEntered(state);
        }
        if self.met[state.index()] {
            return Verdict::Holds;
        }
        if let Some(found) = self.plain.take() {
            let enters = self.enters(&found, state);
            let is_complete = found.is_complete();
            self.plain = Some(found);
            match enters {
                Some(true) => return Verdict::Holds,
                None if is_complete => return Verdict::NeverEntered(state),
                Some(false) | None => {}
            }
        }
        let distances = self.facts.moves.distances(state);
        let search = Search { entered: Some(state), distances, ..self.search() };
        let found = self.explore(&search);
        match self.enters(&found, state) {
            Some(true) => Verdict::Holds,
            Some(false) => {
                let found = self.explore(&Search { relax: false, ..search });
                if found.goal.is_some() { Verdict::Holds } else { closed(&found) }
            }
            None if found.is_complete() => {
                self.plain = Some(found);
                Verdict::NeverEntered(state)
            }
            None => closed(&found),
        }
    }

    /// Whether a run of the chart enters a state as the first one does that was found; `None` if none was.
    fn enters(&mut self, found: &Explored, state: StateId) -> Option<bool> {
        let entered = Happened::Entered(state);
        let (from, edge) = found.all_edges().find(|(_, e)| found.story(e).contains(&entered))?;
        let mut way = from.map(|from| found.way(from)).unwrap_or_default();
        way.push(edge);
        let plays = !found.relaxed || plays(self.ground(), found, &way);
        if plays {
            for happened in way.iter().flat_map(|edge| found.story(edge)) {
                if let Happened::Entered(state) = happened {
                    self.met[state.index()] = true;
                }
            }
        }
        Some(plays)
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
            let found = self.explore(&Search { whole, ..self.search() });
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
