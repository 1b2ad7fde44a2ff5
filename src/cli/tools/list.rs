//! The command `chartc tools list`.

use super::{Which, with_pool};
use crate::cli::Exit;
use crate::cli::output::{StyledText, print, print_json};
use chartc_mcp::{Pool, ServerView, ToolView};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn run(tools: &Path, server: Option<&str>, is_json: bool) -> miette::Result<Exit> {
    let which = server.map_or(Which::All, Which::One);
    with_pool(tools, &which, |pool| {
        let servers = pool.servers();
        let is_well = servers.iter().all(|server| server.tools.is_ok());
        let others: Vec<&str> =
            if server.is_none() { pool.configuration().tools().collect() } else { Vec::new() };
        if is_json {
            let servers: Vec<Value> = servers.iter().map(json_of).collect();
            let told = json!({"version": 1, "ok": is_well, "servers": servers, "tools": others});
            print_json(&format!("{told:#}\n"))?;
        } else {
            print(&server_table(pool, &servers, &others))?;
        }
        Ok(if is_well { Exit::Clean } else { Exit::Findings })
    })
}

fn server_table(pool: &Pool, servers: &[ServerView], others: &[&str]) -> StyledText {
    let mut out = StyledText::default();
    if servers.is_empty() && others.is_empty() {
        out.line(format!("{} has no servers and no tools", pool.configuration().file()));
    }
    for server in servers {
        match &server.tools {
            Err(fault) => out.line(format!("{} ({}): {fault}", server.name, server.place)),
            Ok(tools) => {
                let count = tools.len();
                let tools_word =
                    if count == 1 { "1 tool".into() } else { format!("{count} tools") };
                out.line(format!("{} ({}): {tools_word}", server.name, server.place));
                for tool in tools {
                    out.line(format!("  {}", signature(&server.name, tool)));
                    if let Some(line) = tool.doc.lines().find(|line| !line.trim().is_empty()) {
                        out.line(format!("      {}", crate::cli::columns::cut(line.trim(), 90)));
                    }
                }
            }
        }
        for fault in &server.faults {
            out.line(format!("  warning: {fault}"));
        }
    }
    for tool in others {
        out.line(format!("{tool}: a command or an HTTP endpoint"));
    }
    out
}

/// Formats a tool as a chart would declare it, except for the names of records and enums.
fn signature(server: &str, tool: &ToolView) -> String {
    let params = tool.parameters.iter().map(|(name, ty, is_required)| {
        let mark = if *is_required || ty.ends_with('?') { "" } else { "?" };
        format!("{name}: {ty}{mark}")
    });
    let params: Vec<String> = params.collect();
    let alias =
        if tool.called == tool.name { String::new() } else { format!("  (`{}`)", tool.name) };
    format!("{server}.{}({}) -> {}{alias}", tool.called, params.join(", "), tool.result)
}

fn json_of(server: &ServerView) -> Value {
    let tools = server.tools.as_ref().ok().map(|tools| {
        tools
            .iter()
            .map(|tool| {
                let parameters: Vec<Value> = tool
                    .parameters
                    .iter()
                    .map(|(name, ty, is)| json!({"name": name, "type": ty, "required": is}))
                    .collect();
                json!({
                    "name": format!("{}.{}", server.name, tool.called),
                    "on_server": tool.name,
                    "description": tool.doc,
                    "parameters": parameters,
                    "result": tool.result,
                })
            })
            .collect::<Vec<Value>>()
    });
    json!({
        "name": server.name,
        "configured": {"file": server.place.file, "line": server.place.line},
        "error": server.tools.as_ref().err().map(ToString::to_string),
        "warnings": server.faults,
        "tools": tools,
    })
}
