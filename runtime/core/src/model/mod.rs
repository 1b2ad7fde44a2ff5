//! The resolved chart, which emitters, analyses and the interpreter read.
//!
//! The problem: readers should not resolve names, check types or walk parents again. The idea: rows in vectors, which refer to each other
//! by typed ids; every name and type is resolved. For example:
//!
//! ```text
//! chart Ticket { event reply(text: Text)  initial open  state open { on reply(text) if text != "" -> closed }  state closed {} }
//!
//! states        0 `Ticket`: Compound { initial: [1] }, end 3     1 `open`: Atomic, end 2     2 `closed`: Atomic, end 3
//! events        0 `reply`, with the field `text`
//! transitions   0 source 1, trigger Event([0]), guard Payload(0) != "", targets [2], External
//! ```
//!
//! Three invariants hold for every [`Chart`] that the compiler makes (asserted in the tests of `lower`):
//! 1. ids follow document order, so comparing ids compares document order;
//! 2. a subtree is the id range `id..state.end`, so containment is a comparison;
//! 3. every id is in range, and every `initial`, `default` and target is legal: no reader checks again.

pub mod declare;
mod expr;
pub mod schema;
mod state;

pub use crate::form::ActionForm;
pub use crate::status::Status;
pub use declare::{
    Check, CheckArgument, Client, Component, ComputedLimit, Event, Field, Function, FunctionKind,
    Insert, Limits, Method, Permission, Position, Predicate, Subject, Tool, ToolSet, TypeDef,
    TypeKind, Variable, VariableKind, Within,
};
pub use expr::{
    Action, BinaryOp, Binding, Builtin, CompareOp, Expr, ExprKind, Local, Observable, RESERVED,
    Receiver, Since, StreakOf, Template, TemplatePart, Type, UnaryOp,
};
pub use state::{
    Choice, ChoiceKind, Each, Failure, FailureKind, FailureKinds, FailurePolicy, Forward, Lost,
    Otherwise, Retry, Run, Scope, Starts, State, StateKind, Step, StepKind, StepTools, Target,
    ToolLine, Transition, TransitionKind, Trigger,
};

use crate::arena::{StateId, StepId, ToolId, ToolSetId, TransitionId, VarId};
use crate::machine::{DEFERRED, ErrorKind};
use crate::structure::{self, Shape, Tree};
use crate::value::Value;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// The number of sent events that may wait, for each `send` of a chart.
pub const SENDS: usize = 16;

/// The number of sent events that may wait, for each `send` in a `for`.
pub const SENDS_IN_A_LOOP: usize = 1024;

fn places(actions: &[Action], each: usize) -> usize {
    let place = |action: &Action| match action {
        Action::Send { .. } => each,
        Action::If(_, then, otherwise) => places(then, each) + places(otherwise, each),
        Action::For(_, _, body) => places(body, SENDS_IN_A_LOOP),
        _ => 0,
    };
    actions.iter().map(place).sum()
}

/// A chart with resolved names and types. Row 0 of `states` is the root, which is the chart itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// The name in UpperCamel case, or the quoted name of an agent in an `agent.yaml`.
    pub name: String,
    /// The text of the `///` lines, joined by line ends; empty without one.
    pub doc: String,
    /// Metadata that chartc keeps but does not interpret, in the order written.
    pub meta: Vec<(String, Value)>,
    /// The declared records and enums.
    pub types: Vec<TypeDef>,
    /// The params, inputs and vars, in document order.
    pub variables: Vec<Variable>,
    /// The declared host events.
    pub events: Vec<Event>,
    /// The declared host functions.
    pub functions: Vec<Function>,
    /// The declared tools.
    pub tools: Vec<Tool>,
    /// The tool sets that have names.
    pub tool_sets: Vec<ToolSet>,
    /// The conditions that have names.
    pub predicates: Vec<Predicate>,
    /// The declared models.
    pub clients: Vec<Client>,
    /// The declared prompt components.
    pub components: Vec<Component>,
    /// The states in document order: a parent precedes its children.
    pub states: Vec<State>,
    /// The transitions, grouped by source state in document order. Within a state they are in the order in which they are tried.
    pub transitions: Vec<Transition>,
    /// The options of the `may` transitions, to which `Trigger::Choice` refers.
    pub choices: Vec<Choice>,
    /// The steps in document order, in which walks visit them.
    pub steps: Vec<Step>,
    /// The ids of `send … as id`, each once.
    pub send_ids: Vec<String>,
    /// The `allow` lines. If there are none, every move is permitted.
    pub permissions: Vec<Permission>,
    /// The maximum number of model steps in one walk; `None` for no limit. The default is 1.
    pub calls_per_turn: Option<u32>,
    /// The default treatment of failed steps.
    pub defaults: FailurePolicy,
    /// The number of transitions in an instance's history; `None` for all.
    pub history_kept: Option<u32>,
    /// The number of turns after which `error.stuck.timeout` is raised in a state that neither time nor turns end; `None` for never. It is a
    /// setting of the host.
    pub turns_in_state: Option<u32>,
    /// The `check` lines.
    pub checks: Vec<Check>,
    /// Whether an expression reads what calls took: their number, tokens or cost.
    pub reads_amounts: bool,
    /// The earlier names of states, steps and variables, in document order.
    pub renames: Vec<Rename>,
    /// The source texts of [`Chart::alternatives`], for traces; only for transitions that have alternatives.
    pub alternative_texts: BTreeMap<TransitionId, Vec<String>>,
}

impl Chart {
    /// Whether a transition names `error.stuck.loop`, so that loops of tool calls are reported.
    pub fn names_loops(&self) -> bool {
        let mut lines = self.transitions.iter();
        lines.any(|l| matches!(&l.trigger, Trigger::Error(p) if ErrorKind::names_loops(p)))
    }

    /// A chart without declarations, whose root is atomic.
    pub fn empty(name: &str) -> Self {
        let root = State {
            name: name.into(),
            path: String::new(),
            doc: String::new(),
            kind: StateKind::Atomic,
            parent: None,
            end: StateId(1),
            entry: Vec::new(),
            exit: Vec::new(),
            default_actions: Vec::new(),
            transitions: Vec::new(),
            steps: Vec::new(),
            defers: Vec::new(),
            advice: None,
            limits: Limits::default(),
        };
        Self {
            name: name.into(),
            doc: String::new(),
            meta: Vec::new(),
            types: Vec::new(),
            variables: Vec::new(),
            events: Vec::new(),
            functions: Vec::new(),
            tools: Vec::new(),
            tool_sets: Vec::new(),
            predicates: Vec::new(),
            clients: Vec::new(),
            components: Vec::new(),
            states: alloc::vec![root],
            transitions: Vec::new(),
            choices: Vec::new(),
            steps: Vec::new(),
            send_ids: Vec::new(),
            permissions: Vec::new(),
            calls_per_turn: Some(1),
            defaults: FailurePolicy { retry: Retry::times(0), then: Failure::Fail },
            history_kept: None,
            turns_in_state: None,
            checks: Vec::new(),
            reads_amounts: false,
            renames: Vec::new(),
            alternative_texts: BTreeMap::new(),
        }
    }

    /// The row of a state.
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id.index()]
    }

    /// Whether a call of this step can end in doubt.
    pub fn may_doubt(&self, step: StepId) -> bool {
        !self.retries_doubt(&self.steps[step.index()])
    }

    /// Whether a call of this step may be made again if it is unknown whether it took effect.
    pub fn retries_doubt(&self, step: &Step) -> bool {
        let is_free =
            matches!(step.kind, StepKind::Call(tool, _) if self.tools[tool.index()].idempotent);
        step.retries_doubt || is_free
    }

    /// The declared tools of a set, in ascending order.
    pub fn tools_of(&self, set: ToolSetId) -> Vec<ToolId> {
        let set = &self.tool_sets[set.index()];
        let away = |name: &str| {
            set.minus.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => name == pattern,
            })
        };
        let tools = self.tools.iter().enumerate().map(|(i, tool)| (ToolId::at(i), &tool.name));
        // The patterns exclude tools from `any`, but not those that the set names.
        let all = tools.filter(|(id, name)| set.tools.contains(id) || set.any && !away(name));
        all.map(|(id, _)| id).collect()
    }

    /// The maximum number of sent and deferred events that may wait: [`SENDS`] for each `send`, [`SENDS_IN_A_LOOP`] for each one in a
    /// `for`, and [`DEFERRED`] if a state defers events. A further `send` fails its block.
    pub fn send_places(&self) -> usize {
        let deferred = if self.defers() { DEFERRED as usize } else { 0 };
        self.blocks().map(|actions| places(actions, SENDS)).sum::<usize>() + deferred
    }

    /// Whether any state defers events.
    pub fn defers(&self) -> bool {
        self.states.iter().any(|state| !state.defers.is_empty())
    }

    /// The limits that are computed from params, in the order of their states.
    pub fn computed_limits(&self) -> impl Iterator<Item = (StateId, &ComputedLimit)> {
        let states = self.state_ids().zip(&self.states);
        states.flat_map(|(id, state)| state.limits.computed.iter().map(move |limit| (id, limit)))
    }

    /// All `tool` lines of steps, in document order: the rows of [`crate::tables::Tables::tool_lines`].
    pub fn tool_lines(&self) -> impl Iterator<Item = &ToolLine> {
        self.steps.iter().flat_map(|step| &step.tool_lines)
    }

    /// All action blocks: of states, of defaults, of transitions, of questions and of tool calls.
    pub fn blocks(&self) -> impl Iterator<Item = &Vec<Action>> {
        let states = self.states.iter();
        let of_states =
            states.flat_map(|s| s.entry.iter().chain(&s.exit).chain([&s.default_actions]));
        of_states
            .chain(self.transitions.iter().map(|line| &line.actions))
            .chain(self.steps.iter().map(|step| &step.asking))
            .chain(self.tool_lines().map(|line| &line.calling))
    }

    /// All action blocks, and the statements of `code` steps.
    pub fn bodies(&self) -> impl Iterator<Item = &Vec<Action>> {
        let code = self.steps.iter().filter_map(|step| match &step.kind {
            StepKind::Code(actions) => Some(actions),
            _ => None,
        });
        self.blocks().chain(code)
    }

    /// The row of a transition.
    pub fn transition(&self, id: TransitionId) -> &Transition {
        &self.transitions[id.index()]
    }

    /// Whether `inner` is `outer` or its descendant.
    pub fn contains(&self, outer: StateId, inner: StateId) -> bool {
        structure::contains(self, outer, inner)
    }

    /// The state itself, its parent, and so on up to the root.
    pub fn ancestors(&self, id: StateId) -> impl Iterator<Item = StateId> + '_ {
        structure::ancestors(self, id)
    }

    /// The children of a state in document order, including histories.
    pub fn children(&self, id: StateId) -> impl Iterator<Item = StateId> + '_ {
        structure::children(self, id)
    }

    /// All state ids in document order.
    pub fn state_ids(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.states.len()).map(StateId::at)
    }
}

impl Tree for Chart {
    fn shape(&self, state: StateId) -> Shape<'_> {
        match &self.state(state).kind {
            StateKind::Atomic | StateKind::Final { .. } => Shape::Basic,
            StateKind::Compound { initial } => Shape::Compound(initial),
            StateKind::Parallel => Shape::Parallel,
            StateKind::History { default, .. } => Shape::History(default),
        }
    }

    fn parent(&self, state: StateId) -> Option<StateId> {
        self.state(state).parent
    }

    fn end(&self, state: StateId) -> StateId {
        self.state(state).end
    }
}

// The names that parts of a chart had in earlier versions.

/// `renamed_from old`: runs that were saved with the old name continue with the new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// The part that was renamed.
    pub what: Renamed,
    /// The old name. For a state, without the names of its ancestors.
    pub old: String,
}

/// A part of a chart that was renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renamed {
    /// A state, which may be a final or history state.
    State(StateId),
    /// A step.
    Step(StepId),
    /// A param, input or var.
    Variable(VarId),
    /// The chart itself.
    Chart,
}

// The alternatives of a guard: the operands of the `or` at its top. A trace tells which of them held.

impl Chart {
    /// The maximum number of alternatives of one guard. A guard with more counts as a single condition.
    pub const MOST_ALTERNATIVES: usize = 64;

    /// The operands of the `or` at the top of a transition's guard, from left to right. A named condition that is itself an `or` counts as
    /// its operands. Empty for a guard without such an `or`, and for one that calls host functions or loops, whose operands must not be
    /// evaluated a second time.
    pub fn alternatives(&self, line: TransitionId) -> Vec<&Expr> {
        let Some(guard) = &self.transition(line).guard else { return Vec::new() };
        let mut found = Vec::new();
        let mut open = Vec::from([guard]);
        while let Some(expr) = open.pop() {
            if found.len() + open.len() >= Self::MOST_ALTERNATIVES {
                return Vec::new();
            }
            if let ExprKind::Binary(BinaryOp::Or, left, right) = &self.named(expr).kind {
                // The last one pushed is visited first, so the left operand comes before the right one.
                open.extend([&**right, &**left]);
            } else {
                found.push(expr);
            }
        }
        if found.len() < 2 || !self.is_repeatable(guard) { Vec::new() } else { found }
    }

    /// The expression that a named condition stands for; any other expression itself.
    fn named<'c>(&'c self, mut expr: &'c Expr) -> &'c Expr {
        // In a faulty chart a condition may stand for itself, so the search is bounded.
        for _ in 0..Self::MOST_ALTERNATIVES {
            let ExprKind::Predicate(id) = expr.kind else { break };
            let Some(predicate) = self.predicates.get(id.index()) else { break };
            expr = &predicate.expr;
        }
        expr
    }

    /// Whether an expression may be evaluated again: it is cheap and calls no host function.
    fn is_repeatable(&self, expr: &Expr) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = Vec::from([expr]);
        while let Some(expr) = open.pop() {
            if matches!(expr.kind, ExprKind::Call(..) | ExprKind::Comprehension { .. }) {
                return false;
            }
            // Each condition is visited once: it may be used often, and in a faulty chart within itself.
            if let ExprKind::Predicate(id) = expr.kind
                && seen.insert(id)
                && let Some(predicate) = self.predicates.get(id.index())
            {
                open.push(&predicate.expr);
            }
            expr.each_part(&mut |part| open.push(part));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_state_has_no_children() {
        let chart = Chart::empty("C");
        assert_eq!(chart.children(StateId(0)).count(), 0);
    }
}
