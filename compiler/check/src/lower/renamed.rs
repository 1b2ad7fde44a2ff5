//! `renamed_from`: the earlier names of states, steps and variables, by which saved runs continue.

use super::context::Cx;
use chartc_core::arena::StateId;
use chartc_core::model::{Rename, Renamed};
use chartc_text::rules::faulty_rename;
use chartc_text::span::{Ident, Span};
use std::collections::BTreeMap;

/// An earlier name as it is written.
pub(super) struct Written<'s> {
    what: Renamed,
    /// The current name.
    now: &'s str,
    old: &'s Ident,
}

/// Stores the earlier names of a declaration until all names are known.
pub(super) fn note<'s>(cx: &mut Cx<'s>, what: Renamed, now: &'s str, names: &'s [Ident]) {
    cx.renamed.extend(names.iter().map(|old| Written { what, now, old }));
}

/// Adds the earlier names to the model. Each must be free now, and be the earlier name of one thing only.
pub(super) fn close(cx: &mut Cx<'_>) {
    let mut seen: BTreeMap<(u8, Option<StateId>, &str), Span> = BTreeMap::new();
    for Written { what, now, old } in std::mem::take(&mut cx.renamed) {
        let name = old.node.as_str();
        let (kind, word, parent, there) = match what {
            Renamed::State(id) => {
                let parent = cx.chart.state(id).parent;
                let there = parent.and_then(|parent| cx.children.get(&(parent, name)).copied());
                (0, "state", parent, there.map(|id| cx.map.states[id.index()].name))
            }
            Renamed::Step(_) => (1, "step", None, cx.names.steps.get(name).map(|(_, span)| *span)),
            Renamed::Variable(_) => {
                (2, "variable", None, cx.names.variables.get(name).map(|(_, span)| *span))
            }
        };
        let finding = if name == now {
            Some(faulty_rename::itself(word, name, old.span))
        } else if let Some(there) = there {
            Some(faulty_rename::still_there(word, name, old.span, there))
        } else {
            let first = seen.get(&(kind, parent, name));
            first.map(|first| faulty_rename::twice(word, name, old.span, *first))
        };
        if let Some(finding) = finding {
            cx.report(finding);
            continue;
        }
        seen.insert((kind, parent, name), old.span);
        cx.chart.renames.push(Rename { what, old: name.to_owned() });
    }
}
