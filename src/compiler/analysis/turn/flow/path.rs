//! Searches for a run that reaches a reading without setting the value that it reads.
//!
//! **The problem.** The contents at a point are those of all runs together, so that two of them may exclude each other. Only one run that
//! gets to a reading is evidence that it may lack its value.
//!
//! **The idea.** A breadth-first search over points, as in `solve`, but each entry carries one run with symbolic data ([`Path`]): the values
//! of variables as expressions, and the conditions that have been assumed. So several runs may visit the same point. A run whose
//! conditions contradict each other is dropped, and so is one that sets the value, or that can no longer get to the reading ([`Search`]).
//!
//! **Example.** After `n = 1`, the assumption `n > 3` is impossible, because `1 > 3` is false. After an event with the payload `p` and
//! `n = p`, assuming `n > 3` adds the condition `p > 3`.

use super::cells::{self, Cells, FRESH, How, Op, Reader, Site, constant, look};
use super::points::{By, Edge, Point, Points, replace, split};
use super::solve::Solved;
use crate::analysis::facts::conditions::{Map, is_impossible};
use crate::analysis::facts::usage::walk;
use crate::analysis::turn::calls::Value;
use chartc_core::arena::{StateId, StepId, VarId};
use chartc_core::expr::Value as Data;
use chartc_core::model::{
    Action, Chart, Expr, ExprKind, Observable, Receiver, Starts, Type, VariableKind,
};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// The maximum number of entries for one reading.
const MOST_ENTRIES: usize = 1_500;
/// The maximum number of different runs that are followed from one point.
const EACH: usize = 4;
/// The maximum number of conditions that are decided for one reading.
const FUEL: usize = 2_000;
/// The maximum number of runs into which the blocks of one edge split a run.
const SPLIT: usize = 4;

/// The reading that is searched for, and what must be unset when it happens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal<'g> {
    pub(super) site: Site,
    pub(super) value: Value,
    /// Variables that must be unset then, too.
    pub(super) with: &'g [VarId],
}

/// The graph in which runs are searched, for any number of readings.
pub(super) struct Search<'s, 'c> {
    chart: &'c Chart,
    cells: &'s Cells,
    solved: &'s Solved,
    starts: Vec<(Point, Vec<Op<'c>>)>,
    /// By number of the point in `solved`: the edges that some run certainly takes if their conditions hold. Others are no evidence.
    edges: Vec<Vec<Edge<'c>>>,
    /// By number of the point: the points from which such an edge leads to it.
    before: Vec<Vec<usize>>,
    /// The conditions of the chart, by address.
    conditions: RefCell<Map<*const Expr, Rc<Told>>>,
}

impl<'s, 'c> Search<'s, 'c> {
    pub(super) fn new(cells: &'s Cells, points: &Points<'c, '_>, solved: &'s Solved) -> Self {
        let mut edges = Vec::new();
        let mut before = Vec::new();
        for (nth, point) in solved.points().enumerate() {
            let mut all = Vec::new();
            if solved.at(nth).is_some() {
                points.edges(point, &mut all);
            }
            all.retain(|edge| edge.sure && solved.number_of(edge.to).is_some());
            for to in all.iter().filter_map(|edge| solved.number_of(edge.to)) {
                before.resize_with(before.len().max(to + 1), Vec::new);
                before[to].push(edges.len());
            }
            edges.push(all);
        }
        before.resize_with(before.len().max(edges.len()), Vec::new);
        let conditions = RefCell::default();
        let (chart, starts) = (points.chart, points.start());
        Self { chart, cells, solved, starts, edges, before, conditions }
    }

    /// The shortest run to the goal that is found, as the causes that lead from point to point. As far as was decided, its conditions can
    /// hold one after the other. `None` if there is none, or if the search exceeds its bounds.
    pub(super) fn find(&self, goal: Goal<'_>) -> Option<Vec<By>> {
        let cell = self.cells.number(goal.value)?;
        let row = &self.cells.rows[cell];
        let wanted = FRESH | row.none_bits();
        // Answers and per-turn variables are reset when a turn begins, so having one now does not matter.
        let waits = matches!(row.value, Value::Answer(_)) || row.per_turn;
        // The value must stay unset all the way, also according to the fixpoint.
        let may = |to: usize| waits || self.solved.at(to).is_some_and(|m| m[cell] & wanted != 0);
        let useful = self.leading_to(goal.site, &may);
        let world = World { search: self, goal, fuel: Cell::new(FUEL) };
        let mut visited = Visited::default();
        for (point, ops) in &self.starts {
            match Path::new(self.chart).all(&world, ops) {
                Came::Found => return Some(Vec::new()),
                Came::On(paths) => {
                    let point = self.solved.number_of(*point)?;
                    for path in paths {
                        visited.add(point, path, None, By::Passed);
                    }
                }
            }
        }
        while let Some(at) = visited.open.pop_front() {
            if visited.nodes.len() > MOST_ENTRIES || world.fuel.get() == 0 {
                return None;
            }
            let (point, mut path) = (visited.nodes[at].0, visited.nodes[at].1.clone());
            path.leaf = Some(self.solved.point(point).leaf);
            for edge in &self.edges[point] {
                let to = self.solved.number_of(edge.to)?;
                let goes_on = useful[to] && may(to);
                if !goes_on && !edge.ops.iter().any(|op| op.site() == Some(goal.site)) {
                    continue;
                }
                match path.all(&world, &edge.ops) {
                    Came::Found => return Some(visited.way(at, edge.by)),
                    Came::On(paths) => {
                        for path in paths.into_iter().filter(|_| goes_on) {
                            if (waits || path.lacks(&world)) && visited.is_new(to, &path) {
                                visited.add(to, path, Some(at), edge.by);
                            }
                        }
                    }
                }
            }
        }
        None
    }

    /// By point: whether edges lead from it to one that reads in this place, by points to which runs may get.
    fn leading_to(&self, site: Site, may: &dyn Fn(usize) -> bool) -> Vec<bool> {
        let reads = |edge: &Edge<'_>| edge.ops.iter().any(|op| op.site() == Some(site));
        let mut useful: Vec<bool> = self.edges.iter().map(|all| all.iter().any(reads)).collect();
        let mut open: Vec<usize> = (0..useful.len()).filter(|point| useful[*point]).collect();
        while let Some(point) = open.pop() {
            if may(point) {
                for before in &self.before[point] {
                    if !std::mem::replace(&mut useful[*before], true) {
                        open.push(*before);
                    }
                }
            }
        }
        useful
    }

    /// A condition of the chart, with what it reads.
    fn condition(&self, condition: &Expr) -> Rc<Told> {
        let mut known = self.conditions.borrow_mut();
        let told = known
            .entry(std::ptr::from_ref(condition))
            .or_insert_with(|| Rc::new(Told::new(self.chart, condition.clone())));
        Rc::clone(told)
    }
}

/// The entries of a search.
#[derive(Default)]
struct Visited {
    /// Each entry with its point, the one before it, and the cause that leads from there.
    nodes: Vec<(usize, Path, Option<usize>, By)>,
    by_point: BTreeMap<usize, Vec<usize>>,
    /// The entries whose edges are still to be followed.
    open: VecDeque<usize>,
}

impl Visited {
    fn add(&mut self, point: usize, path: Path, from: Option<usize>, by: By) {
        let at = self.nodes.len();
        self.open.push_back(at);
        self.by_point.entry(point).or_default().push(at);
        self.nodes.push((point, path, from, by));
    }

    /// Whether no similar run, and not too many others, have visited the point.
    fn is_new(&self, point: usize, path: &Path) -> bool {
        let known = self.by_point.get(&point).map_or(&[][..], Vec::as_slice);
        known.len() < EACH && !known.iter().any(|n| self.nodes[*n].1.is_like(path))
    }

    /// The causes from the start to an entry, and `last`.
    fn way(&self, at: usize, last: By) -> Vec<By> {
        let mut way = vec![last];
        let mut from = Some(at);
        while let Some(nth) = from {
            way.push(self.nodes[nth].3);
            from = self.nodes[nth].2;
        }
        way.reverse();
        way.retain(|by| *by != By::Passed);
        way
    }
}

/// The maximum size of an expression that is kept as the value of a variable, in nodes.
const LONGEST: usize = 40;
/// The maximum number of conditions that are kept; the oldest are dropped first.
const CONDITIONS: usize = 12;

/// An expression over data that has not changed since, and what it reads.
#[derive(Debug, Clone)]
struct Told {
    expr: Expr,
    /// Its value, if it reads nothing.
    constant: Option<Data>,
    variables: BTreeSet<VarId>,
    answers: BTreeSet<StepId>,
    /// Whether it reads what the host may change at any time.
    of_host: bool,
    /// Whether it reads event data or variables of loops, which exist only on one edge.
    of_edge: bool,
    /// Whether it names conditions or active states, which are known better on a path.
    is_open: bool,
    /// The number of its nodes.
    size: usize,
}

impl Told {
    fn new(chart: &Chart, expr: Expr) -> Self {
        let mut told = Self {
            constant: constant(&expr),
            expr: Expr { kind: ExprKind::None, ty: expr.ty.clone() },
            variables: BTreeSet::new(),
            answers: BTreeSet::new(),
            of_host: false,
            of_edge: false,
            is_open: false,
            size: 0,
        };
        walk(chart, &expr, &mut |e| {
            told.size += 1;
            match &e.kind {
                ExprKind::Variable(id) => {
                    told.variables.insert(*id);
                    let kind = &chart.variables[id.index()].kind;
                    told.of_host |= matches!(kind, VariableKind::Input);
                }
                ExprKind::Answer(step) => drop(told.answers.insert(*step)),
                ExprKind::Payload(_) => (told.of_host, told.of_edge) = (true, true),
                ExprKind::Local(_) => told.of_edge = true,
                ExprKind::Call(..) => told.of_host = true,
                ExprKind::Observable(seen) => {
                    told.of_host = true;
                    told.is_open |= matches!(seen, Observable::In(_));
                }
                ExprKind::Predicate(_) => told.is_open = true,
                _ => {}
            }
        });
        told.expr = expr;
        told
    }

    /// Whether both expressions read something in common, so that one says something of the other.
    fn meets(&self, other: &Self) -> bool {
        self.of_host && other.of_host
            || !self.variables.is_disjoint(&other.variables)
            || !self.answers.is_disjoint(&other.answers)
    }
}

/// The knowledge about the data of one run.
#[derive(Debug, Clone)]
struct Path {
    /// The values of variables, where they are known, as expressions over data that has not changed since.
    values: Rc<BTreeMap<VarId, Rc<Told>>>,
    /// The steps with an answer in this turn.
    given: BTreeSet<StepId>,
    /// The steps that were started and that the walk does not await.
    started: BTreeSet<StepId>,
    /// The active leaf, if it is known.
    leaf: Option<StateId>,
    /// The conditions that were assumed and still apply to the current data, with their values.
    known: Vec<(Rc<Told>, bool)>,
}

/// The result of executing operations on a path.
enum Came {
    /// The goal has been reached: the value is read while it is unset.
    Found,
    /// The run continues in one of these ways; in none if its conditions cannot hold.
    On(Vec<Path>),
}

/// What all paths to one goal share.
struct World<'w, 'c> {
    search: &'w Search<'w, 'c>,
    goal: Goal<'w>,
    /// The number of conditions that may still be decided.
    fuel: Cell<usize>,
}

impl Path {
    fn new(chart: &Chart) -> Self {
        let mut values = BTreeMap::new();
        for (i, row) in chart.variables.iter().enumerate() {
            if let (VariableKind::Var { .. }, Some(default)) = (&row.kind, &row.default)
                && constant(default).is_some()
            {
                values.insert(VarId::at(i), Rc::new(Told::new(chart, default.clone())));
            }
        }
        Self {
            values: Rc::new(values),
            given: BTreeSet::new(),
            started: BTreeSet::new(),
            leaf: None,
            known: Vec::new(),
        }
    }

    /// Whether the goal's value is unset, and its other variables, too.
    fn lacks(&self, world: &World<'_, '_>) -> bool {
        let own = match world.goal.value {
            Value::Answer(step) => !self.given.contains(&step),
            Value::Variable(id) => self.is_unset(world, id),
        };
        own && world.goal.with.iter().all(|id| self.is_unset(world, *id))
    }

    fn is_unset(&self, world: &World<'_, '_>, id: VarId) -> bool {
        let cells = world.search.cells;
        let default = cells.variable(id).and_then(|cell| cells.rows[cell].default.as_ref());
        let now = self.values.get(&id).and_then(|told| told.constant.as_ref());
        now.is_some() && (now == default || now == Some(&Data::None))
    }

    /// Executes operations in order. An `if` in a block splits the path, so there may be several results, but at most [`SPLIT`].
    fn all(&self, world: &World<'_, '_>, ops: &[Op<'_>]) -> Came {
        let mut paths = vec![self.clone()];
        for op in ops {
            let mut next = Vec::new();
            for path in paths {
                if path.pass(world, op, &mut next) {
                    return Came::Found;
                }
            }
            next.truncate(SPLIT);
            paths = next;
        }
        for path in &mut paths {
            path.forget(&|told| told.of_edge);
        }
        Came::On(paths)
    }

    /// Adds the paths after one operation. Returns whether the operation needs the goal's value while it is unset.
    fn pass(mut self, world: &World<'_, '_>, op: &Op<'_>, next: &mut Vec<Self>) -> bool {
        let is_here = op.site() == Some(world.goal.site);
        match op {
            Op::Assume(_, condition, value) => {
                if is_here && self.reads(world, condition, How::Soft) {
                    return true;
                }
                if !self.assume(world, condition, *value) {
                    return false;
                }
            }
            Op::Read(_, expr, how) => {
                if is_here && self.reads(world, expr, *how) {
                    return true;
                }
            }
            Op::Do(site, actions) => match self.block(world, *site, actions) {
                None => return true,
                Some(done) => {
                    next.extend(done);
                    return false;
                }
            },
            // Only blocks that run surely are evidence, so a path with this operation is dropped.
            Op::Maybe(..) => return false,
            Op::Set(value) => self.set(*value),
            Op::Fresh => self.turn(world.search.chart),
            // Time passes: whatever comes from the host is unknown again.
            Op::Stir => self.forget(&|told| told.of_host),
            Op::Started(step) => drop(self.started.insert(*step)),
            Op::Needs(step) => {
                let on_entry = world.search.chart.steps[step.index()].starts == Starts::OnEntry;
                if !on_entry && !self.started.remove(step) {
                    return false;
                }
            }
        }
        next.push(self);
        false
    }

    /// Whether the goal's value is needed in this expression while it is unset.
    fn reads(&self, world: &World<'_, '_>, expr: &Expr, how: How) -> bool {
        let mut seeing = Seeing { world, path: self.clone(), saved: Vec::new(), found: false };
        look(world.search.chart, expr, how, &mut seeing);
        seeing.found
    }

    fn assume(&mut self, world: &World<'_, '_>, condition: &Expr, value: bool) -> bool {
        let left = world.fuel.get();
        if left == 0 {
            return false;
        }
        world.fuel.set(left - 1);
        let chart = world.search.chart;
        let condition = self.told(chart, world.search.condition(condition));
        if let Some(known) = &condition.constant {
            return (*known == Data::Bool(true)) == value;
        }
        // The conditions that say something of this one, directly or by others between them. All of them hold together already.
        let mut related: Vec<&(Rc<Told>, bool)> = Vec::new();
        let mut others: Vec<&(Rc<Told>, bool)> = self.known.iter().collect();
        let mut near: Vec<&Told> = vec![&condition];
        while let Some(told) = near.pop() {
            others.retain(|other| {
                let meets = other.0.meets(told);
                if meets {
                    near.push(&other.0);
                    related.push(other);
                }
                !meets
            });
        }
        let goals = related.iter().map(|(told, value)| (&told.expr, *value));
        let goals: Vec<(&Expr, bool)> = goals.chain([(&condition.expr, value)]).collect();
        if is_impossible(chart, &goals) {
            return false;
        }
        // The parts are kept apart, so that forgetting one of them keeps the others.
        let parts = if matches!(condition.expr.kind, ExprKind::Binary(..)) {
            let parts = split(condition.expr.clone(), value).into_iter();
            parts.map(|(part, value)| (Rc::new(Told::new(chart, part)), value)).collect()
        } else {
            vec![(condition, value)]
        };
        for part in parts.into_iter().filter(|(part, _)| part.constant.is_none()) {
            if self.known.len() == CONDITIONS {
                self.known.remove(0);
            }
            self.known.push(part);
        }
        true
    }

    /// The expression with known values in place of its parts.
    fn told(&self, chart: &Chart, told: Rc<Told>) -> Rc<Told> {
        let is_known = |id: &VarId| self.values.contains_key(id);
        if !told.is_open
            && !told.variables.iter().any(is_known)
            && told.answers.is_subset(&self.given)
        {
            return told;
        }
        let mut expr = told.expr.clone();
        let known = |e: &Expr| match &e.kind {
            ExprKind::Observable(Observable::In(state)) => {
                let kind = ExprKind::Bool(chart.contains(*state, self.leaf?));
                Some(Expr { kind, ty: Type::Bool })
            }
            ExprKind::Variable(id) => Some(self.values.get(id)?.expr.clone()),
            ExprKind::Answer(id) if !self.given.contains(id) => {
                Some(Expr { kind: ExprKind::None, ty: e.ty.clone() })
            }
            _ => None,
        };
        replace(chart, &mut expr, &known, 0);
        Rc::new(Told::new(chart, expr))
    }

    fn set(&mut self, value: Value) {
        match value {
            Value::Variable(id) => {
                if self.values.contains_key(&id) {
                    Rc::make_mut(&mut self.values).remove(&id);
                }
                self.forget(&|told| told.variables.contains(&id));
            }
            Value::Answer(step) => {
                self.given.insert(step);
                self.forget(&|told| told.answers.contains(&step));
            }
        }
    }

    fn assign(&mut self, chart: &Chart, id: VarId, value: &Expr) {
        let told = self.told(chart, Rc::new(Told::new(chart, value.clone())));
        self.set(Value::Variable(id));
        let same = told.expr.ty == chart.variables[id.index()].ty || told.constant.is_some();
        if told.size <= LONGEST && !told.variables.contains(&id) && same {
            Rc::make_mut(&mut self.values).insert(id, told);
        }
    }

    fn turn(&mut self, chart: &Chart) {
        for (i, row) in chart.variables.iter().enumerate() {
            if matches!(row.kind, VariableKind::Var { per_turn: true }) {
                let id = VarId::at(i);
                self.set(Value::Variable(id));
                if let Some(default) = row.default.as_ref().filter(|d| constant(d).is_some()) {
                    let told = Rc::new(Told::new(chart, default.clone()));
                    Rc::make_mut(&mut self.values).insert(id, told);
                }
            }
        }
        self.given.clear();
        self.forget(&|told| !told.answers.is_empty());
    }

    /// Drops all values and conditions for which `is` holds, and the conditions about variables whose values are dropped.
    fn forget(&mut self, is: &dyn Fn(&Told) -> bool) {
        if self.values.values().any(|told| is(told)) {
            let mut gone = BTreeSet::new();
            Rc::make_mut(&mut self.values).retain(|id, told| !is(told) || !gone.insert(*id));
            self.known.retain(|(told, _)| told.variables.is_disjoint(&gone));
        }
        self.known.retain(|(told, _)| !is(told));
    }

    /// Runs a block; `None` if the goal is reached in it. Assumes that no action fails, and drops paths on which the chart sends events to
    /// itself, because those are not followed.
    fn block(&self, world: &World<'_, '_>, site: Site, actions: &[Action]) -> Option<Vec<Self>> {
        // Between exits and entries, no leaf is active.
        let leaf = if matches!(site, Site::Code(_)) { self.leaf } else { None };
        let mut paths = vec![Self { leaf, ..self.clone() }];
        for action in actions {
            let mut next = Vec::new();
            for mut path in paths {
                if site == world.goal.site {
                    let how = How::in_action(action);
                    for expr in action.expressions() {
                        let how = if cells::is_plain(expr) { How::Soft } else { how };
                        if path.reads(world, expr, how) {
                            return None;
                        }
                    }
                }
                match action {
                    Action::Assign(id, value) => {
                        path.assign(world.search.chart, *id, value);
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
            next.truncate(SPLIT);
            paths = next;
        }
        Some(paths)
    }

    /// Whether two paths have the same knowledge, so that one of them suffices.
    fn is_like(&self, other: &Self) -> bool {
        let same = |(a, b): (&Rc<Told>, &Rc<Told>)| Rc::ptr_eq(a, b) || a.expr == b.expr;
        let values = || {
            let both = self.values.iter().zip(other.values.iter());
            self.values.len() == other.values.len()
                && both.into_iter().all(|((a, one), (b, two))| a == b && same((one, two)))
        };
        let known = || {
            let mut both = self.known.iter().zip(&other.known);
            self.known.len() == other.known.len()
                && both.all(|((one, a), (two, b))| a == b && same((one, two)))
        };
        self.given == other.given
            && known()
            && (Rc::ptr_eq(&self.values, &other.values) || values())
    }
}

/// Reads an expression on a path, and looks for the goal.
struct Seeing<'s, 'c> {
    world: &'s World<'s, 'c>,
    path: Path,
    saved: Vec<Path>,
    found: bool,
}

impl Reader for Seeing<'_, '_> {
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
