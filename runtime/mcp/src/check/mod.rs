//! The tools of charts compared with those of servers.

mod fit;

use crate::config::{Act, Configuration, Place};
use crate::fault::short;
use crate::holes::names;
use crate::listing::{Listed, Listing};
use crate::server::Server;
use crate::shape::{Record, Shape, parameters, shape, wrapped};
use chartc_core::expr::type_text;
use chartc_core::model::{Chart, Tool, Type, TypeKind};
use fit::{gives, takes};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// How deep records are compared: a record may hold itself.
const DEPTH: usize = 16;

/// Parameters that are told one by one.
const LACKING: usize = 10;
/// Bytes of a message.
const SAID: usize = 1000;

/// What is wrong with a tool of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingKind {
    /// The configuration says nothing of the tool.
    Unmapped,
    /// Its server does not start.
    Unreachable,
    /// The server has no such tool.
    MissingTool,
    /// The server has it, and the configuration leaves it out.
    Excluded,
    /// The chart lacks a parameter that is required.
    MissingParameter,
    /// The server knows no such parameter.
    UnknownParameter,
    /// The types of a parameter differ.
    ParameterType,
    /// The types of the result differ.
    ResultType,
}

impl FindingKind {
    /// The kind in one word, for programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unmapped => "unmapped",
            Self::Unreachable => "unreachable",
            Self::MissingTool => "missing_tool",
            Self::Excluded => "excluded",
            Self::MissingParameter => "missing_parameter",
            Self::UnknownParameter => "unknown_parameter",
            Self::ParameterType => "parameter_type",
            Self::ResultType => "result_type",
        }
    }
}

/// A difference between a chart and a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// The chart, by its place among those that were checked.
    pub chart: usize,
    /// The tool's name in the chart.
    pub tool: String,
    /// Where the configuration maps it, if it does.
    pub configured: Option<Place>,
    /// What is wrong, in a sentence with names and types.
    pub message: String,
    /// What to do about it; may be empty.
    pub help: String,
}

/// Compares all tools of the charts.
pub(crate) fn check(
    charts: &[&Chart],
    configuration: &Configuration,
    servers: &BTreeMap<String, Arc<Server>>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen: BTreeSet<(&str, usize)> = BTreeSet::new();
    for (nth, chart) in charts.iter().enumerate() {
        for tool in &chart.tools {
            if !seen.insert((&tool.name, nth)) {
                continue;
            }
            let configured = configuration.place(&tool.name);
            let mut put = |kind: FindingKind, message: String, help: String| {
                let (message, help) = (short(&message, SAID), short(&help, SAID));
                let (tool, configured) = (tool.name.clone(), configured.clone());
                findings.push(Finding { kind, chart: nth, tool, configured, message, help });
            };
            if let Some(spec) = configuration.tools.get(&tool.name) {
                holes(tool, &spec.act, &mut put);
                continue;
            }
            let server = configuration.server_of(&tool.name).and_then(|name| servers.get(name));
            match server {
                Some(server) => compare(chart, tool, server, &mut put),
                None => put(
                    FindingKind::Unmapped,
                    format!("{} maps no tool `{}`", configuration.file, tool.name),
                    unmapped(&tool.name, configuration),
                ),
            }
        }
    }
    findings
}

fn unmapped(tool: &str, configuration: &Configuration) -> String {
    let head = tool.split('.').next().unwrap_or(tool);
    let near = near(head, configuration.servers());
    let near = near.map(|near| format!("did you mean the server `{near}`? ")).unwrap_or_default();
    format!("{near}name a server `{head}`, or map the tool alone under [tools.\"{tool}\"]")
}

/// The most similar name, if it is similar. Long names, and very many, are not compared: a server may have sent them.
fn near<'n>(name: &str, all: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let distance = |other: &str| strsim::damerau_levenshtein(other, name);
    let near = all.filter(|other| other.len() <= 100).take(10_000);
    let near = near.min_by_key(|other| distance(other))?;
    (distance(near) <= near.len().max(name.len()) / 3).then_some(near)
}

/// The first of some names.
fn some<'n>(all: impl Iterator<Item = &'n str>) -> String {
    let mut all = all.map(|name| short(name, 100));
    let first: Vec<String> = all.by_ref().take(12).collect();
    let more = if all.next().is_some() { ", …" } else { "" };
    format!("{}{more}", first.join(", "))
}

/// Whether the placeholders of a command or an endpoint are arguments of the tool.
fn holes(tool: &Tool, act: &Act, put: &mut impl FnMut(FindingKind, String, String)) {
    let texts: Vec<&str> = match act {
        Act::Command(program) => program.argv.iter().map(String::as_str).collect(),
        Act::Http { url, .. } => vec![url],
    };
    let holes: BTreeSet<String> = texts.into_iter().flat_map(names).collect();
    for hole in holes {
        if !tool.params.iter().any(|param| param.name == hole) {
            let known: Vec<&str> = tool.params.iter().map(|param| param.name.as_str()).collect();
            put(
                FindingKind::MissingParameter,
                format!("`{}` has no parameter `{hole}`, which `{{{hole}}}` stands for", tool.name),
                format!("the parameters are: {}", some(known.into_iter())),
            );
        }
    }
}

fn compare(
    chart: &Chart,
    tool: &Tool,
    server: &Server,
    put: &mut impl FnMut(FindingKind, String, String),
) {
    let by = &server.spec.name;
    let listed = match server.listed() {
        Ok(listed) => listed,
        Err(fault) => {
            let help = "`chartc tools list` shows what the servers say";
            put(FindingKind::Unreachable, format!("the server `{by}`: {fault}"), help.into());
            return;
        }
    };
    let called = tool.name.split_once('.').map_or("", |(_, rest)| rest);
    let (name, _) = server.spec.tool(called);
    let Some(listing) = listed.tools.iter().find(|one| one.name == name) else {
        put(
            FindingKind::MissingTool,
            format!("the server `{by}` has no tool `{name}`"),
            missing(&name, server, listed),
        );
        return;
    };
    if !server.spec.includes(&name) {
        put(
            FindingKind::Excluded,
            format!("`include_tools` of the server `{by}` does not name `{name}`"),
            "add it there, if charts may use it".into(),
        );
        return;
    }
    if let Some(record) = parameters(&listing.input) {
        params(chart, tool, &record, put);
    }
    result(chart, tool, listing, put);
}

fn missing(name: &str, server: &Server, listed: &Listed) -> String {
    let quoted = format!("`{name}`");
    if let Some(fault) = listed.faults.iter().find(|fault| fault.contains(&quoted)) {
        return fault.clone();
    }
    let names = || listed.tools.iter().map(|tool| tool.name.as_str());
    // Names of charts have `_` where many servers have `-`.
    let same =
        names().find(|other| other.replace(['-', '.'], "_") == name.replace(['-', '.'], "_"));
    if let Some(same) = same {
        let by = &server.spec.name;
        return format!(
            "it has `{same}`: write `{by}.`{same}`` in the chart, or `{name} = \"{same}\"` under [servers.{by}.tools]"
        );
    }
    match near(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it has: {}", some(names())),
    }
}

fn params(
    chart: &Chart,
    tool: &Tool,
    record: &Record,
    put: &mut impl FnMut(FindingKind, String, String),
) {
    for param in &tool.params {
        let ty = type_text(&param.ty, &chart.types);
        match record.part(&param.name) {
            None if record.is_open => {}
            None => {
                let known: Vec<&str> = record.parts.iter().map(|part| part.name.as_str()).collect();
                let help = match near(&param.name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if known.is_empty() => "it has no parameters".into(),
                    None => format!("its parameters are: {}", some(known.into_iter())),
                };
                put(
                    FindingKind::UnknownParameter,
                    format!("the server knows no parameter `{}` of it", param.name),
                    help,
                );
            }
            Some(part) => {
                let (ty, of) = match (&param.ty, part.is_required) {
                    (Type::Optional(of), false) => (ty, of.as_ref()),
                    (of, _) => (ty, of),
                };
                if let Err(why) = takes(chart, of, &part.shape, DEPTH) {
                    put(
                        FindingKind::ParameterType,
                        format!(
                            "the parameter `{}` is {ty} in the chart, and {} on the server{}",
                            param.name,
                            part.shape,
                            inside(&why)
                        ),
                        advice(&part.shape),
                    );
                }
            }
        }
    }
    let declared: HashSet<&str> = tool.params.iter().map(|param| param.name.as_str()).collect();
    let mut lacking = record
        .parts
        .iter()
        .filter(|part| part.is_required && !declared.contains(part.name.as_str()));
    let help = || format!("add it to `tool {}`", tool.name);
    for part in lacking.by_ref().take(LACKING) {
        put(
            FindingKind::MissingParameter,
            format!("the server requires the parameter `{}`, of type {}", part.name, part.shape),
            help(),
        );
    }
    let more: Vec<&str> = lacking.map(|part| part.name.as_str()).collect();
    if !more.is_empty() {
        put(
            FindingKind::MissingParameter,
            format!(
                "the server requires {} more parameters: {}",
                more.len(),
                some(more.into_iter())
            ),
            help(),
        );
    }
}

fn result(
    chart: &Chart,
    tool: &Tool,
    listing: &Listing,
    put: &mut impl FnMut(FindingKind, String, String),
) {
    // A text is what the server says in words, whatever else it brings.
    let (Some(schema), false) = (&listing.output, tool.result == Type::Text) else { return };
    let whole = shape(schema);
    let own = wants_result(chart, &tool.result);
    let of = wrapped(&whole).filter(|_| !own).unwrap_or(&whole);
    if let Err(why) = gives(chart, of, &tool.result, DEPTH) {
        put(
            FindingKind::ResultType,
            format!(
                "the result is {} in the chart, and {of} on the server{}",
                type_text(&tool.result, &chart.types),
                inside(&why)
            ),
            "`-> Text` takes the words of any result, `-> Json` any structure".into(),
        );
    }
}

/// Whether a type is a record with a part `result`.
fn wants_result(chart: &Chart, ty: &Type) -> bool {
    let Type::Named(id) = ty else { return false };
    match &chart.types[id.index()].kind {
        TypeKind::Record(fields) => fields.iter().any(|field| field.name == "result"),
        TypeKind::Enum(_) => false,
    }
}

/// Where inside a type the difference is.
fn inside(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}

fn advice(shape: &Shape) -> String {
    match shape {
        Shape::Enum(names) if names.len() <= 20 => {
            format!("declare an enum with the values {}", names.join(", "))
        }
        Shape::Optional(of) => advice(of),
        Shape::Any
        | Shape::Bool
        | Shape::Int
        | Shape::Float
        | Shape::Text
        | Shape::Enum(_)
        | Shape::List(_)
        | Shape::Map(_)
        | Shape::Record(_) => {
            "`chartc tools add` writes the declaration as the server has it".into()
        }
    }
}
