//! The values on which the moves of a chart depend, and how exactly: a backward slice from everything that decides something. The header
//! of `read` has an example.

use super::fixed::{DEEP, arguments, is_fixed, mentioned, passed};
use super::read::{Class, Comparand, Counted, Counters, Read};
use super::relevant_leaves::RelevantLeaves;
use super::slot::{PayloadSource, Slot, Use, Uses, constant, payload};
use crate::facts::interval::turned;
use crate::facts::uses::walk;
use chartc_core::model::{
    BinaryOp, Chart, CompareOp, Expr, ExprKind, Observable, StreakOf, Type, UnaryOp,
};
use std::collections::{BTreeMap, BTreeSet};

/// The slots and counters on which moves depend. Classes of slots are a union-find forest: `above` leads to the root, which has the class.
#[derive(Debug)]
pub(super) struct Relevant<'c> {
    chart: &'c Chart,
    pub(super) slots: BTreeSet<Slot>,
    above: BTreeMap<Slot, Slot>,
    classes: BTreeMap<Slot, Class>,
    pub(super) variables: Vec<Counted>,
    pub(super) counters: Counters,
    pub(super) leaves: RelevantLeaves,
    passed: BTreeMap<u32, Vec<Expr>>,
}

impl<'c> Relevant<'c> {
    pub(super) fn new(chart: &'c Chart) -> Self {
        Self::without(chart, &[])
    }

    /// Like [`Self::new`], as if these conditions decided nothing.
    pub(super) fn without(chart: &'c Chart, conditions: &[&Expr]) -> Self {
        let mut uses = Uses::new(chart);
        uses.all.retain(|one| !conditions.iter().any(|other| std::ptr::eq(*other, one.expr)));
        let mut found = Self {
            chart,
            slots: BTreeSet::new(),
            above: BTreeMap::new(),
            classes: BTreeMap::new(),
            variables: vec![Counted::default(); chart.variables.len()],
            counters: Counters::default(),
            leaves: RelevantLeaves::default(),
            passed: BTreeMap::new(),
        };
        let used = found.slice(&uses);
        if chart.names_loops() {
            // The engine compares each call with the one before.
            found.counters.loops = true;
            for slot in arguments(chart) {
                found.slots.insert(slot);
                found.class_mut(slot).opaque = true;
            }
        }
        found.leaves = RelevantLeaves::from_uses(chart, &used);
        for (from, to) in &uses.flows {
            if found.slots.contains(to) {
                found.join(*from, *to);
            }
        }
        for one in used {
            match one.into {
                None => found.condition(one.expr, one.source, 0),
                Some(into) => found.value(one.expr, one.source, into, 0),
            }
        }
        found
    }

    /// Collects all slots that decide something, and returns the uses that read or write them.
    fn slice<'u>(&mut self, uses: &'u Uses<'c>) -> Vec<&'u Use<'c>> {
        let chart = self.chart;
        let mut used = Vec::new();
        let mut later: BTreeMap<Slot, Vec<&Use<'c>>> = BTreeMap::new();
        let mut todo = Vec::new();
        for one in &uses.all {
            match one.into {
                None => used.push(one),
                Some(into) => later.entry(into).or_default().push(one),
            }
        }
        let mut back: BTreeMap<Slot, Vec<Slot>> = BTreeMap::new();
        for (from, to) in &uses.flows {
            back.entry(*to).or_default().push(*from);
        }
        for one in &used {
            mentioned(chart, one.expr, one.source, &mut todo);
        }
        while let Some(slot) = todo.pop() {
            if !self.slots.insert(slot) {
                continue;
            }
            todo.extend(back.get(&slot).into_iter().flatten().copied());
            for one in later.remove(&slot).into_iter().flatten() {
                mentioned(chart, one.expr, one.source, &mut todo);
                used.push(one);
            }
        }
        used
    }

    fn root(&self, slot: Slot) -> Slot {
        let mut at = slot;
        while let Some(above) = self.above.get(&at) {
            at = *above;
        }
        at
    }

    /// The class of a slot.
    pub(super) fn class(&self, slot: Slot) -> Class {
        self.classes.get(&self.root(slot)).cloned().unwrap_or_default()
    }

    fn class_mut(&mut self, slot: Slot) -> &mut Class {
        let root = self.root(slot);
        self.classes.entry(root).or_default()
    }

    fn join(&mut self, one: Slot, other: Slot) {
        let (one, other) = (self.root(one), self.root(other));
        if one != other {
            let lost = self.classes.remove(&other).unwrap_or_default();
            self.above.insert(other, one);
            let class = self.class_mut(one);
            class.constants.extend(lost.constants);
            class.tangled |= lost.tangled;
            class.opaque |= lost.opaque;
        }
    }

    /// The slots that an expression names, if it does nothing else. Marks the arguments of a host function as read.
    fn slots_of(&mut self, expr: &Expr, place: PayloadSource) -> Option<Vec<Slot>> {
        match &expr.kind {
            ExprKind::Variable(id) => Some(vec![Slot::Variable(*id)]),
            ExprKind::Payload(nth) => Some(payload(self.chart, place, *nth)),
            ExprKind::Answer(step) => Some(vec![Slot::Answer(*step)]),
            ExprKind::Call(id, arguments) => {
                for argument in arguments {
                    if constant(argument).is_some() {
                        continue;
                    }
                    match self.slots_of(argument, place) {
                        Some(slots) => slots.into_iter().for_each(|slot| {
                            self.class_mut(slot).opaque = true;
                            self.mark_opaque(slot);
                        }),
                        None => self.whole(argument, place),
                    }
                }
                let seen = self.passed.entry(id.0).or_default();
                let call = Expr { kind: ExprKind::List(arguments.clone()), ty: Type::Json };
                if !seen.contains(&call) {
                    seen.push(call);
                }
                if seen.len() > 1 {
                    // The function returns the same result for equal arguments, so it matters whether they are equal.
                    for argument in arguments {
                        self.whole(argument, place);
                    }
                }
                Some(vec![Slot::Function(*id)])
            }
            _ => None,
        }
    }

    fn mark_opaque(&mut self, slot: Slot) {
        if let Slot::Variable(id) = slot {
            self.variables[id.index()].is_opaque = true;
        }
    }

    /// Marks everything that the expression reads as read exactly, because the expression is not understood.
    fn whole(&mut self, expr: &Expr, place: PayloadSource) {
        let mut slots = Vec::new();
        mentioned(self.chart, expr, place, &mut slots);
        for slot in slots {
            self.class_mut(slot).tangled = true;
            self.mark_opaque(slot);
        }
        let chart = self.chart;
        walk(chart, expr, &mut |part| {
            if let ExprKind::Observable(seen) = &part.kind {
                self.observed(seen, None);
            }
        });
    }

    fn observed(&mut self, seen: &Observable, bound: Option<Comparand>) {
        if let Observable::Streak(StreakOf::Argument(set, name)) | Observable::Repeated(set, name) =
            seen
        {
            for slot in passed(self.chart, *set, name) {
                let class = self.class_mut(slot);
                class.opaque = true;
                class.tangled |= matches!(seen, Observable::Repeated(..));
            }
        }
        let counters = &mut self.counters;
        let read = match seen {
            Observable::Turns => &mut counters.turns,
            Observable::TurnsHere => &mut counters.turns_here,
            Observable::TurnsIn(state) => counters.turns_in.entry(*state).or_default(),
            Observable::FailsHere => &mut counters.fails_here,
            Observable::Streak(StreakOf::Tool) => &mut counters.streak,
            Observable::Streak(of) => {
                let place = counters.streaks.iter().position(|(o, _)| o == of);
                let place = place.unwrap_or_else(|| {
                    counters.streaks.push((of.clone(), Read::Never));
                    counters.streaks.len() - 1
                });
                &mut counters.streaks[place].1
            }
            Observable::Elapsed | Observable::ElapsedHere => {
                counters.time = true;
                return;
            }
            Observable::LastResult => {
                counters.last_result = true;
                return;
            }
            Observable::Repeated(..) => {
                counters.repeated = true;
                return;
            }
            Observable::Advice => {
                counters.advice = true;
                return;
            }
            Observable::Event => {
                counters.event = true;
                return;
            }
            // These are in the key anyway, or the search gives up on charts that read them.
            _ => return,
        };
        match bound {
            Some(bound) => read.with(bound),
            None => *read = Read::Exactly,
        }
    }

    fn condition(&mut self, expr: &Expr, place: PayloadSource, depth: u32) {
        if depth > DEEP {
            return self.whole(expr, place);
        }
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.condition(inner, place, depth + 1),
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, b) => {
                self.condition(a, place, depth + 1);
                self.condition(b, place, depth + 1);
            }
            ExprKind::If(a, b, c) => {
                for part in [a, b, c] {
                    self.condition(part, place, depth + 1);
                }
            }
            ExprKind::Predicate(id) => {
                let chart = self.chart;
                self.condition(&chart.predicates[id.index()].expr, place, depth + 1);
            }
            ExprKind::Compare(first, rest) => {
                let mut left = &**first;
                for (op, right) in rest {
                    self.pair(left, *op, right, place);
                    left = right;
                }
            }
            _ if constant(expr).is_some() => {}
            _ => match self.slots_of(expr, place) {
                // A Bool is a condition by itself. A value of another type may be distinguished by more than constants.
                Some(slots) if expr.ty == Type::Bool => {
                    for slot in slots {
                        self.mark_opaque(slot);
                    }
                }
                Some(_) | None => self.whole(expr, place),
            },
        }
    }

    fn pair(&mut self, left: &Expr, op: CompareOp, right: &Expr, place: PayloadSource) {
        if let (CompareOp::In | CompareOp::NotIn, ExprKind::List(items)) = (op, &right.kind) {
            for item in items {
                self.pair(left, CompareOp::Equal, item, place);
            }
        } else if matches!(op, CompareOp::In | CompareOp::NotIn) {
            self.whole(left, place);
            self.whole(right, place);
        } else if is_fixed(self.chart, right, 0) {
            self.side(left, op, right, place);
        } else if is_fixed(self.chart, left, 0) {
            self.side(right, turned(op), left, place);
        } else {
            self.whole(left, place);
            self.whole(right, place);
        }
    }

    /// Reads a comparison of an expression with one that is constant during a run.
    fn side(&mut self, expr: &Expr, op: CompareOp, bound: &Expr, place: PayloadSource) {
        if let ExprKind::Observable(seen) = &expr.kind {
            return self.observed(seen, Some(Comparand::new(op, bound)));
        }
        if is_fixed(self.chart, expr, 0) && constant(expr).is_some() {
            return self.params(bound);
        }
        let Some(slots) = self.slots_of(expr, place) else {
            self.whole(expr, place);
            return self.params(bound);
        };
        for slot in slots {
            match constant(bound) {
                Some(value) => {
                    let class = self.class_mut(slot);
                    if !class.constants.contains(&value) {
                        class.constants.push(value);
                    }
                }
                None => {
                    let mut params = Vec::new();
                    mentioned(self.chart, bound, place, &mut params);
                    for param in params {
                        self.join(slot, param);
                    }
                    self.class_mut(slot).tangled = true;
                }
            }
            if let Slot::Variable(id) = slot {
                self.variables[id.index()].bounds.push(Comparand::new(op, bound));
            }
        }
    }

    fn params(&mut self, bound: &Expr) {
        if constant(bound).is_none() {
            self.whole(bound, PayloadSource::Anywhere);
        }
    }

    fn value(&mut self, expr: &Expr, place: PayloadSource, into: Slot, depth: u32) {
        if depth > DEEP {
            self.class_mut(into).tangled = true;
            return self.whole(expr, place);
        }
        if let Some(value) = constant(expr) {
            let class = self.class_mut(into);
            if !class.constants.contains(&value) {
                class.constants.push(value);
            }
            return;
        }
        match &expr.kind {
            ExprKind::If(condition, a, b) => {
                self.condition(condition, place, depth + 1);
                self.value(a, place, into, depth + 1);
                self.value(b, place, into, depth + 1);
            }
            ExprKind::Default(a, b) => {
                self.value(a, place, into, depth + 1);
                self.value(b, place, into, depth + 1);
            }
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), a, b)
                if let (Slot::Variable(own), ExprKind::Variable(id), ExprKind::Int(by)) =
                    (into, &a.kind, &b.kind)
                    && own == *id =>
            {
                let by = if *op == BinaryOp::Add { *by } else { by.saturating_neg() };
                let row = &mut self.variables[own.index()];
                row.up |= by > 0;
                row.down |= by < 0;
                self.class_mut(into).tangled = true;
            }
            _ => match self.slots_of(expr, place) {
                Some(slots) => {
                    for slot in slots {
                        self.mark_opaque(slot);
                        self.join(into, slot);
                    }
                }
                None if expr.ty == Type::Bool => self.condition(expr, place, depth + 1),
                None => {
                    self.whole(expr, place);
                    self.class_mut(into).tangled = true;
                    self.mark_opaque(into);
                }
            },
        }
    }
}
