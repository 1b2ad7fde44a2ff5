//! The elements of SCXML, with their attributes and the elements that are allowed in them. The reader checks documents with these tables,
//! and the editor completes from them.

use Holds::{
    Event, Expression, Heard, Inside, Location, New, Param, Receiver, SendId, States, Text,
    Variables, Words,
};

/// An element.
#[derive(Debug, PartialEq, Eq)]
pub struct Tag {
    /// The name, without a prefix.
    pub name: &'static str,
    /// The purpose of the element.
    pub doc: &'static str,
    /// The attributes, the most important first.
    pub attributes: &'static [Attribute],
    /// The elements that it may contain, the most usual first.
    pub inside: &'static [&'static str],
    /// Whether it is usually empty.
    pub is_short: bool,
}

/// An attribute of an element.
#[derive(Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The name.
    pub name: &'static str,
    /// The kind of its value.
    pub holds: Holds,
    /// How often elements have it.
    pub need: Need,
    /// The purpose of the attribute.
    pub doc: &'static str,
}

/// The kind of an attribute's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A name that the attribute declares.
    New,
    /// One or more ids of states.
    States,
    /// One or more ids of states inside the element.
    Inside,
    /// One or more descriptors of the events that trigger a transition.
    Heard,
    /// One event.
    Event,
    /// An expression of ECMAScript.
    Expression,
    /// A variable, or a part of one.
    Location,
    /// Names of variables.
    Variables,
    /// The name of data that is sent or passed.
    Param,
    /// The id of a `<send>`.
    SendId,
    /// The receiver of an event.
    Receiver,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A text: a label, a path, a time.
    Text,
}

/// How often elements have an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Always.
    Required,
    /// Usually.
    Usual,
    /// Occasionally.
    Rare,
}

const fn must(name: &'static str, holds: Holds, doc: &'static str) -> Attribute {
    Attribute { name, holds, need: Need::Required, doc }
}

const fn has(name: &'static str, holds: Holds, doc: &'static str) -> Attribute {
    Attribute { name, holds, need: Need::Usual, doc }
}

const fn may(name: &'static str, holds: Holds, doc: &'static str) -> Attribute {
    Attribute { name, holds, need: Need::Rare, doc }
}

/// Creates an element that usually has contents.
const fn tag(
    name: &'static str,
    doc: &'static str,
    attributes: &'static [Attribute],
    inside: &'static [&'static str],
) -> Tag {
    Tag { name, doc, attributes, inside, is_short: false }
}

/// Creates an element that is usually empty.
const fn short(
    name: &'static str,
    doc: &'static str,
    attributes: &'static [Attribute],
    inside: &'static [&'static str],
) -> Tag {
    Tag { name, doc, attributes, inside, is_short: true }
}

/// The elements of executable content.
pub(crate) const EXECUTABLE: &[&str] =
    &["assign", "raise", "send", "if", "log", "foreach", "script", "cancel"];

const IN_IF: &[&str] =
    &["assign", "raise", "send", "if", "elseif", "else", "log", "foreach", "script", "cancel"];

const YES: &[&str] = &["true", "false"];
const EDGES: &[&str] = &["external", "internal"];
const DEPTHS: &[&str] = &["shallow", "deep"];
const MODELS: &[&str] = &["ecmascript", "null"];
/// The types of event processors; below, those of invoked documents.
const PROCESSORS: &[&str] = &["scxml", "http://www.w3.org/TR/scxml/#SCXMLEventProcessor"];
const INVOKED: &[&str] = &["scxml", "http://www.w3.org/TR/scxml/"];

const COND: &str = "Whether it is taken: an expression. One that fails counts as false.";
const COMPUTED: &str = "An expression in its place. chartc takes only a text in quotes.";
const NAMELIST: &str = "Variables that go with it, under their own names.";
const STORED: &str = "Where its id is stored.";

/// All elements.
pub const TAGS: &[Tag] = &[
    tag(
        "scxml",
        "The document: a chart with its states, its data and its first state.",
        &[
            must("xmlns", Words(&[super::xml::SCXML]), "The namespace of SCXML."),
            must("version", Words(&["1.0"]), "Always `1.0`."),
            has("initial", Inside, "What is entered first. Without it, the first state."),
            has("name", New, "The name of the chart, and the value of `_name`."),
            may("datamodel", Words(MODELS), "The language of expressions: `ecmascript` or `null`."),
            may("binding", Words(&["early"]), "When data get their values: `early`, at the start."),
        ],
        // Transitions and blocks of the whole chart are an extension, which other processors also support.
        &[
            "state",
            "parallel",
            "final",
            "datamodel",
            "script",
            "initial",
            "transition",
            "onentry",
            "onexit",
            "history",
        ],
    ),
    tag(
        "state",
        "A state. With states in it, one of them is active while it is.",
        &[
            has("id", New, "Its name, unique in the document."),
            may("initial", Inside, "What is entered first. Without it, the first state in it."),
        ],
        &[
            "transition",
            "onentry",
            "onexit",
            "state",
            "initial",
            "parallel",
            "final",
            "history",
            "invoke",
            "datamodel",
        ],
    ),
    tag(
        "parallel",
        "A state whose states are all active while it is.",
        &[has("id", New, "Its name, unique in the document.")],
        &[
            "state",
            "transition",
            "onentry",
            "onexit",
            "parallel",
            "history",
            "invoke",
            "datamodel",
            "final",
        ],
    ),
    short(
        "transition",
        "Leads to other states, or only acts. Without `event` it is taken as soon as its condition holds.",
        &[
            has("event", Heard, "What it waits for: names of events or their beginnings, or `*`."),
            has("target", States, "What is entered. Without it, no state is left."),
            may("cond", Expression, COND),
            may("type", Words(EDGES), "`internal` does not leave the state that it leads into."),
        ],
        EXECUTABLE,
    ),
    tag("initial", "What a state enters first, with actions.", &[], &["transition"]),
    tag(
        "final",
        "An end: of its parent, or of the document.",
        &[has("id", New, "Its name, unique in the document.")],
        &["donedata", "onentry", "onexit"],
    ),
    tag("onentry", "Executed when its state is entered.", &[], EXECUTABLE),
    tag("onexit", "Executed when its state is left.", &[], EXECUTABLE),
    tag(
        "history",
        "Stands for what was active when its parent was left. Its transition says what is entered before that.",
        &[
            has("id", New, "Its name, unique in the document."),
            has(
                "type",
                Words(DEPTHS),
                "`shallow` for the states of its parent, `deep` for all below.",
            ),
        ],
        &["transition"],
    ),
    short(
        "raise",
        "Puts an event before all that come from outside.",
        &[must("event", Event, "The name of the event.")],
        &[],
    ),
    tag(
        "if",
        "Executes one of its branches.",
        &[must("cond", Expression, "Whether the first branch is executed: an expression.")],
        IN_IF,
    ),
    short(
        "elseif",
        "Begins another branch of `<if>`.",
        &[must("cond", Expression, "Whether this branch is executed, if none before was.")],
        &[],
    ),
    short("else", "Begins the branch of `<if>` for all other cases.", &[], &[]),
    tag(
        "foreach",
        "Executes its contents for each item of a list.",
        &[
            must("array", Expression, "The list."),
            must("item", New, "The variable that holds the item."),
            may("index", New, "The variable that holds its number, from 0."),
        ],
        EXECUTABLE,
    ),
    short(
        "log",
        "Writes a line into the trace.",
        &[
            has("label", Text, "What stands before it."),
            has("expr", Expression, "What is written: an expression."),
        ],
        &[],
    ),
    tag("datamodel", "The variables of the document.", &[], &["data"]),
    short(
        "data",
        "A variable. Its type follows from what is assigned to it.",
        &[
            must("id", New, "Its name."),
            has(
                "expr",
                Expression,
                "Its first value. Without it, and without a text, it has none.",
            ),
            may("src", Text, "A file with its value, which chartc does not read."),
        ],
        &[],
    ),
    short(
        "assign",
        "Sets a variable, or a part of one.",
        &[
            must("location", Location, "What is set."),
            has("expr", Expression, "The value: an expression."),
        ],
        &[],
    ),
    tag(
        "donedata",
        "What goes with `done.state` of this end, or is the result of the document.",
        &[],
        &["param", "content"],
    ),
    tag(
        "content",
        "Data, or the document that is invoked.",
        &[may("expr", Expression, "The data as an expression.")],
        &["scxml"],
    ),
    short(
        "param",
        "A part of the data, by name.",
        &[
            must("name", Param, "Its name."),
            has("expr", Expression, "Its value: an expression."),
            may("location", Location, "Its value: a variable."),
        ],
        &[],
    ),
    tag(
        "script",
        "Statements: assignments, `if`, `for … of`, `console.log`.",
        &[may("src", Text, "A `.js` file with the statements.")],
        &[],
    ),
    short(
        "send",
        "Sends an event, at once or after a delay.",
        &[
            has("event", Event, "The name of the event."),
            may("delay", Text, "How long it waits: `10ms`, `1.5s`, `2m`, `1h`."),
            may("target", Receiver, "Who receives it. Without it, the document itself."),
            may("id", New, "Its name, for `<cancel>`."),
            may("namelist", Variables, NAMELIST),
            may("delayexpr", Expression, "How long it waits: an expression."),
            may("type", Words(PROCESSORS), "How it is delivered. chartc knows SCXML's own way."),
            may("idlocation", Location, STORED),
            may("eventexpr", Expression, COMPUTED),
            may("targetexpr", Expression, COMPUTED),
            may("typeexpr", Expression, COMPUTED),
        ],
        &["param", "content"],
    ),
    short(
        "cancel",
        "Takes back a sent event that still waits.",
        &[
            has("sendid", SendId, "The id of the `<send>`."),
            may("sendidexpr", Expression, COMPUTED),
        ],
        &[],
    ),
    tag(
        "invoke",
        "Runs another document while its state is active. chartc takes one that stands in its `<content>`.",
        &[
            has("type", Words(INVOKED), "What is invoked: a document of SCXML."),
            has("id", New, "Its name, for `done.invoke` and `#_` targets."),
            may("namelist", Variables, NAMELIST),
            may("autoforward", Words(YES), "Whether it also gets the events of this document."),
            may("idlocation", Location, STORED),
            may("src", Text, "An address, which chartc does not load."),
            may("srcexpr", Expression, "An address, which chartc does not load."),
            may("typeexpr", Expression, COMPUTED),
        ],
        &["param", "content", "finalize"],
    ),
    tag(
        "finalize",
        "Not translated: executed before a transition on an event of the invoked document.",
        &[],
        EXECUTABLE,
    ),
];

/// Finds an element by name.
pub fn named(name: &str) -> Option<&'static Tag> {
    TAGS.iter().find(|tag| tag.name == name)
}

impl Tag {
    /// Finds an attribute of this element by name.
    pub fn attribute(&self, name: &str) -> Option<&'static Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}
