//! The values on which the moves of a chart depend, and how exactly: a backward slice from everything that decides something.
//!
//! **The problem.** If keys contained all values, every counter and every text of an event would make new points, and the search would not
//! end. Most values only appear in prompts. Others are only compared with a few constants.
//!
//! **The idea.** A *slot* is a place for a value: a variable, a field of an event, an answer, a result (`Slot`). `Uses` lists the
//! expressions that decide something, such as guards, and the assignments to slots. From the deciding ones, `Relevant::slice` goes
//! backwards over the assignments and collects all slots that contribute. Slots whose values flow into each other form a *class* (a
//! union-find forest), because a constant compared with one of them matters to all. An expression whose evaluation may fail decides
//! something, too, as the failure is an error.
//!
//! Of each class, the slice notes the constants with which it is compared, whether only equality matters (`opaque`), and whether anything
//! else does (`tangled`). Of each counter and number, it notes the bounds up to which it must be known (`Read`, `Comparand`). What is not
//! understood counts as read exactly (`Relevant::whole`): this costs points, but is never wrong.
//!
//! **Example.**
//!
//! ```text
//! event mail(n: Int, text: Text)
//! state open {
//!   on mail(n, text) { last = n  note = text }
//!   when last > 3 -> done
//! }
//! ```
//!
//! The guard decides something, so `last` is relevant, and so is the field `n` from which it is assigned. Both are one class with the
//! constant 3, so `n` is tried with 2, 3 and 4. Nothing compares `note`: keys omit it, and `text` is tried with a single value.

use crate::analysis::facts::usage::walk;
use crate::analysis::facts::values::{literal, turned};
use chartc_core::arena::{
    ChoiceId, EventId, FunctionId, StateId, StepId, ToolId, ToolSetId, TransitionId, VarId,
};
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, BinaryOp, Chart, CheckArgument, ChoiceKind, CompareOp, Expr, ExprKind, FunctionKind,
    Observable, StepKind, StreakOf, Template, TemplatePart, Trigger, Type, UnaryOp, VariableKind,
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
        // Compared by address: an equal condition in another place still decides something.
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
                    if literal(argument).is_some() {
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
            Observable::LastFailed => {
                counters.last_failed = true;
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
            _ if literal(expr).is_some() => {}
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
        if is_fixed(self.chart, expr, 0) && literal(expr).is_some() {
            return self.params(bound);
        }
        let Some(slots) = self.slots_of(expr, place) else {
            self.whole(expr, place);
            return self.params(bound);
        };
        for slot in slots {
            match literal(bound) {
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
        if literal(bound).is_none() {
            self.whole(bound, PayloadSource::Anywhere);
        }
    }

    fn value(&mut self, expr: &Expr, place: PayloadSource, into: Slot, depth: u32) {
        if depth > DEEP {
            self.class_mut(into).tangled = true;
            return self.whole(expr, place);
        }
        if let Some(value) = literal(expr) {
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

// The ways in which conditions read counters, variables and slots.

/// A constant expression with which a counter or variable is compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Comparand {
    expr: Expr,
    /// The operator of the comparison, with the counter on the left.
    op: CompareOp,
}

impl Comparand {
    pub(super) fn new(op: CompareOp, expr: &Expr) -> Self {
        Self { expr: expr.clone(), op }
    }

    /// The number from which on all greater ones are equivalent: `n >= 3` does not distinguish 4 from 3. `None` if it is not known.
    pub(super) fn above(&self, param: &dyn Fn(VarId) -> Option<Value>) -> Option<i64> {
        let is_at = matches!(self.op, CompareOp::GreaterEqual | CompareOp::Less);
        number(&self.expr, param).map(|n| n.saturating_add(i64::from(!is_at)))
    }

    /// The number from which on all smaller ones are equivalent: `n > 3` does not distinguish 2 from 3. `None` if it is not known.
    pub(super) fn below(&self, param: &dyn Fn(VarId) -> Option<Value>) -> Option<i64> {
        let is_at = matches!(self.op, CompareOp::Greater | CompareOp::LessEqual);
        number(&self.expr, param).map(|n| n.saturating_sub(i64::from(!is_at)))
    }
}

/// The precision with which a counter must be known.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Read {
    /// Nothing reads the counter.
    #[default]
    Never,
    /// The counter is compared with these numbers; values beyond all of them are equivalent.
    UpTo(Vec<Comparand>),
    /// The exact value matters.
    Exactly,
}

impl Read {
    /// Adds a comparison.
    pub(super) fn with(&mut self, bound: Comparand) {
        match self {
            Self::Never => *self = Self::UpTo(vec![bound]),
            Self::UpTo(bounds) => {
                if !bounds.contains(&bound) {
                    bounds.push(bound);
                }
            }
            Self::Exactly => {}
        }
    }
}

/// The machine's own counters and values, as far as they decide anything.
#[derive(Debug, Clone, Default)]
pub(super) struct Counters {
    pub(super) turns: Read,
    pub(super) turns_here: Read,
    pub(super) turns_in: BTreeMap<StateId, Read>,
    pub(super) fails_here: Read,
    pub(super) streak: Read,
    /// By argument: the `streak` of its values.
    pub(super) streaks: Vec<(StreakOf, Read)>,
    /// Whether the machine raises an error for equal calls in succession, which the chart handles.
    pub(super) loops: bool,
    // Whether each of these is read at all.
    pub(super) repeated: bool,
    pub(super) last_result: bool,
    pub(super) last_failed: bool,
    pub(super) time: bool,
    pub(super) advice: bool,
    /// Whether the name of the event that is being handled is read.
    pub(super) event: bool,
}

/// A class of slots whose values flow into each other, so that a constant compared with one of them matters to all.
#[derive(Debug, Clone, Default)]
pub(super) struct Class {
    /// The constants with which the slots are compared, or to which they are set.
    pub(super) constants: Vec<Value>,
    /// Whether the slots are used in more than comparisons with constants.
    pub(super) tangled: bool,
    /// Whether the slots are compared with each other, and only for equality.
    pub(super) opaque: bool,
}

/// The use of a variable as a counter.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    /// Whether some assignment adds to the variable.
    pub(super) up: bool,
    /// Whether some assignment subtracts from it.
    pub(super) down: bool,
    /// Whether it is read otherwise than in comparisons with constant expressions.
    pub(super) is_opaque: bool,
    /// The expressions with which it is compared.
    pub(super) bounds: Vec<Comparand>,
}

// Slots, the places from which values come and in which they are kept; and the expressions that read and write them.

/// A place for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot {
    /// A param, input or var.
    Variable(VarId),
    /// A field of an event.
    Field(EventId, u32),
    /// An argument of an option.
    Argument(ChoiceId, u32),
    /// The answer of a step.
    Answer(StepId),
    /// The reason why a step failed.
    Reason(StepId),
    /// The result of a tool.
    Result(ToolId),
    /// An argument with which a tool is called.
    Passed(ToolId, u32),
    /// The result of a host function.
    Function(FunctionId),
}

/// The source of the payload that an expression reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PayloadSource {
    /// The trigger of this transition.
    Transition(TransitionId),
    /// An unknown source, which may be any.
    Anywhere,
}

/// An expression on which moves may depend.
#[derive(Debug, Clone, Copy)]
pub(super) struct Use<'c> {
    pub(super) expr: &'c Expr,
    /// The source of its payload.
    pub(super) source: PayloadSource,
    /// The slot to which its value goes. `None` if its value decides something, or if it only matters whether its evaluation fails.
    pub(super) into: Option<Slot>,
}

/// The expressions of a chart on which its moves may depend, and the flows of values that no expression writes.
#[derive(Debug, Default)]
pub(super) struct Uses<'c> {
    pub(super) all: Vec<Use<'c>>,
    /// The flows, each from one slot to another.
    pub(super) flows: Vec<(Slot, Slot)>,
}

impl<'c> Uses<'c> {
    pub(super) fn new(chart: &'c Chart) -> Self {
        let mut uses = Self::default();
        for (i, variable) in chart.variables.iter().enumerate() {
            if let Some(default) = &variable.default {
                uses.assign(chart, Slot::Variable(VarId::at(i)), default, PayloadSource::Anywhere);
            }
        }
        for (i, transition) in chart.transitions.iter().enumerate() {
            let place = PayloadSource::Transition(TransitionId::at(i));
            if let Some(guard) = &transition.guard {
                uses.decide(guard, place);
            }
            match &transition.trigger {
                Trigger::After(bound)
                | Trigger::AfterTurns(bound)
                | Trigger::StepTimeout(_, bound) => uses.decide(bound, PayloadSource::Anywhere),
                _ => {}
            }
            for argument in transition.targets.iter().flat_map(|target| &target.arguments) {
                uses.decide_if_fallible(chart, argument, place);
            }
            uses.actions(chart, &transition.actions, place);
        }
        for state in &chart.states {
            for block in state.entry.iter().chain(&state.exit).chain([&state.default_actions]) {
                uses.actions(chart, block, PayloadSource::Anywhere);
            }
        }
        for row in &chart.permissions {
            if let Some(guard) = &row.guard {
                uses.decide(guard, PayloadSource::Anywhere);
            }
        }
        for (i, step) in chart.steps.iter().enumerate() {
            for condition in step.guard.iter().chain(&step.ends_turn) {
                uses.decide(condition, PayloadSource::Anywhere);
            }
            if let StepKind::Code(actions) = &step.kind {
                uses.actions(chart, actions, PayloadSource::Anywhere);
            }
            uses.actions(chart, &step.asking, PayloadSource::Anywhere);
            for line in &step.tool_lines {
                line.guard.iter().for_each(|guard| uses.decide(guard, PayloadSource::Anywhere));
                uses.actions(chart, &line.calling, PayloadSource::Anywhere);
            }
            if let Some(into) = step.into {
                uses.flows.push((Slot::Answer(StepId::at(i)), Slot::Variable(into)));
            }
            if let StepKind::Call(tool, _) = step.kind {
                uses.flows.push((Slot::Result(tool), Slot::Answer(StepId::at(i))));
            }
        }
        for argument in chart.checks.iter().flat_map(|check| &check.arguments) {
            match argument {
                CheckArgument::AtMost(_, most) => uses.decide(most, PayloadSource::Anywhere),
                // A param with a default has only this value, unless something else reads it.
                CheckArgument::Bound(bound, _) if !has_defaults(chart, bound) => {
                    uses.decide(bound, PayloadSource::Anywhere);
                }
                _ => {}
            }
        }
        for choice in &chart.choices {
            if let ChoiceKind::Call(set, Some(into)) = choice.kind {
                for tool in chart.tools_of(set) {
                    uses.flows.push((Slot::Result(tool), Slot::Variable(into)));
                }
            }
        }
        uses
    }

    /// Adds an expression whose value decides something.
    fn decide(&mut self, expr: &'c Expr, place: PayloadSource) {
        self.all.push(Use { expr, source: place, into: None });
    }

    /// Adds an expression whose value decides nothing, if its evaluation may fail, which does.
    fn decide_if_fallible(&mut self, chart: &Chart, expr: &'c Expr, place: PayloadSource) {
        if !is_total(chart, expr, 0) {
            self.decide(expr, place);
        }
    }

    /// Adds the assignment of an expression to a slot.
    fn assign(&mut self, chart: &Chart, into: Slot, expr: &'c Expr, place: PayloadSource) {
        self.all.push(Use { expr, source: place, into: Some(into) });
        self.decide_if_fallible(chart, expr, place);
        // An assignment of Json to a narrower type fails for some values.
        if let Slot::Variable(id) = into
            && chart.variables[id.index()].ty != Type::Json
            && holds_json(&expr.ty)
        {
            self.decide(expr, place);
        }
    }

    /// Adds the expressions in a text that may fail.
    fn template(&mut self, chart: &Chart, template: &'c Template, place: PayloadSource) {
        for part in &template.parts {
            match part {
                TemplatePart::Hole { expr, spec } if !spec.is_empty() => self.decide(expr, place),
                TemplatePart::Hole { expr, .. } => self.decide_if_fallible(chart, expr, place),
                TemplatePart::Text(_) | TemplatePart::Options | TemplatePart::Bad(_) => {}
            }
        }
    }

    fn actions(&mut self, chart: &Chart, actions: &'c [Action], place: PayloadSource) {
        Action::walk(actions, &mut |action| match action {
            Action::Assign(variable, expr) => {
                self.assign(chart, Slot::Variable(*variable), expr, place);
            }
            Action::If(condition, _, _) => self.decide(condition, place),
            Action::For(_, list, _) => self.decide(list, place),
            Action::Raise(event, arguments) | Action::Send { event, arguments, .. } => {
                for (n, argument) in arguments.iter().enumerate() {
                    self.assign(chart, Slot::Field(*event, n as u32), argument, place);
                }
                if let Action::Send { after, element, .. } = action {
                    after.iter().chain(element.as_deref()).for_each(|e| self.decide(e, place));
                }
            }
            Action::Do(_, arguments) | Action::Result(_, arguments) => {
                for argument in arguments {
                    self.decide_if_fallible(chart, argument, place);
                }
            }
            Action::Log(template) => self.template(chart, template, place),
            Action::Cancel(_) => {}
        });
    }
}

/// Whether all variables that the expression reads have defaults.
fn has_defaults(chart: &Chart, expr: &Expr) -> bool {
    let is_open = |part: &Expr| matches!(part.kind, ExprKind::Variable(id) if chart.variables[id.index()].default.is_none());
    !expr.any(&mut |part| is_open(part))
}

fn holds_json(ty: &Type) -> bool {
    match ty {
        Type::Json => true,
        Type::List(inner) | Type::Map(inner) | Type::Optional(inner) => holds_json(inner),
        _ => false,
    }
}

/// Whether evaluation never fails. Overflow after many small additions is ignored; deeply nested expressions count as failing.
pub(crate) fn is_total(chart: &Chart, expr: &Expr, depth: u32) -> bool {
    use chartc_core::model::Builtin;
    if depth > 64 {
        return false;
    }
    let total = |e: &Expr| is_total(chart, e, depth + 1);
    match &expr.kind {
        ExprKind::None
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Duration(_)
        | ExprKind::Enum(..)
        | ExprKind::Local(_)
        | ExprKind::Payload(_)
        | ExprKind::Answer(_) => true,
        ExprKind::Observable(_) => true,
        ExprKind::Text(template) => template.parts.iter().all(|part| match part {
            TemplatePart::Text(_) => true,
            TemplatePart::Hole { expr, spec } => spec.is_empty() && total(expr),
            TemplatePart::Options | TemplatePart::Bad(_) => false,
        }),
        ExprKind::Variable(id) => {
            let row = &chart.variables[id.index()];
            row.default.is_some() || matches!(row.kind, VariableKind::Param { .. })
        }
        ExprKind::Predicate(id) => total(&chart.predicates[id.index()].expr),
        ExprKind::Unary(op, inner) => {
            total(inner)
                && match op {
                    UnaryOp::Not => inner.ty == Type::Bool,
                    UnaryOp::Negate => inner.ty == Type::Float || literal(expr).is_some(),
                }
        }
        ExprKind::Binary(op, a, b) => total(a) && total(b) && is_total_operation(*op, a, b),
        ExprKind::Compare(first, rest) => {
            total(first)
                && rest.iter().all(|(_, right)| total(right))
                && are_comparable(first, rest)
        }
        ExprKind::If(a, b, c) => total(a) && a.ty == Type::Bool && total(b) && total(c),
        ExprKind::Default(a, b) => total(a) && total(b),
        ExprKind::Builtin(Builtin::Len, arguments) => {
            arguments.iter().all(|a| matches!(a.ty, Type::Text | Type::List(_)) && total(a))
        }
        ExprKind::Builtin(_, _) => false,
        ExprKind::Call(id, arguments) => {
            arguments.iter().all(total)
                && matches!(
                    chart.functions[id.index()].kind,
                    FunctionKind::Pure { fallback: Some(_), .. }
                )
        }
        ExprKind::List(items) => items.iter().all(total),
        ExprKind::Map(items) => items.iter().all(|(k, v)| total(k) && total(v)),
        ExprKind::Record(_, fields) => fields.iter().all(|(_, v)| total(v)),
        _ => false,
    }
}

/// Whether the operation never fails for values of these operands.
fn is_total_operation(op: BinaryOp, a: &Expr, b: &Expr) -> bool {
    match op {
        BinaryOp::And | BinaryOp::Or => true,
        BinaryOp::Add | BinaryOp::Subtract => {
            let floats = a.ty == Type::Float && b.ty == Type::Float;
            let counts = a.ty == Type::Int && matches!(b.kind, ExprKind::Int(-1000..=1000));
            let rows = match (&a.ty, &b.ty) {
                (Type::Text, Type::Text) | (Type::List(_), Type::List(_)) => op == BinaryOp::Add,
                _ => false,
            };
            floats || counts || rows
        }
        _ => false,
    }
}

/// Whether each two neighbors of a chain of comparisons can be compared, whatever their values.
fn are_comparable(first: &Expr, rest: &[(CompareOp, Expr)]) -> bool {
    let number = |e: &Expr| matches!(e.ty, Type::Int | Type::Float | Type::Duration);
    let mut left = first;
    rest.iter().all(|(op, right)| {
        let fits = match op {
            CompareOp::Equal | CompareOp::NotEqual => true,
            CompareOp::In | CompareOp::NotIn => matches!(right.kind, ExprKind::List(_)),
            _ => number(left) && number(right),
        };
        left = right;
        fits
    })
}

/// The slots from which the nth value of a payload may come.
pub(super) fn payload(chart: &Chart, place: PayloadSource, nth: u32) -> Vec<Slot> {
    let events = || (0..chart.events.len()).map(EventId::at);
    let fields = |event: EventId| {
        let has = (nth as usize) < chart.events[event.index()].fields.len();
        has.then_some(Slot::Field(event, nth))
    };
    let anything = || {
        let choices =
            chart.choices.iter().enumerate().filter_map(|(i, choice)| match &choice.kind {
                ChoiceKind::Option(row) if (nth as usize) < row.len() => {
                    Some(Slot::Argument(ChoiceId::at(i), nth))
                }
                ChoiceKind::Option(_) | ChoiceKind::Call(..) => None,
            });
        let steps = (0..chart.steps.len()).map(StepId::at).filter(|_| nth == 0);
        let answers = steps.flat_map(|s| [Slot::Answer(s), Slot::Reason(s)]);
        events().filter_map(fields).chain(choices).chain(answers).collect()
    };
    let PayloadSource::Transition(transition) = place else { return anything() };
    match &chart.transition(transition).trigger {
        Trigger::Event(events) => events.iter().copied().filter_map(fields).collect(),
        Trigger::AnyEvent => events().filter_map(fields).collect(),
        Trigger::Choice(choice) => vec![Slot::Argument(*choice, nth)],
        Trigger::StepDone(step) => vec![Slot::Answer(*step)],
        Trigger::StepError(step) | Trigger::StepDoubt(step) | Trigger::StepElse(step) => {
            vec![Slot::Reason(*step), Slot::Answer(*step)]
        }
        _ => anything(),
    }
}

// Expressions that are constant during a run, and the slots that expressions read.

/// The nesting beyond which an expression is not taken apart.
pub(super) const DEEP: u32 = 64;

/// Whether an expression is constant during a run: a literal, a param, or a whole number computed from these.
pub(super) fn is_fixed(chart: &Chart, expr: &Expr, depth: u32) -> bool {
    if literal(expr).is_some() {
        return true;
    }
    match &expr.kind {
        ExprKind::Variable(id) => {
            matches!(chart.variables[id.index()].kind, VariableKind::Param { .. })
        }
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply, a, b) => {
            depth < DEEP && is_fixed(chart, a, depth + 1) && is_fixed(chart, b, depth + 1)
        }
        _ => false,
    }
}

/// The whole number to which such an expression evaluates, given the values of the params. `None` if it is no whole number.
pub(super) fn number(expr: &Expr, param: &dyn Fn(VarId) -> Option<Value>) -> Option<i64> {
    match &expr.kind {
        ExprKind::Int(n) => Some(*n),
        ExprKind::Variable(id) => match param(*id)? {
            Value::Int(n) => Some(n),
            _ => None,
        },
        ExprKind::Unary(UnaryOp::Negate, inner) => number(inner, param)?.checked_neg(),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (number(a, param)?, number(b, param)?);
            match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Subtract => a.checked_sub(b),
                BinaryOp::Multiply => a.checked_mul(b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Adds the slots that an expression reads, directly or through named conditions. `place` is the source of its payload.
pub(super) fn mentioned(chart: &Chart, expr: &Expr, place: PayloadSource, found: &mut Vec<Slot>) {
    walk(chart, expr, &mut |part| match &part.kind {
        ExprKind::Variable(id) => found.push(Slot::Variable(*id)),
        ExprKind::Payload(nth) => found.extend(payload(chart, place, *nth)),
        ExprKind::Answer(step) => found.push(Slot::Answer(*step)),
        ExprKind::Call(id, _) => found.push(Slot::Function(*id)),
        ExprKind::Observable(
            Observable::Streak(StreakOf::Argument(set, name)) | Observable::Repeated(set, name),
        ) => {
            found.extend(passed(chart, *set, name));
        }
        _ => {}
    });
}

/// The slots of every argument of every tool.
pub(super) fn arguments(chart: &Chart) -> impl Iterator<Item = Slot> {
    let count = |i: usize| chart.tools[i].params.len() as u32;
    (0..chart.tools.len())
        .flat_map(move |i| (0..count(i)).map(move |nth| Slot::Passed(ToolId::at(i), nth)))
}

/// The slots of one argument, for all tools of a set that have it.
pub(super) fn passed(chart: &Chart, set: ToolSetId, name: &str) -> Vec<Slot> {
    let place = |tool: &ToolId| {
        chart.tools[tool.index()].params.iter().position(|param| param.name == name)
    };
    let tools = chart.tools_of(set).into_iter();
    tools.filter_map(|tool| Some(Slot::Passed(tool, place(&tool)? as u32))).collect()
}

// The leaves in which the counters of the active leaf, `turns_here` and `fails_here`, decide anything.

/// By state: whether a counter is read while the state is the active leaf.
#[derive(Debug, Default)]
pub(super) struct RelevantLeaves {
    pub(super) turns: Vec<bool>,
    pub(super) fails: Vec<bool>,
}

impl RelevantLeaves {
    /// Collects the leaves from the uses that decide moves.
    pub(super) fn from_uses(chart: &Chart, used: &[&Use<'_>]) -> Self {
        let states = chart.states.len();
        let mut made = Self { turns: vec![false; states], fails: vec![false; states] };
        let mut conditions = None;
        for one in used {
            let (mut turns, mut fails) = (false, false);
            walk(chart, one.expr, &mut |part| {
                turns |= part.kind == ExprKind::Observable(Observable::TurnsHere);
                fails |= part.kind == ExprKind::Observable(Observable::FailsHere);
            });
            if !turns && !fails {
                continue;
            }
            let conditions = conditions.get_or_insert_with(|| owners(chart));
            let owner = conditions.get(&std::ptr::from_ref(one.expr));
            for state in chart.state_ids() {
                // A block may run after the leaf below its state was exited, so it may read any. A condition always sees an active leaf.
                let is_read = owner.is_none_or(|owner| {
                    chart.contains(*owner, state) && chart.children(state).next().is_none()
                });
                made.turns[state.index()] |= turns && is_read;
                made.fails[state.index()] |= fails && is_read;
            }
        }
        made
    }
}

/// The guards of transitions and the conditions of steps, each with its state.
fn owners(chart: &Chart) -> BTreeMap<*const Expr, StateId> {
    let lines = chart.transitions.iter().flat_map(|transition| {
        transition.guard.iter().map(move |guard| (std::ptr::from_ref(guard), transition.source))
    });
    let steps = chart.steps.iter().flat_map(|step| {
        let conditions = step.guard.iter().chain(&step.ends_turn);
        conditions.map(move |condition| (std::ptr::from_ref(condition), step.state))
    });
    lines.chain(steps).collect()
}
