//! Makes the Rust name of everything in a chart that generated code names, each once.

use super::Context;
use crate::lower::SourceMap;
use crate::rules::name_clash;
use crate::spelling;
use crate::syntax::diagnostic::{Diagnostic, Severity};
use crate::syntax::source::Span;
use chartc_core::arena::VarId;
use chartc_core::model::{Chart, ChoiceKind, Field, StateKind, Type, TypeKind};
use std::collections::{BTreeMap, BTreeSet};
use unicode_security::{
    GeneralSecurityProfile, is_potential_mixed_script_confusable_char as is_twin,
};

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
    "Sized",
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

// Converts a chart's names to Rust identifiers; no other module of the emitter does.
//
// [`Names::of`] reports two names in the same scope that become one identifier, so no generated item shadows another.

/// The words that are not identifiers in some edition of Rust, and the constant that every generated enum has.
const KEYWORDS: &[&str] = &[
    "ALL", "Self", "_", "abstract", "as", "async", "await", "become", "box", "break", "const",
    "continue", "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for",
    "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override",
    "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true", "try",
    "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Makes the name of a type or variant: `stuck.search` → `StuckSearch`, `level_1_2` → `Level1_2`.
pub(super) fn upper_camel(name: &str) -> String {
    legal(spelling::camel(name, takes(name)), 'V')
}

/// Makes the name of a field, argument or function: `agent_id` → `agent_id`, `HTTP.status` → `http_status`.
pub(super) fn snake(name: &str) -> String {
    legal(spelling::snake(name, takes(name)), 'v')
}

/// Makes the name of a module: `SecondOne` → `second_one`.
pub(super) fn module(name: &str) -> String {
    let mut spaced = String::new();
    for c in name.chars() {
        if c.is_uppercase()
            && spaced.ends_with(|before: char| before.is_lowercase() || before.is_numeric())
        {
            spaced.push('_');
        }
        spaced.push(c);
    }
    snake(&spaced)
}

/// Returns a test for the letters that a name keeps: those that Rust accepts in identifiers without a warning. Letters that look like Latin
/// ones are kept only in a name with other letters of their script.
fn takes(name: &str) -> impl Fn(char) -> bool {
    let is_own = name.chars().any(|c| !c.is_ascii() && c.is_alphabetic() && !is_twin(c));
    move |c| c.identifier_allowed() && (is_own || !is_twin(c)) && syn_takes(c)
}

/// Whether the Rust parser accepts `c` inside an identifier.
fn syn_takes(c: char) -> bool {
    syn::parse_str::<syn::Ident>(&format!("a{c}")).is_ok()
}

/// Puts a letter before a leading digit, and an underscore after a keyword or an empty name.
fn legal(mut name: String, letter: char) -> String {
    if name.trim_end_matches('_').is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, letter);
    }
    if syn::parse_str::<syn::Ident>(&name).is_err() && !KEYWORDS.contains(&name.as_str()) {
        name.insert(0, letter);
    }
    if KEYWORDS.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

/// Returns the Rust type that holds a value of `ty`.
pub(super) fn owned(context: &Context<'_>, ty: &Type) -> String {
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::Int => "i64".to_owned(),
        Type::Float => "f64".to_owned(),
        Type::Text => "String".to_owned(),
        Type::Duration => "Duration".to_owned(),
        Type::Json => "Value".to_owned(),
        Type::List(item) => format!("Vec<{}>", owned(context, item)),
        Type::Map(item) => format!("Map<{}>", owned(context, item)),
        Type::Optional(inner) => format!("Option<{}>", owned(context, inner)),
        Type::Named(id) => context.names.types[id.index()].clone(),
    }
}

/// Returns the type of a list's items; `None` for other types.
pub(super) fn list_item(ty: &Type) -> Option<&Type> {
    if let Type::List(item) = ty { Some(item) } else { None }
}

/// Returns the inner type of an optional; `None` for other types.
pub(super) fn optional_inner(ty: &Type) -> Option<&Type> {
    if let Type::Optional(inner) = ty { Some(inner) } else { None }
}

/// Returns the type made optional; an optional type is unchanged.
pub(super) fn optional(ty: Type) -> Type {
    if optional_inner(&ty).is_some() { ty } else { Type::Optional(Box::new(ty)) }
}

/// The name of a variable inside `Data::new`.
pub(super) fn local(context: &Context<'_>, id: VarId) -> String {
    super::local_name(&context.names.variables[id.index()])
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

#[cfg(test)]
mod ident_tests {
    use super::*;

    #[test]
    fn paths_become_variants() {
        assert_eq!(upper_camel("engaging.like"), "EngagingLike");
        assert_eq!(upper_camel("evaluating_post"), "EvaluatingPost");
        assert_eq!(upper_camel("b1_1"), "B1_1");
        assert_eq!(upper_camel("b1.1"), "B1_1");
        assert_eq!(upper_camel("self"), "Self_");
        assert_eq!(upper_camel("7up"), "V7up");
        assert_eq!(upper_camel("__"), "V__");
        assert_eq!(upper_camel("goal_"), "Goal_");
    }

    #[test]
    fn fields_keep_their_spelling() {
        assert_eq!(snake("success_rate"), "success_rate");
        assert_eq!(snake("true"), "true_");
        assert_eq!(snake("type"), "type_");
        assert_eq!(snake("A"), "a");
        assert_eq!(snake("_"), "v_");
        assert_eq!(snake("current_goal_"), "current_goal_");
    }

    #[test]
    fn modules_are_split_where_a_word_begins() {
        assert_eq!(module("SecondOne"), "second_one");
        assert_eq!(module("HTTP2Proxy"), "http2_proxy");
    }

    #[test]
    fn every_name_is_a_legal_identifier() {
        for name in
            ["été", "a-b", "🙂", "a b", "\"", "", "1", "名前", "ﬁ", "e\u{301}", "²", "r#x", "'"]
        {
            for made in [upper_camel(name), snake(name)] {
                assert!(syn::parse_str::<syn::Ident>(&made).is_ok(), "{name:?} became {made:?}");
            }
        }
        for word in KEYWORDS {
            assert!(syn::parse_str::<syn::Ident>(&snake(word)).is_ok(), "{word}");
            assert!(syn::parse_str::<syn::Ident>(&upper_camel(word)).is_ok(), "{word}");
        }
    }
}
