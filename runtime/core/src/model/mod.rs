//! The resolved chart, which emitters, analyses and the interpreter read.
//!
//! Three invariants hold for every [`Chart`] that the compiler makes (asserted in the tests of `lower`):
//! 1. ids follow document order, so comparing ids compares document order;
//! 2. a subtree is the id range `id..state.end`, so containment is a comparison;
//! 3. every id is in range, and every `initial`, `default` and target is legal: no reader checks again.

mod alternatives;
mod declare;
mod expr;
mod operands;
mod operator;
mod rename;
pub mod schema;
mod state;
mod step;
mod template;

pub use declare::{
    Check, CheckArgument, Client, Component, ComputedLimit, Event, Field, Function, FunctionKind,
    Insert, Limits, Method, Permission, Position, Predicate, Tool, ToolSet, TypeDef, TypeKind,
    Variable, VariableKind,
};
pub use expr::{
    Action, BinaryOp, Builtin, CompareOp, Expr, ExprKind, Local, Observable, Receiver, Since,
    StreakOf, Type, UnaryOp,
};
pub use operator::{Binding, RESERVED};
pub use rename::{Rename, Renamed};
pub use state::{
    Choice, ChoiceKind, Scope, State, StateKind, Target, Transition, TransitionKind, Trigger,
};
pub use step::{
    AskOn, Each, Failure, FailurePolicy, Forward, Lost, Otherwise, Run, Step, StepKind, StepTools,
};
pub use template::{Template, TemplatePart};

pub use crate::form::ActionForm;
pub use crate::status::Status;

use crate::arena::{StateId, StepId, ToolId, ToolSetId, TransitionId};
use crate::machine::ErrorKind;
use crate::structure::{self, Shape, Tree};
use crate::value::Value;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// The capacity for waiting sent events, for each `send` of a chart.
pub const SENDS: usize = 16;

/// The capacity for waiting sent events, for a `send` in a `for`.
pub const SENDS_IN_A_LOOP: usize = 1024;

fn places(actions: &[Action], each: usize) -> usize {
    let place = |action: &Action| match action {
        Action::Send { .. } => each,
        Action::If(_, then, otherwise) => places(then, each) + places(otherwise, each),
        Action::For(_, _, body) => places(body, SENDS_IN_A_LOOP),
        Action::Assign(..)
        | Action::Do(..)
        | Action::Raise(..)
        | Action::Cancel(_)
        | Action::Result(..)
        | Action::Log(_) => 0,
    };
    actions.iter().map(place).sum()
}

/// One chart, names and types resolved. Row 0 of `states` is the root: the chart itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// UpperCamel name, or the quoted name of an `agent.yaml` agent.
    pub name: String,
    /// The `///` text, lines joined by `
    /// `; empty without one.
    pub doc: String,
    /// Metadata that chartc keeps but does not interpret, in the order written.
    pub meta: Vec<(String, Value)>,
    /// Records and enums.
    pub types: Vec<TypeDef>,
    /// Params, inputs and vars, in document order.
    pub variables: Vec<Variable>,
    /// Declared host events.
    pub events: Vec<Event>,
    /// Host functions.
    pub functions: Vec<Function>,
    /// Tool signatures.
    pub tools: Vec<Tool>,
    /// Named tool sets.
    pub tool_sets: Vec<ToolSet>,
    /// Named conditions.
    pub predicates: Vec<Predicate>,
    /// Models.
    pub clients: Vec<Client>,
    /// Prompt fragments.
    pub components: Vec<Component>,
    /// Document order (preorder): a parent before its children.
    pub states: Vec<State>,
    /// Grouped by source state in document order; within a state, in the order in which they are tried.
    pub transitions: Vec<Transition>,
    /// The `may` transitions; `Trigger::Choice` refers to them.
    pub choices: Vec<Choice>,
    /// Document order, in which a turn's walk visits them.
    pub steps: Vec<Step>,
    /// The ids that `send … as id` lines name, each once.
    pub send_ids: Vec<String>,
    /// The `allow` lines; empty means permissive.
    pub permissions: Vec<Permission>,
    /// The maximum number of model steps in one turn's walk; `None` for no limit. 1 unless the chart sets another.
    pub calls_per_turn: Option<u32>,
    /// What a failed step does by default.
    pub defaults: FailurePolicy,
    /// The number of trace records that an instance keeps; `None` for all.
    pub history_kept: Option<u32>,
    /// `check` lines.
    pub checks: Vec<Check>,
    /// Whether an expression reads what calls took: their number, tokens or cost.
    pub reads_amounts: bool,
    /// Earlier names, in document order.
    pub renames: Vec<Rename>,
    /// For traces: the source text of each of [`Chart::alternatives`], of the transitions that have any.
    pub alternative_texts: BTreeMap<TransitionId, Vec<String>>,
}

impl Chart {
    /// Whether a line names `error.stuck.loop`, so that repeated tool calls of the model are told.
    pub fn names_loops(&self) -> bool {
        let mut lines = self.transitions.iter();
        lines.any(|l| matches!(&l.trigger, Trigger::Error(p) if ErrorKind::names_loops(p)))
    }

    /// A chart with this name and without declarations; its root is atomic.
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
            defaults: FailurePolicy { retries: 0, then: Failure::Fail },
            history_kept: None,
            checks: Vec::new(),
            reads_amounts: false,
            renames: Vec::new(),
            alternative_texts: BTreeMap::new(),
        }
    }

    /// The row of `id`.
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id.index()]
    }

    /// Whether a call of this step can end in doubt: it is not made again by itself.
    pub fn may_doubt(&self, step: StepId) -> bool {
        let row = &self.steps[step.index()];
        let is_free =
            matches!(row.kind, StepKind::Call(tool, _) if self.tools[tool.index()].idempotent);
        !row.retries_doubt && !is_free
    }

    /// The declared tools of a set, ascending.
    pub fn tools_of(&self, set: ToolSetId) -> Vec<ToolId> {
        let set = &self.tool_sets[set.index()];
        let away = |name: &str| {
            set.minus.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => name == pattern,
            })
        };
        let tools = self.tools.iter().enumerate().map(|(i, tool)| (ToolId::at(i), &tool.name));
        let all = tools.filter(|(id, name)| set.tools.contains(id) || set.any && !away(name));
        all.map(|(id, _)| id).collect()
    }

    /// The capacity for waiting sent events: [`SENDS`] for each `send`, [`SENDS_IN_A_LOOP`] for each in a `for`. A `send` beyond it fails
    /// its block.
    pub fn send_places(&self) -> usize {
        self.blocks().map(|actions| places(actions, SENDS)).sum()
    }

    /// The limits that are computed from params, in the order of their states.
    pub fn computed_limits(&self) -> impl Iterator<Item = (StateId, &ComputedLimit)> {
        let states = self.state_ids().zip(&self.states);
        states.flat_map(|(id, state)| state.limits.computed.iter().map(move |limit| (id, limit)))
    }

    /// Every action block: of states, defaults and transitions.
    pub fn blocks(&self) -> impl Iterator<Item = &Vec<Action>> {
        let states = self.states.iter();
        let of_states =
            states.flat_map(|s| s.entry.iter().chain(&s.exit).chain([&s.default_actions]));
        of_states.chain(self.transitions.iter().map(|line| &line.actions))
    }

    /// The row of `id`.
    pub fn transition(&self, id: TransitionId) -> &Transition {
        &self.transitions[id.index()]
    }

    /// Whether `inner` is `outer` or its descendant.
    pub fn contains(&self, outer: StateId, inner: StateId) -> bool {
        structure::contains(self, outer, inner)
    }

    /// `id`, its parent, and so on up to the root.
    pub fn ancestors(&self, id: StateId) -> impl Iterator<Item = StateId> + '_ {
        structure::ancestors(self, id)
    }

    /// The children of `id` in document order, including histories.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_state_has_no_children() {
        let chart = Chart::empty("C");
        assert_eq!(chart.children(StateId(0)).count(), 0);
    }
}
