//! Gathers the offers for the role of a name, and the keywords that the grammar accepts.
//!
//! Each role has its kinds of names, and some names are more likely than others: an offer has a weight, and the least comes first. For
//! `on |` in a state:
//!
//! 1. The grammar accepts the keywords `turn`, `done` and others, and a name.
//! 2. The role is an event. The declared events get weight 0, those that a run itself raises 25 and more.
//! 3. As a name is accepted, the keywords get weight 20: they come between the two.

use super::cursor::{Cursor, Region, Role, bare, role};
use super::{BoundName, CompletionKind, Offer, VisibleNames, bound, call, written_as};
use crate::Compilation;
use crate::ide::known::{self, Decl, named_type};
use crate::ide::outline::SymbolKind;
use crate::ide::{complete, notation};
use chartc_compiler::front::chart::completion_context::{
    BodyKind, CompletionContext, Next, in_placeholder, spot,
};
use chartc_compiler::front::chart::scan::{Token, TokenKind, tokens};
use chartc_compiler::lower::test::REASONS;
use chartc_compiler::lower::{
    ASKED, CLIENT_OPTIONS, language_types, limit_names, machine_errors, observables,
};
use chartc_compiler::syntax::source::FileId;
use chartc_compiler::syntax::{TypeExpr, TypeKind};
use chartc_core::expr::type_text;
use chartc_core::model::Status;
use std::collections::BTreeSet;

/// The offers at the cursor. `None` if the text nests too deep to be parsed.
pub(super) fn gather(
    compilation: &Compilation,
    file: FileId,
    cursor: &Cursor<'_>,
) -> Option<Vec<Offer>> {
    let text = cursor.text;
    let (found, next, role) = match cursor.region {
        Region::Placeholder { text: quote, start } => {
            let found = spot(text, quote)?;
            let next = in_placeholder(&text[start..cursor.from]);
            let role = if is_format(cursor) { Role::Format } else { in_hole(cursor, &next) };
            (found, next, role)
        }
        _ => {
            let found = spot(text, cursor.from)?;
            let next = found.next.clone();
            let item: Vec<Token> =
                cursor.before.iter().filter(|t| t.start >= found.item).copied().collect();
            let role = role(cursor, &item, found.place(), &next);
            (found, next, role)
        }
    };
    let scope = VisibleNames::new(compilation, file, cursor, &found.open);
    let at = Site { compilation, file, cursor, scope: &scope, found: &found };
    let mut offers = at.names(&role);
    if cursor.chain.is_empty() {
        // Where a name is accepted, names come before keywords.
        let weight = if next.name || next.expression { 20 } else { 10 };
        offers.extend(
            next.words.iter().map(|word| {
                Offer::new(*word, CompletionKind::Keyword, weight).detail(meaning(word))
            }),
        );
        if begins(cursor, &found) {
            offers.extend(complete::offer_snippets(found.place(), &next));
        }
        if role != Role::Format && matches!(cursor.region, Region::Placeholder { .. }) {
            offers.extend(options(cursor, &found));
        }
    }
    Some(offers)
}

/// Whether an item begins at the word.
fn begins(cursor: &Cursor<'_>, found: &CompletionContext) -> bool {
    let line = cursor.text[..cursor.start].rfind('\n').map_or(0, |at| at + 1);
    let alone = cursor.text[line..cursor.start].trim().is_empty();
    found.next.known && (alone || matches!(cursor.back(1), "{" | "}"))
}

/// The role of a name in a placeholder, which is one expression.
fn in_hole(cursor: &Cursor<'_>, next: &Next) -> Role {
    super::cursor::role(cursor, &cursor.before, BodyKind::Top, next)
}

/// Whether the cursor is behind the colon of a placeholder.
fn is_format(cursor: &Cursor<'_>) -> bool {
    let mut depth = 0_usize;
    cursor.before.iter().any(|token| {
        if token.kind == TokenKind::Open {
            depth += 1;
        } else if token.kind == TokenKind::Close {
            depth = depth.saturating_sub(1);
        }
        depth == 0 && token.text(cursor.text) == ":"
    })
}

/// The offer of `{options}` in the prompt of an `ask`.
fn options(cursor: &Cursor<'_>, found: &CompletionContext) -> Option<Offer> {
    let step = found.open.last().filter(|open| open.place == BodyKind::Step)?;
    let asks = cursor.text[step.start..].starts_with("ask");
    let alone = cursor.before.is_empty();
    (asks && alone).then(|| {
        Offer::new("options", CompletionKind::Variable, 0).detail("the options of the model")
    })
}

/// The cursor with everything that offers are computed from.
struct Site<'s, 'c> {
    compilation: &'c Compilation,
    file: FileId,
    cursor: &'s Cursor<'s>,
    scope: &'s VisibleNames<'c>,
    found: &'s CompletionContext,
}

impl Site<'_, '_> {
    fn names(&self, role: &Role) -> Vec<Offer> {
        let chained = !self.cursor.chain.is_empty();
        match role {
            Role::New => Vec::new(),
            Role::State => self.states(false),
            Role::Initial => self.states(true),
            Role::Event { listens } => self.events(*listens),
            Role::Binding(event) => self.data(event),
            Role::Subject => [self.kinds(&[SymbolKind::Step], 0), self.states(false)].concat(),
            Role::Type => self.types(),
            Role::Chart => self.kinds(&[SymbolKind::Chart], 0),
            Role::Client => self.kinds(&[SymbolKind::Client], 0),
            Role::Step => self.kinds(&[SymbolKind::Step], 0),
            Role::ChildStep => self.child_steps(),
            Role::Receiver => {
                let parent = Offer::new("parent", CompletionKind::Value, 1);
                [self.kinds(&[SymbolKind::Step], 0), vec![parent]].concat()
            }
            Role::SendId => self.sent(),
            Role::Tool { sets } => self.tools(*sets),
            Role::Passed => self.passed(),
            Role::Assigned => self.kinds(&[SymbolKind::Variable, SymbolKind::Input], 0),
            Role::Given => {
                self.kinds(&[SymbolKind::Param, SymbolKind::Input, SymbolKind::Variable], 0)
            }
            Role::Function => self.kinds(&[SymbolKind::Function], 0),
            Role::Action => {
                let values = self.kinds(&[SymbolKind::Variable], 0);
                [values, self.kinds(&[SymbolKind::Effect], 1)].concat()
            }
            Role::Value => self.values(),
            Role::RunParam(chart) => [self.params(chart), self.values()].concat(),
            Role::Field(record) => self.record(record),
            Role::Answer => self.answers(),
            Role::Called => {
                let host = self.kinds(&[SymbolKind::Effect, SymbolKind::Function], 0);
                [host, self.tools(false)].concat()
            }
            Role::Status => fixed(&Status::ALL.map(Status::word)),
            Role::Why => fixed(&REASONS),
            Role::Limit => fixed(&limit_names().collect::<Vec<_>>()),
            Role::ClientOption => fixed(&CLIENT_OPTIONS),
            Role::ClientValue(option) => self.client_values(option),
            Role::Property => [self.properties(), self.check_subjects()].concat(),
            Role::Subjected(property) => self.subjected(property),
            Role::Format => formats(),
            Role::Any if chained => [self.states(false), self.tools(true), self.values()].concat(),
            Role::Any => [
                self.states(false),
                self.values(),
                self.kinds(&[SymbolKind::Event, SymbolKind::Effect], 3),
                self.tools(true),
            ]
            .concat(),
        }
    }

    /// The steps of all charts.
    fn child_steps(&self) -> Vec<Offer> {
        let all = known::charts(self.compilation);
        let decls = all.flat_map(|(chart, _)| known::inside(chart));
        let steps = decls.filter(|decl| decl.kind == SymbolKind::Step);
        steps.map(|decl| declared(&decl, 0, true)).collect()
    }

    fn client_values(&self, option: &str) -> Vec<Offer> {
        match option {
            "fallback" => self.kinds(&[SymbolKind::Client], 0),
            "actions" => fixed(&["simple", "ooda"]),
            _ => Vec::new(),
        }
    }

    /// The properties that a `check` can name.
    fn properties(&self) -> Vec<Offer> {
        PROPERTIES
            .iter()
            .map(|(name, snippet, meaning)| {
                let offer = Offer::new(*name, CompletionKind::Value, 0).detail(*meaning);
                let bare = self.cursor.followed_by("(");
                if bare { offer } else { offer.snippet((*snippet).to_owned()) }
            })
            .collect()
    }

    /// What a property of a `check` is about.
    fn subjected(&self, property: &str) -> Vec<Offer> {
        match property {
            "ends_within" | "at_most" => {
                let unit = if property == "at_most" { "calls" } else { "turns" };
                let unit = Offer::new(unit, CompletionKind::Value, 0);
                [vec![unit], self.kinds(&[SymbolKind::Param], 1)].concat()
            }
            "never" => self.check_subjects(),
            "given" => self.kinds(&[SymbolKind::Param], 0),
            _ => self.states(false),
        }
    }

    /// What a `check` line about order or number can name.
    fn check_subjects(&self) -> Vec<Offer> {
        let kinds = [SymbolKind::Effect, SymbolKind::Step, SymbolKind::Option, SymbolKind::Event];
        [self.states(false), self.kinds(&kinds, 1), self.tools(false)].concat()
    }

    /// The declarations of these kinds.
    fn kinds(&self, kinds: &[SymbolKind], weight: u32) -> Vec<Offer> {
        let bare = self.cursor.followed_by("(");
        let found = self.scope.of_kind(kinds);
        found.map(|decl| declared(decl, weight, bare)).collect()
    }

    fn values(&self) -> Vec<Offer> {
        let bound = bound(self.cursor, self.scope, &self.found.open, self.found.item);
        if !self.cursor.chain.is_empty() {
            return fields(self.cursor, self.scope, &bound);
        }
        let mut found = offers(self.cursor, self.scope, &bound);
        if let Region::Placeholder { .. } = self.cursor.region {
            // `streak` and similar functions take a tool or a set of tools.
            found.extend(self.kinds(&[SymbolKind::ToolSet], 30));
        }
        found
    }

    fn types(&self) -> Vec<Offer> {
        let mut found = self.kinds(&[SymbolKind::Type, SymbolKind::Enum], 1);
        let own: Vec<String> = found.iter().map(|offer| offer.label.clone()).collect();
        let others = language_types().filter(|name| !own.iter().any(|own| own == name));
        found.extend(others.map(|name| {
            let common = COMMON.contains(&name);
            let offer = Offer::new(name, CompletionKind::Type, if common { 0 } else { 2 });
            match name {
                "List" => offer.snippet("List(${1:Text})".to_owned()),
                "Map" => offer.snippet("Map(Text, ${1:Text})".to_owned()),
                _ => offer,
            }
        }));
        found
    }

    /// Names with dots that continue the chain. The rest of the name is offered whole, or only up to the next dot if one follows already.
    fn dotted(&self, decls: &[&Decl<'_>], weight: u32) -> Vec<Offer> {
        let chain: Vec<&str> =
            self.cursor.chain.iter().map(|name| name.as_deref().unwrap_or_default()).collect();
        let prefix: String = chain.iter().map(|name| format!("{name}.")).collect();
        let goes_on = self.cursor.followed_by(".");
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for decl in decls {
            let Some(rest) = decl.name.strip_prefix(&prefix) else { continue };
            let label = if goes_on { rest.split('.').next().unwrap_or(rest) } else { rest };
            if seen.insert(label.to_owned()) {
                let whole = declared(decl, weight, true);
                found.push(Offer { label: label.to_owned(), ..whole });
            }
        }
        found
    }

    fn tools(&self, sets: bool) -> Vec<Offer> {
        let tools: Vec<&Decl<'_>> = self.scope.of_kind(&[SymbolKind::Tool]).collect();
        let named: Vec<&Decl<'_>> = self.scope.of_kind(&[SymbolKind::ToolSet]).collect();
        let mut found = Vec::new();
        if sets && self.cursor.chain.is_empty() {
            found.extend(self.dotted(&named, 0));
            found.push(Offer::new("any", CompletionKind::Tool, 2).detail("every tool"));
        }
        found.extend(self.dotted(&tools, 1));
        if sets {
            found.extend(self.folders(&tools));
        }
        found
    }

    /// The first parts of dotted tools, for `a.*`.
    fn folders(&self, tools: &[&Decl<'_>]) -> Vec<Offer> {
        let heads: BTreeSet<&str> = tools
            .iter()
            .filter(|_| self.cursor.chain.is_empty())
            .filter_map(|decl| Some(decl.name.split_once('.')?.0))
            .collect();
        let offer = |head| Offer::new(head, CompletionKind::Tool, 3).detail("its tools");
        heads.into_iter().map(offer).collect()
    }

    /// The arguments of `streak`: `set.argument`, or `tool`.
    fn passed(&self) -> Vec<Offer> {
        if self.cursor.chain.is_empty() {
            let word = Offer::new("tool", CompletionKind::Value, 0).detail("calls of one tool");
            return [vec![word], self.tools(true)].concat();
        }
        let mut found = self.tools(false);
        let params = self.scope.of_kind(&[SymbolKind::Tool]).flat_map(|decl| decl.params);
        found
            .extend(params.map(|param| Offer::new(&param.name.node, CompletionKind::Parameter, 0)));
        found
    }

    fn answers(&self) -> Vec<Offer> {
        let chained = !self.cursor.chain.is_empty();
        let mut found = if chained { Vec::new() } else { self.kinds(&[SymbolKind::Option], 0) };
        found.extend(self.tools(false));
        found.extend(self.values());
        // The actions of agents are not declared anywhere, so offer those that other lines of the file answer.
        let text = self.cursor.text;
        let all = tokens(text);
        let lines = all.windows(3).filter(|three| three[0].text(text) == "answers");
        let others = lines.map(|three| three[2]).filter(|one| one.kind == TokenKind::Word);
        found.extend(others.map(|one| Offer::new(one.text(text), CompletionKind::Value, 6)));
        found
    }

    fn events(&self, listens: bool) -> Vec<Offer> {
        let chain = self.cursor.chain.first().map(|name| name.clone().unwrap_or_default());
        let bare = self.cursor.followed_by("(") || self.cursor.followed_by(".");
        let declared: Vec<&Decl<'_>> = self.scope.of_kind(&[SymbolKind::Event]).collect();
        let mut found = self.dotted(&declared, 0);
        let asks =
            self.cursor.before.iter().rev().take(3).any(|t| t.text(self.cursor.text) == "ask");
        for offer in &mut found {
            let event = declared.iter().find(|decl| decl.name == offer.label);
            if let Some(event) = event.filter(|decl| !decl.params.is_empty() && !bare && !asks) {
                let names: Vec<&str> = event.params.iter().map(|p| p.name.node.as_str()).collect();
                *offer = offer.clone().snippet(call(&offer.label, &names));
            }
        }
        if !listens {
            return found;
        }
        let limits: Vec<&str> = limit_names().chain(["warn", "*"]).collect();
        found.extend(match chain.as_deref() {
            Some("error") => fixed(&errors()),
            Some("limit") => fixed(&limits),
            Some(_) => Vec::new(),
            None => vec![
                Offer::new("error.execution", CompletionKind::Event, 25).detail("a fault"),
                Offer::new("error.stuck.loop", CompletionKind::Event, 25)
                    .detail("the model repeats a call"),
                Offer::new("limit.calls", CompletionKind::Event, 25).detail("a limit is reached"),
                Offer::new("limit.warn.calls", CompletionKind::Event, 25).detail("a limit is near"),
                Offer::new("limit", CompletionKind::Event, 26),
                Offer::new("error", CompletionKind::Event, 26),
            ],
        });
        if chain.as_deref() == Some("error") && self.cursor.chain.len() > 1 {
            found.extend(fixed(&["loop"]));
        }
        found
    }

    /// The names of an event's data.
    fn data(&self, event: &str) -> Vec<Offer> {
        let known = self.scope.of_kind(&[SymbolKind::Event]).find(|decl| decl.name == event);
        let params = known.iter().flat_map(|decl| decl.params);
        params.map(|param| Offer::new(&param.name.node, CompletionKind::Parameter, 0)).collect()
    }

    /// The params of a chart, each with a colon.
    fn params(&self, chart: &str) -> Vec<Offer> {
        let Some((found, _)) = known::chart(self.compilation, self.file, chart) else {
            return Vec::new();
        };
        let decls = known::inside(found);
        let params = decls.iter().filter(|decl| decl.kind == SymbolKind::Param);
        params
            .map(|decl| {
                let offer = declared(decl, 0, true);
                let text = format!("{}: ", super::written_as(&decl.name));
                let insert = if self.cursor.followed_by(":") { None } else { Some(text) };
                Offer { insert: insert.map(super::Insert::Plain), ..offer }
            })
            .collect()
    }

    fn record(&self, record: &str) -> Vec<Offer> {
        let fields = named_type(&self.scope.decls, record).into_iter().flat_map(|ty| &ty.children);
        fields.map(|field| Offer::new(&field.name, CompletionKind::Field, 0)).collect()
    }

    /// The ids that events were sent with.
    fn sent(&self) -> Vec<Offer> {
        let text = self.cursor.text;
        let all = tokens(text);
        let ids = all.windows(2).filter(|pair| pair[0].text(text) == "as");
        ids.map(|pair| Offer::new(pair[1].text(text), CompletionKind::Value, 0)).collect()
    }
}

/// The formats of a placeholder.
fn formats() -> Vec<Offer> {
    FORMATS
        .iter()
        .map(|(format, meaning)| Offer::new(*format, CompletionKind::Format, 0).detail(*meaning))
        .collect()
}

fn fixed(words: &[&str]) -> Vec<Offer> {
    words.iter().map(|word| Offer::new(*word, CompletionKind::Value, 0)).collect()
}

// Offers states, each with a path that leads to it from the cursor.

/// The names that have been offered. A nearer state hides others of its name.
struct OfferedNames(BTreeSet<String>);

impl Site<'_, '_> {
    /// The states of the chart or, with `inside`, those below the state around the cursor, for `initial`.
    fn states(&self, inside: bool) -> Vec<Offer> {
        let around = self.scope.around();
        let chain: Vec<&str> =
            self.cursor.chain.iter().map(|name| name.as_deref().unwrap_or_default()).collect();
        let mut found = Vec::new();
        if let Some((first, rest)) = chain.split_first() {
            let root = around.iter().rev().find_map(|node| child(node, first));
            let end =
                rest.iter().try_fold(root, |node, name| Some(node.and_then(|n| child(n, name))));
            if let Some(node) = end.flatten() {
                self.below(node, "", 0, &mut OfferedNames(BTreeSet::new()), &mut found);
            }
            return found;
        }
        let mut seen = OfferedNames(BTreeSet::new());
        for (up, node) in around.iter().rev().enumerate() {
            // The children of the state itself are no likelier targets than its siblings.
            let weight = if up == 0 && !inside && around.len() > 1 { 1 } else { up as u32 };
            self.below(node, "", weight, &mut seen, &mut found);
            if inside {
                break;
            }
        }
        let lost = self.scope.lost.iter();
        found.extend(lost.map(|name| Offer::new(name, CompletionKind::State, 15)));
        found
    }

    /// Adds the states below `node`: its children by name, then their descendants by path.
    fn below(
        &self,
        node: &Decl<'_>,
        before: &str,
        weight: u32,
        seen: &mut OfferedNames,
        found: &mut Vec<Offer>,
    ) {
        let dotted = self.cursor.followed_by(".");
        let mut deeper = Vec::new();
        for inner in &node.children {
            let label = format!("{before}{}", inner.name);
            // A nearer state of the same name hides this one.
            if before.is_empty() && !seen.0.insert(inner.name.clone()) {
                continue;
            }
            found.push(self.offer(inner, &label, weight));
            deeper.push((inner, format!("{label}.")));
        }
        if !dotted {
            for (inner, before) in deeper {
                self.below(inner, &before, weight + 5, seen, found);
            }
        }
    }

    fn offer(&self, node: &Decl<'_>, label: &str, weight: u32) -> Offer {
        let kind = match node.kind {
            SymbolKind::Final => "final",
            SymbolKind::Parallel => "parallel",
            SymbolKind::History => "history",
            _ => "state",
        };
        let offer = Offer::new(label, CompletionKind::State, weight).doc(node.doc);
        if node.params.is_empty() {
            return offer.detail(kind);
        }
        let names: Vec<&str> = node.params.iter().map(|param| param.name.node.as_str()).collect();
        let offer = offer.detail(format!("{kind} {}", notation::params(node.params)));
        let takes = self.cursor.back(1) == "->" && self.found.place() != BodyKind::Test;
        if takes && !self.cursor.followed_by("(") {
            let text = call(&written_as(label), &names);
            return offer.snippet(text);
        }
        offer
    }
}

fn child<'n, 'c>(node: &'n Decl<'c>, name: &str) -> Option<&'n Decl<'c>> {
    node.children.iter().find(|child| child.name == name)
}

// Offers in expressions: names, fields, and values of enums.

/// The kinds of declarations that have a value, with their weights.
const VALUES: &[(SymbolKind, u32)] = &[
    (SymbolKind::Variable, 1),
    (SymbolKind::Param, 1),
    (SymbolKind::Input, 1),
    (SymbolKind::Predicate, 2),
    (SymbolKind::Step, 3),
    (SymbolKind::Function, 4),
    (SymbolKind::Enum, 5),
    (SymbolKind::Type, 6),
];

/// Offers everything that an expression may begin with.
pub(super) fn offers(
    cursor: &Cursor<'_>,
    scope: &VisibleNames<'_>,
    bound: &[BoundName<'_>],
) -> Vec<Offer> {
    let mut found = expected(cursor, scope, bound);
    for (name, ty) in bound {
        let ty = ty.map(notation::type_expr).unwrap_or_default();
        found.push(Offer::new(name, CompletionKind::Parameter, 0).detail(ty));
    }
    for decl in &scope.decls {
        if let Some((_, weight)) = VALUES.iter().find(|(kind, _)| *kind == decl.kind) {
            found.push(declared(decl, *weight, cursor.followed_by("(")));
        }
    }
    for (name, ty) in observables() {
        let ty = type_text(ty, &[]);
        found.push(Offer::new(name, CompletionKind::Variable, 7).detail(ty));
    }
    if matches!(scope.place, BodyKind::Step | BodyKind::State) {
        let offer = Offer::new(ASKED, CompletionKind::Variable, 7);
        found.push(offer.detail("what the question showed"));
    }
    if scope.place == BodyKind::Test {
        found.push(
            Offer::new("result", CompletionKind::Variable, 7).detail("what the run ends with"),
        );
    }
    for (name, arguments, meaning) in FUNCTIONS {
        let offer = Offer::new(*name, CompletionKind::Function, 8).detail(*meaning);
        let bare = cursor.followed_by("(");
        found.push(if bare { offer } else { offer.snippet(call(name, arguments)) });
    }
    found
}

/// The offer for a declaration. Unless `bare`, a function is followed by its arguments.
pub(super) fn declared(decl: &Decl<'_>, weight: u32, bare: bool) -> Offer {
    let kind = kind_of(decl.kind);
    let offer = Offer::new(&decl.name, kind, weight).doc(decl.doc);
    let ty = decl.ty.map(notation::type_expr).unwrap_or_default();
    let takes = matches!(decl.kind, SymbolKind::Function | SymbolKind::Effect);
    if !takes && decl.params.is_empty() {
        return offer.detail(ty);
    }
    let names: Vec<&str> = decl.params.iter().map(|param| param.name.node.as_str()).collect();
    let arrow = if ty.is_empty() { String::new() } else { format!(" -> {ty}") };
    let offer = offer.detail(format!("{}{arrow}", notation::params(decl.params)));
    if bare { offer } else { offer.snippet(call(&decl.name, &names)) }
}

/// The kind with which a declaration is shown.
pub(super) fn kind_of(kind: SymbolKind) -> CompletionKind {
    match kind {
        SymbolKind::Import => CompletionKind::File,
        SymbolKind::Chart => CompletionKind::Chart,
        SymbolKind::State | SymbolKind::Parallel | SymbolKind::Final | SymbolKind::History => {
            CompletionKind::State
        }
        SymbolKind::Event => CompletionKind::Event,
        SymbolKind::Param => CompletionKind::Parameter,
        SymbolKind::Input | SymbolKind::Variable | SymbolKind::Predicate => {
            CompletionKind::Variable
        }
        SymbolKind::Step => CompletionKind::Step,
        SymbolKind::Option => CompletionKind::Option,
        SymbolKind::Tool | SymbolKind::ToolSet => CompletionKind::Tool,
        SymbolKind::Type => CompletionKind::Type,
        SymbolKind::Field => CompletionKind::Field,
        SymbolKind::Enum => CompletionKind::Enum,
        SymbolKind::EnumValue => CompletionKind::EnumMember,
        SymbolKind::Function | SymbolKind::Effect => CompletionKind::Function,
        SymbolKind::Client => CompletionKind::Client,
        SymbolKind::Component | SymbolKind::Test => CompletionKind::Value,
    }
}

/// The values of the enum that a comparison or an assignment expects, by the type of its other side.
fn expected(cursor: &Cursor<'_>, scope: &VisibleNames<'_>, bound: &[BoundName<'_>]) -> Vec<Offer> {
    if !matches!(cursor.back(1), "==" | "!=" | "=" | "in" | "[" | ",") {
        return Vec::new();
    }
    let other = bare(cursor.back(2));
    let Some(ty) = first(scope, bound, other) else { return Vec::new() };
    let TypeKind::Name(name) = &present(ty).kind else { return Vec::new() };
    let found = named_type(&scope.decls, name).filter(|decl| decl.kind == SymbolKind::Enum);
    let offer = |value: &Decl<'_>| {
        Offer::new(format!("{name}.{}", value.name), CompletionKind::EnumMember, 0)
    };
    found.into_iter().flat_map(|decl| &decl.children).map(offer).collect()
}

/// The type of the name that a chain begins with.
fn first<'c>(
    scope: &VisibleNames<'c>,
    bound: &[BoundName<'c>],
    name: &str,
) -> Option<&'c TypeExpr> {
    if let Some((_, ty)) = bound.iter().find(|(known, _)| known == name) {
        return *ty;
    }
    let values = VALUES.iter().map(|(kind, _)| *kind).collect::<Vec<_>>();
    scope.decls.iter().find(|decl| decl.name == name && values.contains(&decl.kind))?.ty
}

/// A type without the question marks of optional types.
fn present(ty: &TypeExpr) -> &TypeExpr {
    match &ty.kind {
        TypeKind::Optional(inner) => present(inner),
        TypeKind::Name(_) | TypeKind::List(_) | TypeKind::Map(..) => ty,
    }
}

/// Offers what may follow the dot of a chain of names.
pub(super) fn fields(
    cursor: &Cursor<'_>,
    scope: &VisibleNames<'_>,
    bound: &[BoundName<'_>],
) -> Vec<Offer> {
    let Some(Some(name)) = cursor.chain.first() else { return any_field(scope) };
    let is_bound = bound.iter().any(|(known, _)| known == name);
    if !is_bound
        && cursor.chain.len() == 1
        && let Some(decl) = named_type(&scope.decls, name)
        && decl.kind == SymbolKind::Enum
    {
        let offer =
            |value: &Decl<'_>| Offer::new(&value.name, CompletionKind::EnumMember, 0).detail(name);
        return decl.children.iter().map(offer).collect();
    }
    if name == ASKED && !is_bound && cursor.chain.len() == 1 {
        return asked(scope);
    }
    let mut ty = first(scope, bound, name);
    for field in &cursor.chain[1..] {
        let inner = ty.and_then(|ty| record(scope, ty));
        let found = inner
            .and_then(|fields| fields.iter().find(|known| Some(&*known.name) == field.as_deref()));
        ty = found.and_then(|found| found.ty);
    }
    match ty.and_then(|ty| record(scope, ty)) {
        Some(fields) => fields.iter().map(field).collect(),
        None => any_field(scope),
    }
}

/// Offers what a question may have shown: variables.
fn asked(scope: &VisibleNames<'_>) -> Vec<Offer> {
    let kinds = [SymbolKind::Variable, SymbolKind::Param, SymbolKind::Input];
    scope.of_kind(&kinds).map(|decl| declared(decl, 0, true)).collect()
}

fn record<'s, 'c>(scope: &'s VisibleNames<'c>, ty: &TypeExpr) -> Option<&'s [Decl<'c>]> {
    let TypeKind::Name(name) = &present(ty).kind else { return None };
    let decl = named_type(&scope.decls, name)?;
    (decl.kind == SymbolKind::Type).then_some(&decl.children)
}

fn field(decl: &Decl<'_>) -> Offer {
    Offer::new(&decl.name, CompletionKind::Field, 0).detail(decl.detail())
}

/// Offers the fields of all records and the results of runs, because the type is unknown.
fn any_field(scope: &VisibleNames<'_>) -> Vec<Offer> {
    let records = scope.of_kind(&[SymbolKind::Type]).flat_map(|decl| &decl.children).map(field);
    let mut found: Vec<Offer> = records.collect();
    let mut open: Vec<_> = scope.states.iter().collect();
    while let Some(node) = open.pop() {
        found.extend(node.params.iter().map(|param| {
            Offer::new(&param.name.node, CompletionKind::Field, 1)
                .detail(notation::type_expr(&param.ty))
        }));
        open.extend(&node.children);
    }
    found
}

// The meanings of keywords, functions and properties, in a few words. The compiler has the lists of them; tests compare.

/// The meaning of a keyword; empty for keywords that only join others.
pub(super) fn meaning(word: &str) -> &'static str {
    const WORDS: &[(&str, &str)] = &[
        ("import", "the declarations of another file"),
        ("type", "a record"),
        ("enum", "a closed set of names"),
        ("chart", "a tree of states"),
        ("fn", "a pure function of the host"),
        ("do", "an effect of the host"),
        ("tool", "what a model may call"),
        ("tools", "a set of tools"),
        ("client", "a model"),
        ("component", "a fragment of prompts"),
        ("test", "a scenario"),
        ("param", "a constant of an instance"),
        ("input", "set by the host"),
        ("var", "the chart's own data"),
        ("event", "what the host may send"),
        ("pred", "a named condition"),
        ("check", "a property to prove"),
        ("defaults", "what a failed step does"),
        ("limits", "bounds of a run"),
        ("trace", "how many transitions are remembered"),
        ("meta", "carried, not interpreted"),
        ("state", "a state"),
        ("parallel", "states that are active together"),
        ("final", "an end"),
        ("initial", "what is entered first"),
        ("history", "what was active when its parent was left"),
        ("on", "taken on an event"),
        ("when", "taken as soon as a condition holds"),
        ("after", "taken after a time or turns"),
        ("each", "for every leaf, or every element"),
        ("may", "an option of the model"),
        ("from", "lines of other states"),
        ("enter", "actions on entry"),
        ("exit", "actions on exit"),
        ("defer", "events that are kept for later"),
        ("allow", "which moves are permitted"),
        ("advice", "what prompts show while the state is active"),
        ("llm", "a model call"),
        ("ask", "the model chooses among options"),
        ("code", "assignments"),
        ("call", "a tool call"),
        ("human", "a question to a person"),
        ("run", "another chart"),
        ("prompt", "what the model is told"),
        ("returns", "the type of the answer"),
        ("retry", "further attempts"),
        ("done", "when it has ended"),
        ("error", "when it has failed"),
        ("timeout", "when it takes too long"),
        ("doubt", "when nobody knows whether it was done"),
        ("cut", "a text that was cut off will do"),
        ("ends", "the turn ends behind the step"),
        ("raise", "an event that is handled at once"),
        ("send", "an event as from outside"),
        ("cancel", "takes a sent event back"),
        ("log", "a line of the trace"),
        ("given", "what a test begins with"),
        ("expect", "what has to hold"),
        ("answers", "what a model or a person answers"),
        ("fails", "a call that fails"),
        ("until", "turns until a step asks"),
        ("wait", "time that passes"),
        ("turn", "a turn of the host"),
        ("stay", "moves nothing"),
    ];
    WORDS.iter().find(|(known, _)| *known == word).map_or("", |(_, meaning)| meaning)
}

/// The functions of the language, with their arguments and meanings.
pub(super) const FUNCTIONS: &[(&str, &[&str], &str)] = &[
    ("len", &["x"], "how many characters, items or keys"),
    ("min", &["a", "b"], "the least"),
    ("max", &["a", "b"], "the greatest"),
    ("sum", &["list"], "of the numbers of a list"),
    ("any", &["list"], "whether one is true"),
    ("all", &["list"], "whether all are true"),
    ("sort", &["list"], "in order"),
    ("unique", &["list"], "without repetitions"),
    ("abs", &["x"], "without its sign"),
    ("round", &["x"], "to a whole number"),
    ("lower", &["text"], "in lower case"),
    ("upper", &["text"], "in upper case"),
    ("concat", &["a", "b"], "texts one behind the other"),
    ("starts_with", &["text", "start"], "whether a text begins so"),
    ("join", &["list", "\", \""], "the elements as one text"),
    ("split", &["text", "\",\""], "the parts of a text as a list"),
    ("replace", &["text", "old", "new"], "a text with other parts"),
    ("get", &["map", "key"], "the value in a map, or `none`"),
    ("str", &["x"], "as a text"),
    ("int", &["x"], "as an Int"),
    ("float", &["x"], "as a Float"),
    ("bool", &["x"], "as a Bool"),
    ("is_a", &["x", "\"int\""], "whether a Json is of a kind"),
    ("in", &["state"], "whether a state is active"),
    ("turns_in", &["state"], "turns in a state"),
    ("streak", &["tool"], "calls in a row of the same tool, or with the same argument"),
    ("repeated", &["set.argument"], "the value that a streak counts"),
];

/// The types of the language that are used most.
pub(super) const COMMON: [&str; 4] = ["Text", "Int", "Bool", "List"];

/// The properties of `check` lines, with their snippets and meanings.
pub(super) const PROPERTIES: &[(&str, &str, &str)] = &[
    ("reaches", "reaches(${1:state})", "some run enters it"),
    (
        "always_reaches",
        "always_reaches(${1:state})",
        "it can be entered from every point of every run",
    ),
    ("never", "never(${1:a} unless ${2:b})", "no run does `a` unless it has done `b` before"),
    ("no_call", "no_call(${1:state})", "no tool is called inside it"),
    ("ends_within", "ends_within(${1:10} turns)", "every run is over by then"),
    ("at_most", "at_most(${1:10} calls)", "no run makes more model calls"),
];

/// The errors of the machine, as they follow `error.`.
pub(super) fn errors() -> Vec<&'static str> {
    let mut found: Vec<&str> = Vec::new();
    for name in machine_errors() {
        let first = name.split('.').next().unwrap_or(name);
        if !found.contains(&first) {
            found.push(first);
        }
    }
    found.push("*");
    found
}

/// The formats of placeholders, with their meanings.
pub(super) const FORMATS: &[(&str, &str)] = &[
    (".2f", "two digits after the decimal point"),
    (".0%", "a share in percent"),
    (",", "thousands apart"),
    ("03d", "at least three digits"),
    (">10", "at the right of ten characters"),
    ("<10", "at the left of ten characters"),
    ("^10", "in the middle of ten characters"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use chartc_compiler::lower::{language_functions, language_types, properties};
    use std::collections::BTreeSet;

    #[test]
    fn words_are_those_of_the_compiler() {
        let own: BTreeSet<&str> = FUNCTIONS.iter().map(|(name, ..)| *name).collect();
        // Those of translations are not written by people.
        let known = language_functions().filter(|name| *name != "fail" && !name.starts_with("js_"));
        assert_eq!(own, known.collect());
        let own: BTreeSet<&str> = PROPERTIES.iter().map(|(name, ..)| *name).collect();
        assert_eq!(own, properties().collect());
        let types: BTreeSet<&str> = language_types().collect();
        assert!(COMMON.iter().all(|name| types.contains(name)));
        assert_eq!(errors(), ["execution", "livelock", "limit", "stuck", "*"]);
    }
}
