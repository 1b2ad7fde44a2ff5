//! Makes the Rust name of everything in a chart that generated code names, each once.

use super::ident::{snake, upper_camel};
use chartc_check::lower::SourceMap;
use chartc_core::model::{Chart, ChoiceKind, Field, StateKind, TypeKind};
use chartc_text::diagnostic::{Diagnostic, Severity};
use chartc_text::rules::name_clash;
use chartc_text::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The types of every generated module, and the Rust types that it uses by short names. A chart's type with such a name gets the suffix
/// `Type`.
const TAKEN: &[&str] = &[
    "Answer",
    "Answers",
    "Box",
    "ByName",
    "Child",
    "Choice",
    "ChoiceName",
    "Chart",
    "Configuration",
    "Core",
    "Data",
    "Elements",
    "Ending",
    "Err",
    "Event",
    "EventName",
    "Fn",
    "From",
    "Gathered",
    "H",
    "Host",
    "Inputs",
    "Into",
    "Iterator",
    "Machine",
    "Map",
    "None",
    "Ok",
    "Option",
    "Params",
    "Payload",
    "Result",
    "S",
    "Self",
    "Some",
    "State",
    "Step",
    "String",
    "ToString",
    "Value",
    "Vec",
    "VecDeque",
];

/// The Rust names of a chart, in the order of the chart's tables.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The names of states; `None` for the root and for histories, which are never reported as active.
    pub states: Vec<Option<String>>,
    /// The names of events.
    pub events: Vec<String>,
    /// For each event, the names of its fields.
    pub event_fields: Vec<Vec<String>>,
    /// The names of options.
    pub choices: Vec<String>,
    /// For each option, the names of its arguments.
    pub choice_fields: Vec<Vec<String>>,
    /// The names of steps.
    pub steps: Vec<String>,
    /// The names of types.
    pub types: Vec<String>,
    /// For each type, the names of a record's fields or of an enum's variants.
    pub type_fields: Vec<Vec<String>>,
    /// The names of variables.
    pub variables: Vec<String>,
    /// The names of functions.
    pub functions: Vec<String>,
    /// For each function, the names of its parameters.
    pub function_fields: Vec<Vec<String>>,
    /// The names of predicates.
    pub predicates: Vec<String>,
}

impl Names {
    /// Makes all names, and reports clashes with both places.
    pub(super) fn of(chart: &Chart, map: &SourceMap, found: &mut Vec<Diagnostic>) -> Self {
        let at = |spans: &[Span], i: usize| spans.get(i).copied().unwrap_or(map.name);
        let mut names = Self { states: states(chart), ..Self::default() };

        let mut scope = UniqueNames::new("event", found);
        for (i, event) in chart.events.iter().enumerate() {
            let span = at(&map.events, i);
            names.events.push(scope.claim(upper_camel(&event.name), &event.name, span));
        }
        for (i, event) in chart.events.iter().enumerate() {
            names.event_fields.push(fields(&event.fields, at(&map.events, i), found));
        }

        let mut scope = UniqueNames::new("type", found);
        for (i, ty) in chart.types.iter().enumerate() {
            let mut name = upper_camel(&ty.name);
            if TAKEN.contains(&name.as_str()) {
                name.push_str("Type");
            }
            names.types.push(scope.claim(name, &ty.name, at(&map.types, i)));
        }
        for (i, ty) in chart.types.iter().enumerate() {
            let span = at(&map.types, i);
            names.type_fields.push(match &ty.kind {
                TypeKind::Record(list) => fields(list, span, found),
                TypeKind::Enum(list) => {
                    let mut scope = UniqueNames::new("name", found);
                    list.iter().map(|n| scope.claim(upper_camel(n), n, span)).collect()
                }
            });
        }

        let mut scope = UniqueNames::new("variable", found);
        for (i, variable) in chart.variables.iter().enumerate() {
            let span = at(&map.variables, i);
            names.variables.push(scope.claim(snake(&variable.name), &variable.name, span));
        }

        let mut scope = UniqueNames::new("function", found);
        for (i, function) in chart.functions.iter().enumerate() {
            let span = at(&map.functions, i);
            names.functions.push(scope.claim(snake(&function.name), &function.name, span));
        }
        for (i, function) in chart.functions.iter().enumerate() {
            names.function_fields.push(fields(&function.params, at(&map.functions, i), found));
        }

        let predicates = chart.predicates.iter().map(|p| snake(&format!("pred_{}", p.name)));
        names.predicates = numbered(predicates.collect());
        names.choices = choices(chart);
        for (i, choice) in chart.choices.iter().enumerate() {
            names.choice_fields.push(match &choice.kind {
                ChoiceKind::Option(list) => fields(list, at(&map.choices, i), found),
                ChoiceKind::Call(..) => Vec::new(),
            });
        }
        names.steps = steps(chart);
        names
    }
}

/// Makes the names of states. Paths that become the same identifier get a number; the finding about them is a warning.
fn states(chart: &Chart) -> Vec<Option<String>> {
    let shown = |i: usize| i > 0 && !matches!(chart.states[i].kind, StateKind::History { .. });
    let paths = chart.states.iter().enumerate().filter(|(i, _)| shown(*i));
    let mut names = numbered(paths.map(|(_, s)| upper_camel(&s.path)).collect()).into_iter();
    (0..chart.states.len()).map(|i| if shown(i) { names.next() } else { None }).collect()
}

/// Makes the names of options. Options of different states may share a name; these are prefixed with the path of their state.
fn choices(chart: &Chart) -> Vec<String> {
    let state = |i: usize| {
        let transition = chart.choices[i].transition;
        &chart.state(chart.transition(transition).source).path
    };
    told_apart(chart.choices.iter().map(|c| c.name.as_str()).collect(), state)
}

/// Makes the names of steps, told apart like those of options.
fn steps(chart: &Chart) -> Vec<String> {
    let state = |i: usize| &chart.state(chart.steps[i].state).path;
    told_apart(chart.steps.iter().map(|s| s.name.as_str()).collect(), state)
}

fn told_apart<'c>(names: Vec<&str>, state: impl Fn(usize) -> &'c String) -> Vec<String> {
    let short: Vec<String> = names.iter().map(|n| upper_camel(n)).collect();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &short {
        *count.entry(name).or_default() += 1;
    }
    let long = names.iter().enumerate().map(|(i, name)| match count.get(short[i].as_str()) {
        Some(1) => short[i].clone(),
        _ => upper_camel(&format!("{}.{name}", state(i))),
    });
    numbered(long.collect())
}

/// Adds a number to the second and further occurrences of a name.
fn numbered(names: Vec<String>) -> Vec<String> {
    let mut taken: BTreeSet<String> = names.iter().cloned().collect();
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    let mut out = Vec::new();
    for name in names {
        let n = count.entry(name.clone()).or_default();
        *n += 1;
        let mut free = name.clone();
        // The number may make a name that another item has.
        while *n > 1 && !taken.insert(free.clone()) {
            // In UpperCamelCase an underscore may only separate digits.
            let name = name.trim_end_matches('_');
            let gap = if name.ends_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
            free = format!("{name}{gap}{n}");
            *n += usize::from(taken.contains(&free));
        }
        out.push(free);
    }
    out
}

fn fields(list: &[Field], span: Span, found: &mut Vec<Diagnostic>) -> Vec<String> {
    let mut scope = UniqueNames::new("field", found);
    list.iter().map(|f| scope.claim(snake(&f.name), &f.name, span)).collect()
}

/// The names of one scope, which must differ.
struct UniqueNames<'d> {
    what: &'static str,
    taken: BTreeMap<String, (String, Span)>,
    found: &'d mut Vec<Diagnostic>,
}

impl<'d> UniqueNames<'d> {
    fn new(what: &'static str, found: &'d mut Vec<Diagnostic>) -> Self {
        Self { what, taken: BTreeMap::new(), found }
    }

    /// Claims `ident` for `name`, and reports a clash.
    fn claim(&mut self, ident: String, name: &str, span: Span) -> String {
        let what = self.what;
        if let Some((other, place)) = self.taken.get(&ident) {
            let mut finding = name_clash::idents(what, (name, span), (other, *place), &ident);
            finding.severity = Severity::Error;
            self.found.push(finding);
        } else {
            self.taken.insert(ident.clone(), (name.to_owned(), span));
        }
        ident
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn third_of_a_name_takes_the_next_free_number() {
        let names = ["A", "A", "A2", "A", "B1", "B1"].map(String::from).to_vec();
        assert_eq!(numbered(names), ["A", "A3", "A2", "A4", "B1", "B1_2"]);
    }
}
