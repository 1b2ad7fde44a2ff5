//! The command `chartc tools check`.

use super::{Which, with_pool};
use crate::cli::Exit;
use crate::cli::files::Root;
use crate::cli::output::{StyledText, complain, print, print_json};
use crate::cli::pick;
use crate::cli::servers::{Found, found, json, write_findings};
use chartc_check::lower::Lowered;
use chartc_core::model::Chart;
use chartc_text::diagnostic::Severity;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

pub(super) fn run(file: &str, tools: &Path, root: &Root, is_json: bool) -> miette::Result<Exit> {
    let done = pick::check(file, root, 0)?;
    let has_errors = done.diagnostics.iter().any(|found| found.severity == Severity::Error);
    if has_errors || done.lowered.is_empty() {
        return Ok(pick::refuse(file, &done));
    }
    let lowered: Vec<&Lowered> = done.lowered.iter().map(AsRef::as_ref).collect();
    let charts: Vec<&Chart> = lowered.iter().map(|one| &one.chart).collect();
    let names: BTreeSet<&str> =
        charts.iter().flat_map(|chart| &chart.tools).map(|tool| tool.name.as_str()).collect();
    with_pool(tools, &Which::Charts(&charts), |pool| {
        let all = found(pool, &lowered, &done.sources);
        if is_json {
            let findings: Vec<Value> = all.iter().map(json).collect();
            let told = json!({"version": 1, "ok": all.is_empty(), "tools": names.len(), "findings": findings});
            print_json(&format!("{told:#}\n"))?;
        } else {
            for server in pool.servers() {
                for fault in server.faults {
                    complain(format!("warning: server `{}`: {fault}", server.name));
                }
            }
            print(&told(&all, names.len()))?;
        }
        Ok(if all.is_empty() { Exit::Clean } else { Exit::Findings })
    })
}

fn told(all: &[Found], tools: usize) -> StyledText {
    let mut text = StyledText::default();
    write_findings(all, &mut text);
    let tools = if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") };
    text.line(match all.len() {
        0 => format!("no findings in {tools}"),
        1 => format!("1 finding in {tools}"),
        count => format!("{count} findings in {tools}"),
    });
    text
}
