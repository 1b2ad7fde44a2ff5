//! Text with placeholders.

use super::Expr;
use alloc::string::String;
use alloc::vec::Vec;

/// A text with placeholders.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Template {
    /// The parts in order; adjacent texts are joined, empty texts are left out.
    pub parts: Vec<TemplatePart>,
}

/// Literal text or a placeholder.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplatePart {
    /// The text as it is sent: `{{` is already `{`.
    Text(String),
    /// `{expr:spec}`.
    Hole {
        /// The expression that is shown.
        expr: Expr,
        /// Python format spec; empty without one.
        spec: String,
    },
    /// `{options}`: the options of the question, one in each line.
    Options,
    /// Text that is no valid placeholder, as written. Rendering it is an error of the step.
    Bad(String),
}

impl Template {
    /// The text, if it has no placeholder.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [TemplatePart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The expressions of its placeholders.
    pub fn holes(&self) -> impl Iterator<Item = &Expr> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Hole { expr, .. } => Some(expr),
            TemplatePart::Text(_) | TemplatePart::Options | TemplatePart::Bad(_) => None,
        })
    }

    /// The expressions of its placeholders, to be changed.
    pub(super) fn holes_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.parts.iter_mut().filter_map(|part| match part {
            TemplatePart::Hole { expr, .. } => Some(expr),
            TemplatePart::Text(_) | TemplatePart::Options | TemplatePart::Bad(_) => None,
        })
    }
}
