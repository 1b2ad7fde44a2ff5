//! Reports import cycles.

use super::Imports;
use crate::diagnostic::Diagnostic;
use crate::rules::import_cycle;
use crate::source::Sources;
use crate::span::{FileId, Span};
use std::collections::BTreeSet;

/// Reports each import that closes a cycle. Uses an explicit stack, as chains may be long.
pub(super) fn report(imports: &Imports, sources: &Sources, diagnostics: &mut Vec<Diagnostic>) {
    let mut done: BTreeSet<FileId> = BTreeSet::new();
    for start in imports.keys() {
        // The path from `start`: each file, with the index of the next of its imports to visit.
        let mut way = if done.contains(start) { Vec::new() } else { vec![(*start, 0)] };
        let mut on_way = BTreeSet::from([*start]);
        while let Some((file, at)) = way.last_mut() {
            let (file, index) = (*file, *at);
            *at += 1;
            match imports.get(&file).and_then(|all| all.get(index)) {
                Some((next, span)) if on_way.contains(next) => {
                    let first = way.iter().position(|(id, _)| id == next).unwrap_or(0);
                    let cycle = &way[first..];
                    diagnostics.push(finding(cycle, *next, *span, imports, sources));
                }
                Some((next, _)) if !done.contains(next) => {
                    on_way.insert(*next);
                    way.push((*next, 0));
                }
                Some(_) => {}
                None => {
                    done.insert(file);
                    on_way.remove(&file);
                    way.pop();
                }
            }
        }
    }
}

fn finding(
    cycle: &[(FileId, usize)],
    next: FileId,
    span: Span,
    imports: &Imports,
    sources: &Sources,
) -> Diagnostic {
    let names: Vec<&str> = cycle
        .iter()
        .map(|(id, _)| *id)
        .chain([next])
        .map(|id| sources.get(id).name.as_str())
        .collect();
    let mut found = import_cycle::cycle(&names, span);
    // The other imports of the cycle, which lead back to this one.
    for (id, at) in cycle.iter().take(cycle.len() - 1) {
        if let Some((_, back)) = imports.get(id).and_then(|all| all.get(at - 1)) {
            found = found.related(*back, "and this import leads back");
        }
    }
    found
}
