//! Builds states and their default entries.

use super::super::convert::ExprContext;
use super::super::document::{Initial, Payload, ScxmlStateKind};
use super::{Builder, comments, noted, path};
use crate::span::{Ident, Span};
use crate::syntax::{
    self, Action, Block, History, Noted, Param, Path, State, StateBody, StateItem, StateKind,
    TypeExpr, TypeKind,
};

impl Builder<'_, '_> {
    /// Builds a state, parallel or final. Returns `None` for a history, which is built with its siblings.
    pub(super) fn state(&mut self, nth: usize) -> Option<StateItem> {
        let state = &self.document.states[nth];
        let kind = match state.kind {
            ScxmlStateKind::Root | ScxmlStateKind::History { .. } => return None,
            ScxmlStateKind::State => StateKind::State,
            // A chart permits no parallel without regions; it behaves like a state without children.
            ScxmlStateKind::Parallel if self.first_child(nth).is_none() => StateKind::State,
            ScxmlStateKind::Parallel => StateKind::Parallel,
            ScxmlStateKind::Final => self.ending(nth),
        };
        let items = self.body(nth);
        let end = comments(&state.end);
        let empty = items.is_empty() && end.is_empty();
        let body = (!empty).then_some(StateBody { items, end, span: state.span });
        Some(StateItem::State(State { kind, name: state.id.clone(), renamed: Vec::new(), body }))
    }

    /// The first child that can be active: the first that is not a history.
    pub(super) fn first_child(&self, nth: usize) -> Option<usize> {
        let states = &self.document.states;
        let active =
            |child: &&usize| !matches!(states[**child].kind, ScxmlStateKind::History { .. });
        states[nth].children.iter().find(active).copied()
    }

    /// The path to a state as seen from another one. An unknown name is kept, so that lowering reports it.
    pub(super) fn path_of(&self, from: usize, id: &Ident) -> Path {
        let names = match self.scope.state(&id.node) {
            Some(to) => self.scope.path(from, to, id.span),
            None => vec![id.clone()],
        };
        path(names, id.span)
    }

    /// Builds `initial …`: the written one, else the first child.
    pub(super) fn initial(&mut self, nth: usize) -> Option<Noted<StateItem>> {
        let document = self.document;
        let state = &document.states[nth];
        if !matches!(state.kind, ScxmlStateKind::Root | ScxmlStateKind::State) {
            return None;
        }
        if let Some(initial) = &state.initial {
            let (targets, actions) = self.entered(nth, initial)?;
            let made = syntax::Initial { targets, actions, span: initial.span };
            return Some(noted(StateItem::Initial(made), initial.span, &initial.before));
        }
        let first = &document.states[self.first_child(nth)?].id;
        let name = Ident::new(first.node.clone(), first.span);
        let targets = vec![path(vec![name], first.span)];
        let made = syntax::Initial { targets, actions: None, span: first.span };
        Some(noted(StateItem::Initial(made), first.span, &[]))
    }

    /// The targets of a default entry, and its actions.
    fn entered(&mut self, from: usize, initial: &Initial) -> Option<(Vec<Path>, Option<Block>)> {
        let targets: Vec<Path> = initial.targets.iter().map(|id| self.path_of(from, id)).collect();
        let actions = (!initial.body.is_empty())
            .then(|| self.actions(&initial.body, &mut ExprContext::state(from), initial.span));
        (!targets.is_empty()).then_some((targets, actions))
    }

    /// Builds `history h -> d`, if the state is a history.
    pub(super) fn history(&mut self, nth: usize) -> Option<Noted<StateItem>> {
        let document = self.document;
        let state = &document.states[nth];
        let ScxmlStateKind::History { deep } = state.kind else { return None };
        let parent = state.parent.unwrap_or_default();
        let written = state.initial.as_ref();
        let (default, actions) = match written {
            Some(initial) => self.entered(parent, initial)?,
            None => {
                let first = &document.states[self.first_child(parent)?].id;
                let name = Ident::new(first.node.clone(), state.id.span);
                (vec![path(vec![name], state.id.span)], None)
            }
        };
        let history =
            History { name: state.id.clone(), renamed: Vec::new(), deep, default, actions };
        let before: Vec<_> =
            state.before.iter().chain(written.iter().flat_map(|i| &i.before)).cloned().collect();
        Some(noted(StateItem::History(history), state.span, &before))
    }

    /// The kind of a final state. One at the top level computes the result of the run.
    fn ending(&mut self, nth: usize) -> StateKind {
        let state = &self.document.states[nth];
        let (Some(done), Some(0)) = (&state.done, state.parent) else {
            return StateKind::Final(Vec::new(), Vec::new(), None);
        };
        let value = self.payload(done, &ExprContext::state(nth));
        let span = value.span;
        let ty = TypeExpr { kind: TypeKind::Name("Json".to_owned()), span };
        let data = Param { name: Ident::new("data".to_owned(), state.id.span), ty };
        StateKind::Final(vec![data], vec![Some(value)], None)
    }

    /// The block of a final state that stores the data with which its parent is done.
    pub(super) fn done_data(&mut self, nth: usize) -> Option<Noted<StateItem>> {
        let document = self.document;
        let done = document.states[nth].done.as_ref()?;
        let span = match done {
            Payload::Fields(_, span) => *span,
            Payload::Value(value) => value.span,
        };
        let parent = document.states[nth].parent?;
        let keeps = self.scope.done.get(&parent).copied()?;
        let value = self.payload(done, &ExprContext::state(nth));
        let name = Ident::new(self.scope.variables[keeps].name.clone(), span);
        Some(enter(Action::Assign(name, value), span))
    }
}

/// Builds the block `enter { action }`.
fn enter(action: Action, span: Span) -> Noted<StateItem> {
    let block = Block { actions: vec![noted(action, span, &[])], span };
    noted(StateItem::Enter(block), span, &[])
}
