//! Findings about prompts: lists that grow in them, formats that mislead, and tools that they name in vain.
//!
//! The problem: a prompt is text for a model, and no run fails because of a bad one. The idea: three lints look for patterns that are
//! almost certainly mistakes, and prefer to miss some:
//!
//! - `GROWING_PROMPT` combines three facts: a prompt shows all of a list (`shown`), a transition appends to it (`appends`), and both are in
//!   one cycle of the graph of moves, in which nothing resets the list, and no condition reads its length (`growing`).
//! - `MISLEADING_FORMAT`: in Python's formats, `.1` counts significant digits and `.1f` decimals.
//! - `UNUSABLE_TOOL` compares the names of tools in the text with the tools that may be called where the step asks (`mentions`). Only names
//!   with a dot count, as others may be words. A sentence that negates is skipped (`refused`), unless it forbids a tool that is offered
//!   (`forbids`).
//!
//! For example:
//!
//! ```text
//! tool web.get(url: Text) -> Text
//! var notes: List(Text) = []
//! state work {
//!   ask next on turn else stay { prompt "{notes} Use web.get. {options}" }
//!   may note(text: Text) -> work { notes = notes + [text] }
//!   may stop -> done
//! }
//! ```
//!
//! The prompt shows all of `notes`, and `note` leads back to `work` with a longer list: a growing prompt. It names `web.get`, which no
//! `may call` offers.

use super::{Context, Lint, words};
use crate::analysis::facts::Facts;
use crate::analysis::facts::endless::alone;
use crate::analysis::facts::reach::GraphNode;
use crate::analysis::facts::usage::walk;
use crate::notation::expression;
use crate::rules::{self, forbidden_tool};
use crate::syntax::diagnostic::{Diagnostic, nearest};
use crate::syntax::source::Span;
use chartc_core::arena::{ComponentId, StateId, StepId, ToolId, TransitionId, VarId};
use chartc_core::model::{
    Action, BinaryOp, Builtin, Chart, ChoiceKind, Expr, ExprKind, StepKind, Template, TemplatePart,
    Trigger, Type, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub(super) static GROWING_PROMPT: Lint =
    Lint { rule: &rules::GROWING_PROMPT, needs_whole: true, run: find_growing_prompt };

fn find_growing_prompt(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for found in growing(chart, facts) {
        let (name, step) = (&chart.variables[found.variable.index()].name, map.step(found.step));
        let at = step.prompt_parts.get(found.part).copied().unwrap_or(step.name);
        let message = format!(
            "the prompt of {} shows all of `{name}`, which grows with each iteration",
            words::step(chart, found.step)
        );
        let one = rules::GROWING_PROMPT.at(at, message).help(format!(
            "show the last items only, such as `{name}[-5:]`, or shorten the list where it grows"
        ));
        diagnostics.push(one.related(map.transition(found.transition).whole, "grows here"));
    }
}

/// A prompt that shows all of a list that only grows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Growing {
    variable: VarId,
    /// A transition that appends to the list.
    transition: TransitionId,
    /// The step with the prompt.
    step: StepId,
    /// The index of the part of the prompt that shows the list.
    part: usize,
}

/// Finds every prompt that shows in full a list that only grows in a loop containing its step; once for each step and list. Guards are
/// assumed to hold. A list whose length is read by a condition is assumed to be bounded.
fn growing(chart: &Chart, facts: &Facts) -> Vec<Growing> {
    let shown = shown(chart);
    if shown.is_empty() {
        return Vec::new();
    }
    let growth: Vec<(VarId, TransitionId)> = transitions(chart, &|v, e| appends(e, v));
    let lists: BTreeSet<VarId> = shown.iter().map(|s| s.0).collect();
    if !growth.iter().any(|(v, _)| lists.contains(v)) {
        return Vec::new();
    }
    let bounded = measured(chart);
    let other: Vec<(VarId, TransitionId)> = transitions(chart, &|v, e| !appends(e, v));
    let Some(moves) = alone(chart, facts) else { return Vec::new() };
    let mut found: BTreeMap<(StepId, VarId), Growing> = BTreeMap::new();
    // A strongly connected component of more than one node is a loop.
    for component in moves.components().iter().filter(|c| c.len() > 1) {
        let mut taken: BTreeSet<TransitionId> = BTreeSet::new();
        let mut active: BTreeSet<StateId> = BTreeSet::new();
        for node in component {
            match node {
                GraphNode::Transition(transition) => drop(taken.insert(*transition)),
                GraphNode::Active(state) | GraphNode::Entered(state) => drop(active.insert(*state)),
                GraphNode::Any(_) => {}
            }
        }
        let resets = |variable: VarId| {
            let blocks = active.iter().flat_map(|s| {
                let row = chart.state(*s);
                row.entry.iter().chain(&row.exit)
            });
            let mut set = other.iter().any(|(v, l)| *v == variable && taken.contains(l));
            for block in blocks {
                Action::walk(block, &mut |a| {
                    set |= matches!(a, Action::Assign(v, e) if *v == variable && !appends(e, *v));
                });
            }
            let inside = chart.steps.iter().filter(|s| active.contains(&s.state));
            set || inside.into_iter().any(|s| s.into == Some(variable) || code_sets(s, variable))
        };
        for (variable, transition) in &growth {
            if !taken.contains(transition) || bounded.contains(variable) || resets(*variable) {
                continue;
            }
            for (_, step, part) in shown.iter().filter(|(v, ..)| v == variable) {
                let within = &facts.scopes.step(*step).within;
                if within.iter().any(|s| active.contains(s)) {
                    found.entry((*step, *variable)).or_insert(Growing {
                        variable: *variable,
                        transition: *transition,
                        step: *step,
                        part: *part,
                    });
                }
            }
        }
    }
    found.into_values().collect()
}

fn code_sets(step: &chartc_core::model::Step, variable: VarId) -> bool {
    let chartc_core::model::StepKind::Code(actions) = &step.kind else { return false };
    crate::analysis::facts::usage::assigned(actions).contains(&variable)
}

/// The assignments in the actions of transitions for which `way` holds, as variable and transition.
fn transitions(chart: &Chart, way: &dyn Fn(VarId, &Expr) -> bool) -> Vec<(VarId, TransitionId)> {
    let mut found = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        Action::walk(&transition.actions, &mut |action| {
            if let Action::Assign(variable, value) = action
                && way(*variable, value)
            {
                found.push((*variable, TransitionId::at(i)));
            }
        });
    }
    found
}

/// Whether the value is the variable itself with something added at either end.
fn appends(value: &Expr, to: VarId) -> bool {
    if let ExprKind::Binary(BinaryOp::Add, a, b) = &value.kind {
        let own = |e: &Expr| matches!(e.kind, ExprKind::Variable(v) if v == to) || appends(e, to);
        return own(a) || own(b);
    }
    false
}

/// The prompts that show a list in full, as list, step and part.
fn shown(chart: &Chart) -> Vec<(VarId, StepId, usize)> {
    let mut found = Vec::new();
    for (i, step) in chart.steps.iter().enumerate() {
        for (part, piece) in step.prompt.iter().flat_map(|p| p.parts.iter().enumerate()) {
            let TemplatePart::Hole { expr, .. } = piece else { continue };
            let mut lists = Vec::new();
            whole(expr, &mut lists);
            for id in lists {
                let row = &chart.variables[id.index()];
                let kept = matches!(row.kind, VariableKind::Var { per_turn: false });
                if kept && matches!(row.ty, Type::List(_)) {
                    found.push((id, StepId::at(i), part));
                }
            }
        }
    }
    found
}

/// Collects the variables whose whole value the expression shows.
fn whole(expr: &Expr, found: &mut Vec<VarId>) {
    match &expr.kind {
        ExprKind::Variable(id) => found.push(*id),
        ExprKind::Builtin(Builtin::Str | Builtin::Sorted | Builtin::Said, inner) => {
            for e in inner {
                whole(e, found);
            }
        }
        // An unfiltered comprehension shows something of each element.
        ExprKind::Comprehension { source, filter: None, .. } => whole(source, found),
        ExprKind::If(_, a, b) | ExprKind::Default(a, b) => {
            whole(a, found);
            whole(b, found);
        }
        _ => {}
    }
}

/// The lists whose length some condition reads.
fn measured(chart: &Chart) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    let guards = chart.transitions.iter().filter_map(|l| l.guard.as_ref());
    for guard in guards.chain(chart.steps.iter().filter_map(|s| s.guard.as_ref())) {
        walk(chart, guard, &mut |e| {
            if let ExprKind::Builtin(Builtin::Len, of) = &e.kind {
                for e in of {
                    e.walk(&mut |e| {
                        if let ExprKind::Variable(id) = e.kind {
                            found.insert(id);
                        }
                    });
                }
            }
        });
    }
    found
}

// Format specs that look like a number of decimals but count significant digits.

pub(super) static MISLEADING_FORMAT: Lint =
    Lint { rule: &rules::MISLEADING_FORMAT, needs_whole: false, run: find_misleading_format };

fn find_misleading_format(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for (step, spans) in chart.steps.iter().zip(&map.steps) {
        let at = spans.prompt.unwrap_or(spans.name);
        step.prompt.iter().for_each(|t| look(chart, t, &spans.prompt_parts, at, diagnostics));
    }
    for (i, component) in chart.components.iter().enumerate() {
        look(chart, &component.text, &map.component_parts[i], map.components[i], diagnostics);
    }
}

/// Checks the placeholders of a text; `parts` are their spans, `whole` is the span of the text.
fn look(
    chart: &Chart,
    text: &Template,
    parts: &[Span],
    whole: Span,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (i, part) in text.parts.iter().enumerate() {
        let TemplatePart::Hole { expr, spec } = part else { continue };
        if expr.ty != Type::Float || !(spec.ends_with(".0") || spec.ends_with(".1")) {
            continue;
        }
        let shown = if spec.ends_with('0') { "1e+02" } else { "1e+03" };
        let number = if spec.ends_with('0') { "123.4" } else { "1234.5" };
        let message = format!("`{spec}` counts significant digits: {number} is shown as `{shown}`");
        let name = expression(chart, expr);
        diagnostics.push(
            rules::MISLEADING_FORMAT
                .at(parts.get(i).copied().unwrap_or(whole), message)
                .help(format!("for digits after the decimal point, write `{{{name}:{spec}f}}`")),
        );
    }
}

// Prompts that name tools that the model cannot call there.

pub(super) static UNUSABLE_TOOL: Lint =
    Lint { rule: &rules::UNUSABLE_TOOL, needs_whole: true, run: find_unusable_tool };

fn find_unusable_tool(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for mention in mentions(chart, facts) {
        let (word, step) = (&mention.word, words::step(chart, mention.step));
        let at = place(context, &mention);
        if mention.forbidden {
            diagnostics.push(forbidden_tool::named(&mention.word, &step, at));
        } else if let Some(tool) = mention.tool {
            let open = mention.open.iter().map(|t| chart.tools[t.index()].name.as_str());
            let is_llm = chart.steps[mention.step.index()].tools.is_some();
            let help = if is_llm {
                format!(
                    "its `tools` are {}: put it among them, or take the name out of the prompt",
                    words::names(open)
                )
            } else if mention.open.is_empty() {
                "no `may call` line offers a tool there: add one, or take the name out of the prompt".to_owned()
            } else {
                format!(
                    "it may call {}: offer it with `may call`, or take the name out of the prompt",
                    words::names(open)
                )
            };
            let why =
                if is_llm { "is none of its `tools`" } else { "no line offers where it asks" };
            let message = format!("the prompt of {step} names `{word}`, which {why}");
            let found = rules::UNUSABLE_TOOL.at(at, message).help(help);
            diagnostics.push(found.related(map.tools[tool.index()], "declared here"));
        } else if let Some(near) = nearest(word, chart.tools.iter().map(|t| t.name.as_str())) {
            let message =
                format!("the prompt of {step} names `{word}`, and there is no tool of that name");
            diagnostics
                .push(rules::UNUSABLE_TOOL.at(at, message).help(format!("did you mean `{near}`?")));
        }
    }
}

/// The span of the name in the source.
fn place(context: &Context<'_>, mention: &Mention) -> Span {
    let Context { chart, map, sources, .. } = context;
    let step = mention.step;
    let (text, parts): (Option<&Template>, _) = match mention.component {
        Some(id) => (Some(&chart.components[id.index()].text), &map.component_parts[id.index()]),
        None => (chart.steps[step.index()].prompt.as_ref(), &map.step(step).prompt_parts),
    };
    match (text.and_then(|t| t.parts.get(mention.part)), parts.get(mention.part)) {
        (Some(TemplatePart::Text(text)), Some(span)) => {
            words::piece(sources, *span, text, &mention.at)
        }
        _ => map.step(step).prompt.unwrap_or(map.step(step).name),
    }
}

/// A tool that a prompt names although the model cannot call it, or that the prompt forbids although the model can call it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mention {
    step: StepId,
    /// The component that contains the name; `None` is the step's own prompt.
    component: Option<ComponentId>,
    /// The index of the part of that text.
    part: usize,
    /// The byte range of the name in the part.
    at: Range<usize>,
    /// The name as written.
    word: String,
    /// The tool, if there is one with the name.
    tool: Option<ToolId>,
    /// The tools that may be called where the step asks.
    open: BTreeSet<ToolId>,
    /// Whether the text forbids the tool, which may be called.
    forbidden: bool,
}

/// Finds every such name, by step and position, each word once per step. A word counts if it is the name of a tool with a dot, or begins
/// like one up to the last dot. Names after a negation such as `not` or `never` are skipped, unless it forbids a call. Linear in the texts.
fn mentions(chart: &Chart, facts: &Facts) -> Vec<Mention> {
    let named: BTreeMap<&str, ToolId> = chart
        .tools
        .iter()
        .enumerate()
        // A name without a dot may be an ordinary word of the prompt.
        .filter(|(_, tool)| tool.name.contains('.'))
        .map(|(i, tool)| (tool.name.as_str(), ToolId::at(i)))
        .collect();
    if named.is_empty() {
        return Vec::new();
    }
    let spaces: BTreeSet<&str> =
        named.keys().filter_map(|name| Some(name.rsplit_once('.')?.0)).collect();
    let mut injected: BTreeMap<StepId, Vec<ComponentId>> = BTreeMap::new();
    for (i, component) in chart.components.iter().enumerate() {
        for insert in &component.inserts {
            injected.entry(insert.step).or_default().push(ComponentId::at(i));
        }
    }
    let offers = offers(chart, facts);
    let mut found = Vec::new();
    for (i, step) in chart.steps.iter().enumerate() {
        let id = StepId::at(i);
        let offers_some = matches!(step.kind, StepKind::Ask { .. }) || step.tools.is_some();
        if !offers_some || facts.scopes.step(id).within.is_empty() {
            continue;
        }
        let own = step.prompt.iter().map(|prompt| (None, prompt));
        let components = injected.get(&id).into_iter().flatten();
        let components = components.map(|c| (Some(*c), &chart.components[c.index()].text));
        let texts: Vec<(Option<ComponentId>, &Template)> = own.chain(components).collect();
        let mut open = None;
        let mut told = BTreeSet::new();
        for (component, text) in texts {
            for (part, piece) in text.parts.iter().enumerate() {
                let TemplatePart::Text(piece) = piece else { continue };
                for (word, at) in dotted(piece) {
                    let tool = named.get(word).copied();
                    let kin =
                        word.rsplit_once('.').is_some_and(|(space, _)| spaces.contains(space));
                    let refused = refused(&piece[..at.start]);
                    let forbidden = refused && forbids(&piece[..at.start], &piece[at.end..]);
                    if tool.is_none() && !kin || refused && !forbidden {
                        continue;
                    }
                    let open = open.get_or_insert_with(|| callable(chart, facts, id, &offers));
                    let is_open = tool.is_some_and(|tool| open.contains(&tool));
                    if is_open != forbidden || !told.insert(word) {
                        continue;
                    }
                    let (word, open) = (word.to_owned(), open.clone());
                    let step = id;
                    found.push(Mention { step, component, part, at, word, tool, open, forbidden });
                }
            }
        }
    }
    found
}

/// The tools that the `may call` transitions offer, by the states in which they are enabled.
fn offers(chart: &Chart, facts: &Facts) -> BTreeMap<StateId, BTreeSet<ToolId>> {
    let mut offers: BTreeMap<StateId, BTreeSet<ToolId>> = BTreeMap::new();
    for (transition, place) in chart.transitions.iter().zip(&facts.scopes.transitions) {
        let Trigger::Choice(choice) = transition.trigger else { continue };
        let ChoiceKind::Call(set, _) = chart.choices[choice.index()].kind else { continue };
        for state in &place.within {
            offers.entry(*state).or_default().extend(chart.tools_of(set));
        }
    }
    offers
}

/// The tools that may be called in at least one state where the step asks.
fn callable(
    chart: &Chart,
    facts: &Facts,
    step: StepId,
    offers: &BTreeMap<StateId, BTreeSet<ToolId>>,
) -> BTreeSet<ToolId> {
    if let Some(tools) = chart.steps[step.index()].tools {
        return chart.tools_of(tools.set).into_iter().collect();
    }
    let mut open = BTreeSet::new();
    for top in &facts.scopes.step(step).within {
        let above = chart.ancestors(*top).filter_map(|state| offers.get(&state));
        let below = offers.range(*top..chart.state(*top).end).map(|(_, tools)| tools);
        open.extend(above.chain(below).flatten().copied());
    }
    open
}

/// The words that contain a dot, with their ranges.
fn dotted(text: &str) -> Vec<(&str, Range<usize>)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    let mut found = Vec::new();
    let mut rest = 0;
    while let Some(from) = text[rest..].find(is_part).map(|at| rest + at) {
        let end = text[from..].find(|c| !is_part(c)).map_or(text.len(), |at| from + at);
        let word = text[from..end].trim_matches('.');
        let start = from + text[from..end].find(word).unwrap_or(0);
        if word.contains('.') {
            found.push((word, start..start + word.len()));
        }
        rest = end;
    }
    found
}

/// The last, unfinished sentence of the text, in lower case. A full stop inside a word does not end it.
fn sentence(before: &str) -> String {
    let mut start = 0;
    for (at, mark) in before.match_indices(['\n', '.', '!', '?', ';', ':']) {
        let next = before[at + mark.len()..].chars().next();
        if mark != "." || next.is_none_or(char::is_whitespace) {
            start = at + mark.len();
        }
    }
    before[start..].to_lowercase()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').filter(|w| !w.is_empty())
}

/// Whether the sentence around a tool's name forbids calling it under all circumstances.
fn forbids(before: &str, after: &str) -> bool {
    const LIMITING: &[&str] = &[
        "unless",
        "until",
        "before",
        "if",
        "when",
        "while",
        "more",
        "again",
        "twice",
        "without",
        "except",
        "yet",
        "first",
        "after",
        "only",
        "than",
        "once",
        "repeatedly",
        "both",
        "for",
        "with",
        "to",
        "on",
    ];
    const CALLING: &[&str] = &["use", "call", "invoke", "run", "touch"];
    let sentence = sentence(before);
    let end = after.char_indices().find(|(at, c)| match c {
        '\n' | '!' | '?' | ';' | ':' => true,
        '.' => after[at + 1..].chars().next().is_none_or(char::is_whitespace),
        _ => false,
    });
    let rest = after[..end.map_or(after.len(), |(at, _)| at)].to_lowercase();
    let mut denied = false;
    let mut called = false;
    for word in words(&sentence) {
        if called && LIMITING.contains(&word) {
            return false;
        }
        called |= denied && CALLING.contains(&word);
        denied |= matches!(word, "never" | "not" | "don't" | "don’t" | "mustn't" | "cannot");
    }
    called && !words(&rest).any(|word| LIMITING.contains(&word))
}

/// Whether the last sentence of the text contains a word that negates or restricts.
fn refused(before: &str) -> bool {
    let sentence = sentence(before);
    words(&sentence).any(|word| {
        matches!(
            word,
            "not"
                | "never"
                | "no"
                | "without"
                | "avoid"
                | "instead"
                | "cannot"
                | "later"
                | "unless"
                | "earlier"
                | "was"
                | "were"
        ) || word.ends_with("n't")
            || word.ends_with("n’t")
    })
}
