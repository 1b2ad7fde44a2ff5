//! Names that become the same Rust identifier. `check` warns about them. When Rust is generated, states get a number, and other clashes are
//! errors.

use super::{Context, Lint};
use crate::spelling::{camel, snake};
use chartc_core::model::{ChoiceKind, Field, StateKind, TypeKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::{NAME_CLASH, name_clash::idents};
use chartc_text::span::Span;
use std::collections::HashMap;

pub(super) static LINT: Lint = Lint { rule: &NAME_CLASH, needs_whole: false, run };

/// Compares the names that share a namespace in generated code. The emitter's escapes for illegal identifiers are not considered.
fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    let at = |spans: &[Span], i: usize| spans.get(i).copied().unwrap_or(map.name);
    let mut clashes = Clashes { found: diagnostics };
    let states = chart.states.iter().enumerate().skip(1);
    let states = states.filter(|(_, s)| !matches!(s.kind, StateKind::History { .. }));
    clashes.among("state", CAMEL, states.map(|(i, s)| (s.path.as_str(), map.states[i].name)));
    let events = chart.events.iter().enumerate();
    clashes.among("event", CAMEL, events.map(|(i, e)| (e.name.as_str(), at(&map.events, i))));
    let types = chart.types.iter().enumerate();
    clashes.among("type", CAMEL, types.map(|(i, t)| (t.name.as_str(), at(&map.types, i))));
    let variables = chart.variables.iter().enumerate();
    let variables = variables.map(|(i, v)| (v.name.as_str(), at(&map.variables, i)));
    clashes.among("variable", SNAKE, variables);
    let functions = chart.functions.iter().enumerate();
    let functions = functions.map(|(i, f)| (f.name.as_str(), at(&map.functions, i)));
    clashes.among("function", SNAKE, functions);
    for (i, event) in chart.events.iter().enumerate() {
        clashes.fields(&event.fields, at(&map.events, i));
    }
    for (i, ty) in chart.types.iter().enumerate() {
        let span = at(&map.types, i);
        match &ty.kind {
            TypeKind::Record(fields) => clashes.fields(fields, span),
            TypeKind::Enum(names) => {
                clashes.among("name", CAMEL, names.iter().map(|n| (n.as_str(), span)));
            }
        }
    }
    for (i, function) in chart.functions.iter().enumerate() {
        clashes.fields(&function.params, at(&map.functions, i));
    }
    for (i, choice) in chart.choices.iter().enumerate() {
        if let ChoiceKind::Option(fields) = &choice.kind {
            clashes.fields(fields, at(&map.choices, i));
        }
    }
}

const CAMEL: fn(&str) -> String = |name| camel(name, char::is_alphabetic);
const SNAKE: fn(&str) -> String = |name| snake(name, char::is_alphabetic);

struct Clashes<'d> {
    found: &'d mut Vec<Diagnostic>,
}

impl Clashes<'_> {
    fn among<'n>(
        &mut self,
        what: &str,
        spell: fn(&str) -> String,
        names: impl Iterator<Item = (&'n str, Span)>,
    ) {
        let mut taken: HashMap<String, (&str, Span)> = HashMap::new();
        for (name, span) in names {
            let ident = spell(name);
            match taken.get(&ident) {
                // Another rule reports the same name twice.
                Some((other, _)) if *other == name => {}
                Some(other) => self.found.push(idents(what, (name, span), *other, &ident)),
                None => {
                    taken.insert(ident, (name, span));
                }
            }
        }
    }

    fn fields(&mut self, fields: &[Field], span: Span) {
        if fields.len() > 1 {
            self.among("field", SNAKE, fields.iter().map(|f| (f.name.as_str(), span)));
        }
    }
}
