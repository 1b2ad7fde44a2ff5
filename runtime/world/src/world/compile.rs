//! A cache around the compiler for charts that agents write.

use super::act::Texts;
use crate::workshop::{Family, Finding, Form, Read, Workshop};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of texts in the cache. When it is full, it is emptied.
const KEPT: usize = 1_000;
/// The maximum number of findings in the message of a failure.
const SHOWN: usize = 5;

/// A workshop with a cache of its results.
pub(super) struct Compiler {
    workshop: Arc<dyn Workshop>,
    kept: Mutex<BTreeMap<(Form, String, String), Known>>,
}

/// The compiled charts of a text, and the texts that it imported.
type Known = (Arc<Family>, Texts);

/// The result of compiling a text.
pub(super) enum Outcome {
    /// The compiled charts, and the texts that they imported.
    Sound { family: Arc<Family>, read: Texts },
    /// The errors, as text.
    Rejected(String),
}

impl Compiler {
    pub(super) fn new(workshop: Arc<dyn Workshop>) -> Self {
        Self { workshop, kept: Mutex::default() }
    }

    /// Compiles the text of an artifact. A text in the cache is compiled again only if one of its imports has changed.
    pub(super) fn build(&self, id: &str, form: Form, text: &str, read: Read<'_>) -> Outcome {
        // The id is part of the key: in a text with several charts, the main one is the one with the artifact's name.
        let key = (form, id.to_owned(), text.to_owned());
        let known = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some((family, texts)) = known
            && texts.iter().all(|(id, text)| read(id).as_deref() == Some(text))
        {
            return Outcome::Sound { family, read: texts };
        }
        let seen = RefCell::new(Texts::new());
        let built = self.workshop.build(id, form, text, &|other| {
            let found = read(other)?;
            seen.borrow_mut().insert(other.to_owned(), found.clone());
            Some(found)
        });
        match built {
            Ok(family) => {
                let texts = seen.into_inner();
                let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() >= KEPT {
                    kept.clear();
                }
                kept.insert(key, (family.clone(), texts.clone()));
                Outcome::Sound { family, read: texts }
            }
            Err(findings) => Outcome::Rejected(told(&findings)),
        }
    }
}

fn told(findings: &[Finding]) -> String {
    let mut lines: Vec<String> =
        findings.iter().take(SHOWN).map(|finding| finding.to_string()).collect();
    if findings.len() > SHOWN {
        lines.push(format!("and {} more", findings.len() - SHOWN));
    }
    lines.join("\n")
}
