//! Prompts that may show nothing when they are first sent, because their variables still have empty initial values.

use super::cell::FRESH;
use super::path::Goal;
use super::point::Points;
use super::read::Site;
use super::solve::Solved;
use super::{Flow, Lack, Unset, way};
use crate::facts::Facts;
use crate::facts::uses::walk;
use crate::turn::dataflow::Value;
use chartc_core::arena::{StepId, VarId};
use chartc_core::expr::{Environment, Fuel, Value as Data, evaluate};
use chartc_core::model::{
    AskOn, Chart, Expr, ExprKind, Position, StepKind, TemplatePart, VariableKind,
};

/// The maximum number of prompts that are examined. Each of them takes another analysis of the chart.
const MOST: usize = 10;

/// A variable that a prompt shows.
#[derive(Debug, Clone, Copy)]
struct ShownVariable {
    variable: VarId,
    /// The part of the prompt that shows the variable.
    site: Site,
    /// Whether this part shows nothing as long as the variable has its initial value.
    is_empty: bool,
}

impl Flow<'_> {
    /// The prompts that may show only initial values when the step first asks, some of them empty, although in other runs one of these
    /// variables was set before; for each prompt, the first such variable. A variable that is set only after the step has asked is not
    /// reported, because it is empty at the first asking of every run.
    pub fn empty_prompts(&self, facts: &Facts) -> Vec<Unset> {
        let Some(solved) = &self.solved else { return Vec::new() };
        let points = Points::new(self.chart, facts);
        let steps = (0..self.chart.steps.len()).map(StepId::at);
        let runs = |id: &StepId| !facts.scopes.step(*id).within.is_empty();
        // A cheap test first, over all askings: the exact one for the first asking repeats the analysis.
        let candidates = steps.filter(runs).filter_map(|id| {
            let shown = self.initial(id)?;
            let is_initial =
                |one: &ShownVariable| self.seen(solved, id, one).is_some_and(|seen| seen.0);
            let may =
                shown.iter().all(is_initial) && self.sometimes_empty(solved, id, &shown).is_some();
            may.then_some((id, shown))
        });
        candidates
            .take(MOST)
            .filter_map(|(id, shown)| self.first_asking(&points, solved, id, &shown))
            .collect()
    }

    /// The first of the variables that may be set before the first asking, with a run in which all of them are unset.
    fn first_asking(
        &self,
        points: &Points<'_, '_>,
        solved: &Solved,
        step: StepId,
        shown: &[ShownVariable],
    ) -> Option<Unset> {
        let (_, first) = Solved::solve(&self.cells, points, Some(step))?;
        let ShownVariable { variable, site, .. } = self.sometimes_empty(&first, step, shown)?;
        let with: Vec<VarId> = shown.iter().map(|one| one.variable).collect();
        let value = Value::Variable(variable);
        let goal = Goal { site, value, with: &with };
        let way = way::find(self.chart, &self.cells, points, solved, goal)?;
        Some(Unset { site, value, way: Some(way), lack: Lack::Empty })
    }

    /// Whether a variable may have its initial value before the step, and whether it may have another one.
    fn seen(&self, solved: &Solved, step: StepId, one: &ShownVariable) -> Option<(bool, bool)> {
        let cell = self.cells.variable(one.variable)?;
        let initial = FRESH | self.cells.rows[cell].default_bits();
        let seen = solved.before(step, cell);
        Some((seen & initial != 0, seen & !initial != 0))
    }

    /// The first of the variables that shows nothing in some runs, and something in others.
    fn sometimes_empty(
        &self,
        solved: &Solved,
        step: StepId,
        shown: &[ShownVariable],
    ) -> Option<ShownVariable> {
        let is_it = |one: &&ShownVariable| {
            one.is_empty && self.seen(solved, step, one) == Some((true, true))
        };
        shown.iter().find(is_it).copied()
    }

    /// The variables that the prompt of a step shows. `None` if it may show anything else, or if the step asks nothing.
    fn initial(&self, id: StepId) -> Option<Vec<ShownVariable>> {
        let chart = self.chart;
        let step = &chart.steps[id.index()];
        let is_asked = match &step.kind {
            StepKind::Llm | StepKind::Human(_) | StepKind::Ask { on: AskOn::Turn, .. } => true,
            StepKind::Ask { on: AskOn::Event(_), .. }
            | StepKind::Code(_)
            | StepKind::Call(..)
            | StepKind::Run(_) => false,
        };
        if !is_asked || step.each.is_some() {
            return None;
        }
        let mut shown = Vec::new();
        for (nth, part) in chart.own_prompt(id)?.parts.iter().enumerate() {
            let TemplatePart::Hole { expr, .. } = part else { continue };
            let site = match step.kind {
                StepKind::Human(_) => Site::Arguments(id),
                _ => Site::Prompt(id, nth),
            };
            let (read, is_empty) = shows(chart, expr)?;
            shown.extend(read.into_iter().map(|variable| ShownVariable {
                variable,
                site,
                is_empty,
            }));
        }
        for (component, insert) in chart.inserts(id) {
            if insert.guard.is_some() || insert.place == Position::Replace {
                return None;
            }
            for expr in component.text.holes() {
                shows(chart, expr)?;
            }
        }
        Some(shown)
    }
}

/// The variables that an expression reads, and whether it shows nothing while they have their initial values. `None` if it reads anything
/// else, or nothing.
fn shows(chart: &Chart, expr: &Expr) -> Option<(Vec<VarId>, bool)> {
    let (mut read, mut is_known) = (Vec::new(), true);
    walk(chart, expr, &mut |e| {
        is_known &= !matches!(
            e.kind,
            ExprKind::Payload(_)
                | ExprKind::Answer(_)
                | ExprKind::Observable(_)
                | ExprKind::Predicate(_)
                | ExprKind::Call(..)
                | ExprKind::Unknown(_)
        );
        if let ExprKind::Variable(id) = e.kind {
            is_known &= matches!(chart.variables[id.index()].kind, VariableKind::Var { .. });
            read.push(id);
        }
    });
    if !is_known || read.is_empty() {
        return None;
    }
    let values = read.iter().map(|id| {
        let default = chart.variables[id.index()].default.as_ref()?;
        Some((*id, super::cell::constant(default)?))
    });
    let values: Vec<(VarId, Data)> = values.collect::<Option<_>>()?;
    let shown = evaluate(expr, &Defaults(&values), &Fuel::default()).ok()?;
    let is_empty = match shown {
        Data::None => true,
        Data::Text(text) => text.trim().is_empty(),
        Data::List(items) => items.is_empty(),
        Data::Map(map) => map.is_empty(),
        _ => false,
    };
    Some((read, is_empty))
}

/// An environment in which each variable has its initial value.
struct Defaults<'v>(&'v [(VarId, Data)]);

impl Environment for Defaults<'_> {
    fn variable(&self, id: VarId) -> Option<&Data> {
        self.0.iter().find(|(of, _)| *of == id).map(|(_, data)| data)
    }
}
