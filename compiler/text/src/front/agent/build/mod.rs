//! Builds a chart from an [`Agent`].
//!
//! The problem: in an `agent.yaml`, names need no declaration, steps run in the order of a list, and the state machine stands beside
//! them. A chart declares every name, and its steps run in the order of the text. The idea: parse all code once (`prepare`), derive who
//! sets each name from the reads and writes in the order of the walk (`events`, `names`), and then write states, steps and declarations
//! so that the order of the list is kept (`order`, `chart`). For example:
//!
//! ```text
//! states: [look, rest]   initial_state: look
//! steps:  - {name: count, type: code, code: "n = n + 1", in_state: look}
//!         - {name: act, type: llm, prompt: "Seen {n}. Goal: {goal}"}
//!
//! 1. events     read n, write n, read n, read goal
//! 2. names      n: a variable that code sets; goal: an input that the host supplies
//! 3. order      `count` has one state and comes first: it is placed inside `look`; `act` stays at chart level, after it
//! 4. chart      input goal, var n, state look { code count { … } }, llm act { … }, state rest
//! ```

mod chart;
mod decide;
mod declare;
mod events;
mod implicit;
mod inject;
mod invoke;
mod names;
mod order;
mod prepare;
mod query;
mod step;
mod template;

use super::definition::Agent;
use super::make::noted;
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::span::FileId;
use crate::syntax::{File, Item};

/// The syntax of an agent: one file with one chart.
pub(super) fn file(
    id: FileId,
    source: &Source,
    agent: &Agent,
    findings: &mut Vec<Diagnostic>,
) -> File {
    let (implicit, mut components);
    let workflow = match &agent.workflow {
        Some(workflow) => {
            components = Vec::new();
            workflow
        }
        None => {
            (implicit, components) = (implicit::workflow(agent), implicit::sections(agent));
            &implicit
        }
    };
    components.extend(agent.components.iter().cloned());
    components.extend(implicit::action_schema(agent, workflow));
    let work = prepare::prepare(workflow, &components, findings);
    let chart = chart::chart(source, agent, workflow, &work, findings);
    File { items: vec![noted(Item::Chart(chart), agent.span)], ..File::new(id) }
}
