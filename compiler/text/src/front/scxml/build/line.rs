//! Builds transitions.

use super::super::convert::{Brings, ExprContext};
use super::super::document::{Descriptor, ScxmlStateKind, Transition, dotted, walk};
use super::super::reads::{reads_data, reads_name};
use super::super::scope::{Scope, event_names};
use super::invoke::Pattern;
use super::{Builder, noted, path};
use crate::rules::left_out;
use crate::span::{Ident, Span};
use crate::syntax::{
    CATCH_ALL, Done, EventPattern, Expr, ExprKind, Line, LineKind, Noted, StateItem, Tail, Target,
};
use std::collections::BTreeSet;

/// A descriptor that means at most this many events does not count against the budget.
const FEW: usize = 8;

/// The name of a transition's event, if the pattern matches only one event.
fn named(pattern: &EventPattern, word: &str, scope: &Scope<'_>) -> Option<String> {
    match pattern {
        EventPattern::Event(..) => {
            (word != CATCH_ALL && scope.is_alone(word)).then(|| word.to_owned())
        }
        EventPattern::Done(_) => Some(word.to_owned()),
        EventPattern::Machine(_) => (!word.ends_with('*')).then(|| word.to_owned()),
        EventPattern::Error(_) => Some("error.communication".to_owned()),
        _ => None,
    }
}

impl Builder<'_, '_> {
    /// Builds one transition for each event of the written transition.
    pub(super) fn lines(&mut self, source: usize, written: &Transition) -> Vec<Noted<StateItem>> {
        let Some(events) = &written.events else {
            return self.eventless(source, written).into_iter().collect();
        };
        if self.left == 0 {
            return Vec::new();
        }
        let mut size = 1;
        walk(&written.body, &mut |_| size += 1);
        let mut lines: Vec<Noted<StateItem>> = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        for descriptor in events {
            let patterns = self.patterns(source, descriptor, written);
            if patterns.len() > FEW && !self.take_spread(patterns.len(), written.span) {
                return lines;
            }
            for (pattern, brings, word) in patterns {
                if seen.contains(&word) {
                    continue;
                }
                // A linear search: beyond the bound, a repeated event costs a line that is never taken.
                if seen.len() < 100 {
                    seen.push(word.clone());
                }
                if !self.take_budget(size, written.span) {
                    return lines;
                }
                let named = named(&pattern, &word, &self.scope);
                let inside = named.is_none() && self.may_be_inside(&pattern, &word);
                let at = ExprContext { brings, named, inside, ..ExprContext::state(source) };
                let tail = self.tail(source, written, at);
                let before = if lines.is_empty() { &written.before[..] } else { &[] };
                let line = Line { kind: LineKind::On(pattern), tail };
                lines.push(noted(StateItem::Line(line), written.span, before));
            }
        }
        lines
    }

    /// Whether a transition may be triggered by an event from inside the document.
    fn may_be_inside(&self, pattern: &EventPattern, word: &str) -> bool {
        match pattern {
            EventPattern::Event(..) => {
                let below = format!("{word}.");
                let next = self.inside.raised.range(below.clone()..).next();
                self.inside.raised.contains(word)
                    || next.is_some_and(|name| name.starts_with(&below))
            }
            // A transition for any event that reads its name is preceded by one transition for each known event, so it takes only other
            // events.
            EventPattern::Any(_) | EventPattern::Everything(_) => false,
            _ => true,
        }
    }

    /// The patterns for one word of `event`, each with its data and its name.
    fn patterns(
        &mut self,
        source: usize,
        descriptor: &Descriptor,
        written: &Transition,
    ) -> Vec<Pattern> {
        let reads = reads_data(written.cond.as_ref(), &written.body);
        match descriptor {
            Descriptor::All(span) => {
                let named =
                    self.inside.happens() && reads_name(written.cond.as_ref(), &written.body);
                let each = reads || named;
                let mut found =
                    if each { self.each_event(source, reads, *span) } else { Vec::new() };
                found.push((EventPattern::Everything(*span), Brings::NoData, "*".to_owned()));
                found
            }
            Descriptor::Event(names, span) => {
                let name = dotted(names);
                let bound = if reads && self.scope.has_data(&name) {
                    vec![Ident::new(self.scope.data.clone(), *span)]
                } else {
                    Vec::new()
                };
                let brings = if bound.is_empty() { Brings::NoData } else { Brings::Data };
                vec![(EventPattern::Event(path(names.clone(), *span), bound), brings, name)]
            }
            Descriptor::Error(text) => {
                let machine = EventPattern::Machine(text.clone());
                let mut found = vec![(machine, Brings::NoData, text.node.clone())];
                if text.node == "error.*" {
                    found.extend(self.invoke_failed(text.span));
                }
                found
            }
            Descriptor::Communication(span) => {
                let found = self.invoke_failed(*span);
                if found.is_empty() {
                    self.findings.push(left_out::never("error.communication", *span));
                }
                found
            }
            Descriptor::DoneInvoke(id, span) => self.invoke_done(id.as_ref(), reads, *span),
            Descriptor::Done(span) => {
                let mut found = self.done_states(source, *span);
                if !self.document.invokes.is_empty() {
                    found.extend(self.invoke_done(None, reads, *span));
                }
                if found.is_empty() {
                    self.findings.push(left_out::never("done", *span));
                }
                found
            }
            Descriptor::DoneState(Some(id), span) => self.done(source, id, *span),
            Descriptor::DoneState(None, span) => {
                let found = self.done_states(source, *span);
                if found.is_empty() {
                    self.findings.push(left_out::never("done.state", *span));
                }
                found
            }
        }
    }

    /// A pattern for every event by name, which binds the data if they are read.
    fn each_event(&mut self, source: usize, reads: bool, span: Span) -> Vec<Pattern> {
        let document = self.document;
        let known = self.inside.known.get_or_init(|| {
            let names = event_names(document).into_iter().map(|(name, names, _)| (name, names));
            let any = (CATCH_ALL.to_owned(), vec![Ident::new(CATCH_ALL.to_owned(), span)]);
            let known: Vec<(String, Vec<Ident>)> = names.chain([any]).collect();
            let all: BTreeSet<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
            // In SCXML, a transition for `a` also takes `a.b`, so `a.b` needs no line of its own.
            let below =
                |name: &str| name.match_indices('.').any(|(at, _)| all.contains(&name[..at]));
            known.iter().filter(|(name, _)| !below(name)).cloned().collect()
        });
        let mut found = Vec::new();
        for (name, names) in known {
            let names = names.iter().map(|n| Ident::new(n.node.clone(), span)).collect();
            let bound = reads.then(|| Ident::new(self.scope.data.clone(), span));
            let brings = if reads { Brings::Data } else { Brings::NoData };
            let pattern = EventPattern::Event(path(names, span), bound.into_iter().collect());
            found.push((pattern, brings, name.clone()));
        }
        found.extend(self.done_states(source, span));
        if !self.document.invokes.is_empty() {
            found.extend(self.invoke_done(None, reads, span));
        }
        found
    }

    /// The patterns for the end of any state.
    fn done_states(&mut self, source: usize, span: Span) -> Vec<Pattern> {
        let states = self.inside.ended.iter().map(|nth| &self.document.states[*nth]);
        let ids: Vec<Ident> = states.map(|state| Ident::new(state.id.node.clone(), span)).collect();
        ids.iter().flat_map(|id| self.done(source, id, span)).collect()
    }

    fn done(&mut self, source: usize, id: &Ident, span: Span) -> Vec<Pattern> {
        let state = self.scope.state(&id.node);
        if let Some(state) = state
            && !self.is_ever_done(state)
        {
            self.findings.push(left_out::never(&format!("done.state.{}", id.node), span));
            return Vec::new();
        }
        let subject = self.path_of(source, id);
        let kept = state.and_then(|state| self.scope.done.get(&state));
        let brings = kept.map_or(Brings::NoData, |nth| Brings::Done(*nth));
        let done = Done { subject, binding: None };
        vec![(EventPattern::Done(done), brings, format!("done.state.{}", id.node))]
    }

    /// Whether a state can be done: whether its final state can be reached.
    fn is_ever_done(&self, nth: usize) -> bool {
        self.document.is_ever_done(nth)
    }

    fn eventless(&mut self, source: usize, written: &Transition) -> Option<Noted<StateItem>> {
        if written.targets.is_empty() && written.body.is_empty() {
            self.findings.push(left_out::idle(written.span));
            return None;
        }
        let at = ExprContext { brings: Brings::Eventless, ..ExprContext::state(source) };
        let mut tail = self.tail(source, written, at);
        let always = Expr { kind: ExprKind::Bool(true), span: written.span };
        let test = tail.guard.take().unwrap_or(always);
        let line = Line { kind: LineKind::When(test), tail };
        Some(noted(StateItem::Line(line), written.span, &written.before))
    }

    fn tail(&mut self, source: usize, written: &Transition, mut at: ExprContext) -> Tail {
        let guard = written.cond.as_ref().map(|cond| self.converter().condition(cond, &at));
        let target = |id: &Ident| Target { path: self.path_of(source, id), arguments: Vec::new() };
        let targets: Vec<Target> = written.targets.iter().map(target).collect();
        let block = self.actions(&written.body, &mut at, written.span);
        let actions = (!block.actions.is_empty()).then_some(block);
        Tail { guard, reenter: self.leaves(source, written), targets, actions }
    }

    /// Whether the transition needs `reenter`: an external transition into its own compound state exits that state.
    fn leaves(&self, source: usize, written: &Transition) -> bool {
        let state = &self.document.states[source];
        let compound = state.kind == ScxmlStateKind::State && self.first_child(source).is_some();
        let below = |id: &Ident| {
            self.scope.state(&id.node).is_some_and(|to| self.document.is_below(to, source))
        };
        !written.internal
            && compound
            && !written.targets.is_empty()
            && written.targets.iter().all(below)
    }
}
