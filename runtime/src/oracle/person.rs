//! Questions to people: the ids of questions, and the search for the open question that an answer names.

use super::{Kind, Question};
use chartc_core::visible;
use siphasher::sip::SipHasher24;
use std::fmt;
use std::hash::Hasher;

/// The characters of an id after its `q`. No two of them look alike, and without vowels they spell no English word after a `q`.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// The number of characters of an id after its `q`; each stands for five bits.
const LENGTH: usize = 8;

/// The maximum length of a question or an answer in a message, in characters.
const SHOWN: usize = 200;

impl Question {
    /// Gives a question to a person its id, unless it has one. The id is `q` and eight characters from SipHash-2-4 (with its default key)
    /// of the id of the call, the prompt and the schema, each preceded by its length as eight bytes in little-endian order. So a
    /// repetition of the same call with the same question keeps its id, and a changed question gets another one. Questions to models have
    /// no ids.
    pub fn name(&mut self, call: &str) {
        if self.kind != Kind::Human || !self.id.is_empty() {
            return;
        }
        let mut hasher = SipHasher24::new();
        for part in [call, &self.prompt, &self.schema] {
            hasher.write(&(part.len() as u64).to_le_bytes());
            hasher.write(part.as_bytes());
        }
        let hash = hasher.finish();
        self.id.push('q');
        for nth in 0..LENGTH {
            let digit = (hash >> (64 - 5 * (nth + 1))) & 31;
            self.id.push(char::from(DIGITS[digit as usize]));
        }
    }

    /// Whether a word has the form of an id.
    pub fn is_id(word: &str) -> bool {
        let digits = word.strip_prefix('q').map(str::as_bytes);
        digits.is_some_and(|all| all.len() == LENGTH && all.iter().all(|c| DIGITS.contains(c)))
    }

    /// The name of the step with its path, such as `dig[1]/search`.
    pub fn path(&self) -> String {
        let way = if self.child.is_empty() { String::new() } else { format!("{}/", self.child) };
        match self.element {
            Some(element) => format!("{way}{}[{element}]", self.step),
            None => format!("{way}{}", self.step),
        }
    }

    /// The id and the prompt in one line, for a message. A long prompt is cut.
    pub fn line(&self) -> String {
        format!("{}: {}", self.id, shortened(&self.prompt))
    }
}

/// A text in one line, for a message. A long text is cut.
pub fn shortened(text: &str) -> String {
    let text = visible::line(text.trim());
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// Finds the open question that an answer names by its id. Every answer of a person is looked up here.
///
/// # Errors
/// No open question has this id.
pub fn find_open<'q, T>(
    open: impl IntoIterator<Item = (T, &'q Question)>,
    id: &str,
) -> Result<T, NotOpen> {
    let mut others = Vec::new();
    for (found, question) in open {
        if question.id == id {
            return Ok(found);
        }
        others.push(question.line());
    }
    Err(NotOpen { question: id.to_owned(), became: None, open: others })
}

/// The error for an answer that names no open question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotOpen {
    /// The id in the answer.
    pub question: String,
    /// What became of that question, if it is known, such as `was answered: yes`.
    pub became: Option<String>,
    /// The open questions, each as one line with its id.
    pub open: Vec<String>,
}

impl fmt::Display for NotOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.question.is_empty() {
            f.write_str("the answer names no question")?;
        } else {
            write!(f, "question `{}` is not open", shortened(&self.question))?;
        }
        if let Some(became) = &self.became {
            write!(f, ", it {became}")?;
        }
        match self.open.as_slice() {
            [] => f.write_str("; no question is open"),
            [one] => write!(f, "; open is {one}"),
            all => write!(f, "; open are {}", all.join(" | ")),
        }
    }
}

impl std::error::Error for NotOpen {}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(call: &str, prompt: &str, schema: &str) -> Question {
        let mut question = Question {
            kind: Kind::Human,
            prompt: prompt.into(),
            schema: schema.into(),
            ..Question::default()
        };
        question.name(call);
        question
    }

    /// Ids stand in stores and in people's messages: a change of this test breaks them.
    #[test]
    fn ids_are_the_same_in_every_version() {
        let ids = [
            ("r17/deciding:approve@2.1+0", "Pay 80 to Ada?", ""),
            ("r17/deciding:approve@2.1+0", "Pay 80 to Ada?", r#"{"type":"boolean"}"#),
            ("r17/deciding:approve@2.2+0", "Pay 80 to Ada?", ""),
            ("r18/deciding:approve@2.1+0", "Pay 80 to Ada?", ""),
            ("r17/deciding:approve@2.1+0", "Pay 999 to Ada?", ""),
            ("", "", ""),
        ];
        let ids = ids.map(|(call, prompt, schema)| question(call, prompt, schema).id);
        let pinned = ["qv5v9n4b5", "qzdvq2k1q", "q94a6n897", "qa0kn4psr", "q3ewe4s3g", "qfzav294f"];
        assert_eq!(ids, pinned);
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(question("ab", "c", "").id, question("a", "bc", "").id);
        assert_ne!(question("a", "b", "c").id, question("a", "bc", "").id);
    }

    #[test]
    fn an_id_is_given_once_and_to_people_only() {
        let mut one = question("a", "Fine?", "");
        let id = one.id.clone();
        one.name("b");
        assert_eq!(one.id, id);
        let mut model = Question { prompt: "Fine?".into(), ..Question::default() };
        model.name("a");
        assert_eq!(model.id, "");
    }

    #[test]
    fn ids_are_known_by_their_form() {
        let id = question("a", "Fine?", "").id;
        assert!(Question::is_id(&id), "{id}");
        for other in
            ["", "q", "yes", "qualified", "quarterly", &id[1..], &format!("{id}0"), "q0000000é"]
        {
            assert!(!Question::is_id(other), "{other}");
        }
    }

    #[test]
    fn an_answer_is_for_the_question_that_it_names() {
        let (one, two) = (question("a", "Pay 3?", ""), question("b", "Pay\n999?", ""));
        let open = [("one", &one), ("two", &two)];
        assert_eq!(find_open(open, &two.id), Ok("two"));
        let why = find_open(open, "approve").expect_err("it is no id").to_string();
        assert_eq!(
            why,
            format!(
                "question `approve` is not open; open are {}: Pay 3? | {}: Pay\\n999?",
                one.id, two.id
            )
        );
        let why = find_open([("two", &two)], &one.id).expect_err("it is not open").to_string();
        assert!(why.ends_with(&format!("; open is {}: Pay\\n999?", two.id)), "{why}");
        let why = find_open::<()>([], "").expect_err("nothing is open").to_string();
        assert_eq!(why, "the answer names no question; no question is open");
    }
}
