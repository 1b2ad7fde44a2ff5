//! One server over its whole life: started, asked, and started again after it has died.

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

/// A server.
pub(crate) struct Server {
    pub(crate) spec: ServerSpec,
    base: Vec<(String, String)>,
    heard: StderrListener,
    state: tokio::sync::Mutex<State>,
    /// The list when the server was started first: what charts are checked against.
    first: OnceLock<Listed>,
    /// Why it could not be started.
    fault: Mutex<Option<Fault>>,
}

#[derive(Default)]
struct State {
    link: Option<Arc<Link>>,
    /// What the server has now.
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

    /// Starts it, and keeps why it cannot be.
    pub(crate) async fn start(&self) {
        let started = self.link().await;
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = started.err();
    }

    /// Its tools when it was started first, or why it could not be.
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

    /// A connection, new if there is none or the last one is lost, and the list that the server gives now.
    async fn link(&self) -> Result<(Arc<Link>, Arc<Listed>), Fault> {
        let mut state = self.state.lock().await;
        if state.is_over {
            return Err(Fault::Gone("the run is over".into()));
        }
        if let Some(link) = state.link.clone().filter(|link| !link.is_closed()) {
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

    /// One call of what a chart calls `tool`, without the server's name.
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

    /// The tool in the list, if it is the one that charts were checked against.
    fn unchanged<'l>(&self, name: &str, now: &'l Listed) -> Result<&'l Listing, Fault> {
        let find = |listed: &'l Listed| listed.tools.iter().find(|tool| tool.name == name);
        let first = self.first.get().and_then(|first| first.tools.iter().find(|t| t.name == name));
        let place = &self.spec.place;
        if !self.spec.includes(name) {
            return Err(Fault::Changed(format!("`include_tools` does not name the tool `{name}`")));
        }
        match (find(now), first) {
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

    /// Ends the connection for good.
    pub(crate) async fn close(&self) {
        let mut state = self.state.lock().await;
        state.is_over = true;
        if let Some(link) = state.link.take() {
            link.close().await;
        }
    }
}
