//! The command `chartc completions`.

use super::Exit;
use super::output::print_made;
use clap_complete::Shell;

/// Print a script that completes chartc's commands and options in a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc completions bash > ~/.local/share/bash-completion/completions/chartc
  chartc completions zsh > ~/.zfunc/_chartc
  chartc completions fish > ~/.config/fish/completions/chartc.fish
  chartc completions powershell >> $PROFILE
  chartc completions elvish >> ~/.config/elvish/rc.elv")]
pub(super) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: Args, mut command: clap::Command) -> miette::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "chartc", &mut text);
    print_made(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Clean)
}
