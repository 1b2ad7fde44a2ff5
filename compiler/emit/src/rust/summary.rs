//! Writes the summary of the tables: what follows from all their rows together.

use super::tables::reacts;
use chartc_core::tables::Summary;
use std::fmt::Write;

/// Writes the facts that differ from those of a plain chart.
pub(super) fn literal(of: &Summary) -> String {
    let Summary { leaves, together, reacts: all, limits, default_actions, asks, .. } = *of;
    let Summary { entry_runs, histories, computed, .. } = *of;
    let flags = [
        ("limits", limits),
        ("default_actions", default_actions),
        ("asks", asks),
        ("entry_runs", entry_runs),
        ("histories", histories),
        ("computed", computed),
    ];
    let mut out = format!("Summary {{ leaves: {leaves}, together: {together}, ");
    if let Some(all) = reacts(all) {
        let _ = write!(out, "reacts: {all}, ");
    }
    for (flag, _) in flags.into_iter().filter(|(_, holds)| *holds) {
        let _ = write!(out, "{flag}: true, ");
    }
    out + "..Summary::PLAIN }"
}
