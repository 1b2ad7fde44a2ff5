//! The command `chartc schema`.

use super::output::{Exit, print_made};
use clap::ValueEnum;

/// Print the JSON Schema of a file format, for editors and validators.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc schema agent > agent.schema.json     for agent.yaml
  chartc schema config > chartc.schema.json   for chartc.toml

An editor with the YAML language server (VS Code with the YAML extension, Neovim,
Helix, Emacs, Zed) checks and completes an agent.yaml or a run.yaml whose first line
names the schema. A path is relative to the file:
  # yaml-language-server: $schema=agent.schema.json

An editor with taplo (Even Better TOML) does so for a chartc.toml:
  #:schema ./chartc.schema.json

VS Code can also take them for all files, in its settings.json:
  \"yaml.schemas\": {\"./agent.schema.json\": [\"agent.yaml\", \"*.agent.yaml\"]}

The schemas are of draft 7. docs/schemas.md has more.")]
pub(super) struct Args {
    /// The format
    #[arg(value_enum)]
    format: Format,
}

/// A file format with a schema.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// An agent.yaml
    Agent,
    /// A component of an agent.yaml, in `_components`
    Component,
    /// A chartc.toml
    Config,
    /// A run file: run.yaml of a folder of agents
    Run,
    /// A line of a trace, or of the log of a world
    Trace,
    /// What `chartc check --format json` prints
    Findings,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    print_made(match args.format {
        Format::Agent => include_str!("../../docs/agent.schema.json"),
        Format::Component => include_str!("../../docs/component.schema.json"),
        Format::Config => include_str!("../../docs/config.schema.json"),
        Format::Run => include_str!("../../docs/run.schema.json"),
        Format::Trace => include_str!("../../docs/trace.schema.json"),
        Format::Findings => include_str!("../../docs/findings.schema.json"),
    })?;
    Ok(Exit::Clean)
}
