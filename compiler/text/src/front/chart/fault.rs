//! Syntax errors before they become diagnostics.

use super::build::Cx;
use crate::diagnostic::{Broken, Fix};

/// A syntax error in a text, with offsets into that text.
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) help: Option<String>,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The replacement of the text at `start..end`, if one is known.
    pub(super) instead: Option<&'static str>,
    /// Whether [`Self::instead`] is certainly what was meant.
    pub(super) is_certain: bool,
    /// For errors of that kind: what was expected, and what was found.
    pub(super) unexpected: Option<Unexpected>,
    /// The name that the text would declare if its first word were spelled correctly.
    pub(super) lost: Option<String>,
}

/// The expectation of a parser, and what it found instead.
#[derive(Clone, Copy)]
pub(super) struct Unexpected {
    /// The most likely of the things that were expected.
    pub(super) expected: Option<&'static str>,
    /// Whether `(` was found.
    pub(super) opens: bool,
}

impl Fault {
    pub(super) fn at(start: usize, end: usize, message: String) -> Self {
        Self {
            message,
            help: None,
            start,
            end,
            instead: None,
            is_certain: true,
            unexpected: None,
            lost: None,
        }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// Reports an error in the text that begins at byte `base`.
pub(super) fn push(cx: &mut Cx<'_>, base: usize, fault: Fault) {
    let span = cx.range(base + fault.start, base + fault.end);
    let found = cx.error(span, fault.message);
    found.help = fault.help;
    found.breaks = fault.lost.into_iter().map(|name| Broken::Name(name, None)).collect();
    found.fix = fault.instead.map(|text| {
        Box::new(Fix {
            edits: vec![(span, text.to_owned())],
            pending: None,
            is_safe: fault.is_certain,
        })
    });
}
