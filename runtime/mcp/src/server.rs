//! One server over its whole life: it is started, called, and started again after its connection is lost.

use crate::config::ServerSpec;
use crate::fault::Fault;
use crate::link::Link;
use crate::listing::{Listed, Listing};
use crate::process::StderrListener;
use crate::result::{Wanted, arguments, brought};
use crate::shape::parameters;
use chartc_core::expr::Value;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::time::timeout;

/// A server of the configuration, connected or not.
pub(crate) struct Server {
    pub(crate) spec: ServerSpec,
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
    pub(crate) fn new(
        spec: ServerSpec,
        base: Vec<(String, String)>,
        heard: StderrListener,
    ) -> Self {
        let (state, first, fault) = Default::default();
        Self { spec, base, heard, state, first, fault }
    }

    /// Starts the server, and keeps the error if that fails.
    pub(crate) async fn start(&self) {
        let started = self.link().await;
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = started.err();
    }

    /// The list of tools from the first start.
    ///
    /// # Errors
    /// The server could not be started.
    pub(crate) fn listed(&self) -> Result<&Listed, Fault> {
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
    pub(crate) async fn call(
        &self,
        tool: &str,
        given: &[(String, Value)],
        wanted: &Wanted,
    ) -> Result<Value, Fault> {
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
    pub(crate) async fn close(&self) {
        let mut state = self.state.lock().await;
        state.is_over = true;
        if let Some(link) = state.link.take() {
            link.close().await;
        }
    }
}
