//! `chartc explain`.

use super::Exit;
use super::levels::find;
use super::output::print;
use crate::lint::rules;

/// Explain a kind of finding: what it means, why it matters, an example that has it and one that does not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc explain C0203             by code
  chartc explain shadowed-line     by name
  chartc explain --list            every kind of finding")]
pub(super) struct Args {
    /// Code or name of the finding
    #[arg(required_unless_present = "list", value_name = "CODE|NAME")]
    rule: Option<String>,
    /// List every kind of finding
    #[arg(long)]
    list: bool,
}

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let all = rules();
    let Some(wanted) = args.rule.filter(|_| !args.list) else {
        let width = all.iter().map(|r| r.name.len()).max().unwrap_or(0);
        for rule in all {
            let title = rule.page.lines().next().unwrap_or_default().trim_start_matches('#').trim();
            print(&format!(
                "{}  {:7}  {:width$}  {title}\n",
                rule.code,
                rule.severity.word(),
                rule.name
            ))?;
        }
        return Ok(Exit::Clean);
    };
    let rule = find(&wanted)?;
    let (code, name, level) = (rule.code, rule.name, rule.severity.word());
    print(&format!("{code} ({name}, {level})\n\n{}\n", rule.page.trim()))?;
    Ok(Exit::Clean)
}
