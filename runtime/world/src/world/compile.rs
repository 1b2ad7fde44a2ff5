//! Charts that agents write, compiled once for each text.

use super::act::Texts;
use crate::workshop::{Family, Finding, Form, Read, Workshop};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Texts whose charts are kept.
const KEPT: usize = 1_000;
/// Findings that a failure has.
const SHOWN: usize = 5;

/// A workshop, and what has come out of it.
pub(super) struct Compiler {
    workshop: Arc<dyn Workshop>,
    kept: Mutex<BTreeMap<(Form, String, String), Known>>,
}

/// The charts of a text, and the artifacts that it has read.
type Known = (Arc<Family>, Texts);

/// What has come of a text.
pub(super) enum Outcome {
    /// Its charts, and the artifacts that it has read.
    Sound { family: Arc<Family>, read: Texts },
    /// What is wrong, in words.
    Rejected(String),
}

impl Compiler {
    pub(super) fn new(workshop: Arc<dyn Workshop>) -> Self {
        Self { workshop, kept: Mutex::default() }
    }

    /// Compiles the text of an artifact; one that has compiled before is not compiled again, if what it reads is the same.
    pub(super) fn build(&self, id: &str, form: Form, text: &str, read: Read<'_>) -> Outcome {
        // The id counts: of several charts, that of the artifact's name runs.
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
