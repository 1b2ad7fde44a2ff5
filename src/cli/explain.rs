//! The command `chartc explain`.

use super::config::find;
use super::output::{Colour, Exit, padded, print_coloured, say, terminal, width};
use crate::report::Terminal;
use chartc_compiler::rules::RULES;
use chartc_compiler::syntax::diagnostic::Rule;

/// Explain a rule: what it reports, why it matters, and examples that violate it and that do not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  chartc explain C0203             by code
  chartc explain shadowed-line     by name
  chartc explain --list            all rules")]
pub(super) struct Args {
    /// Code or name of the rule, or `language` for the language on one page
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
    print_coloured(&match wanted.as_str() {
        "language" => include_str!("../../docs/one_page.md").to_owned(),
        rule => page(find(rule)?, terminal(Colour::Auto)),
    })?;
    Ok(Exit::Clean)
}

// Formats the page of a rule for a terminal. Pages use few forms of Markdown: a title, paragraphs, lists, examples.

/// The maximum width of prose in columns, also on a wider terminal.
const LONGEST: usize = 100;
/// The indentation of all lines but the first.
const MARGIN: &str = "  ";

/// Formats a page, with a final newline.
pub(super) fn page(rule: &Rule, terminal: Terminal) -> String {
    let mut set = Set { out: String::new(), terminal, in_list: false };
    let (code, name, level) = (rule.code, rule.name, rule.severity.word());
    let bold = set.styled("1", &format!("{code} {name}"));
    set.out.push_str(&format!("{bold} ({level})\n"));
    let mut lines = rule.page.lines();
    let mut prose = String::new();
    while let Some(line) = lines.next() {
        let text = line.trim();
        if let Some(info) = text.strip_prefix("```") {
            set.prose(&mut prose);
            let body: Vec<&str> = lines.by_ref().take_while(|l| l.trim() != "```").collect();
            set.example(info, &body);
        } else if let Some(title) = text.strip_prefix("# ") {
            let title = set.styled("1", title);
            set.out.push_str(&format!("\n{MARGIN}{title}\n"));
        } else if text.is_empty() {
            set.prose(&mut prose);
        } else {
            if text.starts_with("- ") {
                set.prose(&mut prose);
            }
            if !prose.is_empty() {
                prose.push(' ');
            }
            prose.push_str(text);
        }
    }
    set.prose(&mut prose);
    set.out
}

struct Set {
    out: String,
    terminal: Terminal,
    /// Whether the last block was an item of a list.
    in_list: bool,
}

impl Set {
    fn styled(&self, style: &str, text: &str) -> String {
        if self.terminal.colour {
            format!("\u{1b}[{style}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// Breaks a paragraph or an item of a list into lines. Items of a list follow each other without a blank line.
    fn prose(&mut self, text: &mut String) {
        if text.is_empty() {
            return;
        }
        let item = text.starts_with("- ");
        if !(item && self.in_list) {
            self.out.push('\n');
        }
        self.in_list = item;
        let hang = if item { "  " } else { "" };
        let width = self.terminal.width.min(LONGEST);
        let mut column = 0;
        for word in text.split_whitespace() {
            let shown = word.replace("**", "");
            let long = shown.chars().count();
            if column == 0 {
                self.out.push_str(MARGIN);
                column = MARGIN.len();
            } else if column + 1 + long > width {
                self.out.push_str(&format!("\n{MARGIN}{hang}"));
                column = MARGIN.len() + hang.len();
            } else {
                self.out.push(' ');
                column += 1;
            }
            let styled = if word.contains("**") { self.styled("1", &shown) } else { shown.clone() };
            self.out.push_str(&styled);
            column += long;
        }
        self.out.push('\n');
        text.clear();
    }

    fn example(&mut self, info: &str, body: &[&str]) {
        let mut words = info.split(' ');
        let kind = words.next().unwrap_or_default();
        let (head, style) = match (words.next(), words.next()) {
            (Some("bad"), _) => ("reported:".to_owned(), "31"),
            (Some("good"), _) => ("not reported:".to_owned(), "32"),
            (Some("beside"), Some(path)) => (format!("beside it, {path}:"), "2"),
            _ => (format!("{kind}:"), "2"),
        };
        self.in_list = false;
        let (head, bar) = (self.styled(style, &head), self.styled(style, "│"));
        self.out.push_str(&format!("\n{MARGIN}{head}\n"));
        for line in body {
            self.out.push_str(format!("{MARGIN}{bar} {line}").trim_end());
            self.out.push('\n');
        }
    }
}
