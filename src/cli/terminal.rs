//! A person at the terminal, who answers `human` steps or plays the model.
#![allow(clippy::disallowed_methods, reason = "this is where a person types")]

use std::sync::Arc;

use super::output::{StyledText, ask};
use chartc_runtime::oracle::{
    Answer, Asking, Kind, NotOpen, Oracle, OracleError, Question, find_open, ready,
};
use std::io::BufRead;

/// Asks on standard output, and reads the answer from standard input. Both block, so the run waits.
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
    let mut out = StyledText::default();
    out.block("| ", &question.prompt);
    for option in &question.options {
        let name = &option.offer.name;
        // A prompt with {options} shows each option on a line of its own. An option that is merely mentioned, such as by a model, has to be
        // listed.
        let is_shown = |line: &str| {
            let rest = line.trim_start().strip_prefix("- ").and_then(|l| l.strip_prefix(&name[..]));
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        };
        if !question.prompt.lines().any(is_shown) {
            out.line(format!("- {name}"));
        }
    }
    let asked = match question.kind {
        Kind::Human => question.wanted_of_a_person(),
        Kind::Ask => "one of the options".to_owned(),
        Kind::Llm => "a JSON value".to_owned(),
    };
    let hint = if asked.is_empty() { String::new() } else { format!(" ({asked})") };
    let id = if question.id.is_empty() { String::new() } else { format!(" {}", question.id) };
    let words = format!("{}{id}{hint}", question.step);
    discard_typed();
    loop {
        ask(&out, &words).map_err(|fault| OracleError::Connection(fault.to_string()))?;
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line).map_err(lost)?;
        if read == 0 {
            return Err(OracleError::Denied("nobody answers: the input has ended".into()));
        }
        match named(question, line.trim_end_matches(['\n', '\r'])) {
            Ok(answer) => return Ok(Answer::from(answer.to_owned())),
            // Ask again here: the typo must not cost the step an attempt.
            Err(why) => {
                out = StyledText::default();
                out.line(why.to_string());
            }
        }
    }
}

/// Discards what was typed at a terminal before the question was shown: whoever typed it had not seen the question.
fn discard_typed() {
    #[cfg(unix)]
    if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        // On a terminal that does not support it, the typed text remains and becomes the answer.
        let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
    }
}

/// The answer in a line, which may name its question, as in `q94a6n897 yes`. A line without an id answers the question that is shown. There
/// is only one, because the run does nothing while it waits for the line.
fn named<'l>(question: &Question, line: &'l str) -> Result<&'l str, NotOpen> {
    let (word, rest) = line.trim_start().split_once(' ').unwrap_or((line.trim(), ""));
    if question.id.is_empty() || !Question::is_id(word) {
        return Ok(line);
    }
    find_open([(rest.trim_start(), question)], word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_name_the_question_that_is_shown_and_no_other() {
        let mut question =
            Question { kind: Kind::Human, prompt: "Pay 3?".into(), ..Question::default() };
        let model = question.clone();
        question.name("r/a:approve@1.1+0");
        let id = question.id.clone();
        assert_eq!(named(&question, " yes, pay"), Ok(" yes, pay"));
        assert_eq!(named(&question, &format!("{id} yes, pay")), Ok("yes, pay"));
        assert_eq!(named(&question, &id), Ok(""));
        let other = named(&question, "q0000000z yes").expect_err("it is another's").to_string();
        assert_eq!(other, format!("question `q0000000z` is not open; open is {id}: Pay 3?"));
        // A person who plays a model is asked one question without an id.
        assert_eq!(named(&model, "q0000000z yes"), Ok("q0000000z yes"));
    }
}
