//! Searches for a run that gets to a reading without setting the value that it reads.

use super::cell::{Cells, FRESH};
use super::path::{Came, Goal, Path, World};
use super::point::{By, Point, Points};
use super::solve::Solved;
use crate::facts::hash::Map;
use crate::turn::dataflow::Value;
use chartc_core::model::Chart;
use std::cell::Cell;
use std::collections::VecDeque;

/// Most points examined for one reading.
const MOST: usize = 1_500;
/// Most different runs followed from one point.
const EACH: usize = 4;
/// Most conditions decided for one reading.
const FUEL: usize = 2_000;

/// The shortest such run found, as what led from point to point. Its conditions can hold one after the other, as far as that was
/// decided.
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
                        // An answer does not exist before the turn begins.
                        let waits = matches!(row.value, Value::Answer(_)) || row.per_turn;
                        let lacks = waits || path.lacks(&world);
                        let may =
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
