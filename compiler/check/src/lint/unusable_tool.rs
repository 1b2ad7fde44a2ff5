//! Prompts that name tools that the model cannot call there.

use crate::facts::Facts;
use crate::lint::{Context, Lint, words};
use chartc_core::arena::{ComponentId, StateId, StepId, ToolId};
use chartc_core::model::{Chart, ChoiceKind, StepKind, Template, TemplatePart, Trigger};
use chartc_text::diagnostic::{Diagnostic, nearest};
use chartc_text::rules::UNUSABLE_TOOL;
use chartc_text::rules::forbidden_tool;
use chartc_text::span::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub(super) static LINT: Lint = Lint { rule: &UNUSABLE_TOOL, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
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
            let found = UNUSABLE_TOOL.at(at, message).help(help);
            diagnostics.push(found.related(map.tools[tool.index()], "declared here"));
        } else if let Some(near) = nearest(word, chart.tools.iter().map(|t| t.name.as_str())) {
            let message =
                format!("the prompt of {step} names `{word}`, and there is no tool of that name");
            diagnostics.push(UNUSABLE_TOOL.at(at, message).help(format!("did you mean `{near}`?")));
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
        if called
            && !matches!(word, "or" | "and" | "nor" | "the" | "tool" | "tools")
            && LIMITING.contains(&word)
        {
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
