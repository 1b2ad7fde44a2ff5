//! Collects the declarations that are visible at the cursor.

use super::cursor::{Cursor, bare};
use crate::Compilation;
use crate::editor::known::{self, Decl, StateNode};
use crate::editor::outline::SymbolKind;
use chartc_text::front::chart::completion_context::{BodyKind, Open};
use chartc_text::front::chart::lex::{Token, TokenKind, tokens};
use chartc_text::span::FileId;
use std::collections::BTreeSet;

/// The names that are visible at the cursor.
pub(super) struct VisibleNames<'c> {
    /// The declarations of charts and files, the nearest first.
    pub(super) decls: Vec<Decl<'c>>,
    /// The states of the chart around the cursor, or of the chart that a test tests.
    pub(super) states: Option<StateNode<'c>>,
    /// The names of the states around the cursor, outermost first.
    pub(super) path: Vec<String>,
    /// The names of states in parts of the file that cannot be parsed.
    pub(super) lost: Vec<String>,
    /// The kind of body around the cursor.
    pub(super) place: BodyKind,
}

/// The name behind the first word of the body's owner.
pub(super) fn name_of(text: &str, open: &Open) -> String {
    let head = text.get(open.start..open.brace).unwrap_or_default();
    let words = tokens(head);
    let named = words.iter().find(|token| token.start > 0 && is_name(token));
    named.map(|token| bare(token.text(head)).to_owned()).unwrap_or_default()
}

fn is_name(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Quoted)
}

impl<'c> VisibleNames<'c> {
    pub(super) fn new(
        compilation: &'c Compilation,
        file: FileId,
        cursor: &Cursor<'_>,
        open: &[Open],
    ) -> Self {
        let text = cursor.text;
        let place = open.last().map_or(BodyKind::Top, |open| open.place);
        let mut chart = None;
        let mut path = Vec::new();
        for body in open {
            match body.place {
                BodyKind::Chart => chart = Some(name_of(text, body)),
                BodyKind::State => path.push(name_of(text, body)),
                BodyKind::Test => {
                    let head = text.get(body.start..body.brace).unwrap_or_default();
                    let words = tokens(head);
                    let last = words.iter().rfind(|token| is_name(token));
                    chart = last.map(|token| bare(token.text(head)).to_owned());
                }
                _ => {}
            }
        }
        let known = match &chart {
            Some(name) => known::chart(compilation, file, name),
            None => None,
        };
        let mut decls = known.map(|(chart, _)| known::inside(chart)).unwrap_or_default();
        if known.is_none() {
            // A component outside of charts may go into the steps of any chart.
            let all = known::charts(compilation).filter(|_| chart.is_none());
            decls.extend(all.flat_map(|(chart, _)| known::inside(chart)));
        }
        decls.extend(known::outside(compilation, file));
        let states = known.map(|(chart, _)| known::states(chart));
        let mut scope = Self { decls: known::unique(decls), states, path, lost: Vec::new(), place };
        if place != BodyKind::Test {
            let own = known::charts(compilation).filter(|(_, id)| *id == file);
            let mut sound = BTreeSet::new();
            for (chart, _) in own {
                collect(&known::states(chart), &mut sound);
            }
            scope.recover(text, &sound);
        }
        scope
    }

    /// Adds declarations in parts of the text that the parser skipped: a keyword at the start of a line, followed by a name.
    fn recover(&mut self, text: &str, sound: &BTreeSet<usize>) {
        let all = tokens(text);
        let mut lost = Vec::new();
        for pair in all.windows(2) {
            let [word, name] = pair else { continue };
            let line = text[..word.start].rfind(['\n', '{', '}']).map_or(0, |at| at + 1);
            if !is_name(name) || !text[line..word.start].trim().is_empty() {
                continue;
            }
            let start = name.start;
            let name = bare(name.text(text)).to_owned();
            let kind = match word.text(text) {
                "state" | "parallel" | "final" | "history" => {
                    if !sound.contains(&start) {
                        lost.push(name);
                    }
                    continue;
                }
                "event" => SymbolKind::Event,
                "var" => SymbolKind::Variable,
                "param" => SymbolKind::Param,
                "input" => SymbolKind::Input,
                "pred" => SymbolKind::Predicate,
                "fn" => SymbolKind::Function,
                "do" => SymbolKind::Effect,
                "tools" => SymbolKind::ToolSet,
                "client" => SymbolKind::Client,
                "llm" | "ask" | "call" | "human" | "run" | "code" => SymbolKind::Step,
                "type" => SymbolKind::Type,
                "enum" => SymbolKind::Enum,
                "chart" => SymbolKind::Chart,
                _ => continue,
            };
            // If the name is known, the tree has this declaration, or another chart of the file has it and it is not visible here.
            if !self.decls.iter().any(|decl| decl.name == name) {
                self.decls.push(known::lost(name, kind));
            }
        }
        self.lost = lost;
    }

    /// The declarations of these kinds.
    pub(super) fn of_kind<'s>(
        &'s self,
        kinds: &'s [SymbolKind],
    ) -> impl Iterator<Item = &'s Decl<'c>> {
        self.decls.iter().filter(|decl| kinds.contains(&decl.kind))
    }

    /// The states around the cursor, outermost first, as far as they are known.
    pub(super) fn around(&self) -> Vec<&StateNode<'c>> {
        let mut found: Vec<&StateNode<'c>> = self.states.iter().collect();
        for name in &self.path {
            let inner = found.last().and_then(|node| node.children.iter().find(|c| c.name == name));
            match inner {
                Some(inner) => found.push(inner),
                None => break,
            }
        }
        found
    }
}

/// Collects the offsets of all names of states below `node`.
fn collect(node: &StateNode<'_>, places: &mut BTreeSet<usize>) {
    for child in &node.children {
        places.insert(child.start);
        collect(child, places);
    }
}
