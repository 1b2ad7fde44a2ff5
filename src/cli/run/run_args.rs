//! Converts the arguments of a stored run, which the store keeps.

use super::Args;
use crate::cli::durable::RunArgs;
use crate::cli::files::Root;
use crate::cli::instance::InitialValues;
use crate::cli::output::Colour;
use crate::cli::{crowd, otel, servers};
use std::path::PathBuf;

impl Args {
    /// The arguments with which a stored run is continued.
    pub(in crate::cli) fn from_stored(args: RunArgs, store: PathBuf, run: String) -> Self {
        Self {
            file: args.file,
            chart: args.chart,
            llm: args.llm,
            model: args.model,
            human: args.human,
            functions: args.functions.map(PathBuf::from),
            servers: servers::Options::from_file(args.tools),
            otel: otel::Options::default(),
            world: None,
            memory: args.memory.map(PathBuf::from),
            events: args.events.map(PathBuf::from),
            // The stored run has its inputs and params.
            input: Vec::new(),
            param: Vec::new(),
            turns: args.turns,
            calls_per_turn: args.calls_per_turn,
            even_disabled: true,
            trace: None,
            record: None,
            snapshot: None,
            resume: None,
            store: Some(store),
            run: Some(run),
            clock: args.clock,
            color: Colour::Auto,
            root: Root::default(),
            many: crowd::Options::default(),
        }
    }

    /// The arguments of a new run in the form in which the store keeps them.
    pub(super) fn run_args(&self, given: &InitialValues) -> RunArgs {
        let path = |path: &PathBuf| path.display().to_string();
        RunArgs {
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
