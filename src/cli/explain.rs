//! The command `chartc explain`.

use super::Exit;
use super::columns::{padded, width};
use super::levels::find;
use super::output::{Colour, print_coloured, say, terminal};
use super::page::page;
use chartc_text::rules::RULES;

/// Explain a rule: what it reports, why it matters, and examples that violate it and that do not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc explain C0203             by code
  chartc explain shadowed-line     by name
  chartc explain --list            all rules")]
pub(super) struct Args {
    /// Code or name of the rule
    #[arg(required_unless_present = "list", value_name = "CODE|NAME")]
    rule: Option<String>,
    /// List all rules
    #[arg(long)]
    list: bool,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let all = RULES;
    let Some(wanted) = args.rule.filter(|_| !args.list) else {
        let width = all.iter().map(|r| width(r.name)).max().unwrap_or(0);
        for rule in all {
            let title = rule.page.lines().next().unwrap_or_default().trim_start_matches('#').trim();
            let name = padded(rule.name, width);
            say(format!("{}  {:7}  {name}  {title}", rule.code, rule.severity.word()))?;
        }
        return Ok(Exit::Clean);
    };
    print_coloured(&page(find(&wanted)?, terminal(Colour::Auto)))?;
    Ok(Exit::Clean)
}
