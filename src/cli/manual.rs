//! The commands `chartc man` and `chartc completions`, and the manual as Markdown: what the definition of the command line says.

use super::files::write_into;
use super::output::{Exit, print_made};
use clap::{Arg, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::fmt::Write as _;
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

pub(super) fn run_man(args: Args, command: clap::Command) -> miette::Result<Exit> {
    let mut all = command
        .disable_help_subcommand(true)
        .subcommand_help_heading("COMMANDS")
        .subcommand_value_name("COMMAND");
    all.build();
    let page = if args.format == "markdown" { markdown_page } else { page };
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

// Formats the manual as Markdown: a page for `chartc`, and one for each command.

/// The file name and the text of a command's page. The page of `chartc` links to those of its commands in the same folder.
pub(super) fn markdown_page(command: &Command) -> (String, String) {
    let name = command.get_name();
    let full = command.get_bin_name().unwrap_or(name);
    let mut out = format!("# {full}\n\n");
    describe(command, &mut out);
    let is_whole = name == "chartc";
    let visible = || command.get_subcommands().filter(|inner| !inner.is_hide_set());
    if is_whole {
        out.push_str("## Commands\n\n| command | what it does |\n|---|---|\n");
        for inner in visible().filter(|inner| inner.get_name() != "help") {
            let (name, about) = (inner.get_name(), about(inner));
            let _ = writeln!(out, "| [`{name}`]({name}.md) | {} |", cell(&about));
        }
        out.push('\n');
    }
    options(command, "##", &mut out);
    if !is_whole {
        for inner in visible() {
            let full = inner.get_bin_name().unwrap_or(inner.get_name());
            let _ = write!(out, "## {full}\n\n");
            describe(inner, &mut out);
            options(inner, "###", &mut out);
            text_after(inner, "###", &mut out);
        }
    }
    text_after(command, "##", &mut out);
    (format!("{name}.md"), format!("{}\n", out.trim_end()))
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Writes the description and the usage of a command.
fn describe(command: &Command, out: &mut String) {
    let long = command.get_long_about().map(ToString::to_string);
    for paragraph in long.unwrap_or_else(|| about(command)).split("\n\n") {
        let _ = write!(out, "{}\n\n", sentence(&prose(paragraph)));
    }
    let usage = command.clone().render_usage().to_string();
    let lines = usage.trim_start_matches("Usage: ").lines().map(str::trim);
    let usage: Vec<&str> = lines.collect();
    let _ = write!(out, "```text\n{}\n```\n\n", usage.join("\n"));
}

/// Adds the full stop that a line of help lacks.
fn sentence(text: &str) -> String {
    if text.ends_with(['.', ':', '!', '?', ']']) { text.to_owned() } else { format!("{text}.") }
}

/// Writes tables of the arguments and options, in the order of the help and under its headings.
fn options(command: &Command, depth: &str, out: &mut String) {
    let mut tables: Vec<(String, String)> = Vec::new();
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        // Every command has these.
        if argument.get_id() == "help" || argument.get_id() == "version" {
            continue;
        }
        let own = argument.get_help_heading();
        let kind = if argument.is_positional() { "Arguments" } else { "Options" };
        let title = own.unwrap_or(kind);
        let row = format!("| {} | {} |\n", cell(&call(argument)), cell(&meaning(argument)));
        match tables.iter_mut().find(|(each, _)| each == title) {
            Some((_, rows)) => rows.push_str(&row),
            None => tables.push((title.to_owned(), row)),
        }
    }
    for (title, rows) in tables {
        let head = if title == "Arguments" { "argument" } else { "option" };
        let _ = write!(out, "{depth} {title}\n\n| {head} | meaning |\n|---|---|\n{rows}\n");
    }
}

/// Formats an argument as it is typed.
fn call(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let takes = argument.get_action().takes_values();
    let values: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let values = if takes { values.join(" ") } else { String::new() };
    if argument.is_positional() {
        let many = argument.get_num_args().is_some_and(|range| range.max_values() > 1);
        return format!("`{values}`{}", if many { " …" } else { "" });
    }
    let short = argument.get_short().map(|letter| format!("-{letter}"));
    let long = argument.get_long().map(|word| format!("--{word}"));
    let both: Vec<String> = short.into_iter().chain(long).collect();
    let value = if values.is_empty() { values } else { format!(" {values}") };
    format!("`{}{value}`", both.join("`, `"))
}

/// Formats the long help of an argument, with its default and its possible values.
fn meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help());
    let text = prose(&help.map(ToString::to_string).unwrap_or_default());
    let mut text = match text.split_once("\n\n") {
        None => text,
        Some(_) => text.split("\n\n").map(sentence).collect::<Vec<_>>().join(" "),
    };
    if !argument.get_action().takes_values() {
        return text;
    }
    let quoted = |word: &str| format!("`{word}`");
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|word| quoted(&word.to_string_lossy())).collect();
    if !defaults.is_empty() && !argument.is_hide_default_value_set() {
        let _ = write!(text, "; default: {}", defaults.join(", "));
    }
    let possible = argument.get_possible_values();
    let shown = possible.iter().filter(|value| !value.is_hide_set());
    let shown: Vec<String> = shown.map(|value| quoted(value.get_name())).collect();
    if !shown.is_empty() && !argument.is_hide_possible_values_set() {
        let _ = write!(text, "; one of {}", shown.join(", "));
    }
    text
}

/// Writes the text below the options: examples, notes, exit codes.
fn text_after(command: &Command, depth: &str, out: &mut String) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut section = "";
    for (title, text) in notes(&help) {
        if title != section {
            let _ = write!(out, "{depth} {title}\n\n");
        }
        section = title;
        match title {
            "Examples" => {
                let lines: Vec<&str> =
                    text.lines().map(|l| l.strip_prefix("  ").unwrap_or(l)).collect();
                let _ = write!(out, "```text\n{}\n```\n\n", lines.join("\n"));
            }
            "Exit codes" => {
                out.push_str("| code | meaning |\n|---|---|\n");
                for (code, meaning) in codes(text) {
                    let _ = writeln!(out, "| {code} | {} |", cell(&meaning));
                }
                out.push('\n');
            }
            _ if text.lines().any(|line| line.starts_with(' ')) => {
                let _ = write!(out, "```text\n{text}\n```\n\n");
            }
            _ => {
                let _ = write!(out, "{}\n\n", prose(text));
            }
        }
    }
}

/// Splits text such as `0 clean, 1 diagnostics, or worse; 2 …` into codes and meanings. A code is a number behind a comma or a semicolon.
fn codes(text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in line.split_inclusive([',', ';']) {
        let code = part.trim_start().split_once(' ').filter(|(word, _)| word.parse::<u8>().is_ok());
        match (code, found.last_mut()) {
            (Some((code, meaning)), _) => found.push((code.to_owned(), meaning.to_owned())),
            (None, Some((_, meaning))) => meaning.push_str(part),
            (None, None) => found.push((String::new(), part.to_owned())),
        }
    }
    for (_, meaning) in &mut found {
        *meaning = meaning.trim_end_matches([',', ';']).to_owned();
    }
    found
}

/// Escapes help text for Markdown, except in backticks.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut in_code = false;
    for c in text.chars() {
        if c == '`' {
            in_code = !in_code;
        } else if !in_code && matches!(c, '*' | '<' | '_' | '[' | ']') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Escapes text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

// The command `chartc completions`.

/// Print a script that completes chartc's commands and options in a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc completions bash > ~/.local/share/bash-completion/completions/chartc
  chartc completions zsh > ~/.zfunc/_chartc
  chartc completions fish > ~/.config/fish/completions/chartc.fish
  chartc completions powershell >> $PROFILE
  chartc completions elvish >> ~/.config/elvish/rc.elv")]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run_completions(
    args: CompletionsArgs,
    mut command: clap::Command,
) -> miette::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "chartc", &mut text);
    print_made(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_apart() {
        let told = codes("0 clean, 1 diagnostics, or a run\nthat ended badly; 2 wrong usage");
        let told: Vec<(&str, &str)> = told.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let second = ("1", "diagnostics, or a run that ended badly");
        assert_eq!(told, [("0", "clean"), second, ("2", "wrong usage")]);
    }

    #[test]
    fn help_is_no_markup_outside_backticks() {
        assert_eq!(prose("*.chart of `a_*` <X>"), "\\*.chart of `a_*` \\<X>");
    }
}
