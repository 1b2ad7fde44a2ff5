//! Decides `never(a before b)`: whether no run enters one state before it has entered another one.

use super::super::{Edge, Explored, Happened};
use super::{Properties, Unconfirmed, Verdict, closed};
use chartc_core::arena::StateId;
use std::collections::VecDeque;

impl Properties<'_> {
    /// Judges an exploration: a breadth-first search that stops on each path where `then` is entered, and looks for `first`.
    pub(super) fn never_in(
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
                    Happened::Taken(_) | Happened::Called(_) | Happened::Livelock => None,
                });
                // Both may be entered on one edge; the order of the story decides.
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
