//! Formats the history in a snapshot.

use super::super::wording::trigger;
use super::tell::{number, time, way};
use crate::cli::columns::columns;
use crate::cli::output::StyledText;
use chartc_runtime::Saved;
use chartc_runtime::trace::What;

/// Formats the last transitions of a saved run, the oldest first.
pub(super) fn kept(saved: &Saved) -> StyledText {
    let chart = saved.machine().chart();
    let at = time(saved.now());
    let mut out = StyledText::default();
    let has_others = saved.history().any(|line| !line.child.is_empty());
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in saved.history() {
        let What::Taken { line: taken, held } = &line.what else { continue };
        let mut row = vec![time(line.at_ms)];
        row.extend(has_others.then(|| line.child.clone()));
        row.extend([way(taken), trigger(&taken.trigger, held)]);
        rows.push(row);
    }
    if rows.is_empty() {
        out.line(format!("{chart}: kept at {at}, with no transitions"));
        return out;
    }
    let count = number(rows.len() as u64, "transition");
    let head: &[&str] = if has_others {
        &["time", "chart", "from -> to", "taken by"]
    } else {
        &["time", "from -> to", "taken by"]
    };
    out.line(format!("{chart}: kept at {at}, with its last {count}"));
    out.line("");
    out.add(&columns(head, &rows, &[]));
    out
}
