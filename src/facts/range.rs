//! Between what bounds whole numbers stay, whatever a run does.
//!
//! A fixpoint over all that sets a variable, wherever it stands: from its default on, each assignment adds what it may set, given the
//! bounds so far and the condition that it is under. Bounds that go on growing are given up, then those that conditions hold back are
//! regained. Nothing is claimed of a variable that an answer, a tool or an unbounded input sets.

use crate::facts::guard::{Verdict, decide};
pub use crate::facts::interval::Range;
use crate::facts::interval::{conditions, order, turned, within};
use crate::facts::uses::{reads, written};
use chartc_core::arena::VarId;
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, BinaryOp, Builtin, Chart, ChoiceKind, Expr, ExprKind, StateKind, Trigger, Type,
    UnaryOp, Variable, VariableKind,
};
use std::collections::BTreeSet;

/// Most variables that are followed; a chart with more is built by a program.
const VARIABLES: usize = 256;
/// Rounds before bounds that grow are given up.
const PATIENCE: usize = 3;
/// Rounds before nothing is claimed.
const ROUNDS: usize = 24;
/// Rounds that regain what conditions hold back.
const REGAINED: usize = 3;

/// The bounds of every variable that has some.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    /// By variable; `None`: not followed.
    rows: Vec<Option<Range>>,
}

/// Bounds that hold at one place, over those that hold everywhere.
type Here = Vec<(VarId, Range)>;

impl Ranges {
    /// Reads everything that sets a variable.
    pub fn of(chart: &Chart) -> Self {
        let mut rows: Vec<Option<Range>> = chart.variables.iter().map(first).collect();
        for step in &chart.steps {
            step.into.iter().for_each(|id| rows[id.index()] = None);
        }
        for choice in &chart.choices {
            if let ChoiceKind::Call(_, Some(id)) = choice.kind {
                rows[id.index()] = None;
            }
        }
        // What nothing sets is told of otherwise.
        let mut set = vec![false; rows.len()];
        for block in written(chart) {
            Action::walk(block, &mut |action| {
                if let Action::Assign(id, _) = action {
                    set[id.index()] = true;
                }
            });
        }
        rows.iter_mut().zip(set).filter(|(_, set)| !set).for_each(|(row, _)| *row = None);
        let begins = Self { rows };
        let followed = begins.rows.iter().filter(|row| row.is_some()).count();
        if !(1..=VARIABLES).contains(&followed) {
            return Self::default();
        }
        let blocks = begins.blocks(chart);
        let mut ranges = begins.clone();
        for round in 0..ROUNDS {
            let grown = ranges.round(chart, &begins, &blocks);
            if grown.rows == ranges.rows {
                for _ in 0..REGAINED {
                    ranges = ranges.round(chart, &begins, &blocks);
                }
                return ranges;
            }
            ranges = if round < PATIENCE { grown } else { ranges.widened(&grown) };
        }
        Self::default()
    }

    /// Whether no variable is followed: then conditions are decided without bounds.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The bounds of a variable, if it has any.
    pub fn get(&self, id: VarId) -> Option<Range> {
        let range = (*self.rows.get(id.index())?)?;
        (range != Range::default()).then_some(range)
    }

    /// The variables that a condition reads, with their bounds.
    pub fn read(&self, chart: &Chart, guard: &Expr) -> Vec<(VarId, Range)> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let mut read = BTreeSet::new();
        reads(chart, guard, &mut read);
        read.into_iter().filter_map(|id| Some((id, self.get(id)?))).collect()
    }

    /// Whether the condition reads anything that is followed: of any other, bounds say nothing.
    pub fn bear_on(&self, chart: &Chart, guard: &Expr) -> bool {
        let mut read = BTreeSet::new();
        if !self.rows.is_empty() {
            reads(chart, guard, &mut read);
        }
        read.into_iter().any(|id| self.rows[id.index()].is_some())
    }

    /// Whether the condition cannot hold within the bounds of what it reads.
    pub fn forbid(&self, chart: &Chart, guard: &Expr) -> bool {
        if self.rows.is_empty() {
            return decide(chart, &[(guard, true)]) == Verdict::Never;
        }
        let mut here = Here::new();
        self.refine(chart, guard, true, &mut here);
        if here.iter().any(|(_, range)| range.is_empty()) {
            return true;
        }
        let bounds: Vec<Expr> = self.read(chart, guard).into_iter().flat_map(conditions).collect();
        let mut goals = vec![(guard, true)];
        goals.extend(bounds.iter().map(|bound| (bound, true)));
        decide(chart, &goals) == Verdict::Never
    }

    /// Every block that sets something followed, with the condition that it is under where that still holds when it begins.
    fn blocks<'c>(&self, chart: &'c Chart) -> Vec<(Option<&'c Expr>, &'c [Action])> {
        let mut blocks: Vec<(Option<&Expr>, &[Action])> = Vec::new();
        // Lines of several regions are taken together; what is left runs its `exit` before the line's actions.
        let together = chart.states.iter().any(|s| matches!(s.kind, StateKind::Parallel));
        let exits = chart.states.iter().flat_map(|s| &s.exit).any(|b| self.sets(b));
        let lines = chart.transitions.iter().filter(|line| self.sets(&line.actions));
        for line in lines {
            // The actions of a call follow when it has returned.
            let later = matches!(line.trigger, Trigger::Choice(id)
                if matches!(chart.choices[id.index()].kind, ChoiceKind::Call(..)));
            let guard = line.guard.as_ref().filter(|_| !together && !exits && !later);
            blocks.push((guard, &line.actions));
        }
        let lines: BTreeSet<*const Action> =
            chart.transitions.iter().map(|line| line.actions.as_ptr()).collect();
        let others = written(chart).filter(|b| self.sets(b) && !lines.contains(&b.as_ptr()));
        blocks.extend(others.map(|block| (None, &block[..])));
        blocks
    }

    fn sets(&self, actions: &[Action]) -> bool {
        let mut sets = false;
        Action::walk(actions, &mut |action| {
            sets |= matches!(action, Action::Assign(id, _) if self.rows[id.index()].is_some());
        });
        sets
    }

    /// What variables may hold after everything that sets them has been done once more.
    fn round(&self, chart: &Chart, begins: &Self, blocks: &[(Option<&Expr>, &[Action])]) -> Self {
        let mut next = begins.clone();
        for (guard, actions) in blocks {
            let mut here = Here::new();
            if let Some(guard) = guard {
                self.refine(chart, guard, true, &mut here);
            }
            if !here.iter().any(|(_, range)| range.is_empty()) {
                self.act(chart, actions, &mut here, &mut next);
            }
        }
        next
    }

    fn widened(&self, grown: &Self) -> Self {
        let widen = |(old, new): (&Option<Range>, &Option<Range>)| {
            let (old, new) = ((*old)?, (*new)?);
            let keep = |a: Option<i64>, b: Option<i64>| a.filter(|_| a == b);
            Some(Range { low: keep(old.low, new.low), high: keep(old.high, new.high) })
        };
        Self { rows: self.rows.iter().zip(&grown.rows).map(widen).collect() }
    }

    fn act(&self, chart: &Chart, actions: &[Action], here: &mut Here, next: &mut Self) {
        for action in actions {
            match action {
                Action::Assign(id, value) => {
                    if next.rows[id.index()].is_some() {
                        let range = self.value(chart, value, here);
                        next.rows[id.index()] = next.rows[id.index()].map(|row| row.join(range));
                        put(here, *id, range);
                    }
                }
                Action::If(condition, then, otherwise) => {
                    for (branch, wanted) in [(then, true), (otherwise, false)] {
                        let mut inside = here.clone();
                        self.refine(chart, condition, wanted, &mut inside);
                        if !inside.iter().any(|(_, range)| range.is_empty()) {
                            self.act(chart, branch, &mut inside, next);
                        }
                    }
                    Self::forget(then, here);
                    Self::forget(otherwise, here);
                }
                Action::For(_, _, body) => {
                    Self::forget(body, here);
                    self.act(chart, body, here, next);
                    Self::forget(body, here);
                }
                Action::Do(..)
                | Action::Raise(..)
                | Action::Send { .. }
                | Action::Cancel(_)
                | Action::Log(_)
                | Action::Result(..) => {}
            }
        }
    }

    /// What a block sets is known no better than anywhere.
    fn forget(actions: &[Action], here: &mut Here) {
        Action::walk(actions, &mut |action| {
            if let Action::Assign(id, _) = action {
                here.retain(|(known, _)| known != id);
            }
        });
    }

    /// Narrows what is known here by a condition that comes out so.
    fn refine(&self, chart: &Chart, condition: &Expr, wanted: bool, here: &mut Here) {
        match &condition.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.refine(chart, inner, !wanted, here),
            ExprKind::Predicate(id) => {
                self.refine(chart, &chart.predicates[id.index()].expr, wanted, here);
            }
            ExprKind::Binary(BinaryOp::And, a, b) if wanted => {
                self.refine(chart, a, true, here);
                self.refine(chart, b, true, here);
            }
            ExprKind::Binary(BinaryOp::Or, a, b) if !wanted => {
                self.refine(chart, a, false, here);
                self.refine(chart, b, false, here);
            }
            ExprKind::Compare(first, rest) => {
                let [(op, second)] = rest.as_slice() else { return };
                if first.ty != Type::Int || second.ty != Type::Int {
                    return;
                }
                let (Some(op), Some(flipped)) =
                    (order(*op, wanted), order(*op, wanted).map(turned))
                else {
                    return;
                };
                let (left, right) =
                    (self.value(chart, first, here), self.value(chart, second, here));
                for (side, op, other) in [(&**first, op, right), (second, flipped, left)] {
                    if let ExprKind::Variable(id) = side.kind
                        && self.rows[id.index()].is_some()
                    {
                        let narrowed = self.value(chart, side, here).meet(within(op, other));
                        put(here, id, narrowed);
                    }
                }
            }
            ExprKind::None
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Text(_)
            | ExprKind::Duration(_)
            | ExprKind::Enum(..)
            | ExprKind::Variable(_)
            | ExprKind::Local(_)
            | ExprKind::Payload(_)
            | ExprKind::Answer(_)
            | ExprKind::Observable(_)
            | ExprKind::Field(..)
            | ExprKind::Index(..)
            | ExprKind::Slice(..)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::If(..)
            | ExprKind::Default(..)
            | ExprKind::Builtin(..)
            | ExprKind::Call(..)
            | ExprKind::List(_)
            | ExprKind::Map(_)
            | ExprKind::Record(..)
            | ExprKind::Comprehension { .. }
            | ExprKind::Unknown(_) => {}
        }
    }

    /// Between what bounds the value of an expression is.
    fn value(&self, chart: &Chart, expr: &Expr, here: &Here) -> Range {
        if expr.ty != Type::Int {
            return Range::default();
        }
        let of = |e: &Expr| self.value(chart, e, here);
        match &expr.kind {
            ExprKind::Int(n) => Range::one(*n),
            ExprKind::Variable(id) => {
                let known = here.iter().find(|(known, _)| known == id).map(|(_, range)| *range);
                let variable = &chart.variables[id.index()];
                known.or(self.rows[id.index()]).unwrap_or_else(|| match &variable.kind {
                    VariableKind::Param { range: Some((Value::Int(low), Value::Int(high))) } => {
                        Range { low: Some(*low), high: Some(*high) }
                    }
                    VariableKind::Param { .. } | VariableKind::Input | VariableKind::Var { .. } => {
                        Range::default()
                    }
                })
            }
            ExprKind::Unary(UnaryOp::Negate, inner) => of(inner).negated(),
            ExprKind::Binary(BinaryOp::Add, a, b) => of(a).plus(of(b)),
            ExprKind::Binary(BinaryOp::Subtract, a, b) => of(a).plus(of(b).negated()),
            ExprKind::If(_, yes, no) => of(yes).join(of(no)),
            ExprKind::Builtin(Builtin::Len, _) => Range { low: Some(0), high: None },
            ExprKind::None
            | ExprKind::Bool(_)
            | ExprKind::Float(_)
            | ExprKind::Text(_)
            | ExprKind::Duration(_)
            | ExprKind::Enum(..)
            | ExprKind::Local(_)
            | ExprKind::Payload(_)
            | ExprKind::Answer(_)
            | ExprKind::Predicate(_)
            | ExprKind::Observable(_)
            | ExprKind::Field(..)
            | ExprKind::Index(..)
            | ExprKind::Slice(..)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::Default(..)
            | ExprKind::Builtin(..)
            | ExprKind::Call(..)
            | ExprKind::List(_)
            | ExprKind::Map(_)
            | ExprKind::Record(..)
            | ExprKind::Comprehension { .. }
            | ExprKind::Unknown(_) => Range::default(),
        }
    }
}

/// What a variable begins with, if it is followed.
fn first(variable: &Variable) -> Option<Range> {
    let is_var = matches!(variable.kind, VariableKind::Var { .. });
    let default = variable.default.as_ref().filter(|_| is_var && variable.ty == Type::Int)?;
    if let ExprKind::Int(n) = default.kind { Some(Range::one(n)) } else { None }
}

fn put(here: &mut Here, id: VarId, range: Range) {
    here.retain(|(known, _)| *known != id);
    here.push((id, range));
}
