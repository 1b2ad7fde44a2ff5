//! One run with symbolic data: the values of variables as expressions, and the conditions that have been assumed.
//!
//! Decides whether the conditions of a run can hold one after the other. For example, after `n = 1`, the assumption `n > 3` is impossible,
//! because `1 > 3` is false; after an event with the payload `p` and `n = p`, assuming `n > 3` adds the condition `p > 3`.

use super::cell::{Cells, constant};
use super::edge::Op;
use super::parts::{fold, split};
use super::read::{How, Reader, Site, look};
use crate::facts::guard::{Verdict, decide};
use crate::facts::uses::walk;
use crate::turn::dataflow::Value;
use chartc_core::arena::{StateId, StepId, VarId};
use chartc_core::expr::Value as Data;
use chartc_core::model::{
    Action, Chart, Expr, ExprKind, Observable, Receiver, StepKind, VariableKind,
};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum size of an expression that is kept as the value of a variable, in nodes.
const LONGEST: usize = 40;

/// The maximum number of conditions that are kept; the oldest are dropped first.
const CONDITIONS: usize = 12;

/// The knowledge about the data of one run.
#[derive(Debug, Clone)]
pub(super) struct Path {
    /// The values of variables, where they are known, as expressions over data that has not changed since.
    values: BTreeMap<VarId, Expr>,
    /// The steps with an answer in this turn.
    given: BTreeSet<StepId>,
    /// The steps that were started and that the walk does not await.
    started: BTreeSet<StepId>,
    /// The active leaf, if it is known.
    pub(super) leaf: Option<StateId>,
    /// The conditions that were assumed and still apply to the current data, with their values.
    known: Vec<(Expr, bool)>,
}

/// The reading that is searched for, and what must be unset when it happens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal<'g> {
    pub(super) site: Site,
    pub(super) value: Value,
    /// Variables that must be unset then, too.
    pub(super) with: &'g [VarId],
}

/// The result of executing operations on a path.
pub(super) enum Came {
    /// The goal has been reached: the value is read while it is unset.
    Found,
    /// The run continues in one of these ways; in none if its conditions cannot hold.
    On(Vec<Path>),
}

/// The data that all paths of one search share.
pub(super) struct World<'w> {
    pub(super) chart: &'w Chart,
    pub(super) cells: &'w Cells,
    pub(super) goal: Goal<'w>,
    /// The number of conditions that may still be decided.
    pub(super) fuel: &'w Cell<usize>,
}

impl Path {
    pub(super) fn new(chart: &Chart) -> Self {
        let mut values = BTreeMap::new();
        for (i, row) in chart.variables.iter().enumerate() {
            if let (VariableKind::Var { .. }, Some(default)) = (&row.kind, &row.default)
                && constant(default).is_some()
            {
                values.insert(VarId::at(i), default.clone());
            }
        }
        Self {
            values,
            given: BTreeSet::new(),
            started: BTreeSet::new(),
            leaf: None,
            known: Vec::new(),
        }
    }

    /// Whether the goal's value is unset, and its other variables, too.
    pub(super) fn lacks(&self, world: &World<'_>) -> bool {
        let own = match world.goal.value {
            Value::Answer(step) => !self.given.contains(&step),
            Value::Variable(id) => self.is_unset(world, id),
        };
        own && world.goal.with.iter().all(|id| self.is_unset(world, *id))
    }

    fn is_unset(&self, world: &World<'_>, id: VarId) -> bool {
        let cell = world.cells.variable(id).map(|c| &world.cells.rows[c]);
        let default = cell.and_then(|c| c.default.clone());
        let now = self.values.get(&id).and_then(constant);
        now.is_some() && (now == default || now == Some(Data::None))
    }

    /// Executes operations in order. An `if` in a block splits the path, so there may be several results, but at most four.
    pub(super) fn all(&self, world: &World<'_>, ops: &[Op<'_>]) -> Came {
        let mut paths = vec![self.clone()];
        for op in ops {
            let mut next = Vec::new();
            for mut path in paths {
                match op {
                    Op::Assume(site, condition, value) => {
                        if site.is_some()
                            && *site == Some(world.goal.site)
                            && path.reads(world, condition, How::Soft)
                        {
                            return Came::Found;
                        }
                        if path.assume(world, condition, *value) {
                            next.push(path);
                        }
                    }
                    Op::Read(site, expr, how) => {
                        if *site == world.goal.site && path.reads(world, expr, *how) {
                            return Came::Found;
                        }
                        next.push(path);
                    }
                    Op::Do(site, actions) => match path.block(world, *site, actions) {
                        None => return Came::Found,
                        Some(done) => next.extend(done),
                    },
                    // Only blocks that run surely are evidence, so a path with this operation is dropped.
                    Op::Maybe(..) => {}
                    Op::Set(value) => {
                        path.set(world.chart, *value);
                        next.push(path);
                    }
                    Op::Fresh => {
                        path.turn(world.chart);
                        next.push(path);
                    }
                    Op::Stir => {
                        path.stir(world.chart);
                        next.push(path);
                    }
                    Op::Started(step) => {
                        path.started.insert(*step);
                        next.push(path);
                    }
                    Op::Needs(step) => {
                        let starts = matches!(&world.chart.steps[step.index()].kind, StepKind::Run(run) if run.on_entry);
                        if starts || path.started.remove(step) {
                            next.push(path);
                        }
                    }
                }
            }
            next.truncate(4);
            paths = next;
        }
        // Event data and loop variables exist only on one edge.
        for path in &mut paths {
            path.forget(world.chart, &|e| {
                matches!(e.kind, ExprKind::Payload(_) | ExprKind::Local(_))
            });
        }
        Came::On(paths)
    }

    /// Whether the goal's value is needed in this expression while it is unset.
    fn reads(&self, world: &World<'_>, expr: &Expr, how: How) -> bool {
        let mut seeing = Seeing { world, path: self.clone(), saved: Vec::new(), found: false };
        look(world.chart, expr, how, &mut seeing);
        seeing.found
    }

    fn assume(&mut self, world: &World<'_>, condition: &Expr, value: bool) -> bool {
        let left = world.fuel.get();
        if left == 0 {
            return false;
        }
        world.fuel.set(left - 1);
        let condition = self.told(world.chart, condition);
        let mut goals: Vec<(&Expr, bool)> = self.known.iter().map(|(e, v)| (e, *v)).collect();
        goals.push((&condition, value));
        if decide(world.chart, &goals) == Verdict::Never
            || decide(world.chart, &[(&condition, value)]) == Verdict::Never
        {
            return false;
        }
        // The parts are kept apart, so that forgetting one of them keeps the others.
        for part in split(condition, value) {
            if constant(&part.0).is_none() {
                if self.known.len() == CONDITIONS {
                    self.known.remove(0);
                }
                self.known.push(part);
            }
        }
        true
    }

    /// The expression with known values in place of its parts.
    fn told(&self, chart: &Chart, expr: &Expr) -> Expr {
        let mut told = expr.clone();
        self.replace(chart, &mut told, 0);
        told
    }

    fn replace(&self, chart: &Chart, expr: &mut Expr, depth: usize) {
        if depth > 100 {
            return;
        }
        if let ExprKind::Predicate(id) = expr.kind {
            *expr = chart.predicates[id.index()].expr.clone();
        }
        if let (ExprKind::Observable(Observable::In(state)), Some(leaf)) = (&expr.kind, self.leaf) {
            expr.kind = ExprKind::Bool(chart.contains(*state, leaf));
            return;
        }
        if let ExprKind::Variable(id) = expr.kind
            && let Some(value) = self.values.get(&id)
        {
            *expr = value.clone();
            return;
        }
        if let ExprKind::Answer(id) = expr.kind
            && !self.given.contains(&id)
        {
            expr.kind = ExprKind::None;
            return;
        }
        expr.each_part_mut(&mut |part| self.replace(chart, part, depth + 1));
        fold(expr);
    }

    fn set(&mut self, chart: &Chart, value: Value) {
        match value {
            Value::Variable(id) => {
                self.values.remove(&id);
                self.forget(chart, &|e| e.kind == ExprKind::Variable(id));
            }
            Value::Answer(step) => {
                self.given.insert(step);
                self.forget(chart, &|e| e.kind == ExprKind::Answer(step));
            }
        }
    }

    fn assign(&mut self, chart: &Chart, id: VarId, value: &Expr) {
        let value = self.told(chart, value);
        self.set(chart, Value::Variable(id));
        let (mut size, mut own) = (0, false);
        walk(chart, &value, &mut |e| {
            size += 1;
            own |= e.kind == ExprKind::Variable(id);
        });
        let same = value.ty == chart.variables[id.index()].ty || constant(&value).is_some();
        if size <= LONGEST && !own && same {
            self.values.insert(id, value);
        }
    }

    fn turn(&mut self, chart: &Chart) {
        for (i, row) in chart.variables.iter().enumerate() {
            if matches!(row.kind, VariableKind::Var { per_turn: true }) {
                let id = VarId::at(i);
                self.set(chart, Value::Variable(id));
                if let Some(default) = row.default.as_ref().filter(|d| constant(d).is_some()) {
                    self.values.insert(id, default.clone());
                }
            }
        }
        self.given.clear();
        self.forget(chart, &|e| matches!(e.kind, ExprKind::Answer(_)));
    }

    /// Lets time pass: whatever comes from the host is unknown again.
    fn stir(&mut self, chart: &Chart) {
        self.forget(chart, &|e| match e.kind {
            ExprKind::Variable(id) => {
                matches!(chart.variables[id.index()].kind, VariableKind::Input)
            }
            ExprKind::Call(..) | ExprKind::Observable(_) | ExprKind::Payload(_) => true,
            _ => false,
        });
    }

    /// Drops all values and conditions that contain an expression for which `is` holds.
    fn forget(&mut self, chart: &Chart, is: &dyn Fn(&Expr) -> bool) {
        let about = |expr: &Expr| {
            let mut about = false;
            walk(chart, expr, &mut |e| about |= is(e));
            about
        };
        let gone: Vec<VarId> =
            self.values.iter().filter(|(_, e)| about(e)).map(|(id, _)| *id).collect();
        for id in gone {
            self.values.remove(&id);
            self.known.retain(|(e, _)| {
                let mut own = false;
                walk(chart, e, &mut |e| own |= e.kind == ExprKind::Variable(id));
                !own
            });
        }
        self.known.retain(|(e, _)| !about(e));
    }

    /// Runs a block; `None` if the goal is reached in it. Assumes that no action fails, and drops paths on which the chart sends events to
    /// itself, because those are not followed.
    fn block(&self, world: &World<'_>, site: Site, actions: &[Action]) -> Option<Vec<Self>> {
        // Between exits and entries, no leaf is active.
        let leaf = if matches!(site, Site::Code(_)) { self.leaf } else { None };
        let mut paths = vec![Self { leaf, ..self.clone() }];
        for action in actions {
            let mut next = Vec::new();
            for mut path in paths {
                if site == world.goal.site {
                    let how = if matches!(action, Action::Log(_) | Action::Assign(..)) {
                        How::Soft
                    } else {
                        How::Hard
                    };
                    for expr in crate::facts::uses::own_expressions(action) {
                        let how = if super::test::is_plain(expr) { How::Soft } else { how };
                        if path.reads(world, expr, how) {
                            return None;
                        }
                    }
                }
                match action {
                    Action::Assign(id, value) => {
                        path.assign(world.chart, *id, value);
                        next.push(path);
                    }
                    Action::If(test, then, other) => {
                        for (part, value) in [(then, true), (other, false)] {
                            let mut path = path.clone();
                            if path.assume(world, test, value) {
                                next.extend(path.block(world, site, part)?);
                            }
                        }
                    }
                    // The loop is assumed to run zero times, which a literal list excludes.
                    Action::For(_, source, _) => {
                        if !matches!(source.kind, ExprKind::List(_)) {
                            next.push(path);
                        }
                    }
                    Action::Raise(..) => {}
                    Action::Send { to: Receiver::Own, .. } => {}
                    _ => next.push(path),
                }
            }
            next.truncate(4);
            paths = next;
        }
        Some(paths)
    }

    /// Whether two paths have the same knowledge, so that one of them suffices.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.values == other.values && self.given == other.given && self.known == other.known
    }
}

/// Reads an expression on a path, and looks for the goal.
struct Seeing<'s> {
    world: &'s World<'s>,
    path: Path,
    saved: Vec<Path>,
    found: bool,
}

impl Reader for Seeing<'_> {
    fn read(&mut self, value: Value, how: How) {
        self.found |=
            how == How::Hard && value == self.world.goal.value && self.path.lacks(self.world);
    }

    fn assume(&mut self, condition: &Expr, value: bool) -> bool {
        self.path.assume(self.world, condition, value)
    }

    fn mark(&mut self) -> usize {
        self.saved.push(self.path.clone());
        self.saved.len() - 1
    }

    fn back(&mut self, mark: usize) {
        if let Some(path) = self.saved.get(mark) {
            self.path = path.clone();
        }
        self.saved.truncate(mark);
    }
}
