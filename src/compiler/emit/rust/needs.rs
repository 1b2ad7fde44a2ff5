//! Finds in the model what the code of a chart needs, before code is written.

use super::blocks::{self, Wait};
use super::code::{Fragment, Use};
use super::expr::Writer;
use super::{Context, keep, program, types};
use chartc_core::arena::{PredicateId, StepId, TransitionId};
use chartc_core::model::{
    Action, Chart, Expr, ExprKind, Observable, StepKind, Template, Trigger, Type, TypeKind,
    VariableKind,
};
use chartc_core::program::Block;
use std::collections::BTreeSet;

/// What the program of a chart has to store, because its expressions read it.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// The advice of the active states.
    pub advice: bool,
    /// The last result of a step.
    pub last_result: bool,
    /// How often in succession the model called the same tool or passed the same argument.
    pub streak: bool,
    /// How often the model made the same call in succession.
    pub loops: bool,
    /// The work of loops, which is bounded.
    pub repeats: bool,
    /// The answers of steps in this turn.
    pub answers: BTreeSet<StepId>,
    /// The named conditions already visited.
    seen: BTreeSet<PredicateId>,
}

impl Needs {
    /// Collects the needs of all expressions whose code is part of the program.
    pub(super) fn new(chart: &Chart, waits: &[Wait]) -> Self {
        let mut needs = Self::default();
        expressions(chart, waits, &mut |expr| {
            expr.walk(&mut |part| needs.part(chart, part));
        });
        if needs.advice {
            for text in chart.states.iter().filter_map(|state| state.advice.as_ref()) {
                text.holes().for_each(|e| e.walk(&mut |part| needs.part(chart, part)));
            }
        }
        needs.loops = chart.names_loops();
        let mut action = |action: &Action| needs.repeats |= matches!(action, Action::For(..));
        for block in chart.bodies() {
            Action::walk(block, &mut action);
        }
        needs
    }

    fn part(&mut self, chart: &Chart, part: &Expr) {
        if let ExprKind::Predicate(id) = part.kind {
            // Many expressions may read one named condition; it is visited once.
            if self.seen.insert(id) {
                let of = &chart.predicates[id.index()].expr;
                of.walk(&mut |part| self.part(chart, part));
            }
        } else if let ExprKind::Answer(step) = part.kind {
            self.answers.insert(step);
        } else if let ExprKind::Observable(observable) = &part.kind {
            self.advice |= *observable == Observable::Advice;
            self.last_result |=
                matches!(observable, Observable::LastResult | Observable::LastFailed);
            self.streak |= matches!(observable, Observable::Streak(_) | Observable::Repeated(..));
        } else {
            self.repeats |= matches!(part.kind, ExprKind::Comprehension { .. });
        }
    }
}

/// Calls `found` with every expression whose code is part of the program. Named conditions and advice count only if something reads them.
fn expressions(chart: &Chart, waits: &[Wait], found: &mut dyn FnMut(&Expr)) {
    for (row, wait) in chart.variables.iter().zip(waits) {
        // All other initial values are known when the machine is created, before there is a program.
        let again = row.kind == VariableKind::Var { per_turn: true };
        let later = matches!(row.kind, VariableKind::Var { .. }) && *wait != Wait::Nothing;
        row.default.iter().filter(|_| again || later).for_each(&mut *found);
    }
    for transition in &chart.transitions {
        transition.guard.iter().for_each(&mut *found);
        transition.targets.iter().flat_map(|target| &target.arguments).for_each(&mut *found);
        if let Trigger::After(bound) | Trigger::StepTimeout(_, bound) | Trigger::AfterTurns(bound) =
            &transition.trigger
        {
            found(bound);
        }
    }
    for block in chart.bodies() {
        Action::walk(block, &mut |action| action.expressions().into_iter().for_each(&mut *found));
    }
    for step in &chart.steps {
        step.guard.iter().chain(&step.ends_turn).for_each(&mut *found);
        step.each.iter().for_each(|each| found(&each.list));
        step.tool_lines.iter().filter_map(|line| line.guard.as_ref()).for_each(&mut *found);
        step.prompt.iter().flat_map(Template::holes).for_each(&mut *found);
        match &step.kind {
            StepKind::Call(_, arguments) => arguments.iter().for_each(&mut *found),
            StepKind::Run(run) => run.arguments.iter().for_each(|(_, value)| found(value)),
            StepKind::Human(question) => question.holes().for_each(&mut *found),
            StepKind::Llm | StepKind::Code(_) | StepKind::Ask { .. } => {}
        }
    }
    for choice in &chart.choices {
        choice.text.iter().flat_map(Template::holes).for_each(&mut *found);
    }
    chart.permissions.iter().filter_map(|row| row.guard.as_ref()).for_each(&mut *found);
    for component in chart.components.iter().filter(|component| !component.inserts.is_empty()) {
        component.inserts.iter().filter_map(|insert| insert.guard.as_ref()).for_each(&mut *found);
        component.text.holes().for_each(&mut *found);
    }
}

/// Whether the code of an expression allocates, in a chart whose data does not.
pub(super) fn allocates(context: &Context<'_>) -> bool {
    let chart = context.chart;
    let mut found = false;
    let mut see = |code: Fragment| found |= code.has(Use::Allocator);
    for row in &chart.variables {
        if let Some(default) = &row.default {
            see(types::initial(context, default, row));
            see(Writer::new(context).value(default, &row.ty));
        }
    }
    for predicate in &chart.predicates {
        see(Writer::new(context).truth(&predicate.expr).text());
    }
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        if let Some(guard) = &transition.guard {
            see(program::guard(context, id, guard, None).1.text());
        }
        see(blocks::of(context, Block::Transition(id), None));
        see(keep::read(context, id, None));
        if let Some(code) = program::deadline(context, &transition.trigger) {
            see(code.text());
        }
    }
    for block in
        chart.states.iter().flat_map(|s| s.entry.iter().chain(&s.exit).chain([&s.default_actions]))
    {
        see(blocks::actions(&mut Writer::new(context), block));
    }
    for (i, step) in chart.steps.iter().enumerate() {
        for condition in step.guard.iter().chain(&step.ends_turn) {
            see(Writer::new(context).truth(condition).text());
        }
        if let StepKind::Code(block) = &step.kind {
            see(blocks::actions(&mut Writer::new(context), block));
        }
        see(blocks::of(context, Block::Asking(StepId::at(i)), None));
    }
    for guard in chart.permissions.iter().filter_map(|row| row.guard.as_ref()) {
        see(Writer::new(context).truth(guard).text());
    }
    found
}

// Computes facts about a chart's types that the emitter needs before it writes them.

/// Facts about the declared types, by id.
#[derive(Debug)]
pub(super) struct Facts {
    copy: Vec<bool>,
    allocates: Vec<bool>,
    nests: Vec<bool>,
}

impl Facts {
    /// Computes the facts in time linear in the size of the declarations, times the longest chain of records that refer to earlier ones.
    pub(super) fn new(chart: &Chart) -> Self {
        let types = chart.types.len();
        let mut facts = Self {
            copy: vec![true; types],
            allocates: vec![false; types],
            nests: vec![false; types],
        };
        let mut changed = true;
        while changed {
            changed = false;
            // Backwards, so that a record comes after later ones to which it refers.
            for (i, def) in chart.types.iter().enumerate().rev() {
                let TypeKind::Record(fields) = &def.kind else { continue };
                let allocates = fields.iter().any(|f| facts.allocates(&f.ty));
                let copy = fields.iter().all(|f| facts.is_copy(&f.ty));
                let nests = fields.iter().any(|f| facts.nests(&f.ty));
                let before = (facts.allocates[i], facts.copy[i], facts.nests[i]);
                changed |= before != (allocates, copy, nests);
                (facts.allocates[i], facts.copy[i], facts.nests[i]) = (allocates, copy, nests);
            }
        }
        facts
    }

    /// Whether the Rust type is `Copy`.
    pub(super) fn is_copy(&self, ty: &Type) -> bool {
        match ty {
            Type::Bool | Type::Int | Type::Float | Type::Duration => true,
            Type::Text | Type::Json | Type::List(_) | Type::Map(_) => false,
            Type::Optional(inner) => self.is_copy(inner),
            Type::Named(id) => self.copy[id.index()],
        }
    }

    /// Whether values of `ty` can nest to any depth, because they contain JSON.
    pub(super) fn nests(&self, ty: &Type) -> bool {
        match ty {
            Type::Json => true,
            Type::Bool | Type::Int | Type::Float | Type::Duration | Type::Text => false,
            Type::List(inner) | Type::Map(inner) | Type::Optional(inner) => self.nests(inner),
            Type::Named(id) => self.nests[id.index()],
        }
    }

    /// Whether values of `ty` need an allocator.
    pub(super) fn allocates(&self, ty: &Type) -> bool {
        match ty {
            Type::Bool | Type::Int | Type::Float | Type::Duration => false,
            Type::Text | Type::Json | Type::List(_) | Type::Map(_) => true,
            Type::Optional(inner) => self.allocates(inner),
            Type::Named(id) => self.allocates[id.index()],
        }
    }
}

/// Whether no declaration needs an allocator. Expressions may still need one.
pub(super) fn is_bare(chart: &Chart, facts: &Facts) -> bool {
    let plain = |ty: &Type| !facts.allocates(ty);
    let fields = |list: &[chartc_core::model::Field]| list.iter().all(|f| plain(&f.ty));
    chart.variables.iter().all(|v| plain(&v.ty))
        && chart
            .types
            .iter()
            .enumerate()
            .all(|(i, _)| plain(&Type::Named(chartc_core::arena::TypeId::at(i))))
        && chart.events.iter().all(|e| fields(&e.fields))
        && chart.functions.iter().all(|f| {
            fields(&f.params)
                && match &f.kind {
                    chartc_core::model::FunctionKind::Pure { result, .. } => plain(result),
                    chartc_core::model::FunctionKind::Effect => true,
                }
        })
        && chart.choices.is_empty()
        && chart.steps.iter().all(|s| matches!(s.kind, StepKind::Code(_)))
        && chart.states.iter().all(|s| {
            s.advice.is_none()
                && match &s.kind {
                    chartc_core::model::StateKind::Final { params, .. } => fields(params),
                    chartc_core::model::StateKind::Atomic
                    | chartc_core::model::StateKind::Compound { .. }
                    | chartc_core::model::StateKind::Parallel
                    | chartc_core::model::StateKind::History { .. } => true,
                }
        })
        && chart.blocks().all(|block| silent(block))
}

/// Whether no action logs, which would need an allocator.
fn silent(actions: &[Action]) -> bool {
    let mut silent = true;
    Action::walk(actions, &mut |action| silent &= !matches!(action, Action::Log(_)));
    silent
}
