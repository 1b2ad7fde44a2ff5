//! Texts with placeholders.

use super::Expr;
use alloc::string::String;
use alloc::vec::Vec;

/// A text with placeholders.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Template {
    /// The parts in order. Two texts never follow each other, and no text is empty.
    pub parts: Vec<TemplatePart>,
}

/// A part of a text: literal text or a placeholder.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplatePart {
    /// Literal text, in which `{{` was already replaced by `{`.
    Text(String),
    /// `{expr:spec}`: a placeholder.
    Hole {
        /// The expression whose value is inserted.
        expr: Expr,
        /// The Python format spec; empty without one.
        spec: String,
    },
    /// `{options}`: a list of the question's options, one in each line.
    Options,
    /// Text that is not a valid placeholder, as written. Rendering it fails the step.
    Bad(String),
}

impl Template {
    /// The whole text, if it has no placeholder.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [TemplatePart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The expressions in the placeholders.
    pub fn holes(&self) -> impl Iterator<Item = &Expr> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Hole { expr, .. } => Some(expr),
            TemplatePart::Text(_) | TemplatePart::Options | TemplatePart::Bad(_) => None,
        })
    }

    /// The expressions in the placeholders, to be changed.
    pub(super) fn holes_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.parts.iter_mut().filter_map(|part| match part {
            TemplatePart::Hole { expr, .. } => Some(expr),
            TemplatePart::Text(_) | TemplatePart::Options | TemplatePart::Bad(_) => None,
        })
    }
}
