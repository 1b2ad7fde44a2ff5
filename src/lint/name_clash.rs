//! Two names that become one Rust identifier. A warning of the chart; where Rust is made of it states get a number, and others
//! are an error.

use super::{Context, Lint};
use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::span::Span;
use crate::spelling::{camel, snake};
use chartc_core::model::{ChoiceKind, Field, StateKind, TypeKind};
use std::collections::HashMap;

pub(super) static LINT: Lint = Lint { rule: &RULE, needs_whole: false, run };

/// The rule.
static RULE: Rule = Rule {
    code: "C0502",
    name: "name-clash",
    severity: Severity::Warning,
    page: include_str!("name_clash.md"),
};

/// Two names of one kind that become one identifier.
pub(crate) fn idents(
    what: &str,
    (name, span): (&str, Span),
    (other, place): (&str, Span),
    ident: &str,
) -> Diagnostic {
    let help = match what {
        "state" => {
            "rename one of the two: in generated code the second has a number behind its name"
        }
        _ => "rename one of the two",
    };
    RULE.at(span, format!("{what}s `{other}` and `{name}` are both `{ident}` in Rust"))
        .help(help)
        .related(place, format!("{what} `{other}` stands here"))
}

/// Two charts of one file that become one module.
pub(crate) fn modules(module: &str, span: Span, other: Span) -> Diagnostic {
    RULE.at(span, format!("two charts are both module `{module}` in Rust"))
        .related(other, "the other one")
}

/// The names that generated code puts side by side, as its emitter does. What it adds to make an identifier legal is left to it.
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
                // The same name twice is another finding.
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
