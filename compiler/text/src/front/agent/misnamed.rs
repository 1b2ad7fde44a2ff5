//! Corrects a state whose name is misspelt in the list of states and correct everywhere else.

use super::definition::Agent;
use crate::diagnostic::Diagnostic;
use crate::rules::unknown_name;
use crate::source::Source;
use crate::span::{Ident, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Gives the state the name that is used, so that only the list gets a finding, and not each use.
pub(super) fn mend(agent: &mut Agent, source: &Source, findings: &mut Vec<Diagnostic>) {
    let Some(workflow) = &mut agent.workflow else { return };
    let Some(machine) = &mut workflow.machine else { return };
    let rows = machine.transitions.iter().flat_map(|row| row.from.iter().chain([&row.to]));
    let steps = workflow.steps.iter().flat_map(|step| {
        let mapped = step.map.iter().flatten().map(|(_, state)| state);
        step.states.iter().flatten().chain(&step.to).chain(mapped)
    });
    let mut uses: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
    for name in machine.initial.iter().chain(rows).chain(steps) {
        uses.entry(&name.node).or_default().push(name.span);
    }
    let declared: BTreeSet<&str> = machine.states.iter().map(|state| &state.node[..]).collect();
    let mut renamed: Vec<(usize, String)> = Vec::new();
    for (name, places) in &uses {
        // A name that is used once is rather misspelt there.
        if declared.contains(name) || places.len() < 2 {
            continue;
        }
        let slip = |(_, state): &(usize, &Ident)| {
            let is_near = strsim::osa_distance(&state.node, name) == 1 && name.len() > 2;
            is_near && !uses.contains_key(&state.node[..]) && is_named_once(source, &state.node)
        };
        let mut slips = machine.states.iter().enumerate().filter(slip);
        let (Some((nth, state)), None) = (slips.next(), slips.next()) else { continue };
        if renamed.iter().all(|(other, _)| *other != nth) {
            findings.push(unknown_name::misnamed(&state.node, state.span, name, places));
            renamed.push((nth, (*name).to_owned()));
        }
    }
    for (nth, name) in renamed {
        machine.states[nth].node = name;
    }
}

/// Whether the name occurs only once in the text. Code and prompts may name states, too.
fn is_named_once(source: &Source, name: &str) -> bool {
    let inner = |c: char| c == '_' || c.is_alphanumeric();
    source.text.split(|c| !inner(c)).filter(|word| *word == name).count() < 2
}
