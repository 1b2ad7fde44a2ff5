//! Compares the tools of charts with those of servers.
//!
//! For each `tool` line of a chart, the configuration names a command, an endpoint or a server. Commands and endpoints can only have
//! placeholders that are no parameters. With a server, the parameters and the result are compared as types, in the direction in which
//! values flow: the server must take every argument that the chart can send, and the chart every result that the server can send.
//!
//! ```text
//! chart    tool files.read(path: Int) -> Text
//! server   read, with {"path": {"type": "string"}, "encoding": {"type": "string"}}, both required
//! findings ParameterType    `path` is Int in the chart, and Text on the server
//!          MissingParameter the server requires the parameter `encoding`, of type Text
//! ```

use super::config::{Act, Configuration, Place, names};
use super::declare::{Listed, Listing, Part, Record, Shape, parameters, shape, wrapped};
use super::server::Server;
use super::short;
use chartc_core::expr::type_text;
use chartc_core::model::{Chart, Field, Tool, Type, TypeKind};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// The maximum depth to which types are compared, because a record may contain itself.
const DEPTH: usize = 16;

/// The maximum number of missing parameters that have a finding each. The others share one.
const LACKING: usize = 10;
/// The maximum size of a message, in bytes.
const SAID: usize = 1000;

/// The kind of a difference between a chart's tool and its counterpart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingKind {
    /// The configuration maps the tool to nothing.
    Unmapped,
    /// The server of the tool does not start.
    Unreachable,
    /// The server has no such tool.
    MissingTool,
    /// The server has the tool, but `include_tools` does not name it.
    Excluded,
    /// The chart lacks a required parameter, or the one that a placeholder stands for.
    MissingParameter,
    /// The server has no parameter of this name.
    UnknownParameter,
    /// The types of a parameter differ.
    ParameterType,
    /// The types of the result differ.
    ResultType,
}

impl FindingKind {
    /// The kind as one word in snake case, for programs.
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

/// A difference between a tool of a chart and the server, command or endpoint behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind of the difference.
    pub kind: FindingKind,
    /// The index of the chart among those that were checked.
    pub chart: usize,
    /// The tool's name in the chart.
    pub tool: String,
    /// The line of the configuration that maps the tool, if one does.
    pub configured: Option<Place>,
    /// A description in one sentence, with names and types.
    pub message: String,
    /// A remedy; may be empty.
    pub help: String,
}

/// Compares all tools of the charts.
pub(super) fn check(
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

/// The most similar name, if it is similar enough to be a misspelling. A server may send very many and very long names, so only the first
/// 10,000 of at most 100 bytes are compared.
fn near<'n>(name: &str, all: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let distance = |other: &str| strsim::damerau_levenshtein(other, name);
    let near = all.filter(|other| other.len() <= 100).take(10_000);
    let near = near.min_by_key(|other| distance(other))?;
    (distance(near) <= near.len().max(name.len()) / 3).then_some(near)
}

/// The first 12 names, separated by commas.
fn some<'n>(all: impl Iterator<Item = &'n str>) -> String {
    let mut all = all.map(|name| short(name, 100));
    let first: Vec<String> = all.by_ref().take(12).collect();
    let more = if all.next().is_some() { ", …" } else { "" };
    format!("{}{more}", first.join(", "))
}

/// Reports placeholders of a command or an endpoint that are no parameters of the tool.
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
    // The first part of the path names the server.
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
    // Names in charts have `_` where the names of many servers have `-` or `.`.
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
        match record.part(&param.name) {
            None if record.is_open => {}
            None => put(
                FindingKind::UnknownParameter,
                format!("the server knows no parameter `{}` of it", param.name),
                known(record, &param.name),
            ),
            Some(part) => param_type(chart, param, part, put),
        }
    }
    lacking(tool, record, put);
}

/// Names the parameters of the server's tool, for one that it does not have.
fn known(record: &Record, name: &str) -> String {
    let known: Vec<&str> = record.parts.iter().map(|part| part.name.as_str()).collect();
    match near(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "it has no parameters".into(),
        None => format!("its parameters are: {}", some(known.into_iter())),
    }
}

fn param_type(
    chart: &Chart,
    param: &Field,
    part: &Part,
    put: &mut impl FnMut(FindingKind, String, String),
) {
    // An optional parameter is left out when it is `none`, so its inner type is compared.
    let of = match (&param.ty, part.is_required) {
        (Type::Optional(of), false) => of.as_ref(),
        (of, _) => of,
    };
    if let Err(why) = takes(chart, of, &part.shape, DEPTH) {
        put(
            FindingKind::ParameterType,
            format!(
                "the parameter `{}` is {} in the chart, and {} on the server{}",
                param.name,
                type_text(&param.ty, &chart.types),
                part.shape,
                inside(&why)
            ),
            advice(&part.shape),
        );
    }
}

/// Reports the parameters that the server requires and the chart does not declare.
fn lacking(tool: &Tool, record: &Record, put: &mut impl FnMut(FindingKind, String, String)) {
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
    // A result of type `Text` takes the words of the server, whatever its schema says.
    let (Some(schema), false) = (&listing.output, tool.result == Type::Text) else { return };
    // FastMCP wraps other results than objects in a part `result`. It is unwrapped unless the chart's own type has such a part.
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

/// Whether a type is a record with a field `result`.
fn wants_result(chart: &Chart, ty: &Type) -> bool {
    let Type::Named(id) = ty else { return false };
    match &chart.types[id.index()].kind {
        TypeKind::Record(fields) => fields.iter().any(|field| field.name == "result"),
        TypeKind::Enum(_) => false,
    }
}

/// Formats an error of [`takes`] or [`gives`] as the end of a message.
fn inside(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}

fn advice(shape: &Shape) -> String {
    match shape {
        Shape::Enum(names) if names.len() <= 20 => {
            format!("declare an enum with the values {}", names.join(", "))
        }
        Shape::Optional(of) => advice(of),
        _ => "`chartc tools add` writes the declaration as the server has it".into(),
    }
}

// Whether values of one type fit another: arguments of a chart in a server's parameters, and results of a server in a chart's types.

/// Whether a server takes all values of a type.
///
/// # Errors
/// Says where inside the types they differ; empty if they differ as a whole.
fn takes(chart: &Chart, ty: &Type, shape: &Shape, depth: usize) -> Result<(), String> {
    // Types may contain themselves. Beyond the maximum depth they count as equal.
    let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
    match (ty, shape) {
        // A chart knows nothing of the content of a `Json`, so the server has to check it.
        (_, Shape::Any) | (Type::Json, _) => Ok(()),
        (Type::Optional(of), Shape::Optional(shape)) => takes(chart, of, shape, depth),
        (Type::Optional(_), _) => Err("it may be `none`, which the server does not take".into()),
        (ty, Shape::Optional(shape)) => takes(chart, ty, shape, depth),
        (Type::Bool, Shape::Bool)
        | (Type::Int, Shape::Int | Shape::Float)
        | (Type::Float, Shape::Float)
        | (Type::Text | Type::Duration, Shape::Text) => Ok(()),
        (Type::List(of), Shape::List(shape)) | (Type::Map(of), Shape::Map(shape)) => {
            takes(chart, of, shape, depth)
        }
        (Type::Named(id), shape) => takes_named(chart, &chart.types[id.index()].kind, shape, depth),
        (
            Type::Bool
            | Type::Int
            | Type::Float
            | Type::Text
            | Type::Duration
            | Type::List(_)
            | Type::Map(_),
            Shape::Bool
            | Shape::Int
            | Shape::Float
            | Shape::Text
            | Shape::Enum(_)
            | Shape::List(_)
            | Shape::Map(_)
            | Shape::Record(_),
        ) => Err(String::new()),
    }
}

/// Does the work of [`takes`] for an enum or a record of the chart.
fn takes_named(chart: &Chart, kind: &TypeKind, shape: &Shape, depth: usize) -> Result<(), String> {
    match (kind, shape) {
        (TypeKind::Enum(_), Shape::Text) => Ok(()),
        (TypeKind::Enum(names), Shape::Enum(known)) => {
            match names.iter().find(|name| !known.contains(name)) {
                Some(name) => Err(format!("the server has no value `{name}`")),
                None => Ok(()),
            }
        }
        (TypeKind::Record(fields), Shape::Map(of)) => fields.iter().try_for_each(|field| {
            takes(chart, &field.ty, of, depth)
                .map_err(|why| at(&field.name, &why, &type_text(&field.ty, &chart.types), of))
        }),
        (TypeKind::Record(fields), Shape::Record(record)) => {
            takes_record(chart, fields, record, depth)
        }
        (
            TypeKind::Enum(_) | TypeKind::Record(_),
            Shape::Any
            | Shape::Bool
            | Shape::Int
            | Shape::Float
            | Shape::Text
            | Shape::Enum(_)
            | Shape::List(_)
            | Shape::Map(_)
            | Shape::Record(_)
            | Shape::Optional(_),
        ) => Err(String::new()),
    }
}

fn takes_record(
    chart: &Chart,
    fields: &[Field],
    record: &Record,
    depth: usize,
) -> Result<(), String> {
    for field in fields {
        match record.part(&field.name) {
            None if record.is_open => {}
            None => return Err(format!("the server has no part `{}`", field.name)),
            Some(part) => {
                let ty = match (&field.ty, part.is_required) {
                    (Type::Optional(of), false) => of.as_ref(),
                    (ty, _) => ty,
                };
                takes(chart, ty, &part.shape, depth).map_err(|why| {
                    at(&field.name, &why, &type_text(ty, &chart.types), &part.shape)
                })?;
            }
        }
    }
    let lacking = record
        .parts
        .iter()
        .find(|part| part.is_required && !fields.iter().any(|field| field.name == part.name));
    match lacking {
        Some(part) => Err(format!("the part `{}` is required", part.name)),
        None => Ok(()),
    }
}

/// Whether all values that a server gives have a type.
///
/// # Errors
/// The same as for [`takes`].
fn gives(chart: &Chart, shape: &Shape, ty: &Type, depth: usize) -> Result<(), String> {
    let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
    match (shape, ty) {
        // A value whose type is not declared on one side is checked when it arrives.
        (Shape::Any, _) | (_, Type::Json) => Ok(()),
        (Shape::Optional(shape), Type::Optional(of)) => gives(chart, shape, of, depth),
        (Shape::Optional(_), _) => Err("it may be null".into()),
        (shape, Type::Optional(of)) => gives(chart, shape, of, depth),
        (Shape::Bool, Type::Bool)
        | (Shape::Int, Type::Int | Type::Float)
        | (Shape::Float, Type::Float)
        | (Shape::Text, Type::Text | Type::Duration)
        | (Shape::Enum(_), Type::Text) => Ok(()),
        (Shape::List(shape), Type::List(of)) | (Shape::Map(shape), Type::Map(of)) => {
            gives(chart, shape, of, depth)
        }
        (Shape::Record(record), Type::Map(of)) => record.parts.iter().try_for_each(|part| {
            gives(chart, &part.shape, of, depth)
                .map_err(|why| at(&part.name, &why, &type_text(of, &chart.types), &part.shape))
        }),
        (shape, Type::Named(id)) => gives_named(chart, shape, &chart.types[id.index()].kind, depth),
        (
            Shape::Bool
            | Shape::Int
            | Shape::Float
            | Shape::Text
            | Shape::Enum(_)
            | Shape::List(_)
            | Shape::Map(_)
            | Shape::Record(_),
            Type::Bool
            | Type::Int
            | Type::Float
            | Type::Text
            | Type::Duration
            | Type::List(_)
            | Type::Map(_),
        ) => Err(String::new()),
    }
}

/// Does the work of [`gives`] for an enum or a record of the chart.
fn gives_named(chart: &Chart, shape: &Shape, kind: &TypeKind, depth: usize) -> Result<(), String> {
    match (shape, kind) {
        (Shape::Enum(given), TypeKind::Enum(names)) => {
            match given.iter().find(|name| !names.contains(name)) {
                Some(name) => Err(format!("the chart's enum has no value `{name}`")),
                None => Ok(()),
            }
        }
        // Whether a text is a value of an enum, or an object has the parts of a record, is known only when it arrives.
        (Shape::Text, TypeKind::Enum(_)) | (Shape::Map(_), TypeKind::Record(_)) => Ok(()),
        (Shape::Record(record), TypeKind::Record(fields)) => {
            gives_record(chart, record, fields, depth)
        }
        (
            Shape::Any
            | Shape::Bool
            | Shape::Int
            | Shape::Float
            | Shape::Text
            | Shape::Enum(_)
            | Shape::List(_)
            | Shape::Map(_)
            | Shape::Record(_)
            | Shape::Optional(_),
            TypeKind::Enum(_) | TypeKind::Record(_),
        ) => Err(String::new()),
    }
}

fn gives_record(
    chart: &Chart,
    record: &Record,
    fields: &[Field],
    depth: usize,
) -> Result<(), String> {
    for field in fields {
        let is_optional = matches!(field.ty, Type::Optional(_) | Type::Json);
        match record.part(&field.name) {
            None if is_optional || record.is_open => {}
            None => return Err(format!("the server has no part `{}`", field.name)),
            Some(part) if !part.is_required && !is_optional => {
                return Err(format!("the server may leave `{}` out", field.name));
            }
            Some(part) => {
                gives(chart, &part.shape, &field.ty, depth).map_err(|why| {
                    let ty = type_text(&field.ty, &chart.types);
                    at(&field.name, &why, &ty, &part.shape)
                })?;
            }
        }
    }
    Ok(())
}

/// Adds the part of a record to an error from inside it. `why` is empty if the part differs as a whole.
fn at(name: &str, why: &str, ty: &str, shape: &Shape) -> String {
    match why {
        "" => format!("`{name}` is {ty} in the chart, and {shape} on the server"),
        why => format!("`{name}`: {why}"),
    }
}
