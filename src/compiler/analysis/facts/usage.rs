//! The declarations of a chart that are used, and the variables that nothing sets.

use chartc_core::arena::{StateId, StepId, ToolSetId, TransitionId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Chart, CheckArgument, ChoiceKind, Expr, ExprKind, Observable, Since,
    StepKind, Template, Transition, Trigger, VariableKind,
};
use std::collections::BTreeSet;

/// The owner of an expression, as far as lints distinguish owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExprOwner {
    /// The guard of a transition.
    Transition(TransitionId),
    /// The condition of a step.
    Step(StepId),
    /// A named condition, by its index.
    Predicate(usize),
    /// The condition of a row of the transition table, by the index of the row.
    Permission(usize),
    /// The assignment of the value to this variable.
    Value(VarId),
    /// Anywhere else.
    Other,
}

/// The used declarations of a chart. Each list is indexed by declaration.
#[derive(Debug, Clone)]
pub struct Usage {
    /// Whether something other than its own assignments reads the variable.
    pub read: Vec<bool>,
    /// Whether anything reads the variable, its own assignments included.
    pub seen: Vec<bool>,
    /// Whether anything sets the variable: an assignment, an answer or the result of a tool.
    pub set: Vec<bool>,
    /// Whether anything reads the answer of the step, by name or as data of its outcome.
    pub answers: Vec<bool>,
    /// Whether something reads the result of the last step, whichever it was.
    pub last_result: bool,
    /// Whether the function is called.
    pub called: Vec<bool>,
    /// Whether anything reads the named condition.
    pub asked: Vec<bool>,
    /// Whether a step, or another client as its fallback, uses the client.
    pub clients: Vec<bool>,
    /// Whether a transition or step offers the tool, or a step calls it.
    pub tools: Vec<bool>,
    /// Whether a transition or step offers the tool set.
    pub tool_sets: Vec<bool>,
}

impl Usage {
    /// Collects the uses of the whole chart in one pass.
    pub fn new(chart: &Chart) -> Self {
        let mut usage = Self::none(chart);
        expressions(chart, &mut |spot, expr| {
            expr.walk(&mut |e| usage.note(spot, e));
        });
        actions(chart, &mut |action| {
            if let Action::Assign(id, _) = action {
                usage.set[id.index()] = true;
            }
            if let Action::Do(id, _) = action {
                usage.called[id.index()] = true;
            }
        });
        for transition in &chart.transitions {
            if let Trigger::StepDone(step) = transition.trigger {
                usage.answers[step.index()] |= takes_payload(transition);
            }
        }
        for step in &chart.steps {
            step.into.iter().for_each(|id| usage.set[id.index()] = true);
            step.client.iter().for_each(|id| usage.clients[id.index()] = true);
            if let StepKind::Call(tool, _) = step.kind {
                usage.tools[tool.index()] = true;
            }
            if let Some(tools) = step.tools {
                usage.offer(chart, tools.set);
            }
        }
        for choice in &chart.choices {
            if let ChoiceKind::Call(set, into) = choice.kind {
                if let Some(id) = into {
                    usage.set[id.index()] = true;
                }
                usage.offer(chart, set);
            }
        }
        for client in &chart.clients {
            client.fallback.iter().for_each(|id| usage.clients[id.index()] = true);
        }
        usage
    }

    /// No uses at all.
    fn none(chart: &Chart) -> Self {
        let variables = chart.variables.len();
        Self {
            read: vec![false; variables],
            seen: vec![false; variables],
            set: vec![false; variables],
            answers: vec![false; chart.steps.len()],
            last_result: false,
            called: vec![false; chart.functions.len()],
            asked: vec![false; chart.predicates.len()],
            clients: vec![false; chart.clients.len()],
            tools: vec![false; chart.tools.len()],
            tool_sets: vec![false; chart.tool_sets.len()],
        }
    }

    /// Adds the uses of one expression, without those of its parts.
    fn note(&mut self, spot: ExprOwner, e: &Expr) {
        if let ExprKind::Variable(id) = e.kind {
            self.seen[id.index()] = true;
            self.read[id.index()] |= spot != ExprOwner::Value(id);
        }
        if let ExprKind::Answer(id) = e.kind {
            self.answers[id.index()] = true;
        }
        self.last_result |= matches!(e.kind, ExprKind::Observable(Observable::LastResult));
        if let ExprKind::Call(id, _) = e.kind {
            self.called[id.index()] = true;
        }
        if let ExprKind::Predicate(id) = e.kind {
            self.asked[id.index()] = true;
        }
    }

    fn offer(&mut self, chart: &Chart, set: ToolSetId) {
        if !std::mem::replace(&mut self.tool_sets[set.index()], true) {
            chart.tools_of(set).iter().for_each(|t| self.tools[t.index()] = true);
            // A tool that is excluded by name counts as used, because the author knows that it exists.
            let minus = &chart.tool_sets[set.index()].minus;
            let named = |name: &str| {
                minus.iter().any(|pattern| match pattern.strip_suffix('*') {
                    Some(prefix) => name.starts_with(prefix),
                    None => name == pattern,
                })
            };
            let tools = self.tools.iter_mut().zip(&chart.tools);
            tools.for_each(|(used, tool)| *used |= named(&tool.name));
        }
    }
}

/// A condition that has the same value in every run, because nothing sets the variable that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fixed {
    /// The variable that nothing sets.
    pub variable: VarId,
    /// The owner of the first condition that depends only on this variable.
    pub spot: ExprOwner,
}

/// Finds the variables that nothing sets although a condition depends only on them: a test of such a variable, or a comparison of it
/// with constants and params.
pub fn fixed(chart: &Chart, usage: &Usage) -> Vec<Fixed> {
    let never = |id: VarId| {
        let var = matches!(chart.variables[id.index()].kind, VariableKind::Var { .. });
        var && !usage.set[id.index()]
    };
    let param = |id: VarId| matches!(chart.variables[id.index()].kind, VariableKind::Param { .. });
    let mut found: Vec<Fixed> = Vec::new();
    let mut told = BTreeSet::new();
    expressions(chart, &mut |spot, expr| {
        match spot {
            ExprOwner::Transition(_)
            | ExprOwner::Step(_)
            | ExprOwner::Predicate(_)
            | ExprOwner::Permission(_) => {}
            ExprOwner::Value(_) | ExprOwner::Other => return,
        }
        for test in tests(expr) {
            let mut all = true;
            let mut variable = None;
            test.walk(&mut |e| {
                if let ExprKind::Variable(id) = e.kind {
                    all &= never(id) || param(id);
                    variable = variable.or(Some(id).filter(|id| never(*id)));
                }
                all &= !changes(&e.kind);
            });
            if let Some(variable) = variable.filter(|v| all && told.insert(*v)) {
                found.push(Fixed { variable, spot });
            }
        }
    });
    found
}

/// The parts of a condition that `and`, `or` and `not` combine.
fn tests(expr: &Expr) -> Vec<&Expr> {
    let mut open = vec![expr];
    let mut found = Vec::new();
    while let Some(expr) = open.pop() {
        if let ExprKind::Binary(
            chartc_core::model::BinaryOp::And | chartc_core::model::BinaryOp::Or,
            a,
            b,
        ) = &expr.kind
        {
            open.extend([&**b, &**a]);
        } else if let ExprKind::Unary(_, inner) = &expr.kind {
            open.push(inner);
        } else {
            found.push(expr);
        }
    }
    found
}

/// Whether an expression of this kind can change although no variable does.
fn changes(kind: &ExprKind) -> bool {
    matches!(
        kind,
        ExprKind::Payload(_)
            | ExprKind::Answer(_)
            | ExprKind::Predicate(_)
            | ExprKind::Observable(_)
            | ExprKind::Call(..)
            | ExprKind::Unknown(_)
    )
}

/// Calls `visit` with every expression of the chart that is not part of another one, and its owner.
pub fn expressions<'c>(chart: &'c Chart, visit: &mut dyn FnMut(ExprOwner, &'c Expr)) {
    for variable in &chart.variables {
        variable.default.iter().for_each(|e| visit(ExprOwner::Other, e));
    }
    for (i, predicate) in chart.predicates.iter().enumerate() {
        visit(ExprOwner::Predicate(i), &predicate.expr);
    }
    for state in &chart.states {
        state.advice.iter().flat_map(Template::holes).for_each(|e| visit(ExprOwner::Other, e));
    }
    of_transitions(chart, visit);
    chart.computed_limits().for_each(|(_, limit)| visit(ExprOwner::Other, &limit.value));
    for choice in &chart.choices {
        choice.text.iter().flat_map(Template::holes).for_each(|e| visit(ExprOwner::Other, e));
    }
    of_steps(chart, visit);
    for component in &chart.components {
        component.text.holes().for_each(|e| visit(ExprOwner::Other, e));
        component
            .inserts
            .iter()
            .filter_map(|i| i.guard.as_ref())
            .for_each(|e| visit(ExprOwner::Other, e));
    }
    for (row, permission) in chart.permissions.iter().enumerate() {
        permission.guard.iter().for_each(|e| visit(ExprOwner::Permission(row), e));
    }
    for argument in chart.checks.iter().flat_map(|c| &c.arguments) {
        if let CheckArgument::Bound(e, _) | CheckArgument::AtMost(_, e) = argument {
            visit(ExprOwner::Other, e);
        }
    }
    actions(chart, &mut |action| {
        let owner = match action {
            Action::Assign(id, _) => ExprOwner::Value(*id),
            _ => ExprOwner::Other,
        };
        action.expressions().into_iter().for_each(|e| visit(owner, e));
    });
}

fn of_transitions<'c>(chart: &'c Chart, visit: &mut dyn FnMut(ExprOwner, &'c Expr)) {
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        transition.guard.iter().for_each(|e| visit(ExprOwner::Transition(id), e));
        transition
            .targets
            .iter()
            .flat_map(|t| &t.arguments)
            .for_each(|e| visit(ExprOwner::Other, e));
        match &transition.trigger {
            Trigger::After(e) | Trigger::AfterTurns(e) | Trigger::StepTimeout(_, e) => {
                visit(ExprOwner::Other, e);
            }
            _ => {}
        }
    }
}

fn of_steps<'c>(chart: &'c Chart, visit: &mut dyn FnMut(ExprOwner, &'c Expr)) {
    for (i, step) in chart.steps.iter().enumerate() {
        step.guard.iter().for_each(|e| visit(ExprOwner::Step(StepId::at(i)), e));
        step.ends_turn.iter().for_each(|e| visit(ExprOwner::Other, e));
        let lines = step.tool_lines.iter().filter_map(|line| line.guard.as_ref());
        lines.for_each(|e| visit(ExprOwner::Other, e));
        step.each.iter().for_each(|each| visit(ExprOwner::Other, &each.list));
        step.prompt.iter().flat_map(Template::holes).for_each(|e| visit(ExprOwner::Other, e));
        match &step.kind {
            StepKind::Call(_, arguments) => {
                for argument in arguments {
                    visit(ExprOwner::Other, argument);
                }
            }
            StepKind::Run(run) => {
                run.arguments.iter().for_each(|(_, e)| visit(ExprOwner::Other, e));
            }
            StepKind::Human(text) => text.holes().for_each(|e| visit(ExprOwner::Other, e)),
            StepKind::Llm | StepKind::Code(_) | StepKind::Ask { .. } => {}
        }
    }
}

/// Calls `visit` with every action of all blocks and `code` steps, nested actions included.
pub(crate) fn actions<'c>(chart: &'c Chart, visit: &mut dyn FnMut(&'c Action)) {
    chart.bodies().for_each(|block| Action::walk(block, visit));
}

// Visitors of expressions and actions: the variables that they read and set.

/// Whether a condition only tests for active states, so that the scope condition of its transition or step describes it fully.
pub(crate) fn is_where(guard: &Expr) -> bool {
    if let ExprKind::Binary(BinaryOp::Or, a, b) = &guard.kind {
        is_where(a) && is_where(b)
    } else {
        matches!(guard.kind, ExprKind::Observable(Observable::In(_)))
    }
}

/// Calls `visit` with the direct parts of an expression, in the order of evaluation. The part of a predicate is its definition.
fn each_part<'e>(chart: &'e Chart, expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    if let ExprKind::Predicate(id) = expr.kind {
        visit(&chart.predicates[id.index()].expr);
    }
    expr.each_part(visit);
}

/// Calls `visit` with the expression and all of its parts, outermost first; follows predicates.
pub fn walk<'e>(chart: &'e Chart, expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    visit(expr);
    each_part(chart, expr, &mut |part| walk(chart, part, visit));
}

/// Like [`walk`], but skips the left side of `??`, whose value may be missing by design.
pub(crate) fn early_reads<'e>(chart: &'e Chart, expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    visit(expr);
    let mut known = matches!(expr.kind, ExprKind::Default(..));
    each_part(chart, expr, &mut |part| {
        if !std::mem::take(&mut known) {
            early_reads(chart, part, visit);
        }
    });
}

/// Adds the variables that an expression reads. Returns whether the expression also reads something that depends on the active states.
pub fn reads(chart: &Chart, expr: &Expr, variables: &mut BTreeSet<VarId>) -> bool {
    let mut local = false;
    walk(chart, expr, &mut |e| {
        if let ExprKind::Variable(id) = e.kind {
            variables.insert(id);
        }
        if let ExprKind::Observable(seen) = &e.kind {
            local |= !matches!(
                seen,
                Observable::Turns
                    | Observable::Elapsed
                    | Observable::Event
                    | Observable::Calls(Since::Start)
                    | Observable::Tokens(Since::Start)
                    | Observable::Cost(Since::Start)
                    | Observable::LastResult
                    | Observable::LastFailed
                    | Observable::Streak(_)
                    | Observable::Repeated(..)
            );
        }
    });
    local
}

/// The variables that the actions set, also inside `if` and `for`.
pub fn assigned(actions: &[Action]) -> BTreeSet<VarId> {
    let mut variables = BTreeSet::new();
    Action::walk(actions, &mut |action| {
        if let Action::Assign(variable, _) = action {
            variables.insert(*variable);
        }
    });
    variables
}

/// The variables that a `code` step reads, except those on the left side of `??`.
pub(crate) fn code_reads(chart: &Chart, actions: &[Action]) -> BTreeSet<VarId> {
    let mut variables = BTreeSet::new();
    let mut read = |expr| {
        early_reads(chart, expr, &mut |e| {
            if let ExprKind::Variable(id) = e.kind {
                variables.insert(id);
            }
        });
    };
    Action::walk(actions, &mut |action| match action {
        Action::Assign(_, e) | Action::If(e, ..) | Action::For(_, e, _) => read(e),
        // A `code` step contains only assignments, `if` and `for`.
        _ => {}
    });
    variables
}

/// Whether a transition into `leaf` may assign one of the variables: in its own actions, or in those of states that it may exit or
/// enter.
pub(crate) fn changed_variables(
    chart: &Chart,
    transition: &Transition,
    leaf: StateId,
    variables: &BTreeSet<VarId>,
) -> bool {
    let sets = |actions: &[Action]| !assigned(actions).is_disjoint(variables);
    let moved = !transition.targets.is_empty();
    let entered = chart.ancestors(leaf).any(|s| chart.state(s).entry.iter().any(|b| sets(b)));
    let left = (transition.source.0..chart.state(transition.source).end.0)
        .map(StateId)
        .chain(chart.ancestors(transition.source))
        .any(|s| chart.state(s).exit.iter().any(|b| sets(b)));
    // Which `initial` and history actions run depends on the histories, so all of them count.
    let defaulted = || chart.states.iter().any(|s| sets(&s.default_actions));
    sets(&transition.actions) || (moved && (entered || left || defaulted()))
}

/// Whether a transition reads the data of its trigger, in its guard, its arguments or its actions.
pub(crate) fn takes_payload(transition: &Transition) -> bool {
    let takes = |expr: &Expr| expr.any(&mut |e| matches!(e.kind, ExprKind::Payload(_)));
    let mut found = transition.guard.as_ref().is_some_and(takes)
        || transition.targets.iter().flat_map(|t| &t.arguments).any(takes);
    Action::walk(&transition.actions, &mut |action| {
        found |= action.expressions().into_iter().any(takes);
    });
    found
}
