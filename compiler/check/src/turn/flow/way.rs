//! Searches for a run that reaches a reading without setting the value that it reads.
//!
//! A breadth-first search over points, as in `solve`, but each entry carries one run with symbolic data ([`Path`]) instead of sets. So
//! several runs may visit the same point.

use super::cell::{Cells, FRESH};
use super::path::{Came, Goal, Path, World};
use super::point::{By, Point, Points};
use super::solve::Solved;
use crate::facts::hash::Map;
use crate::turn::dataflow::Value;
use chartc_core::model::Chart;
use std::cell::Cell;
use std::collections::VecDeque;

/// The maximum number of entries for one reading.
const MOST: usize = 1_500;
/// The maximum number of different runs that are followed from one point.
const EACH: usize = 4;
/// The maximum number of conditions that are decided for one reading.
const FUEL: usize = 2_000;

/// The shortest such run that is found, as the causes that lead from point to point. As far as was decided, its conditions can hold one
/// after the other. `None` if there is none, or if the search exceeds its bounds.
pub(super) fn find(
    chart: &Chart,
    cells: &Cells,
    points: &Points<'_, '_>,
    solved: &Solved,
    goal: Goal<'_>,
) -> Option<Vec<By>> {
    let cell = cells.number(goal.value)?;
    let row = &cells.rows[cell];
    let wanted = FRESH | row.none_bits();
    let fuel = Cell::new(FUEL);
    let world = World { chart, cells, goal, fuel: &fuel };
    let mut nodes: Vec<(Point, Path, Option<usize>, By)> = Vec::new();
    let mut visits: Map<Point, Vec<usize>> = Map::default();
    let mut open: VecDeque<usize> = VecDeque::new();
    for (point, ops) in points.start() {
        match Path::new(chart).all(&world, &ops) {
            Came::Found => return Some(Vec::new()),
            Came::On(paths) => {
                for path in paths {
                    open.push_back(nodes.len());
                    visits.entry(point).or_default().push(nodes.len());
                    nodes.push((point, path, None, By::Passed));
                }
            }
        }
    }
    let mut edges = Vec::new();
    while let Some(at) = open.pop_front() {
        if nodes.len() > MOST || fuel.get() == 0 {
            return None;
        }
        let (point, mut path) = (nodes[at].0, nodes[at].1.clone());
        path.leaf = Some(point.leaf);
        edges.clear();
        points.edges(point, &mut edges);
        // Edges that are not sure may not exist in any run, so they are no evidence.
        for edge in edges.iter().filter(|e| e.sure) {
            match path.all(&world, &edge.ops) {
                Came::Found => {
                    let mut way = vec![edge.by];
                    let mut from = Some(at);
                    while let Some(nth) = from {
                        way.push(nodes[nth].3);
                        from = nodes[nth].2;
                    }
                    way.reverse();
                    way.retain(|by| *by != By::Passed);
                    return Some(way);
                }
                Came::On(paths) => {
                    for path in paths {
                        // Answers and per-turn variables are reset when a turn begins, so having one now does not matter.
                        let waits = matches!(row.value, Value::Answer(_)) || row.per_turn;
                        let lacks = waits || path.lacks(&world);
                        let may =
                            // The value must stay unset all the way, also according to the fixpoint.
                            solved.at(edge.to).is_some_and(|m| m[cell] & wanted != 0 || waits);
                        let known = visits.entry(edge.to).or_default();
                        let new =
                            known.len() < EACH && !known.iter().any(|n| nodes[*n].1.is_like(&path));
                        if lacks && may && new {
                            known.push(nodes.len());
                            open.push_back(nodes.len());
                            nodes.push((edge.to, path, Some(at), edge.by));
                        }
                    }
                }
            }
        }
    }
    None
}
