//! Builds a chart from an [`Agent`].

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
