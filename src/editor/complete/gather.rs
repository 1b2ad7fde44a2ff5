//! Gathers the offers for the role of a name, and the keywords that the grammar accepts.
//!
//! Each role has its kinds of names, and some names are more likely than others: an offer has a weight, and the least comes first. For
//! `on |` in a state:
//!
//! 1. The grammar accepts the keywords `turn`, `done` and others, and a name.
//! 2. The role is an event. The declared events get weight 0, those that a run itself raises 25 and more.
//! 3. As a name is accepted, the keywords get weight 20: they come between the two.

mod state;

use super::binding::bound;
use super::cursor::{Cursor, Region};
use super::offer::{Offer, call};
use super::role::{Role, role};
use super::scope::VisibleNames;
use super::word::{self, meaning};
use super::{CompletionKind, snippet, value};
use crate::Compilation;
use crate::editor::known::{self, Decl};
use crate::editor::outline::SymbolKind;
use chartc_check::lower::test::REASONS;
use chartc_check::lower::{CLIENT_OPTIONS, language_types, limit_names};
use chartc_core::model::Status;
use chartc_text::front::chart::completion_context::{
    BodyKind, CompletionContext, Next, in_placeholder, spot,
};
use chartc_text::front::chart::lex::{Token, TokenKind, tokens};
use chartc_text::span::FileId;
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
            offers.extend(snippet::offers(found.place(), &next));
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
    super::role::role(cursor, &cursor.before, BodyKind::Top, next)
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
            Role::ChildStep => {
                let all = known::charts(self.compilation);
                let decls = all.flat_map(|(chart, _)| known::inside(chart));
                let steps = decls.filter(|decl| decl.kind == SymbolKind::Step);
                steps.map(|decl| value::declared(&decl, 0, true)).collect()
            }
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
            Role::ClientValue(option) => match option.as_str() {
                "fallback" => self.kinds(&[SymbolKind::Client], 0),
                "actions" => fixed(&["simple", "ooda"]),
                _ => Vec::new(),
            },
            Role::Property => word::PROPERTIES
                .iter()
                .map(|(name, snippet, meaning)| {
                    let offer = Offer::new(*name, CompletionKind::Value, 0).detail(*meaning);
                    let bare = self.cursor.followed_by("(");
                    if bare { offer } else { offer.snippet((*snippet).to_owned()) }
                })
                .collect(),
            Role::Subjected(property) => match property.as_str() {
                "ends_within" | "at_most" => {
                    let unit = if property == "at_most" { "calls" } else { "turns" };
                    let unit = Offer::new(unit, CompletionKind::Value, 0);
                    [vec![unit], self.kinds(&[SymbolKind::Param], 1)].concat()
                }
                _ => self.states(false),
            },
            Role::Format => word::FORMATS
                .iter()
                .map(|(format, meaning)| {
                    Offer::new(*format, CompletionKind::Format, 0).detail(*meaning)
                })
                .collect(),
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

    /// The declarations of these kinds.
    fn kinds(&self, kinds: &[SymbolKind], weight: u32) -> Vec<Offer> {
        let bare = self.cursor.followed_by("(");
        let found = self.scope.of_kind(kinds);
        found.map(|decl| value::declared(decl, weight, bare)).collect()
    }

    fn values(&self) -> Vec<Offer> {
        let bound = bound(self.cursor, self.scope, &self.found.open, self.found.item);
        if !self.cursor.chain.is_empty() {
            return value::fields(self.cursor, self.scope, &bound);
        }
        let mut found = value::offers(self.cursor, self.scope, &bound);
        if let Region::Placeholder { .. } = self.cursor.region {
            // `streak` and similar functions take a tool or a set of tools.
            found.extend(self.kinds(&[SymbolKind::ToolSet], 30));
        }
        found
    }

    fn types(&self) -> Vec<Offer> {
        let mut found = self.kinds(&[SymbolKind::Type, SymbolKind::Enum], 1);
        found.extend(language_types().map(|name| {
            let common = word::COMMON.contains(&name);
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
                let whole = value::declared(decl, weight, true);
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
            Some("error") => fixed(&word::errors()),
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
                let offer = value::declared(decl, 0, true);
                let text = format!("{}: ", super::offer::written(&decl.name));
                let insert = if self.cursor.followed_by(":") { None } else { Some(text) };
                Offer { insert: insert.map(super::Insert::Plain), ..offer }
            })
            .collect()
    }

    fn record(&self, record: &str) -> Vec<Offer> {
        let fields = known::parts(&self.scope.decls, record).map(|(_, fields)| fields);
        let fields = fields.unwrap_or_default().iter();
        fields.map(|(name, _)| Offer::new(*name, CompletionKind::Field, 0)).collect()
    }

    /// The ids that events were sent with.
    fn sent(&self) -> Vec<Offer> {
        let text = self.cursor.text;
        let all = tokens(text);
        let ids = all.windows(2).filter(|pair| pair[0].text(text) == "as");
        ids.map(|pair| Offer::new(pair[1].text(text), CompletionKind::Value, 0)).collect()
    }
}

fn fixed(words: &[&str]) -> Vec<Offer> {
    words.iter().map(|word| Offer::new(*word, CompletionKind::Value, 0)).collect()
}
