//! Decides `always_reaches`: whether a run can still enter the state, wherever it is.

use super::super::walk::MORE;
use super::super::{Edge, Explored, Happened, Search};
use super::structure::may_call;
use super::{Properties, Unconfirmed, Verdict, closed};
use chartc_core::arena::StateId;
use chartc_core::model::CheckArgument;

/// The maximum number of points without a way to the state that are replayed until the chart itself confirms one.
const TRIED: usize = 20;

impl Properties<'_> {
    /// Decides the line. Ignores that limits or bounds on turns may end a run earlier: just before one is reached, most runs get nowhere.
    pub(super) fn always(&mut self, state: StateId) -> Verdict {
        let facts = self.facts;
        let chart = self.chart;
        if !facts.reach.can_enter(state) {
            return Verdict::NeverEntered(state);
        }
        let leads = facts.moves.leads_to([state]);
        let inside = |leaf: StateId| chart.contains(state, leaf);
        // If the graph leads to the state from everywhere, only a complete exploration can show that some runs do not get there.
        let is_open = facts.reach.leaves(chart).any(|leaf| !leads[leaf.index()] && !inside(leaf));
        let whole = !is_open && !self.others_look();
        let search = Search { whole, ..self.search() };
        let cut = |found: &Explored| {
            let is_cut = whole && !found.is_complete() && !found.reasons.contains(MORE);
            is_cut.then(|| Verdict::Open(0, found.reasons.iter().cloned().collect()))
        };
        if self.unbounded().is_some_and(|(_, bounds)| !bounds.lead_to(state))
            && let Some(found) = self.take_loose(&search)
        {
            let verdict = cut(&found);
            let verdict = verdict.unwrap_or_else(|| self.always_in(&found, state, &leads));
            self.loose = Some(found);
            return verdict;
        }
        if self.plain.is_none() && !is_open {
            let found = self.explore(&search);
            if let Some(verdict) = cut(&found) {
                return verdict;
            }
            self.plain = Some(found);
        }
        self.by_bounds(|this, found| Ok(this.always_in(found, state, &leads)))
    }

    /// Whether another line looks for a single run, which even an incomplete exploration may find.
    fn others_look(&self) -> bool {
        self.chart.checks.iter().any(|check| match &check.arguments[..] {
            [CheckArgument::State(of)] => {
                check.name == "no_call" && may_call(self.chart, self.facts, *of)
            }
            [CheckArgument::Before(first, _)] => self.facts.reach.can_enter(*first),
            _ => false,
        })
    }

    /// Judges an exploration. `leads` tells, by state, whether the graph of moves leads from it to the state.
    fn always_in(&self, found: &Explored, state: StateId, leads: &[bool]) -> Verdict {
        let good = leading(found, |edge| found.story(edge).contains(&Happened::Entered(state)));
        let complete = found.is_complete();
        let inside = |leaf: &StateId| self.chart.contains(state, *leaf);
        let lost = (0..found.points.len()).filter(|nth| {
            let point = &found.points[*nth];
            let is_there = point.ended || point.leaves.iter().any(inside);
            !is_there
                // If not everything was tried, only leaves from which the graph never leads to the state are certain.
                && if complete {
                    !good[*nth]
                } else {
                    point.leaves.iter().all(|leaf| !leads[leaf.index()])
                }
        });
        let mut verdict = Ok(closed(found));
        for lost in lost.take(TRIED) {
            verdict = self.refuted(found, &found.way(lost), lost);
            if verdict.is_ok() {
                break;
            }
        }
        verdict.unwrap_or_else(|Unconfirmed| {
            let mut reasons = found.reasons.clone();
            reasons.insert("a limit is used up before".into());
            Verdict::Open(found.states, reasons.into_iter().collect())
        })
    }
}

/// By point: whether an edge for which `goal` holds can still be taken from it. Follows the edges backwards.
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
