//! The `chartc` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    chartc::cli::main()
}
