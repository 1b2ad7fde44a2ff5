//! A person at the terminal who answers `human` steps, or plays the model.
#![allow(clippy::disallowed_methods, reason = "this is where a person types")]

use std::sync::Arc;

use super::output::{Page, ask};
use chartc_runtime::oracle::{Answer, Asking, Kind, Oracle, OracleError, Question, ready};
use std::io::BufRead;

/// Asks on standard output and reads lines from standard input. The run waits meanwhile.
#[derive(Debug, Clone, Copy)]
pub(super) struct Person;

impl Oracle for Person {
    fn ask(&self, question: Arc<Question>) -> Asking {
        ready(answer(&question))
    }

    fn name(&self) -> String {
        "human".into()
    }
}

fn answer(question: &Question) -> Result<Answer, OracleError> {
    let lost = |fault: std::io::Error| OracleError::Connection(fault.to_string());
    // A prompt may contain text from a model: its lines must not look like lines of the run.
    let mut page = Page::default();
    page.block("| ", &question.prompt);
    for option in &question.options {
        let name = &option.offer.name;
        // A prompt with {options} has shown each of them on its own line. A mere mention, such as by a model, does not count.
        let is_shown = |line: &str| {
            let rest = line.trim_start().strip_prefix("- ").and_then(|l| l.strip_prefix(&name[..]));
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        if !question.prompt.lines().any(is_shown) {
            page.line(format!("- {name}"));
        }
    }
    let asked = match question.kind {
        Kind::Human => question.wanted_of_a_person(),
        Kind::Ask => "one of the options".to_owned(),
        Kind::Llm => "a JSON value".to_owned(),
    };
    let hint = if asked.is_empty() { String::new() } else { format!(" ({asked})") };
    ask(&page, &format!("{}{hint}", question.step))
        .map_err(|fault| OracleError::Connection(fault.to_string()))?;
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).map_err(lost)?;
    if read == 0 {
        return Err(OracleError::Denied("nobody answers: the input has ended".into()));
    }
    Ok(Answer::from(line.trim_end_matches(['\n', '\r']).to_owned()))
}
