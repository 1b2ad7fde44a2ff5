//! `chartc show`.

use super::Exit;
use super::files::Root;
use super::highlight;
use super::output::{Colour, columns, paper, print_coloured};
use super::pick::pick;
use crate::emit::Options;
use crate::emit::outline::{Page, outline};
use chartc_core::arena::StateId;

/// States that are drawn unless --all is given.
const STATES: usize = 500;

/// Draw a chart in the terminal: its states as a tree, and under each who moves it, on what, and where to.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc show builder.chart
  chartc show agent.yaml | less
  chartc show player.chart --highlight on.sound.loud
  chartc show big.chart --state checkout          a state and those below it
  chartc show builder.chart --ascii --color never

Exit codes: 0 drawn, 1 errors in the chart, 2 wrong usage, 3 a fault of chartc, 4 no chart in the file")]
pub(super) struct Args {
    /// A *.chart, *.scxml or agent.yaml file, or - for standard input
    file: String,
    /// Which chart, when the file has several
    #[arg(long, value_name = "NAME")]
    chart: Option<String>,
    /// Draw this state and those below it only, as a dotted path
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// A state that stands out, as a dotted path; may be given several times
    #[arg(long, value_name = "STATE")]
    highlight: Vec<String>,
    /// Draw every state, however many there are
    #[arg(long)]
    all: bool,
    /// Use ASCII characters only
    #[arg(long)]
    ascii: bool,
    /// Say what the signs mean
    #[arg(long)]
    legend: bool,
    /// Colours
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
    let highlight = highlight::states(chart, &args.highlight)?;
    let root = match &args.state {
        Some(name) => highlight::state(chart, name)?,
        None => StateId(0),
    };
    let page = Page {
        width: columns(),
        colour: paper(args.color).colour,
        ascii: args.ascii,
        states: if args.all { usize::MAX } else { STATES },
        root,
    };
    let options = Options { legend: args.legend, highlight, taken: None };
    print_coloured(&outline(chart, checked.map(), &options, &page))?;
    Ok(Exit::Clean)
}
