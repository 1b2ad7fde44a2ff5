//! The command `chartc new`.

use super::files::write_new;
use super::output::{Exit, StyledText, print};
use chartc_compiler::front::load::Memory;
use std::path::PathBuf;

/// Write a first chart, and a script of answers with which it runs to its end.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc new my-agent                    chart MyAgent in my_agent.chart
  chartc new support --dir charts

Existing files are never overwritten.

Exit codes: 0 written, 2 the name is invalid or a file exists, 3 internal error")]
pub(super) struct Args {
    /// Name of the chart, such as my-agent, my_agent or MyAgent
    name: String,
    /// Folder to write to [default: this folder]
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

/// The templates of the chart and of a script with answers to its steps.
const CHART: &str = include_str!("template.chart");
const SCRIPT: &str = include_str!("template.script.yaml");

pub(super) fn run(args: Args) -> miette::Result<Exit> {
    let words = words(&args.name)?;
    let (chart, file) = (camel(&words), words.join("_"));
    let [chart_file, script_file] = ["chart", "script.yaml"].map(|e| format!("{file}.{e}"));
    let text = CHART.replace("MyAgent", &chart);
    let script = SCRIPT.replace("my_agent", &file);
    // Some names are taken, for example by built-in types: let the compiler find out.
    let done = crate::check(std::slice::from_ref(&chart_file), &Memory::of(&chart_file, &text));
    if !done.diagnostics.is_empty() {
        return Err(miette::miette!("a chart cannot be called `{chart}`; choose another name"));
    }
    let dir = args.dir.unwrap_or_default();
    let [chart_path, script_path] = [&chart_file, &script_file].map(|f| dir.join(f));
    write_new(&[(chart_path.as_path(), text.as_str()), (script_path.as_path(), script.as_str())])?;
    let [chart_path, script_path] =
        [chart_path, script_path].map(|p| quoted(&p.display().to_string().replace('\\', "/")));
    let mut out = StyledText::default();
    out.line(format!("wrote {chart_path} and {script_path}"));
    out.line("");
    out.line("Next:");
    out.line(format!("  chartc run {chart_path} --llm script:{script_path}"));
    out.line(format!("  chartc show {chart_path}"));
    out.line(format!("  chartc check {chart_path}"));
    print(&out)?;
    Ok(Exit::Clean)
}

/// Splits a name into words in lower case: those of `my-agent`, `my_agent` and `MyAgent` are equal.
fn words(name: &str) -> miette::Result<Vec<String>> {
    let fault = |why: &str| miette::miette!("`{name}` is not a valid name for a chart: {why}");
    let stem = name.strip_suffix(".chart").unwrap_or(name);
    if stem.contains(['/', '\\']) {
        return Err(fault("it is a path; give the folder with --dir"));
    }
    if let Some(c) = stem.chars().find(|c| !c.is_ascii_alphanumeric() && !" -_".contains(*c)) {
        return Err(fault(&format!("`{c}` is no letter from a to z, digit, `-` or `_`")));
    }
    if !stem.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(fault("it does not begin with a letter"));
    }
    if stem.len() > 60 {
        return Err(fault("it is longer than 60 characters"));
    }
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in stem.chars() {
        let begins = !before.is_ascii_alphanumeric()
            || (c.is_ascii_uppercase() && !before.is_ascii_uppercase());
        if c.is_ascii_alphanumeric() {
            match words.last_mut() {
                Some(word) if !begins => word.push(c.to_ascii_lowercase()),
                _ => words.push(c.to_ascii_lowercase().to_string()),
            }
        }
        before = c;
    }
    Ok(words)
}

/// Joins the words into the name of a chart, such as `MyAgent`.
fn camel(words: &[String]) -> String {
    let upper = |word: &String| {
        let (head, rest) = word.split_at(1);
        head.to_ascii_uppercase() + rest
    };
    words.iter().map(upper).collect()
}

/// Quotes a path for a shell, if necessary.
fn quoted(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || "/._-:~+@".contains(c));
    if is_plain { path.to_string() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_every_spelling() {
        for name in ["my-agent", "my_agent", "MyAgent", "my agent", "My-Agent.chart"] {
            let words = words(name).expect("it is a name");
            assert_eq!((camel(&words).as_str(), words.join("_").as_str()), ("MyAgent", "my_agent"));
        }
        let joined = |name| words(name).expect("it is a name").join("_");
        assert_eq!(joined("HTTPAgent2"), "httpagent2");
        assert_eq!(joined("a"), "a");
    }

    #[test]
    fn what_is_no_name() {
        let fault = |name: &str| words(name).expect_err("it is no name").to_string();
        assert!(fault("a/b").ends_with("it is a path; give the folder with --dir"));
        assert!(fault("2fast").ends_with("it does not begin with a letter"));
        assert!(fault("größe").contains("`ö` is no letter"));
        assert!(fault("").ends_with("it does not begin with a letter"));
        assert!(fault(&"a".repeat(61)).ends_with("longer than 60 characters"));
    }
}
