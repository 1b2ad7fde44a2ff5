//! The source positions of the parts of a chart. They are not in the model, so that a chart and its translation to another format are
//! equal.

use crate::syntax::source::{FileId, Span};
use chartc_core::arena::{EventId, StateId, StepId, TransitionId, VarId};
use chartc_core::machine::LimitKind;
use chartc_core::model::{Receiver, Type};

/// The spans of one chart. Each table runs parallel to a table of the model, unless it says otherwise.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    /// The file that holds the chart.
    pub file: FileId,
    /// The name of the chart.
    pub name: Span,
    /// The spans of each state.
    pub states: Vec<StateSpans>,
    /// The spans of each transition.
    pub transitions: Vec<TransitionSpans>,
    /// The spans of each step.
    pub steps: Vec<StepSpans>,
    /// The name of each type.
    pub types: Vec<Span>,
    /// The name of each variable.
    pub variables: Vec<Span>,
    /// The name of each event.
    pub events: Vec<Span>,
    /// The name of each function.
    pub functions: Vec<Span>,
    /// The name of each tool.
    pub tools: Vec<Span>,
    /// The name of each tool set; `None` for a set that was made from a single tool or `any`.
    pub tool_sets: Vec<Option<Span>>,
    /// The name of each client.
    pub clients: Vec<Span>,
    /// The `timeout` of each client that has one.
    pub client_timeouts: Vec<Option<Span>>,
    /// The name of each named condition.
    pub predicates: Vec<Span>,
    /// The name of each choice.
    pub choices: Vec<Span>,
    /// The events that are raised and sent, to the chart itself and to others, in the order in which they were lowered.
    pub posts: Vec<PostSpans>,
    /// The assignments to variables, in the order in which they were lowered.
    pub assignments: Vec<(VarId, Span)>,
    /// The names that lines, loops and steps bind, each with the type of its values, in the order in which they were lowered. Filled only
    /// for editors.
    pub bound: Vec<(Span, Type)>,
    /// The whole line of each permission.
    pub permissions: Vec<Span>,
    /// The whole line of each `check`.
    pub checks: Vec<Span>,
    /// The name of each component.
    pub components: Vec<Span>,
    /// The parts of the text of each component.
    pub component_parts: Vec<Vec<Span>>,
}

impl SourceMap {
    /// The spans of a state.
    pub fn state(&self, id: StateId) -> &StateSpans {
        &self.states[id.index()]
    }

    /// The spans of a transition.
    pub fn transition(&self, id: TransitionId) -> &TransitionSpans {
        &self.transitions[id.index()]
    }

    /// The spans of a step.
    pub fn step(&self, id: StepId) -> &StepSpans {
        &self.steps[id.index()]
    }
}

/// The spans of a state.
#[derive(Debug, Clone, Default)]
pub struct StateSpans {
    /// The name of the state.
    pub name: Span,
    /// The whole state, with its body.
    pub whole: Span,
    /// The `enter` blocks that have actions.
    pub entry: Vec<Span>,
    /// The deferred events, with their names in `defer` lines.
    pub defers: Vec<(EventId, Span)>,
    /// The target of the `initial` line, if there is one.
    pub initial: Option<Span>,
    /// The bound of model calls, if the state has one.
    pub calls: Option<Span>,
    /// The bound of cost, if the state has one.
    pub cost: Option<Span>,
    /// The bound of turns, if the state has one.
    pub turns: Option<Span>,
    /// The bound of tokens, if the state has one.
    pub tokens: Option<Span>,
    /// The bound of time, if the state has one.
    pub time: Option<Span>,
    /// The bound of calls per turn, which only the chart itself can have.
    pub per_turn: Option<Span>,
}

/// The spans of a transition.
#[derive(Debug, Clone, Default)]
pub struct TransitionSpans {
    /// The whole line.
    pub whole: Span,
    /// The first words: `on e`, `when g`, `after 5s`, `may x`. For a line in a `from` block, without the head of the block.
    pub trigger: Span,
    /// The head of the `from` block that contains the line.
    pub from: Option<Span>,
    /// The expression of the guard.
    pub guard: Option<Span>,
    /// The path of each target.
    pub targets: Vec<Span>,
    /// The line directly after it in the same body, if there is one.
    pub next: Option<Follower>,
}

/// A line directly after another one in the same body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Follower {
    /// The word with which the line begins.
    pub word: &'static str,
    /// The place of this word.
    pub span: Span,
    /// Whether it is a `when` line whose condition ends at an arrow, a block or the end of the line: then the word can be `if`.
    pub is_condition: bool,
}

/// An event that is raised or sent.
#[derive(Debug, Clone)]
pub struct PostSpans {
    /// The event that is raised or sent.
    pub event: EventId,
    /// The chart that receives the event.
    pub to: Receiver,
    /// The name of the event where it is raised or sent.
    pub span: Span,
}

/// The spans of a step.
#[derive(Debug, Clone, Default)]
pub struct StepSpans {
    /// The name of the step.
    pub name: Span,
    /// The whole step.
    pub whole: Span,
    /// The condition of the step.
    pub guard: Option<Span>,
    /// The prompt, or the question of a `human` step.
    pub prompt: Option<Span>,
    /// The parts of the prompt; a placeholder includes its braces.
    pub prompt_parts: Vec<Span>,
    /// The number of tool calls that the step allows, if it is written.
    pub tool_calls: Option<Span>,
    /// The list of the `each`.
    pub list: Option<Span>,
    /// The number after `up to`, if it is written.
    pub up_to: Option<Span>,
    /// The name of the chart that a `run` step runs, at its declaration.
    pub child: Option<Span>,
    /// The words `doubt retry`.
    pub doubt_retry: Option<Span>,
}

impl StateSpans {
    /// Stores the span of a limit.
    pub(super) fn limit(&mut self, kind: LimitKind, span: Span) {
        let place = match kind {
            LimitKind::Calls => &mut self.calls,
            LimitKind::Tokens => &mut self.tokens,
            LimitKind::Cost => &mut self.cost,
            LimitKind::Time => &mut self.time,
            LimitKind::Turns => &mut self.turns,
        };
        *place = Some(span);
    }
}
