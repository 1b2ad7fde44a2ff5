//! A connection to one server: the handshake, the list of its tools, and calls.

use crate::config::{Limits, Reach, ServerSpec};
use crate::fault::{Fault, short};
use crate::listing::{Listed, listing};
use crate::process::{Running, StderrListener, start};
use crate::reach::{not_begun, status, transport};
use crate::waiting::{CancelOnDrop, Progress, Watched};
use crate::wire::{Lines, MESSAGE, Reason, raw};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    Implementation, ListToolsRequest, PaginatedRequestParams, ProgressNotificationParam,
    ProtocolVersion,
};
use rmcp::service::{
    ClientLifecycleMode, NotificationContext, Peer, PeerRequestOptions, RoleClient, RunningService,
    ServiceError, serve_client_with_lifecycle,
};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::io::BufReader;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until, timeout};

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
pub(crate) struct Link {
    service: Mutex<RunningService<RoleClient, Client>>,
    peer: Peer<RoleClient>,
    process: Mutex<Option<Running>>,
    reason: Reason,
    changed: Arc<AtomicBool>,
    progress: Progress,
    /// Set when a request has found the connection lost.
    lost: Arc<AtomicBool>,
    spec: ServerSpec,
}

impl Link {
    /// Starts the server if it is a process, and performs the handshake.
    pub(crate) async fn open(
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
                let (mut running, pipes) = start(&spec.name, program, base, heard)
                    .map_err(|why| Fault::Start(format!("`{}`: {why}", program.argv[0])))?;
                let (name, heard) = (spec.name.clone(), heard.clone());
                let stray = Box::new(move |line: &str| heard(&name, line));
                let read = BufReader::new(pipes.stdout);
                let lines = Lines::new(read, pipes.stdin, reason.clone(), stray);
                let shaking =
                    serve_client_with_lifecycle(client, lines, ClientLifecycleMode::Initialize);
                match timeout(spec.start, shaking).await {
                    Ok(Ok(service)) => (service, Some(running)),
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
                        return Err(fault);
                    }
                    Err(_) => {
                        let what = format!("`initialize`{}", running.tail.told());
                        running.close().await;
                        return Err(Fault::Silent { what, after: spec.start });
                    }
                }
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
        let (service, process) = (Mutex::new(service), Mutex::new(process));
        let (lost, spec) = (Arc::default(), spec.clone());
        let link = Self { service, peer, process, reason, changed, progress, lost, spec };
        let version = link.peer.peer_info().map(|info| info.protocol_version.clone());
        let is_known = version.as_ref().is_some_and(|version| {
            ProtocolVersion::KNOWN_VERSIONS.contains(version) && version.has_initialize()
        });
        if !is_known {
            let version = version.map(|version| version.to_string()).unwrap_or_default();
            link.close().await;
            return Err(Fault::Protocol(format!(
                "it speaks version {version:?} of the protocol, which chartc does not know"
            )));
        }
        Ok(link)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed() || self.lost.load(Ordering::Relaxed)
    }

    /// Returns the change of the list if the server has announced one since the last call.
    pub(crate) fn change(&self) -> Option<Change<'_>> {
        self.changed.swap(false, Ordering::Relaxed).then(|| Change { of: &self.changed })
    }

    /// Requests all pages of the list. Each malformed entry is reported in `faults`, and the other entries are kept.
    pub(crate) async fn list(&self) -> Result<Listed, Fault> {
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
    pub(crate) async fn call(
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

    async fn silent(&self, what: &str, after: Duration) -> Fault {
        Fault::Silent { what: what.to_owned() + &self.tail().await, after }
    }

    async fn fault(&self, why: ServiceError, what: &str) -> Fault {
        let fault = self.reading(why, what).await;
        if let Fault::Gone(_) = fault {
            self.lost.store(true, Ordering::Relaxed);
        }
        fault
    }

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
            return status(why.error.as_ref());
        }
        if matches!(why, ServiceError::TransportClosed | ServiceError::TransportSend(_)) {
            return self.gone().await;
        }
        Fault::Protocol(why.to_string())
    }

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
    pub(crate) async fn close(&self) {
        // If the connection does not close in time, ending the process closes it.
        drop(self.service.lock().await.close_with_timeout(CLOSING).await);
        if let Some(running) = self.process.lock().await.take() {
            running.close().await;
        }
    }
}

/// An announced change of the list. Unless it is settled, dropping it announces the change again, so that a failed request for the list is
/// repeated.
pub(crate) struct Change<'l> {
    of: &'l AtomicBool,
}

impl Change<'_> {
    pub(crate) fn settle(self) {
        // Skips `drop`, which would announce the change again.
        std::mem::forget(self);
    }
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        self.of.store(true, Ordering::Relaxed);
    }
}
