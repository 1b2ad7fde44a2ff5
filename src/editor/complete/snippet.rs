//! Snippets for common constructs.

use super::CompletionKind;
use super::offer::Offer;
use chartc_text::front::chart::completion_context::{BodyKind, Next};

/// The keyword that the construct begins with, the label, the snippet, and its meaning.
type SnippetRow = (&'static str, &'static str, &'static str, &'static str);

const OUTSIDE: &[SnippetRow] = &[
    (
        "chart",
        "chart",
        "chart ${1:Name} {\n  event ${2:go}\n\n  initial ${3:idle}\n  state ${3:idle} {\n    on ${2:go} -> ${4:done}\n  }\n  final ${4:done}\n}",
        "a chart with two states",
    ),
    (
        "test",
        "test",
        "test \"${1:what happens}\" for ${2:Chart} {\n  send ${3:event}\n  expect at ${4:state}\n}",
        "a test",
    ),
    ("tool", "tool", "tool ${1:name}(${2:query}: Text) -> ${3:Text}", "a tool"),
    ("client", "client", "client ${1:name} {\n  model \"${2:provider:model}\"\n}", "a client"),
    ("enum", "enum", "enum ${1:Name} { ${2:a} ${3:b} }", "an enum"),
    ("type", "type", "type ${1:Name} { ${2:field}: ${3:Text} }", "a record"),
];

const INSIDE: &[SnippetRow] = &[
    ("state", "state", "state ${1:name} {\n  $0\n}", "a state"),
    (
        "parallel",
        "parallel",
        "parallel ${1:name} {\n  state ${2:one} {\n    $0\n  }\n  state ${3:other} {\n  }\n}",
        "states that are active together",
    ),
    ("final", "final with a status", "final ${1:name} : ${2:ok}", "an end"),
    (
        "ask",
        "ask with options",
        "ask ${1:next} on turn else stay {\n  prompt \"\"\"\n    ${2:What now?}\n    {options\\}\n    \"\"\"\n}\nmay ${3:one} \"${4:when}\" -> ${5:state}\nmay ${6:other} \"${7:when}\" -> ${8:state}",
        "the model chooses among options",
    ),
    (
        "llm",
        "llm step",
        "llm ${1:name} {\n  prompt \"\"\"\n    ${2:What to do.}\n    \"\"\"\n  returns ${3:Text} into ${4:variable}\n} -> ${5:state}",
        "a model call with an answer",
    ),
    (
        "call",
        "call step",
        "call ${1:name} ${2:tool}(${3}) {\n  done -> ${4:state}\n  error -> ${5:state}\n}",
        "a tool call",
    ),
    (
        "human",
        "human step",
        "human ${1:name} \"${2:Question?}\" {\n  returns ${3:Text}\n  done -> ${4:state}\n}",
        "a question to a person",
    ),
    (
        "run",
        "run step",
        "run ${1:name} ${2:Chart}(${3}) {\n  done -> ${4:state}\n  error -> ${5:state}\n}",
        "another chart",
    ),
    ("on", "on with actions", "on ${1:event} -> ${2:state} { $0 }", "a line on an event"),
    ("may", "may with a text", "may ${1:option} \"${2:when}\" -> ${3:state}", "an option"),
    ("after", "after a time", "after ${1:30s} -> ${2:state}", "a deadline"),
    ("when", "when with a target", "when ${1:condition} -> ${2:state}", "a line on data"),
];

/// The snippets whose keyword the grammar accepts, where an item may begin.
pub(super) fn offers(place: BodyKind, next: &Next) -> Vec<Offer> {
    let rows: &[SnippetRow] = match place {
        BodyKind::Top => OUTSIDE,
        BodyKind::Chart | BodyKind::State | BodyKind::From => INSIDE,
        _ => &[],
    };
    rows.iter()
        .filter(|(word, ..)| next.words.contains(word))
        .map(|(_, label, text, meaning)| {
            Offer::new(*label, CompletionKind::Snippet, 60)
                .detail(*meaning)
                .snippet((*text).to_owned())
        })
        .collect()
}
