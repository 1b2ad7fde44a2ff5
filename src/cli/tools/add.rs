//! The command `chartc tools add`.

use super::{Which, with_pool};
use crate::cli::Exit;
use crate::cli::files::read;
use crate::cli::output::{Colour, complain, complain_report, say, terminal};
use crate::cli::save::{write, write_new};
use crate::report::REPORTS;
use chartc_mcp::Pool;
use chartc_text::diagnostic::{Diagnostic, nearest};
use chartc_text::front::{Alone, chart};
use chartc_text::source::{Source, Sources};
use chartc_text::syntax::{ChartItem, File, Item};
use std::collections::BTreeSet;
use std::path::Path;

pub(super) fn run(name: &str, tools: &Path, to: &Path) -> miette::Result<Exit> {
    let (server, tool) = match name.split_once('.') {
        Some((server, tool)) => (server, Some(tool)),
        None => (name, None),
    };
    let file = to.display().to_string();
    if !(chart::FRONTEND.takes)(&file) {
        return Err(miette::miette!("{file} is no *.chart file"));
    }
    let is_new = !to.exists();
    let text = if is_new { String::new() } else { read(to)? };
    let Some(before) = parsed(&file, &text) else { return Ok(Exit::Findings) };
    let (declared, mut types) = names(&before);
    with_pool(tools, &Which::One(server), |pool| {
        let wanted = wanted(pool, server, tool)?;
        let (there, new): (Vec<String>, Vec<String>) =
            wanted.into_iter().partition(|one| declared.contains(&format!("{server}.{one}")));
        for one in &there {
            complain(format!("{file} declares `{server}.{one}` already: it stays as it is"));
        }
        let (mut added, mut new_ones): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for one in new {
            // New types get names that the file does not have yet.
            let text = pool.declaration(server, &one, &mut types).unwrap_or_default();
            match checked(server, &one, &text) {
                Some(text) => {
                    added.push(text);
                    new_ones.push(one);
                }
                // The others can still be added.
                None => complain(format!(
                    "warning: `{server}.{one}` is left out: its names cannot be written in a chart"
                )),
            }
        }
        let (new, added) = (new_ones, added.join("\n"));
        if new.is_empty() {
            return Ok(Exit::Clean);
        }
        let gap = if text.is_empty() || text.ends_with("\n\n") {
            ""
        } else if text.ends_with('\n') {
            "\n"
        } else {
            "\n\n"
        };
        let whole = format!("{text}{gap}{added}");
        // The whole file is parsed before it is written: an addition must not change what was in it.
        let after = parsed(&file, &whole);
        let is_whole = after.as_ref().is_some_and(|after| {
            let (tools, _) = names(after);
            let wanted = declared.len() + new.len();
            tools.len() == wanted && declared.iter().all(|tool| tools.contains(tool))
        });
        if !is_whole {
            return Err(miette::miette!("{file} would not be read as it was: nothing was written"));
        }
        if is_new {
            write_new(&[(to, whole.as_str())])?;
        } else {
            write(to, &whole)?;
        }
        for one in &new {
            say(format!("{file}: tool {server}.{one}"))?;
        }
        Ok(Exit::Clean)
    })
}

/// The tools to declare, by the names that they have in charts.
fn wanted(pool: &Pool, server: &str, tool: Option<&str>) -> miette::Result<Vec<String>> {
    let Some(view) = pool.servers().into_iter().next() else { return Ok(Vec::new()) };
    for fault in &view.faults {
        complain(format!("warning: server `{server}`: {fault}"));
    }
    let tools = view.tools.map_err(|fault| miette::miette!("the server `{server}`: {fault}"))?;
    let all: Vec<String> = tools.into_iter().map(|tool| tool.called).collect();
    match tool {
        None => Ok(all),
        Some(tool) if all.iter().any(|one| one == tool) => Ok(vec![tool.to_owned()]),
        Some(tool) => {
            let near = nearest(tool, all.iter().map(String::as_str));
            let help = match near {
                Some(near) => format!("did you mean `{server}.{near}`?"),
                None => format!("`chartc tools list` shows its {} tools", all.len()),
            };
            Err(miette::miette!(help = help, "the server `{server}` has no tool `{tool}`"))
        }
    }
}

/// Formats a declaration, if it declares this tool and its types and nothing else. Its names and texts come from a server, and could
/// contain other declarations.
fn checked(server: &str, tool: &str, text: &str) -> Option<String> {
    let (file, findings, _) = read_as("the declaration", text);
    let (tools, _) = names(&file);
    let is_pure = file
        .items
        .iter()
        .all(|item| matches!(&item.node, Item::Tool(_) | Item::Record(_) | Item::Enum(_)));
    let is_it =
        findings.is_empty() && is_pure && tools == BTreeSet::from([format!("{server}.{tool}")]);
    is_it.then(|| chartc_text::print::print(&file))
}

/// Parses a text, and returns its syntax and its errors.
fn read_as(name: &str, text: &str) -> (File, Vec<Diagnostic>, Sources) {
    let mut sources = Sources::default();
    let id = sources.add(Source::new(name, text));
    let mut findings = Vec::new();
    let file = (chart::FRONTEND.parse)(id, sources.get(id), &mut Alone, &mut findings);
    (file, findings, sources)
}

/// Parses a text. Reports its errors and returns `None` if there are any.
fn parsed(name: &str, text: &str) -> Option<File> {
    let (file, findings, sources) = read_as(name, text);
    if findings.is_empty() {
        return Some(file);
    }
    complain_report(&REPORTS[0].render(&findings, &sources, terminal(Colour::Auto)));
    None
}

/// The names of the tools and types that a file declares, also in its charts.
fn names(file: &File) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut tools, mut types) = (BTreeSet::new(), BTreeSet::new());
    for item in &file.items {
        match &item.node {
            Item::Tool(tool) => drop(tools.insert(tool.name.text())),
            Item::Record(record) => drop(types.insert(record.name.node.clone())),
            Item::Enum(one) => drop(types.insert(one.name.node.clone())),
            Item::Chart(chart) => {
                for item in &chart.items {
                    if let ChartItem::Tool(tool) = &item.node {
                        tools.insert(tool.name.text());
                    }
                }
            }
            _ => {}
        }
    }
    (tools, types)
}
