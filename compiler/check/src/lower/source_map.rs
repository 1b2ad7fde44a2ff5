//! The source places of a chart's parts. They are not in the model, so that a chart and its translation to another format are
//! equal.

use chartc_core::arena::{EventId, StateId, StepId, TransitionId, VarId};
use chartc_core::machine::LimitKind;
use chartc_core::model::{Receiver, Type};
use chartc_text::span::{FileId, Span};

/// Spans of one chart; each table runs parallel to that of the model.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    /// The file that holds the chart.
    pub file: FileId,
    /// The chart's name.
    pub name: Span,
    /// By state.
    pub states: Vec<StateSpans>,
    /// By transition.
    pub transitions: Vec<TransitionSpans>,
    /// By step.
    pub steps: Vec<StepSpans>,
    /// By type: its name.
    pub types: Vec<Span>,
    /// By variable: its name.
    pub variables: Vec<Span>,
    /// By event: its name.
    pub events: Vec<Span>,
    /// By function: its name.
    pub functions: Vec<Span>,
    /// By tool: its name.
    pub tools: Vec<Span>,
    /// By tool set: its name; `None` if a line made the set from a single tool.
    pub tool_sets: Vec<Option<Span>>,
    /// By client: its name.
    pub clients: Vec<Span>,
    /// By client: its `timeout`, if it has one.
    pub client_timeouts: Vec<Option<Span>>,
    /// By named condition: its name.
    pub predicates: Vec<Span>,
    /// By choice: its name.
    pub choices: Vec<Span>,
    /// The events that are raised and sent, to the chart itself and to others, in the order lowered.
    pub posts: Vec<PostSpans>,
    /// The assignments to variables, in the order lowered.
    pub assignments: Vec<(VarId, Span)>,
    /// The names that lines, loops and steps bind, each with the type of its values, in the order lowered.
    pub bound: Vec<(Span, Type)>,
    /// By permission: the whole line.
    pub permissions: Vec<Span>,
    /// By check: the whole line.
    pub checks: Vec<Span>,
    /// By component: its name.
    pub components: Vec<Span>,
    /// By component: each part of its text.
    pub component_parts: Vec<Vec<Span>>,
}

impl SourceMap {
    /// The spans of a state.
    pub fn state(&self, id: StateId) -> &StateSpans {
        &self.states[id.index()]
    }

    /// The spans of a line.
    pub fn transition(&self, id: TransitionId) -> &TransitionSpans {
        &self.transitions[id.index()]
    }

    /// The spans of a step.
    pub fn step(&self, id: StepId) -> &StepSpans {
        &self.steps[id.index()]
    }
}

/// Spans of a state.
#[derive(Debug, Clone, Default)]
pub struct StateSpans {
    /// Its name.
    pub name: Span,
    /// The whole, with its body.
    pub whole: Span,
    /// Its `enter` blocks that have actions.
    pub entry: Vec<Span>,
    /// Target of its `initial` line, if it has one.
    pub initial: Option<Span>,
    /// Its limit of model calls, if it has one.
    pub calls: Option<Span>,
    /// Its limit of cost, if it has one.
    pub cost: Option<Span>,
    /// Its limit of turns, if it has one.
    pub turns: Option<Span>,
    /// Its limit of tokens, if it has one.
    pub tokens: Option<Span>,
    /// Its limit of time, if it has one.
    pub time: Option<Span>,
    /// The chart's limit of calls per turn, if it has one.
    pub per_turn: Option<Span>,
}

/// Spans of a line.
#[derive(Debug, Clone, Default)]
pub struct TransitionSpans {
    /// The whole line.
    pub whole: Span,
    /// Its first words: `on e`, `when g`, `after 5s`, `may x`; for a `from` line the `from` head is `from`.
    pub trigger: Span,
    /// The `from …` head.
    pub from: Option<Span>,
    /// The guard's expression.
    pub guard: Option<Span>,
    /// Each target.
    pub targets: Vec<Span>,
    /// The line directly after it in the same body, if there is one.
    pub next: Option<Follower>,
}

/// A line directly after another one in the same body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Follower {
    /// The word that it begins with.
    pub word: &'static str,
    /// The place of this word.
    pub span: Span,
    /// Whether it is a `when` line whose condition ends at an arrow, a block or the end of the line: then the word can be `if`.
    pub is_condition: bool,
}

/// An event that is raised or sent.
#[derive(Debug, Clone)]
pub struct PostSpans {
    /// The event.
    pub event: EventId,
    /// Who gets it.
    pub to: Receiver,
    /// Its name, where it is sent.
    pub span: Span,
}

/// Spans of a step.
#[derive(Debug, Clone, Default)]
pub struct StepSpans {
    /// Its name.
    pub name: Span,
    /// The whole step.
    pub whole: Span,
    /// Its `if`.
    pub guard: Option<Span>,
    /// Its prompt.
    pub prompt: Option<Span>,
    /// Each part of the prompt; a placeholder with its braces.
    pub prompt_parts: Vec<Span>,
    /// How often it may call its tools, if it says so.
    pub tool_calls: Option<Span>,
    /// The list of its `each`.
    pub list: Option<Span>,
    /// How many elements it takes at most, if it says so.
    pub up_to: Option<Span>,
    /// The name of the chart that a `run` step runs, at its declaration.
    pub child: Option<Span>,
    /// `doubt retry`.
    pub doubt_retry: Option<Span>,
}

impl StateSpans {
    /// Keeps where a limit is written.
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
