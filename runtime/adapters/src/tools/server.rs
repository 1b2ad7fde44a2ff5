//! One server over its whole life: it is started, called, and started again after its connection is lost.
//!
//! **The problem.** A tool server is somebody else's program. It may die, hang, send lists without end, or change a tool after the chart
//! was checked against it. A call may have had effects although no answer came.
//!
//! **The idea.** [`Server`] has the configuration and at most one [`Link`], a connection. `link` connects if there is none. It also asks
//! for the list of tools again when the server has announced a change. A call is sent only if the schemas of the tool are those of the
//! first list, against which charts were checked (`unchanged`). A request has two deadlines: progress extends the first, nothing extends
//! the second. A request that is given up sends a cancellation. No call is sent twice: after a lost connection the call fails, and the next
//! one connects.
//!
//! **Example.** A server `files` whose process dies:
//!
//! ```text
//! call read_file   connected, schemas as at first: tools/call, and its result
//! (list changed)   `changed` is set by the notification
//! call read_file   tools/list again; `path` is a number now: Fault::Changed, and the call is not sent
//! (process dies)   the call under way is Fault::Gone with the end of its standard error; `lost` is set
//! call list_dir    a new process, initialize, tools/list, tools/call
//! ```

use super::config::{Limits, Reach, ServerSpec};
use super::declare::{Listed, Listing, listing, parameters};
use super::process::{Lines, MESSAGE, Reason, Running, StderrListener, raw, start};
use super::result::{Wanted, arguments, brought};
use super::{Fault, short};
use chartc_core::expr;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientCapabilities, ClientConfig, ClientRequest, Implementation, ListToolsRequest,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestId,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, PeerRequestOptions,
    RequestHandle, RoleClient, RunningService, ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::io::BufReader;
use tokio::sync::{self, Notify};
use tokio::time::{Instant, sleep_until, timeout};

/// A server of the configuration, connected or not.
pub(super) struct Server {
    pub(super) spec: ServerSpec,
    base: Vec<(String, String)>,
    heard: StderrListener,
    state: tokio::sync::Mutex<State>,
    /// The list of tools from the first start, against which charts are checked.
    first: OnceLock<Listed>,
    /// The error of the first start, if it failed.
    fault: Mutex<Option<Fault>>,
}

#[derive(Default)]
struct State {
    link: Option<Arc<Link>>,
    /// The server's current list of tools.
    now: Arc<Listed>,
    is_over: bool,
}

impl Server {
    pub(super) fn new(
        spec: ServerSpec,
        base: Vec<(String, String)>,
        heard: StderrListener,
    ) -> Self {
        let (state, first, fault) = Default::default();
        Self { spec, base, heard, state, first, fault }
    }

    /// Starts the server, and keeps the error if that fails.
    pub(super) async fn start(&self) {
        let started = self.link().await;
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = started.err();
    }

    /// The list of tools from the first start.
    ///
    /// # Errors
    /// The server could not be started.
    pub(super) fn listed(&self) -> Result<&Listed, Fault> {
        match self.first.get() {
            Some(listed) => Ok(listed),
            None => Err(self
                .fault
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
                .unwrap_or_else(|| Fault::Start("it was not started".into()))),
        }
    }

    /// Returns the connection and the current list of tools. It connects if there is no connection or the last one is lost.
    async fn link(&self) -> Result<(Arc<Link>, Arc<Listed>), Fault> {
        // The lock is held while connecting, so that concurrent calls do not start the server twice.
        let mut state = self.state.lock().await;
        if state.is_over {
            return Err(Fault::Gone("the run is over".into()));
        }
        if let Some(link) = state.link.clone().filter(|link| !link.is_closed()) {
            // If the request fails, `change` is dropped unsettled, and the next call asks for the list again.
            if let Some(change) = link.change() {
                state.now = Arc::new(self.list(&link).await?);
                change.settle();
            }
            return Ok((link, state.now.clone()));
        }
        if let Some(link) = state.link.take() {
            link.close().await;
        }
        let link = Link::open(&self.spec, &self.base, &self.heard).await?;
        match self.list(&link).await {
            Ok(listed) => {
                let link = Arc::new(link);
                state.link = Some(link.clone());
                state.now = Arc::new(listed);
                self.first.get_or_init(|| Listed::clone(&state.now));
                Ok((link, state.now.clone()))
            }
            Err(fault) => {
                link.close().await;
                Err(fault)
            }
        }
    }

    async fn list(&self, link: &Link) -> Result<Listed, Fault> {
        let after = self.spec.start;
        timeout(after, link.list())
            .await
            .unwrap_or_else(|_| Err(Fault::Silent { what: "`tools/list`".into(), after }))
    }

    /// Calls a tool by its name in charts, without the server's name.
    pub(super) async fn call(
        &self,
        tool: &str,
        given: &[(String, expr::Value)],
        wanted: &Wanted,
    ) -> Result<expr::Value, Fault> {
        let (name, limits) = self.spec.tool(tool);
        let (link, now) = self.link().await?;
        let listing = self.unchanged(&name, &now)?;
        let arguments = arguments(given, parameters(&listing.input).as_ref());
        let result = link.call(&name, arguments, limits).await?;
        brought(&result, wanted, limits.output)
    }

    /// The tool in the current list, if its schemas are still those against which charts were checked.
    ///
    /// # Errors
    /// The tool is excluded, gone or changed.
    fn unchanged<'l>(&self, name: &str, now: &'l Listed) -> Result<&'l Listing, Fault> {
        let find = |listed: &'l Listed| listed.tools.iter().find(|tool| tool.name == name);
        let first = self.first.get().and_then(|first| first.tools.iter().find(|t| t.name == name));
        let place = &self.spec.place;
        if !self.spec.includes(name) {
            return Err(Fault::Changed(format!("`include_tools` does not name the tool `{name}`")));
        }
        match (find(now), first) {
            // The tool was added later, so no chart was checked against another schema of it.
            (Some(tool), None) => Ok(tool),
            (Some(tool), Some(first))
                if tool.input == first.input && tool.output == first.output =>
            {
                Ok(tool)
            }
            (Some(_), Some(_)) => Err(Fault::Changed(format!(
                "the schema of `{name}` on the server of {place} is no longer the one that the chart was checked against; run `chartc tools check` again"
            ))),
            (None, Some(_)) => Err(Fault::Changed(format!(
                "the server of {place} no longer has the tool `{name}`; run `chartc tools check` again"
            ))),
            (None, None) => {
                Err(Fault::Changed(format!("the server of {place} has no tool `{name}`")))
            }
        }
    }

    /// Closes the connection. Later calls fail.
    pub(super) async fn close(&self) {
        let mut state = self.state.lock().await;
        state.is_over = true;
        if let Some(link) = state.link.take() {
            link.close().await;
        }
    }
}

// A connection to one server: the handshake, the list of its tools, and calls.

/// The maximum number of tools in a server's list, and of the pages of the list.
const TOOLS: usize = 10_000;
const PAGES: usize = 1000;
/// The time limit for closing a connection.
const CLOSING: Duration = Duration::from_secs(2);

/// The client's handlers for notifications of the server.
struct Client {
    /// Set when the server announces that its list of tools has changed.
    changed: Arc<AtomicBool>,
    progress: Progress,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("chartc", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(ClientCapabilities::default(), name);
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        config
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Relaxed);
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let all = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(progress) = all.get(&params.progress_token) {
            progress.notify_one();
        }
    }
}

/// A connection to a server.
pub(super) struct Link {
    service: sync::Mutex<RunningService<RoleClient, Client>>,
    peer: Peer<RoleClient>,
    process: sync::Mutex<Option<Running>>,
    reason: Reason,
    changed: Arc<AtomicBool>,
    progress: Progress,
    /// Set when a request has found the connection lost.
    lost: Arc<AtomicBool>,
    spec: ServerSpec,
}

impl Link {
    /// Starts the server if it is a process, and performs the handshake.
    pub(super) async fn open(
        spec: &ServerSpec,
        base: &[(String, String)],
        heard: &StderrListener,
    ) -> Result<Self, Fault> {
        let changed = Arc::new(AtomicBool::new(false));
        let progress = Progress::default();
        let client = Client { changed: changed.clone(), progress: progress.clone() };
        let reason = Reason::default();
        let (service, process) = match &spec.reach {
            Reach::Process(program) => {
                let (running, pipes) = start(&spec.name, program, base, heard)
                    .map_err(|why| Fault::Start(format!("`{}`: {why}", program.argv[0])))?;
                let (name, heard) = (spec.name.clone(), heard.clone());
                let stray = Box::new(move |line: &str| heard(&name, line));
                let read = BufReader::new(pipes.stdout);
                let lines = Lines::new(read, pipes.stdin, reason.clone(), stray);
                let shaking =
                    serve_client_with_lifecycle(client, lines, ClientLifecycleMode::Initialize);
                let (service, running) = shaken(shaking, running, &reason, spec).await?;
                (service, Some(running))
            }
            Reach::Http { url, headers } => {
                let transport = transport(url, headers)?;
                let shaking =
                    serve_client_with_lifecycle(client, transport, ClientLifecycleMode::Initialize);
                match timeout(spec.start, shaking).await {
                    Ok(Ok(service)) => (service, None),
                    Ok(Err(why)) => return Err(not_begun(why)),
                    Err(_) => {
                        return Err(Fault::Silent {
                            what: "`initialize`".into(),
                            after: spec.start,
                        });
                    }
                }
            }
        };
        let peer = service.peer().clone();
        let (service, process) = (sync::Mutex::new(service), sync::Mutex::new(process));
        let (lost, spec) = (Arc::default(), spec.clone());
        let link = Self { service, peer, process, reason, changed, progress, lost, spec };
        link.check_version().await?;
        Ok(link)
    }

    /// Closes the connection if the server speaks an unknown version of the protocol.
    async fn check_version(&self) -> Result<(), Fault> {
        let version = self.peer.peer_info().map(|info| info.protocol_version.clone());
        let is_known = version.as_ref().is_some_and(|version| {
            ProtocolVersion::KNOWN_VERSIONS.contains(version) && version.has_initialize()
        });
        if !is_known {
            let version = version.map(|version| version.to_string()).unwrap_or_default();
            self.close().await;
            return Err(Fault::Protocol(format!(
                "it speaks version {version:?} of the protocol, which chartc does not know"
            )));
        }
        Ok(())
    }

    pub(super) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed() || self.lost.load(Ordering::Relaxed)
    }

    /// Returns the change of the list if the server has announced one since the last call.
    pub(super) fn change(&self) -> Option<Change<'_>> {
        self.changed.swap(false, Ordering::Relaxed).then(|| Change { of: &self.changed })
    }

    /// Requests all pages of the list. Each malformed entry is reported in `faults`, and the other entries are kept.
    pub(super) async fn list(&self) -> Result<Listed, Fault> {
        // A hostile server could send a list without end, in pages of any size: tools, bytes, pages and repeated cursors are bounded.
        let mut listed = Listed::default();
        let (mut cursor, mut seen) = (None, HashSet::new());
        let (mut names, mut bytes) = (HashSet::new(), 0);
        for _ in 0..PAGES {
            let mut request = ListToolsRequest::default();
            if let Some(cursor) = cursor.take() {
                let params = PaginatedRequestParams::default().with_cursor(Some(cursor));
                request.params = Some(params);
            }
            let request = ClientRequest::ListToolsRequest(request);
            let limits = Limits { idle: self.spec.start, total: self.spec.start, output: MESSAGE };
            let page = self.ask(request, "`tools/list`", limits).await?;
            let Some(tools) = page.get("tools").and_then(Value::as_array) else {
                return Err(Fault::Protocol("its answer to `tools/list` has no `tools`".into()));
            };
            for (nth, tool) in tools.iter().enumerate() {
                bytes += tool.to_string().len();
                if bytes > MESSAGE {
                    listed.faults.push(format!(
                        "its list has more than {MESSAGE} bytes: the rest is left out"
                    ));
                    return Ok(listed);
                }
                if listed.tools.len() >= TOOLS {
                    listed.faults.push(format!("more than {TOOLS} tools: the rest is left out"));
                    return Ok(listed);
                }
                match listing(tool) {
                    Ok(tool) if !names.insert(tool.name.clone()) => {
                        listed.faults.push(format!("the tool `{}` is listed twice", tool.name));
                    }
                    Ok(tool) => listed.tools.push(tool),
                    Err(why) => {
                        let name = tool.get("name").and_then(Value::as_str);
                        let name = name.map_or_else(
                            || format!("entry {} of the list", nth + 1),
                            |name| format!("the tool `{}`", short(name, 100)),
                        );
                        listed.faults.push(format!("{name} is left out: {why}"));
                    }
                }
            }
            match page.get("nextCursor").and_then(Value::as_str) {
                None => return Ok(listed),
                Some(next) if seen.insert(next.to_owned()) => cursor = Some(next.to_owned()),
                Some(_) => {
                    listed.faults.push("its list repeats itself: the rest is left out".into());
                    return Ok(listed);
                }
            }
        }
        listed.faults.push(format!("its list has more than {PAGES} pages: the rest is left out"));
        Ok(listed)
    }

    /// Calls a tool, and returns the result as it was sent.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        limits: Limits,
    ) -> Result<Value, Fault> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        self.ask(request, &format!("`{tool}`"), limits).await
    }

    /// Sends a request and waits for its answer. Dropping the future sends the server a cancellation.
    ///
    /// The deadline is kept here instead of with the library's own timeout, because that one waits until the cancellation is written, and a
    /// server that reads nothing blocks the write.
    async fn ask(
        &self,
        request: ClientRequest,
        what: &str,
        limits: Limits,
    ) -> Result<Value, Fault> {
        let options = PeerRequestOptions::no_options();
        let end = Instant::now() + limits.total;
        let sending = self.peer.send_cancellable_request(request, options);
        let mut handle = match timeout(limits.idle, sending).await {
            Ok(Ok(handle)) => handle,
            Ok(Err(why)) => return Err(self.fault(why, what).await),
            Err(_) => return Err(self.silent(what, limits.idle).await),
        };
        let mut left = CancelOnDrop::new(&handle, &self.lost);
        let watched = Watched::new(&self.progress, &handle.progress_token);
        loop {
            // Progress extends the deadline `idle`, but not `end`.
            let idle = Instant::now() + limits.idle;
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    left.is_done = true;
                    return match answer {
                        Ok(Ok(result)) => Ok(raw(result)),
                        Ok(Err(why)) => Err(self.fault(why, what).await),
                        Err(_) => Err(self.fault(ServiceError::TransportClosed, what).await),
                    };
                }
                () = watched.progress.notified() => {}
                () = sleep_until(idle.min(end)) => {
                    let after = if idle < end { limits.idle } else { limits.total };
                    drop(left);
                    return Err(self.silent(what, after).await);
                }
            }
        }
    }

    /// The fault of a request without an answer in time, with the last output of the process.
    async fn silent(&self, what: &str, after: Duration) -> Fault {
        Fault::Silent { what: what.to_owned() + &self.tail().await, after }
    }

    /// Converts the error of a request. If the connection is gone, marks it as lost, so that the next call opens another one.
    async fn fault(&self, why: ServiceError, what: &str) -> Fault {
        let fault = self.reading(why, what).await;
        if let Fault::Gone(_) | Fault::Unreachable(_) = fault {
            self.lost.store(true, Ordering::Relaxed);
        }
        fault
    }

    /// Converts the error of a request, with what is known about the end of the connection.
    async fn reading(&self, why: ServiceError, what: &str) -> Fault {
        if let ServiceError::McpError(error) = why {
            return Fault::Refused(error.message.into_owned());
        }
        if let ServiceError::Timeout { timeout } = why {
            return self.silent(what, timeout).await;
        }
        if let ServiceError::TransportSend(why) = &why
            && self.process.lock().await.is_none()
        {
            return transport_fault(why.error.as_ref());
        }
        if matches!(why, ServiceError::TransportClosed | ServiceError::TransportSend(_)) {
            return self.gone().await;
        }
        Fault::Protocol(why.to_string())
    }

    /// The last output of the process, for messages; empty for a remote server.
    async fn tail(&self) -> String {
        let process = self.process.lock().await;
        process.as_ref().map(|running| running.tail.told()).unwrap_or_default()
    }

    /// The reason why the connection ended, as far as it is known.
    async fn gone(&self) -> Fault {
        if let Some(why) = self.reason.get() {
            return Fault::Gone(why + &self.tail().await);
        }
        match self.process.lock().await.as_mut() {
            Some(running) => Fault::Gone(running.ending().await),
            None => Fault::Gone("the server closed it".into()),
        }
    }

    /// Closes the connection, and ends the server if this process started it.
    pub(super) async fn close(&self) {
        // If the connection does not close in time, ending the process closes it.
        drop(self.service.lock().await.close_with_timeout(CLOSING).await);
        if let Some(running) = self.process.lock().await.take() {
            running.close().await;
        }
    }
}

/// An announced change of the list. Unless it is settled, dropping it announces the change again, so that a failed request for the list is
/// repeated.
pub(super) struct Change<'l> {
    of: &'l AtomicBool,
}

impl Change<'_> {
    pub(super) fn settle(self) {
        // Skips `drop`, which would announce the change again.
        std::mem::forget(self);
    }
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        self.of.store(true, Ordering::Relaxed);
    }
}

// The HTTP transport of remote servers, and the reading of its errors.

pub(super) fn transport(
    url: &str,
    headers: &[(String, String)],
) -> Result<StreamableHttpClientTransport<reqwest::Client>, Fault> {
    let client = client(url).map_err(|why| Fault::Start(why.to_string()))?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url.to_owned())
        .max_sse_event_size(MESSAGE)
        .max_json_response_size(MESSAGE)
        // A session that has expired is not replaced and the call is not sent again, since it may have had effects. The call fails, and the
        // next one opens a new connection.
        .reinit_on_expired_session(false);
    let pair = |(name, value): &(String, String)| {
        let value = HeaderValue::from_str(value).ok().map(|mut value| {
            // Sensitive values are not shown by `Debug`, so they do not reach logs.
            value.set_sensitive(true);
            value
        });
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, value?))
    };
    config.custom_headers = headers.iter().filter_map(pair).collect();
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// A client for the tools of this address.
pub(super) fn client(url: &str) -> Result<reqwest::Client, reqwest::Error> {
    crate::web::client(url).user_agent(concat!("chartc/", env!("CARGO_PKG_VERSION"))).build()
}

/// Waits for the handshake with a process, and ends the process if it fails.
async fn shaken<S>(
    shaking: impl Future<Output = Result<S, ClientInitializeError>>,
    mut running: Running,
    reason: &Reason,
    spec: &ServerSpec,
) -> Result<(S, Running), Fault> {
    match timeout(spec.start, shaking).await {
        Ok(Ok(service)) => Ok((service, running)),
        Ok(Err(why)) => {
            let fault = not_begun(why);
            // The transport knows best why it gave up. Without its reason, the exit status of the process says more than
            // "closed".
            let fault = match (reason.get(), fault) {
                (Some(why), _) => Fault::Protocol(why + &running.tail.told()),
                (None, Fault::Gone(_)) => Fault::Start(running.ending().await),
                (None, fault) => fault,
            };
            running.close().await;
            Err(fault)
        }
        Err(_) => {
            let what = format!("`initialize`{}", running.tail.told());
            running.close().await;
            Err(Fault::Silent { what, after: spec.start })
        }
    }
}

/// Converts the error of a handshake.
pub(super) fn not_begun(why: ClientInitializeError) -> Fault {
    if let ClientInitializeError::TransportError { error, .. } = why {
        let fault = transport_fault(error.error.as_ref());
        return if let Fault::Gone(why) = fault { Fault::Start(why) } else { fault };
    }
    if let ClientInitializeError::JsonRpcError(error) = why {
        return Fault::Refused(error.message.into_owned());
    }
    if let ClientInitializeError::ConnectionClosed(why) = why {
        return Fault::Gone(why);
    }
    let is_malformed = matches!(
        why,
        ClientInitializeError::ExpectedInitResponse(_)
            | ClientInitializeError::ExpectedInitResult(_)
    );
    Fault::Protocol(if is_malformed {
        "its answer to `initialize` is malformed".into()
    } else {
        why.to_string()
    })
}

/// Converts an error of the transport: to its HTTP status if there is one in the chain of causes, otherwise to the texts of the causes.
pub(super) fn transport_fault(why: &(dyn Error + 'static)) -> Fault {
    let mut at = Some(why);
    let mut words: Vec<String> = Vec::new();
    // Without a connection nothing was sent.
    let mut is_connected = true;
    while let Some(error) = at {
        if let Some(web) = error.downcast_ref::<reqwest::Error>() {
            is_connected &= !web.is_connect();
        }
        if let Some(http) = error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            if let StreamableHttpError::Client(web) = http {
                is_connected &= !web.is_connect();
            }
            if let StreamableHttpError::HttpStatus(http) = http {
                let seconds = http.retry_after.as_deref().and_then(|text| text.trim().parse().ok());
                let retry_after = seconds.map(|seconds: u64| seconds.saturating_mul(1000));
                return Fault::Status { status: http.status, retry_after };
            }
            if let StreamableHttpError::AuthRequired(_) = http {
                return Fault::Refused(
                    "status 401: it wants to know who asks; configure `headers`, such as Authorization = \"Bearer ${TOKEN}\"".into(),
                );
            }
            if let StreamableHttpError::InsufficientScope(_) = http {
                return Fault::Refused(
                    "status 403: the credentials in `headers` do not suffice".into(),
                );
            }
        }
        let text = error.to_string();
        // Wrappers often repeat the text of their cause.
        if !words.iter().any(|before| before.contains(&text)) {
            words.push(text);
        }
        at = error.source();
    }
    let why = short(&words.join(": "), 1000);
    if is_connected { Fault::Gone(why) } else { Fault::Unreachable(why) }
}

// Support for a request that waits for its answer: progress, which extends its deadline, and cancellation.

/// The time limit for sending a cancellation.
const TOLD: Duration = Duration::from_secs(5);

/// The requests that wait, by their progress tokens. A notification of progress wakes the request.
pub(super) type Progress = Arc<Mutex<HashMap<ProgressToken, Arc<Notify>>>>;

/// The registration of a request for notifications of progress. Dropping it removes the registration.
pub(super) struct Watched {
    all: Progress,
    token: ProgressToken,
    pub(super) progress: Arc<Notify>,
}

impl Watched {
    pub(super) fn new(all: &Progress, token: &ProgressToken) -> Self {
        let progress = Arc::new(Notify::new());
        let (all, token) = (all.clone(), token.clone());
        all.lock().unwrap_or_else(PoisonError::into_inner).insert(token.clone(), progress.clone());
        Self { all, token, progress }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.token);
    }
}

/// Sends the server a cancellation if it is dropped before the answer has arrived.
pub(super) struct CancelOnDrop {
    peer: Peer<RoleClient>,
    id: RequestId,
    lost: Arc<AtomicBool>,
    pub(super) is_done: bool,
}

impl CancelOnDrop {
    pub(super) fn new(handle: &RequestHandle<RoleClient>, lost: &Arc<AtomicBool>) -> Self {
        let (peer, id) = (handle.peer.clone(), handle.id.clone());
        Self { peer, id, lost: lost.clone(), is_done: false }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        // `drop` cannot wait, so the notification is sent by a task. Without a runtime, the process is ending anyway.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.is_done {
            return;
        }
        let (peer, id, lost) = (self.peer.clone(), self.id.clone(), self.lost.clone());
        runtime.spawn(async move {
            let reason = Some("the call was given up".to_owned());
            let params = CancelledNotificationParam::new(Some(id), reason);
            let told = peer.send_notification(CancelledNotification::new(params).into());
            // The server does not read any more, so the connection is useless for further calls.
            if !matches!(timeout(TOLD, told).await, Ok(Ok(()))) {
                lost.store(true, Ordering::Relaxed);
            }
        });
    }
}
