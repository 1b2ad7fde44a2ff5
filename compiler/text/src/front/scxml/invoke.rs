//! Documents that invoke documents: the names of each, and what is given to those that are invoked.

use super::convert::{At, Converter};
use super::document::Document;
use super::infer;
use super::kinds::Kinds;
use super::scope::Scope;
use std::collections::BTreeMap;

/// A document and those that it invokes, names and types settled.
pub(super) struct Family<'d> {
    pub(super) scope: Scope<'d>,
    /// In the order of `Document::invokes`.
    pub(super) children: Vec<Family<'d>>,
}

/// What a variable of an invoked document begins with.
#[derive(Debug, Clone)]
pub(super) struct Given {
    /// The name of the param: that of the variable itself where nothing is assigned to it.
    pub(super) name: String,
    pub(super) kinds: Kinds,
}

impl<'d> Family<'d> {
    /// The family of a document to which values of these kinds are given, by the ids of its data.
    pub(super) fn of(document: &'d Document, given: &BTreeMap<&str, Kinds>) -> Self {
        let mut scope = Scope::of(document, given);
        infer::settle(&mut scope);
        let children = document.invokes.iter().map(|invoke| {
            let mut muted = Vec::new();
            let mut converter = Converter { scope: &scope, findings: &mut muted };
            let at = At::state(invoke.state);
            let kinds = |value| converter.value(value, &at).kinds;
            let values: Vec<Kinds> =
                invoke.given.iter().map(|(_, value)| value).map(kinds).collect();
            let names = invoke.given.iter().map(|(name, _)| name.node.as_str());
            Self::of(&invoke.child, &names.zip(values).collect())
        });
        let children = children.collect();
        Self { scope, children }
    }
}
