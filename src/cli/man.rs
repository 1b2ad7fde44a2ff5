//! The command `chartc man`.

use super::Exit;
use super::markdown;
use super::output::print_made;
use super::save::write_into;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io;
use std::path::PathBuf;

/// Print a manual page, or write all of them into a folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc man > chartc.1                                the page of chartc
  chartc man check | man -l -                          read the page of a command
  chartc man --out ~/.local/share/man/man1             one file for chartc and one for each command
  chartc man check --format markdown                   the page for a site or a wiki")]
pub(super) struct Args {
    /// The command whose page is printed [default: chartc itself]
    command: Option<String>,
    /// How to print them: for `man`, or as Markdown
    #[arg(long, value_name = "FORMAT", value_parser = ["roff", "markdown"], default_value = "roff")]
    format: String,
    /// Write all pages into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: Args, command: clap::Command) -> miette::Result<Exit> {
    let mut all = command
        .disable_help_subcommand(true)
        .subcommand_help_heading("COMMANDS")
        .subcommand_value_name("COMMAND");
    all.build();
    let page = if args.format == "markdown" { markdown::page } else { page };
    if let Some(folder) = args.out {
        let commands = std::iter::once(&all).chain(all.get_subcommands());
        let pages: Vec<_> = commands.map(page).collect();
        write_into(&folder, pages.iter())?;
        return Ok(Exit::Clean);
    }
    let chosen = match &args.command {
        None => &all,
        Some(name) => all.find_subcommand(name).ok_or_else(|| {
            miette::miette!(help = "`chartc help` lists the commands", "no command `{name}`")
        })?,
    };
    print_made(&page(chosen).1)?;
    Ok(Exit::Clean)
}

/// The file name and the text of a command's manual page.
fn page(command: &clap::Command) -> (String, String) {
    let man = Man::new(command.clone());
    let mut text = Vec::new();
    sections(&man, command, &mut text).expect("memory can be written");
    text.extend(after(command).render().into_bytes());
    // Each section begins with the same preamble, of which one is kept. The title is written here, because clap_mangen omits the field of
    // an empty date.
    let preamble = Roff::new().render();
    let title = format!(
        ".TH \"{}\" 1 \"\" \"chartc {}\" \"chartc\"\n",
        man.get_filename().trim_end_matches(".1").to_uppercase(),
        env!("CARGO_PKG_VERSION")
    );
    let text = String::from_utf8_lossy(&text).replace(&preamble, "");
    (man.get_filename(), format!("{preamble}{title}{text}"))
}

fn sections(man: &Man, command: &clap::Command, text: &mut Vec<u8>) -> io::Result<()> {
    man.render_name_section(text)?;
    man.render_synopsis_section(text)?;
    man.render_description_section(text)?;
    man.render_options_section(text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(text)?;
    }
    Ok(())
}

/// Splits the text below a command's options into its paragraphs, each with the title of its section: `Examples`, `Notes` or `Exit codes`.
pub(super) fn notes(help: &str) -> impl Iterator<Item = (&'static str, &str)> {
    help.split("\n\n").filter(|block| !block.is_empty()).map(|block| {
        match (block.strip_prefix("Examples:\n"), block.strip_prefix("Exit codes: ")) {
            (Some(rest), _) => ("Examples", rest),
            (_, Some(rest)) => ("Exit codes", rest),
            (None, None) => ("Notes", block),
        }
    })
}

/// Formats the text below a command's options, with its line breaks.
fn after(command: &clap::Command) -> Roff {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut roff = Roff::new();
    let mut section = "";
    for (title, block) in notes(&help) {
        if title == section {
            roff.control("PP", []);
        } else if title == "Exit codes" {
            roff.control("SH", ["EXIT STATUS"]);
        } else {
            roff.control("SH", [title.to_uppercase().as_str()]);
        }
        section = title;
        roff.control("nf", []);
        for line in block.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff
}
