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

/// The reason for the failure of a tool call that a person refused.
pub const REFUSED: &str = "refused by a person";

/// A generated machine, with the enums of its chart's states and events.
pub trait Typed: Machine {
    /// A state of the chart; its `Display` is the dotted path.
    type State: Copy + Ord + core::fmt::Debug + core::fmt::Display + 'static;

    /// An event of the chart with its data. Uninhabited if the chart has no events.
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

/// A host without functions: every call fails.
impl Host for () {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Err(alloc::format!("there is no function `{function}`"))
    }
}

/// An option as offered by a question.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Offer {
    /// The option; for a tool, that of its `may call` transition.
    pub choice: ChoiceId,
    /// The tool, if the option is a tool call.
    pub tool: Option<ToolId>,
    /// The text with which the model chooses the option.
    pub name: Cow<'static, str>,
    /// The description for the model.
    pub text: Cow<'static, str>,
    /// The names of its arguments, with their types as written in a chart.
    pub arguments: Vec<(Cow<'static, str>, Cow<'static, str>)>,
}

impl Offer {
    /// Stands for the option of a tool that no `may call` transition permits: a tool in the `tools` of an `llm` step.
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
    /// The JSON Schema of the result; empty if the machine does not know it.
    pub result: String,
}

/// An event that a chart has sent to another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Post {
    /// The event, by its id in the sender's chart.
    pub event: EventId,
    /// The chart that receives the event.
    pub to: Receiver,
    /// The data of the event, in declared order.
    pub payload: Vec<Value>,
}

/// A message of the program for the trace, in addition to the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The subject of the note.
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

/// The maximum number of notes that a machine keeps, in case the host never takes them.
const NOTES_KEPT: usize = 10_000;

/// Adds a note, unless the maximum is reached. The note after the last one says that further notes were dropped.
pub fn note(notes: &mut Vec<Note>, note: Note) {
    if notes.len() < NOTES_KEPT {
        notes.push(note);
    } else if notes.len() == NOTES_KEPT {
        // Said once, as the last note.
        notes.push(String::from("further notes were dropped: nobody takes them").into());
    }
}

/// The text of the placeholder `{options}`: a line `- name(argument: Type): text` for each option.
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

/// The description of a tool for the model, if its transition has none: the tool's documentation on one line.
pub fn summary(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A running chart. Inputs go in; effects and records come out through the [`Sink`], and there are no other effects. Interpreted and
/// generated machines behave alike.
///
/// ```
/// use chartc_core::host::Machine;
/// use chartc_core::interpreter::Interpreter;
/// use chartc_core::machine::{Input, Receipt};
/// use chartc_core::model::Chart;
/// use chartc_core::plan::Plan;
///
/// let chart = Chart::empty("Idle");
/// let plan = Plan::new(&std::sync::Arc::new(chart));
/// let mut machine = Interpreter::new(&plan, (), []).expect("it has no params");
/// assert_eq!(machine.handle(Input::Start, 0, &mut ()), Ok(Receipt::Handled));
/// assert_eq!(machine.handle(Input::Turn, 5, &mut ()), Ok(Receipt::Handled));
/// assert!(!machine.is_walking());
/// ```
pub trait Machine {
    /// The tables of the chart, with its names and structure.
    fn tables(&self) -> &Tables;

    /// The limits of a state, including those that are computed from params.
    fn limits(&self, state: StateId) -> LimitsRow {
        self.tables().states[state.index()].limits
    }

    /// Handles one input. Event payloads are the fields in declared order.
    ///
    /// # Errors
    /// The payload does not fit its declared types. Nothing has changed then.
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

    /// The JSON Schema of a step's answer; empty for an action object, or if the machine does not know it.
    fn answer_schema(&self, _step: StepId) -> String {
        String::new()
    }

    /// The JSON Schema of an option's arguments, which is an object; empty without arguments, or if the machine does not know it.
    fn argument_schema(&self, _choice: ChoiceId) -> String {
        String::new()
    }

    /// The JSON Schema of a tool's arguments, which is an object; empty without arguments, or if the machine does not know it.
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

    /// The sent events that are not delivered yet, in the order of their delivery, then the deferred ones.
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

    /// Takes the notes out of the machine: reasons of faults, `log` texts, host calls.
    fn take_notes(&mut self) -> Vec<Note>;

    /// Creates the machine of a started `run` step, without starting it. This machine owns it until [`Machine::end_child`]; see
    /// [`crate::family`] for how it runs.
    ///
    /// # Errors
    /// Params that cannot be computed, are missing or out of range; a chart that does not exist.
    fn begin_child(&mut self, _key: StepKey) -> Result<(), Mismatch> {
        Err(Mismatch(String::from("this machine cannot run other charts")))
    }

    /// The keys of the `run` steps that have machines, in the order of their creation.
    fn children(&self) -> Vec<StepKey> {
        Vec::new()
    }

    /// The machine of a `run` step, read-only.
    fn child(&self, _key: StepKey) -> Option<&dyn Machine> {
        None
    }

    /// Calls `act` with the machine of each `run` step, in the order of creation.
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

    /// Replaces the state by that of a machine of the same chart, interpreted or generated. The machines of this one's children are
    /// dropped, and not restored; [`crate::family::Family::load`] restores them, too.
    ///
    /// # Errors
    /// The state belongs to another chart, to a version that lacks what the run needs, or is damaged.
    fn load(&mut self, _saved: &Saved) -> Result<(), Unfit> {
        Err(Unfit::Data("this machine cannot be saved".into()))
    }

    /// Creates the machine of a `run` step that was under way in a saved run. The caller then loads its state.
    ///
    /// # Errors
    /// The step does not run the chart of `saved`.
    fn place_child(&mut self, _key: StepKey, saved: &Saved) -> Result<(), Unfit> {
        Err(Unfit::OtherChart(saved.chart().into()))
    }
}
