//! The interface by which a host drives a machine, interpreted or generated.

use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId};
use crate::machine::{Fault, Input, Instant, Receipt, Receiver, Sink, StepKey};
use crate::saved::{Saved, Unfit};
use crate::store::Sent;
use crate::tables::{LimitsRow, Tables};
pub use crate::value::Mismatch;
use crate::value::{Map, Value};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// A generated machine, with the enums of its chart's states and events.
pub trait Typed: Machine {
    /// A state of the chart; its `Display` is the dotted path.
    type State: Copy + Ord + core::fmt::Debug + core::fmt::Display + 'static;

    /// An event with its data; an uninhabited type for a chart without events.
    type Event;

    /// Every state, in document order.
    const STATES: &'static [Self::State];

    /// The id of a state.
    fn row_of(state: Self::State) -> StateId;

    /// The name of an event, and its data by field name.
    fn data_of(event: Self::Event) -> (&'static str, Map);
}

/// The host functions of a chart by name, both `fn` and `do`. A `do` returns [`Value::None`].
pub trait Host {
    /// Calls a function.
    ///
    /// # Errors
    /// The reason of the failure: a guard counts as false, an action block ends, a declared `else` value is used instead.
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String>;
}

/// No functions.
impl Host for () {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Err(alloc::format!("there is no function `{function}`"))
    }
}

/// An option as offered by a question.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Offer {
    /// The option; for a tool its `may call` transition.
    pub choice: ChoiceId,
    /// The tool, if it is a tool.
    pub tool: Option<ToolId>,
    /// The model's answer.
    pub name: Cow<'static, str>,
    /// The description for the model.
    pub text: Cow<'static, str>,
    /// The names of its arguments, with their types as written in a chart.
    pub arguments: Vec<(Cow<'static, str>, Cow<'static, str>)>,
}

impl Offer {
    /// The option of a tool without a `may call` transition: a tool of an `llm` step.
    pub const NO_LINE: ChoiceId = ChoiceId(u32::MAX);
}

/// A tool call that a host is to make.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ToolCall {
    /// Name of the tool, dotted.
    pub tool: String,
    /// Arguments by name, in declared order.
    pub arguments: Vec<(String, Value)>,
    /// JSON Schema of the result; empty if the machine does not know it.
    pub result: String,
}

/// An event that a chart has sent to another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Post {
    /// The event, by its id in the sender's chart.
    pub event: EventId,
    /// The receiver.
    pub to: Receiver,
    /// Its data, in declared order.
    pub payload: Vec<Value>,
}

/// A message of the program for the trace, in addition to the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its subject.
    pub about: About,
    /// The text in the trace.
    pub text: String,
}

/// The subject of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// The chart's own code: the text of a `log` action, the reason of a fault.
    Chart,
    /// The current answer: why it does not fit its declared type.
    Answer,
    /// A call of the host function of this name.
    Call(String),
}

impl From<String> for Note {
    fn from(text: String) -> Self {
        Self { about: About::Chart, text }
    }
}

impl PartialEq<&str> for Note {
    fn eq(&self, text: &&str) -> bool {
        self.text == *text
    }
}

/// The bound on notes, in case nobody takes them.
const NOTES_KEPT: usize = 10_000;

/// Adds a note, unless there are too many.
pub fn note(notes: &mut Vec<Note>, note: Note) {
    if notes.len() < NOTES_KEPT {
        notes.push(note);
    } else if notes.len() == NOTES_KEPT {
        notes.push(String::from("further notes were dropped: nobody takes them").into());
    }
}

/// The text of `{options}`: a line `- name(argument: Type): text` for each option.
pub fn listed(offers: &[Offer]) -> String {
    let most = |offer: &Offer| {
        let arguments = offer.arguments.iter().map(|(name, ty)| name.len() + ty.len() + 4);
        offer.name.len() + offer.text.len() + arguments.sum::<usize>() + 7
    };
    let mut lines = String::with_capacity(offers.iter().map(most).sum());
    for offer in offers {
        if !lines.is_empty() {
            lines.push('\n');
        }
        lines.push_str("- ");
        lines.push_str(&offer.name);
        let mut before = "(";
        for (name, ty) in &offer.arguments {
            lines.extend([before, name, ": ", ty]);
            before = ", ";
        }
        if !offer.arguments.is_empty() {
            lines.push(')');
        }
        if !offer.text.is_empty() {
            lines.extend([": ", &offer.text]);
        }
    }
    lines
}

/// The description for the model of a tool whose transition has none: its documentation on one line.
pub fn summary(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A running chart: inputs go in, effects and records come out, and it has no other effect. Interpreted and generated machines behave
/// alike.
///
/// ```
/// use chartc_core::host::Machine;
/// use chartc_core::interpreter::Interpreter;
/// use chartc_core::machine::{Input, Receipt};
/// use chartc_core::model::Chart;
/// use chartc_core::plan::Plan;
///
/// let chart = Chart::empty("Idle");
/// let plan = Plan::new(&chart);
/// let mut machine = Interpreter::new(&plan, (), []).expect("it has no params");
/// assert_eq!(machine.handle(Input::Start, 0, &mut ()), Ok(Receipt::Handled));
/// assert_eq!(machine.handle(Input::Turn, 5, &mut ()), Ok(Receipt::Handled));
/// assert!(!machine.is_walking());
/// ```
pub trait Machine {
    /// The tables, with names and structure.
    fn tables(&self) -> &Tables<'_>;

    /// The tables, if they are `static`, as those of generated machines are. Names are then borrowed from them instead of copied.
    fn fixed_tables(&self) -> Option<&'static Tables<'static>> {
        None
    }

    /// The limits of a state, those included that are computed from params.
    fn limits(&self, state: StateId) -> LimitsRow {
        self.tables().states[state.index()].limits
    }

    /// Handles one input. Event payloads are the fields in declared order.
    ///
    /// # Errors
    /// A payload that does not fit its declared types; nothing has changed then.
    fn handle(
        &mut self,
        input: Input<Vec<Value>>,
        now: Instant,
        sink: &mut dyn Sink,
    ) -> Result<Receipt, Mismatch>;

    /// Sets an `input`. The initial values of vars are computed when `Start` is handled, and see inputs set before.
    ///
    /// # Errors
    /// An unknown name, or a value that does not fit.
    fn set_input(&mut self, name: &str, value: Value) -> Result<(), Mismatch>;

    /// The rendered prompt of a started step: components, placeholders, and for an `ask` its options.
    ///
    /// # Errors
    /// A placeholder that cannot be rendered.
    fn prompt(&mut self, key: StepKey) -> Result<String, Fault>;

    /// The options of a question that are enabled now, innermost state first, document order; of an `llm` step the tools that its model
    /// may still call.
    fn options(&mut self, key: StepKey) -> Vec<Offer>;

    /// JSON Schema of what a step must answer; empty for an action object, or where the machine cannot tell.
    fn answer_schema(&self, _step: StepId) -> String {
        String::new()
    }

    /// JSON Schema of an option's arguments, an object; empty where there are none or the machine cannot tell.
    fn argument_schema(&self, _choice: ChoiceId) -> String {
        String::new()
    }

    /// JSON Schema of a tool's arguments, an object; empty without arguments, or if the machine does not know it.
    fn tool_schema(&self, _tool: ToolId) -> String {
        String::new()
    }

    /// The tool call of a started `call` step, or the one that the answer to an open question has begun.
    ///
    /// # Errors
    /// An argument that cannot be computed, or no such call.
    fn call(&mut self, key: StepKey) -> Result<ToolCall, Fault>;

    /// Whether a state is active.
    fn is_active(&self, state: StateId) -> bool;

    /// The host events that an active state would handle now, in ascending order.
    fn enabled_events(&mut self) -> Vec<EventId>;

    /// The earliest time at which an `Input::Tick` has an effect.
    fn next_deadline(&self) -> Option<Instant>;

    /// The undelivered sent events in the order of their delivery.
    fn sends(&self) -> Vec<Sent> {
        Vec::new()
    }

    /// Takes the events that the last input has sent to other charts, in order.
    fn take_posted(&mut self) -> Vec<Post> {
        Vec::new()
    }

    /// Whether a turn is being walked.
    fn is_walking(&self) -> bool;

    /// Params, inputs and vars with their present values, in declared order.
    fn variables(&self) -> Vec<(String, Value)>;

    /// The arguments of the final state that ended the run, in declared order.
    fn result(&self) -> Vec<(String, Value)>;

    /// Takes the notes: reasons of faults, `log` texts, host calls.
    fn take_notes(&mut self) -> Vec<Note>;

    /// Makes the machine of a started `run` step, not started yet. It belongs to this one until [`Machine::end_child`];
    /// [`crate::family`] says what is done with it.
    ///
    /// # Errors
    /// Params that cannot be computed, are missing or out of range; no such chart.
    fn begin_child(&mut self, _key: StepKey) -> Result<(), Mismatch> {
        Err(Mismatch(String::from("this machine cannot run other charts")))
    }

    /// The `run` steps with machines, in the order of their creation.
    fn children(&self) -> Vec<StepKey> {
        Vec::new()
    }

    /// Read access to the machine of a `run` step.
    fn child(&self, _key: StepKey) -> Option<&dyn Machine> {
        None
    }

    /// Calls `act` with the machine of each `run` step, in the order of their creation.
    fn each_child(&self, act: &mut dyn FnMut(StepKey, &dyn Machine)) {
        for key in self.children() {
            if let Some(child) = self.child(key) {
                act(key, child);
            }
        }
    }

    /// Calls `act` with the machine of a `run` step, which borrows this machine's host meanwhile. Returns whether the machine exists.
    fn with_child(&mut self, _key: StepKey, _act: &mut dyn FnMut(&mut dyn Machine)) -> bool {
        false
    }

    /// Drops the machine of a `run` step.
    fn end_child(&mut self, _key: StepKey) {}

    /// The state of the machine without those of its children; `None` for a machine that cannot be saved.
    fn save(&self) -> Option<Saved> {
        None
    }

    /// Takes over the state of a machine of the same chart, interpreted or generated, without its children; its own are dropped.
    /// [`crate::family::Family::load`] takes over a whole family.
    ///
    /// # Errors
    /// It is of another chart, of a version that lacks what the run needs, or damaged.
    fn load(&mut self, _saved: &Saved) -> Result<(), Unfit> {
        Err(Unfit::Data("this machine cannot be saved".into()))
    }

    /// Makes the machine of a `run` step that was under way. Its state is still to be taken over.
    ///
    /// # Errors
    /// No such step runs this chart.
    fn place_child(&mut self, _key: StepKey, saved: &Saved) -> Result<(), Unfit> {
        Err(Unfit::OtherChart(saved.chart().into()))
    }
}
