//! The arguments of a run of a store: kept with it, and taken back.

use super::Args;
use crate::cli::durable::Begun;
use crate::cli::files::Root;
use crate::cli::instance::Given;
use crate::cli::output::Colour;
use crate::cli::{crowd, otel, servers};
use std::path::PathBuf;

impl Args {
    /// The arguments with which a run of a store goes on.
    pub(in crate::cli) fn again(begun: Begun, store: PathBuf, run: String) -> Self {
        Self {
            file: begun.file,
            chart: begun.chart,
            llm: begun.llm,
            model: begun.model,
            human: begun.human,
            functions: begun.functions.map(PathBuf::from),
            servers: servers::Options::of(begun.tools),
            otel: otel::Options::default(),
            world: None,
            memory: begun.memory.map(PathBuf::from),
            events: begun.events.map(PathBuf::from),
            input: Vec::new(),
            param: Vec::new(),
            turns: begun.turns,
            calls_per_turn: begun.calls_per_turn,
            even_disabled: true,
            trace: None,
            record: None,
            snapshot: None,
            resume: None,
            store: Some(store),
            run: Some(run),
            clock: begun.clock,
            color: Colour::Auto,
            root: Root::default(),
            many: crowd::Options::default(),
        }
    }

    /// How a run is begun, for the store.
    pub(super) fn begun(&self, given: &Given) -> Begun {
        let path = |path: &PathBuf| path.display().to_string();
        Begun {
            file: self.file.clone(),
            chart: self.chart.clone(),
            llm: self.llm.clone(),
            model: self.model.clone(),
            human: self.human.clone(),
            functions: self.functions.as_ref().map(path),
            tools: self.servers.file(),
            events: self.events.as_ref().map(path),
            turns: self.turns,
            calls_per_turn: self.calls_per_turn,
            clock: self.clock.clone(),
            memory: self.memory.as_ref().map(path),
            params: given.params.clone(),
            inputs: given.inputs.clone(),
        }
    }
}
