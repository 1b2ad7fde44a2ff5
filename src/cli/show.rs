//! The command `chartc show`.

use super::files::Root;
use super::graph;
use super::output::{Colour, Exit, columns, print_coloured, terminal};
use super::pick::pick;
use chartc_compiler::emit::Options;
use chartc_compiler::emit::draw::outline::{OutlineLayout, outline};
use chartc_core::arena::StateId;

/// The maximum number of states that are drawn without --all.
const STATES: usize = 500;

/// Draw a chart in the terminal: the tree of states, each with its steps and transitions.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc show builder.chart
  chartc show agent.yaml | less
  chartc show player.chart --highlight on.sound.loud
  chartc show big.chart --state checkout    one state and its descendants
  chartc show builder.chart --ascii --color never

Exit codes: 0 drawn, 1 errors in the chart, 2 wrong usage, 3 internal error, 4 no chart in the file")]
pub(super) struct Args {
    /// A *.chart, *.scxml or agent.yaml file, or - for standard input
    file: String,
    /// The chart, if the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// Draw only this state and its descendants; a dotted path
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Highlight a state, as a dotted path; may be repeated
    #[arg(long, value_name = "STATE")]
    highlight: Vec<String>,
    /// Draw all states, even of a large chart
    #[arg(long)]
    all: bool,
    /// Use ASCII characters only
    #[arg(long)]
    ascii: bool,
    /// Add a legend of the signs
    #[arg(long)]
    legend: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colour::Auto)]
    color: Colour,
    #[command(flatten)]
    root: Root,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let checked = match pick(&args.file, args.chart.as_deref(), &args.root)? {
        Ok(checked) => checked,
        Err(exit) => return Ok(exit),
    };
    let chart = checked.chart();
    let highlight = graph::states(chart, &args.highlight)?;
    let root = match &args.state {
        Some(name) => graph::state(chart, name)?,
        None => StateId(0),
    };
    let layout = OutlineLayout {
        width: columns(),
        colour: terminal(args.color).colour,
        ascii: args.ascii,
        states: if args.all { usize::MAX } else { STATES },
        root,
    };
    let options = Options { legend: args.legend, highlight, taken: None };
    print_coloured(&outline(chart, checked.map(), &options, &layout))?;
    Ok(Exit::Clean)
}
