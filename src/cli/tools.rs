//! The command `chartc tools`: lists the tools of servers, and compares charts with them.

use super::files::{Root, read, write, write_new};
use super::output::{
    Colour, Exit, StyledText, complain, complain_report, print, print_json, say, terminal,
};
use super::pick;
use super::servers::{Found, Serving, configuration, finding_json, found, heard, write_findings};
use crate::report::REPORTS;
use chartc_adapters::tools::{Configuration, Pool, ServerView, ToolView};
use chartc_compiler::front::{Alone, chart};
use chartc_compiler::lower::Lowered;
use chartc_compiler::syntax::diagnostic::{Diagnostic, Severity, nearest};
use chartc_compiler::syntax::source::{Source, Sources};
use chartc_compiler::syntax::visit::{self, Mode, Node, Role};
use chartc_compiler::syntax::{File, Item, dotted};
use chartc_core::model::Chart;
use chartc_core::wording::counted;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Show the tools of MCP servers, compare charts with them, and write declarations of them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc tools list --tools tools.toml
  chartc tools list --tools mcp.json files --format json
  chartc tools check support.chart --tools tools.toml
  chartc tools add files.read_file --tools tools.toml --to support.chart

Exit codes: 0 no findings, 1 a server cannot be used, or a chart does not fit the servers, 2 wrong usage,
3 internal error, 4 no chart in the file")]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

/// The file of `--tools`.
#[derive(Debug, clap::Args)]
struct ToolsFile {
    /// TOML or JSON file with the servers
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List the tools of all servers, or of one
    List {
        /// The server
        server: Option<String>,
        #[command(flatten)]
        given: ToolsFile,
        /// How to print it
        #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
        format: String,
    },
    /// Compare the tools that charts declare with those of the servers
    Check {
        /// A *.chart, *.scxml or agent.yaml file, or - for standard input
        file: String,
        #[command(flatten)]
        given: ToolsFile,
        /// How to print it
        #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
        format: String,
        #[command(flatten)]
        root: Root,
    },
    /// Write declarations of a server's tools into a chart's file; what is declared there stays as it is
    Add {
        /// A server, or one of its tools, such as files.read_file
        name: String,
        #[command(flatten)]
        given: ToolsFile,
        /// The file, which is created if it does not exist
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    match args.what {
        What::List { server, given, format } => {
            list_tools(&given.tools, server.as_deref(), format == "json")
        }
        What::Check { file, given, format, root } => {
            check_tools(&file, &given.tools, &root, format == "json")
        }
        What::Add { name, given, to } => add_tools(&name, &given.tools, &to),
    }
}

/// The servers to start.
enum Which<'a> {
    /// Those that the charts need.
    Charts(&'a [&'a Chart]),
    One(&'a str),
    All,
}

/// Starts servers, calls `act` with them, and ends them.
fn with_pool<R>(
    tools: &Path,
    which: &Which<'_>,
    act: impl FnOnce(&Pool) -> miette::Result<R>,
) -> miette::Result<R> {
    let configuration = configuration(tools)?;
    let names: BTreeSet<String> = configuration.servers().map(ToOwned::to_owned).collect();
    let pool = match which {
        Which::Charts([]) => Pool::of_servers(configuration, &BTreeSet::new(), heard(None)),
        Which::Charts(charts) => Pool::new(configuration, charts, heard(None)),
        Which::One(server) if !names.contains(*server) => {
            return Err(unknown(&configuration, server));
        }
        Which::One(server) => {
            let only = BTreeSet::from([(*server).to_owned()]);
            Pool::of_servers(configuration, &only, heard(None))
        }
        Which::All => Pool::of_servers(configuration, &names, heard(None)),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let serving = Serving { pool };
    runtime.block_on(serving.during(true, async {
        serving.pool.begin().await;
        act(&serving.pool)
    }))
}

fn unknown(configuration: &Configuration, server: &str) -> miette::Report {
    let names: Vec<&str> = configuration.servers().collect();
    let near = chartc_compiler::syntax::diagnostic::nearest(server, names.iter().copied());
    let help = match (near, names.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => "it has no servers".to_owned(),
        (None, false) => format!("it has {}", names.join(", ")),
    };
    miette::miette!(help = help, "{} has no server `{server}`", configuration.file())
}

// The command `chartc tools add`.

fn add_tools(name: &str, tools: &Path, to: &Path) -> miette::Result<Exit> {
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
        let (new, added) = declarations(pool, server, new, &mut types);
        if new.is_empty() {
            return Ok(Exit::Clean);
        }
        let gap = gap_behind(&text);
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

/// The declarations of new tools as one text, with the names of those that can be declared.
fn declarations(
    pool: &Pool,
    server: &str,
    new: Vec<String>,
    types: &mut BTreeSet<String>,
) -> (Vec<String>, String) {
    let (mut added, mut new_ones): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for one in new {
        // New types get names that the file does not have yet.
        let text = pool.declaration(server, &one, types).unwrap_or_default();
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
    (new_ones, added.join("\n"))
}

/// What separates a declaration from the text before it: an empty line, unless there is one already.
fn gap_behind(text: &str) -> &'static str {
    if text.is_empty() || text.ends_with("\n\n") {
        ""
    } else if text.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    }
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
    is_it.then(|| chartc_compiler::syntax::print::print(&file))
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
    visit::file(file, &mut |node| {
        let Node::Name { parts, role, mode: Mode::Declared } = node else { return };
        match role {
            Role::Tool => drop(tools.insert(dotted(parts))),
            Role::Type | Role::Enum => drop(types.insert(dotted(parts))),
            _ => {}
        }
    });
    (tools, types)
}

// The command `chartc tools check`.

fn check_tools(file: &str, tools: &Path, root: &Root, is_json: bool) -> miette::Result<Exit> {
    let done = pick::check(file, root, 0)?;
    let has_errors = done.diagnostics.iter().any(|found| found.severity == Severity::Error);
    if has_errors || done.lowered.is_empty() {
        return Ok(pick::refuse(file, &done));
    }
    let lowered: Vec<&Lowered> = done.lowered.iter().map(AsRef::as_ref).collect();
    let charts: Vec<&Chart> = lowered.iter().map(|one| &*one.chart).collect();
    let names: BTreeSet<&str> =
        charts.iter().flat_map(|chart| &chart.tools).map(|tool| tool.name.as_str()).collect();
    with_pool(tools, &Which::Charts(&charts), |pool| {
        let all = found(pool, &lowered, &done.sources);
        if is_json {
            let findings: Vec<Value> = all.iter().map(finding_json).collect();
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
    let tools = counted(tools, "tool");
    text.line(match all.len() {
        0 => format!("no findings in {tools}"),
        count => format!("{} in {tools}", counted(count, "finding")),
    });
    text
}

// The command `chartc tools list`.

fn list_tools(tools: &Path, server: Option<&str>, is_json: bool) -> miette::Result<Exit> {
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
                let tools_word = counted(tools.len(), "tool");
                out.line(format!("{} ({}): {tools_word}", server.name, server.place));
                for tool in tools {
                    out.line(format!("  {}", signature(&server.name, tool)));
                    if let Some(line) = tool.doc.lines().find(|line| !line.trim().is_empty()) {
                        out.line(format!("      {}", super::output::cut(line.trim(), 90)));
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
