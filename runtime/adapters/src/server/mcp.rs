//! Serves charts as tools of the Model Context Protocol. A client may be a model, so no tool answers on behalf of a person.

use super::guard::{Client, Visitor};
use super::runs::{Offer, Order, Refusal, Runs, names, object, with};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::StreamableHttpService;
use rmcp::transport::io::stdio_pipes;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::de::DeserializeOwned;
use serde_json::{Map as JsonMap, Value, json};
use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The default time that a tool waits for a run to come to rest, in seconds.
const PATIENCE: u64 = 60;
/// The maximum of this time, in seconds.
const MOST_PATIENCE: u64 = 600;

/// The names of the tools other than those that start runs, which are named after charts.
const READ: &str = "read_run";
const SEND: &str = "send_event";
const LIST: &str = "list_runs";

/// The maximum number of runs in one list. A model reads it.
const LISTED: u32 = 100;

/// The HTTP endpoint of the protocol.
pub(super) type Endpoint = StreamableHttpService<Tools, NeverSessionManager>;

/// Creates the endpoint for all requests. It keeps no sessions, because a run has a name by which later requests find it.
pub(super) fn endpoint(runs: Arc<Runs>) -> Endpoint {
    // `AccessRules` has checked host and origin of the request already.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let tools = Tools { runs };
    let make = move || Ok(tools.clone());
    StreamableHttpService::new(make, Arc::new(NeverSessionManager::default()), config)
}

/// Serves the protocol over standard input and output, until the client closes them.
///
/// # Errors
/// The client does not speak the protocol, or a stream fails.
pub async fn over_stdio(runs: Arc<Runs>) -> io::Result<()> {
    let server = match (Tools { runs }).serve(stdio_pipes()).await {
        Ok(server) => server,
        // The client has closed the connection before its first message.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(why) => return Err(io::Error::other(why)),
    };
    server.waiting().await.map_err(io::Error::other)?;
    Ok(())
}

/// The tools of the server: one per chart to start a run, and three to read, send and list.
#[derive(Clone)]
pub(super) struct Tools {
    runs: Arc<Runs>,
}

fn wait() -> Value {
    json!({
        "type": "integer", "minimum": 0, "maximum": MOST_PATIENCE,
        "description": format!("How long to wait until the run ends or waits for somebody; {PATIENCE} unless given"),
    })
}

fn name() -> Value {
    json!({"type": "string", "description": "Name of the run"})
}

/// Creates a tool whose arguments have the given schema.
fn tool(name: &str, doc: String, schema: Value) -> Tool {
    let mut whole = JsonMap::new();
    if let Value::Object(schema) = schema {
        whole = schema;
    }
    Tool::new(name.to_owned(), doc, whole)
}

/// Creates the tool that starts a run of a chart.
fn begins(offer: &Offer) -> Tool {
    let mut definitions = JsonMap::new();
    let params = object(&offer.params, &mut definitions);
    let inputs = object(&offer.inputs, &mut definitions);
    let needed: Vec<&str> =
        if offer.params.iter().any(|part| part.is_needed) { vec!["params"] } else { Vec::new() };
    let schema = json!({
        "type": "object",
        "properties": {
            "params": params,
            "inputs": inputs,
            "run": {"type": "string", "description": "Name for the run, so that the same call again finds it"},
            "turns": {"type": "integer", "minimum": 0, "maximum": offer.most_turns, "description": format!("Turns to make; {} unless given", offer.turns)},
            "wait_seconds": wait(),
        },
        "required": needed,
        "additionalProperties": false,
    });
    let doc = if offer.doc.is_empty() { String::new() } else { format!("{}\n\n", offer.doc) };
    let doc = format!(
        "{doc}Begins a run of the statechart `{}` and waits until it ends or waits for somebody.",
        offer.name
    );
    tool(&tool_name(offer), doc, with(schema, definitions))
}

/// The name of the tool that starts a run of a chart: the chart's, unless that is the name of another tool.
fn tool_name(offer: &Offer) -> Cow<'_, str> {
    match offer.name.as_str() {
        READ | SEND | LIST => format!("begin_{}", offer.name).into(),
        name => name.into(),
    }
}

impl Tools {
    fn list(&self) -> Vec<Tool> {
        let offers = self.runs.offers();
        let events: Vec<Value> =
            offers.iter().map(|offer| offer.json()["events"].clone()).collect();
        let happens = |(offer, events): (&Offer, &Value)| format!("{}: {events}", offer.name);
        let happens: Vec<String> = offers.iter().zip(&events).map(happens).collect();
        let all = |properties: Value, needed: &[&str]| json!({"type": "object", "properties": properties, "required": needed, "additionalProperties": false});
        let mut tools: Vec<Tool> = offers.iter().map(begins).collect();
        tools.push(tool(
            READ,
            "Tells how a run stands: its state, its variables, what it waits for, its result. What it asks a person, only a person answers.".into(),
            all(json!({"run": name(), "wait_seconds": wait()}), &["run"]),
        ));
        tools.push(tool(
            SEND,
            format!("Sends an event to a run, or `turn`. The events of the charts, with their data: {}", happens.join("; ")),
            all(
                json!({
                    "run": name(),
                    "event": {"type": "string"},
                    "data": {"type": "object"},
                    "id": {"type": "string", "description": "The same id again is the same event, sent twice"},
                    "wait_seconds": wait(),
                }),
                &["run", "event"],
            ),
        ));
        let after = "Lists the runs behind this name. If there are more, the result has the name for the next call as `more_after`";
        let after = json!({"after": {"type": "string", "description": after}});
        tools.push(tool(LIST, "Lists the runs.".into(), all(after, &[])));
        tools
    }

    async fn call(
        &self,
        name: &str,
        arguments: JsonObject,
        client: Client,
    ) -> Result<Option<Value>, Refusal> {
        let mut arguments = Arguments(arguments);
        if let Some(offer) = self.runs.offers().iter().find(|offer| tool_name(offer) == name) {
            arguments.only(&["run", "params", "inputs", "turns", "wait_seconds"])?;
            let order = Order {
                chart: Some(offer.name.clone()),
                run: arguments.take("run")?,
                params: arguments.take("params")?.unwrap_or_default(),
                inputs: arguments.take("inputs")?.unwrap_or_default(),
                turns: arguments.take("turns")?,
            };
            let seconds = arguments.take("wait_seconds")?;
            let (run, _) = self.runs.begin(order, client).await?;
            return self.rested(&run, seconds).await.map(Some);
        }
        match name {
            READ => {
                arguments.only(&["run", "wait_seconds"])?;
                let run: String = arguments.need("run")?;
                let seconds = arguments.take("wait_seconds")?.unwrap_or(0);
                self.rested(&run, Some(seconds)).await.map(Some)
            }
            SEND => {
                arguments.only(&["run", "event", "data", "id", "wait_seconds"])?;
                let (run, event): (String, String) =
                    (arguments.need("run")?, arguments.need("event")?);
                let data = arguments.take("data")?.unwrap_or_default();
                let (id, seconds) = (arguments.take("id")?, arguments.take("wait_seconds")?);
                let reply = self.runs.fire(&run, id, event, data, &client).await?;
                let mut read = self.rested(&run, seconds).await?;
                read["receipt"] = json!(reply.receipt);
                Ok(Some(read))
            }
            LIST => {
                arguments.only(&["after"])?;
                let after = arguments.take("after")?.unwrap_or_else(String::new);
                let (runs, last) = self.runs.list(&after, LISTED).await?;
                let mut listed = json!({"runs": runs});
                if let Some(last) = last {
                    listed["more_after"] = last.into();
                }
                Ok(Some(listed))
            }
            _ => Ok(None),
        }
    }

    /// Waits until a run is at rest, at most `seconds` (default [`PATIENCE`]), and then reads it.
    async fn rested(&self, run: &str, seconds: Option<u64>) -> Result<Value, Refusal> {
        let seconds = seconds.unwrap_or(PATIENCE).min(MOST_PATIENCE);
        // Fails early for an unknown name, instead of waiting for it.
        self.runs.find(run).await?;
        let is_at_rest = self.runs.rest(run, Duration::from_secs(seconds)).await;
        let mut read = self.runs.read(run).await?;
        if let (Some("broken"), Some(why)) = (read["status"].as_str(), read["stopped"].as_str()) {
            return Err(Refusal::NotNow(format!("run `{run}` cannot go on: {why}")));
        }
        read["at_rest"] = is_at_rest.into();
        Ok(read)
    }
}

/// The arguments of a tool call. Errors name the wrong argument, so that a model can correct its call.
struct Arguments(JsonObject);

impl Arguments {
    /// Refuses arguments other than the `known` ones.
    fn only(&self, known: &[&str]) -> Result<(), Refusal> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let known = names(known.iter().copied());
                let why = format!("there is no argument `{name}`; there are {known}");
                Err(Refusal::Misfit(why))
            }
        }
    }

    /// Removes and parses an optional argument. A missing one and `null` are the same.
    fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, Refusal> {
        let value = self.0.remove(name).unwrap_or_default();
        serde_json::from_value(value)
            .map_err(|why| Refusal::Misfit(format!("the argument `{name}`: {why}")))
    }

    fn need<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, Refusal> {
        let found = self.take(name)?;
        found.ok_or_else(|| Refusal::Misfit(format!("the argument `{name}` is missing")))
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("chartc", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "Each tool with the name of a statechart begins a run of it. A run that waits for an event goes on by send_event. \
                 A run that waits for a person has to be answered by a person, outside of this protocol.",
            )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.list()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // Over HTTP, the head of the request says who calls.
        let head = context.extensions.get::<axum::http::request::Parts>();
        let visitor = head.and_then(|head| head.extensions.get::<Visitor>());
        let client = visitor.and_then(Visitor::client);
        let called = self.call(&request.name, request.arguments.unwrap_or_default(), client).await;
        match called {
            Ok(Some(value)) => Ok(CallToolResult::structured(value).into()),
            Ok(None) => {
                let why = format!("there is no tool `{}`", request.name);
                Err(ErrorData::invalid_params(why, None))
            }
            // A result with an error, not a protocol error: clients pass only results on to their models.
            Err(why) => Ok(CallToolResult::error(vec![ContentBlock::text(why.to_string())]).into()),
        }
    }
}
