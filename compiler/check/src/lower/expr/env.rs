//! The environment of an expression: what it may read besides the chart's own names.

use super::narrow::{Place, PlaceRoot, known_present};
use crate::lower::uses::NameKind;
use chartc_core::arena::{LocalId, StateId, StepId, VarId};
use chartc_core::model::{Expr, Type};
use chartc_text::span::{Ident, Span};
use std::collections::BTreeSet;

/// The environment of an expression.
#[derive(Debug, Clone)]
pub(in crate::lower) struct Env {
    /// The state in which the expression is written, from which paths are looked up.
    pub(in crate::lower) state: StateId,
    /// The fields of the event or answer that is handled; a field without a name has an empty one.
    pub(in crate::lower) payload: Vec<Bound>,
    /// Names that get their values only after the transition is selected, so that its guard cannot read them.
    pub(in crate::lower) hidden: Vec<String>,
    /// Names bound by comprehensions and `for`, outermost first.
    pub(in crate::lower) locals: Vec<Bound>,
    /// The step whose answer certainly exists here.
    pub(in crate::lower) answer: Option<StepId>,
    /// The places whose values are known not to be `none`.
    pub(in crate::lower) facts: BTreeSet<Place>,
    /// The declarations that the expression may read.
    pub(in crate::lower) reads: Reads,
    /// Whether the expression is inside `{…}` of a text.
    pub(in crate::lower) placeholder: bool,
    /// Whether the expression is inside a text in which `{options}` is allowed.
    pub(in crate::lower) offers: bool,
    /// The nesting depth of the expression.
    pub(super) depth: u32,
}

/// A name that is bound where an expression is written.
#[derive(Debug, Clone)]
pub(in crate::lower) struct Bound {
    pub(in crate::lower) name: String,
    /// The type of the values that the name stands for.
    pub(in crate::lower) ty: Type,
    /// The place of the name and its kind; `None` if nothing in a source binds it.
    pub(in crate::lower) place: Option<(Span, NameKind)>,
}

impl Bound {
    /// A name that is written in the chart.
    pub(in crate::lower) fn local(name: &Ident, ty: Type) -> Self {
        Self { name: name.node.clone(), ty, place: Some((name.span, NameKind::Local)) }
    }
}

/// The declarations that an expression may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lower) enum Reads {
    /// Everything in scope.
    All,
    /// Variables declared before this one.
    Before(VarId),
    /// Params declared before this one.
    ParamsBefore(VarId),
    /// Params only.
    Params,
    /// Nothing: a literal.
    Nothing,
}

impl Env {
    /// The environment of an expression in a line, step or block of `state`.
    pub(in crate::lower) fn at(state: StateId) -> Self {
        Self {
            state,
            payload: Vec::new(),
            hidden: Vec::new(),
            locals: Vec::new(),
            answer: None,
            facts: BTreeSet::new(),
            reads: Reads::All,
            placeholder: false,
            offers: false,
            depth: 0,
        }
    }

    /// The environment of a literal.
    pub(in crate::lower) fn constant() -> Self {
        Self { reads: Reads::Nothing, ..Self::at(StateId(0)) }
    }

    /// The environment of the default of the variable that will get the id `id`.
    pub(in crate::lower) fn default_of(id: VarId, param: bool) -> Self {
        let reads = if param { Reads::ParamsBefore(id) } else { Reads::Before(id) };
        Self { reads, ..Self::at(StateId(0)) }
    }

    /// The environment of an expression over the params.
    pub(in crate::lower) fn params() -> Self {
        Self { reads: Reads::Params, ..Self::at(StateId(0)) }
    }

    /// Whether a name is bound here, and hides those of the chart.
    pub(in crate::lower) fn binds(&self, name: &str) -> bool {
        self.locals.iter().chain(&self.payload).any(|bound| bound.name == name)
    }

    /// Runs `then` with what `test` implies if its value is `outcome`.
    pub(in crate::lower) fn knowing<T>(
        &mut self,
        test: &Expr,
        outcome: bool,
        then: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.facts.clone();
        self.learn(test, outcome);
        let result = then(self);
        self.facts = before;
        result
    }

    /// Adds what `test` implies if its value is `outcome`.
    pub(in crate::lower) fn learn(&mut self, test: &Expr, outcome: bool) {
        known_present(test, outcome, &mut self.facts);
    }

    /// Notes that a variable is not `none` now.
    pub(in crate::lower) fn know(&mut self, id: VarId) {
        self.facts.insert(Place { root: PlaceRoot::Variable(id), fields: Vec::new() });
    }

    /// Enters a nested block; false if it is nested too deeply.
    pub(in crate::lower) fn enter(&mut self) -> bool {
        self.depth += 1;
        self.depth <= super::DEEPEST
    }

    /// Leaves a nested block.
    pub(in crate::lower) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Forgets what was known of a variable, because it has changed.
    pub(in crate::lower) fn forget(&mut self, id: VarId) {
        self.facts.retain(|place| place.root != PlaceRoot::Variable(id));
    }

    /// Forgets what was known of a name that is no longer in scope. The next name at its depth gets the same id.
    pub(in crate::lower) fn forget_local(&mut self, id: LocalId) {
        self.facts.retain(|place| place.root != PlaceRoot::Local(id));
    }
}
