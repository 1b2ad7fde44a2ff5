//! The command `chartc tools`: lists the tools of servers, and compares charts with them.

mod add;
mod check;
mod list;

use super::servers::{Serving, configuration, heard};
use super::{Exit, files::Root};
use chartc_core::model::Chart;
use chartc_mcp::{Configuration, Pool};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Show the tools of MCP servers, compare charts with them, and write declarations of them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc tools list --tools tools.toml
  chartc tools list --tools mcp.json files --format json
  chartc tools check support.chart --tools tools.toml
  chartc tools add files.read_file --tools tools.toml --to support.chart

Exit codes: 0 no findings, 1 a server cannot be used, or a chart does not fit the servers, 2 wrong usage,
3 internal error, 4 no chart in the file")]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

/// The file of `--tools`.
#[derive(Debug, clap::Args)]
struct ToolsFile {
    /// TOML or JSON file with the servers
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List the tools of all servers, or of one
    List {
        /// The server
        server: Option<String>,
        #[command(flatten)]
        given: ToolsFile,
        /// How to print it
        #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
        format: String,
    },
    /// Compare the tools that charts declare with those of the servers
    Check {
        /// A *.chart, *.scxml or agent.yaml file, or - for standard input
        file: String,
        #[command(flatten)]
        given: ToolsFile,
        /// How to print it
        #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], default_value = "text")]
        format: String,
        #[command(flatten)]
        root: Root,
    },
    /// Write declarations of a server's tools into a chart's file; what is declared there stays as it is
    Add {
        /// A server, or one of its tools, such as files.read_file
        name: String,
        #[command(flatten)]
        given: ToolsFile,
        /// The file, which is created if it does not exist
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    match args.what {
        What::List { server, given, format } => {
            list::run(&given.tools, server.as_deref(), format == "json")
        }
        What::Check { file, given, format, root } => {
            check::run(&file, &given.tools, &root, format == "json")
        }
        What::Add { name, given, to } => add::run(&name, &given.tools, &to),
    }
}

/// The servers to start.
enum Which<'a> {
    /// Those that the charts need.
    Charts(&'a [&'a Chart]),
    One(&'a str),
    All,
}

/// Starts servers, calls `act` with them, and ends them.
fn with_pool<R>(
    tools: &Path,
    which: &Which<'_>,
    act: impl FnOnce(&Pool) -> miette::Result<R>,
) -> miette::Result<R> {
    let configuration = configuration(tools)?;
    let names: BTreeSet<String> = configuration.servers().map(ToOwned::to_owned).collect();
    let pool = match which {
        Which::Charts([]) => Pool::of_servers(configuration, &BTreeSet::new(), heard(None)),
        Which::Charts(charts) => Pool::new(configuration, charts, heard(None)),
        Which::One(server) if !names.contains(*server) => {
            return Err(unknown(&configuration, server));
        }
        Which::One(server) => {
            let only = BTreeSet::from([(*server).to_owned()]);
            Pool::of_servers(configuration, &only, heard(None))
        }
        Which::All => Pool::of_servers(configuration, &names, heard(None)),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|fault| miette::miette!("no runtime: {fault}"))?;
    let serving = Serving { pool };
    runtime.block_on(serving.during(true, async {
        serving.pool.begin().await;
        act(&serving.pool)
    }))
}

fn unknown(configuration: &Configuration, server: &str) -> miette::Report {
    let names: Vec<&str> = configuration.servers().collect();
    let near = chartc_text::diagnostic::nearest(server, names.iter().copied());
    let help = match (near, names.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => "it has no servers".to_owned(),
        (None, false) => format!("it has {}", names.join(", ")),
    };
    miette::miette!(help = help, "{} has no server `{server}`", configuration.file())
}
