//! Resolves the names of documents that invoke documents, and the values that are passed to invoked ones.

use super::convert::{Converter, ExprContext};
use super::document::Document;
use super::infer;
use super::kinds::Kinds;
use super::scope::Scope;
use std::collections::BTreeMap;

/// A document and those that it invokes, with names and kinds resolved.
pub(super) struct Family<'d> {
    pub(super) scope: Scope<'d>,
    /// The invoked documents, in the order of `Document::invokes`.
    pub(super) children: Vec<Family<'d>>,
}

/// The initial value that a variable of an invoked document receives, as a param of its chart.
#[derive(Debug, Clone)]
pub(super) struct PassedParam {
    /// The name of the param. It is the variable's own if nothing is assigned to the variable.
    pub(super) name: String,
    pub(super) kinds: Kinds,
}

impl<'d> Family<'d> {
    /// Resolves a document that receives values of these kinds, by the ids of its data.
    pub(super) fn new(document: &'d Document, given: &BTreeMap<&str, Kinds>) -> Self {
        let mut scope = Scope::new(document, given);
        infer::settle(&mut scope);
        let children = document.invokes.iter().map(|invoke| {
            // The values are translated again when the step is built, which reports their errors.
            let mut muted = Vec::new();
            let mut converter = Converter { scope: &scope, findings: &mut muted };
            let at = ExprContext::state(invoke.state);
            let kinds = |value| converter.value(value, &at).kinds;
            let values: Vec<Kinds> =
                invoke.given.iter().map(|(_, value)| value).map(kinds).collect();
            let names = invoke.given.iter().map(|(name, _)| name.node.as_str());
            Self::new(&invoke.child, &names.zip(values).collect())
        });
        let children = children.collect();
        Self { scope, children }
    }
}
