//! Builds charts: their declarations, and everything else as items of the root.

use super::super::convert::ExprContext;
use super::super::document::Document;
use super::super::invoke::{Family, PassedParam};
use super::super::kinds::{Class, Kinds};
use super::super::scope::event_names;
use super::{Builder, Inside, MOST, SPREAD, apart, comments, noted, path};
use crate::diagnostic::Diagnostic;
use crate::span::{FileId, Ident, Span};
use crate::syntax::CATCH_ALL;
use crate::syntax::{
    Action, Block, Chart, ChartItem, Expr, ExprKind, File, Item, Noted, Param, StateItem, TypeExpr,
    TypeKind, Variable, VariableKind,
};
use std::collections::BTreeMap;

/// Builds the file of a document: its chart, followed by the charts of the documents that it invokes, in preorder.
pub(in crate::front::scxml) fn file(
    id: FileId,
    document: &Document,
    findings: &mut Vec<Diagnostic>,
) -> File {
    let (mut items, mut left) = (Vec::new(), (MOST, SPREAD));
    chart(Family::new(document, &BTreeMap::new()), &mut left, findings, &mut items);
    File { items, end: comments(&document.after), ..File::new(id) }
}

/// Builds the chart of a document and those of its invoked documents.
fn chart(
    family: Family<'_>,
    left: &mut (usize, usize),
    findings: &mut Vec<Diagnostic>,
    to: &mut Vec<Noted<Item>>,
) {
    let document = family.scope.document;
    let params = family.children.iter().map(|child| child.scope.params()).collect();
    let (scope, inside) = (family.scope, Inside::new(document));
    let (more, spread) = *left;
    let mut builder = Builder { document, scope, params, findings, left: more, spread, inside };
    // Loops and scripts of the body may add variables, so the body is built first.
    let body = builder.body(0);
    let mut items = builder.variables();
    items.extend(builder.events());
    let states = body.into_iter().map(|noted| Noted {
        trivia: noted.trivia,
        doc: noted.doc,
        node: ChartItem::State(noted.node),
        span: noted.span,
    });
    items.extend(apart_first(states.collect()));
    *left = (builder.left, builder.spread);
    let mut end = comments(&document.states[0].end);
    // Comments after the outermost document belong to the file.
    if !to.is_empty() {
        end.extend(comments(&document.after));
    }
    let chart = Chart {
        name: Ident::new(document.chart.clone(), document.name_span),
        items,
        end,
        supplied: Vec::new(),
    };
    let mut item = noted(Item::Chart(chart), document.span, &document.before);
    item.trivia.blank_before = !to.is_empty();
    to.push(item);
    for child in family.children {
        self::chart(child, left, findings, to);
    }
}

/// Puts a blank line before the first item.
fn apart_first(mut items: Vec<Noted<ChartItem>>) -> Vec<Noted<ChartItem>> {
    if let Some(first) = items.first_mut() {
        first.trivia.blank_before = true;
    }
    items
}

/// The declaration of a param for a value that the invoking document passes.
fn param(given: &PassedParam, span: Span) -> ChartItem {
    ChartItem::Variable(Variable {
        renamed: Vec::new(),
        kind: VariableKind::Param,
        name: Ident::new(given.name.clone(), span),
        ty: given.kinds.class().written(span),
        range: None,
        default: None,
    })
}

impl Builder<'_, '_> {
    fn variables(&mut self) -> Vec<Noted<ChartItem>> {
        let document = self.document;
        let mut order: Vec<usize> = (0..self.scope.variables.len()).collect();
        // Data in document order, then the variables of loops and scripts.
        order.sort_by_key(|nth| {
            (self.scope.variables[*nth].data.is_none(), self.scope.variables[*nth].data, *nth)
        });
        let mut items = Vec::new();
        for nth in order {
            let variable = &self.scope.variables[nth];
            let (name, span, kinds) = (variable.name.clone(), variable.span, variable.kinds);
            let given = variable.given.clone();
            let data = variable.data.map(|data| &document.data[data]);
            let class = kinds.class();
            let written = data.and_then(|data| data.value.as_ref());
            let (whole, before) = data.map_or((span, &[][..]), |data| (data.span, &data.before));
            if let Some(given) = &given {
                items.push(noted(param(given, span), whole, before));
                if given.name == name {
                    continue;
                }
            }
            let before = if given.is_some() { &[][..] } else { before };
            let default = match written {
                _ if given.is_some() => {
                    let name = given.map(|given| given.name).unwrap_or_default();
                    Expr { kind: ExprKind::Name(name), span }
                }
                // A value that may fail is assigned in a block at the start of the run, where its failure is an event.
                Some(_) if variable.late => Expr { kind: ExprKind::None, span },
                Some(written) => {
                    let at = ExprContext { before: Some(nth), ..ExprContext::state(0) };
                    self.converter().value(written, &at).expr
                }
                None if kinds == Kinds::INT => Expr { kind: ExprKind::Int(0), span },
                None => Expr { kind: ExprKind::None, span },
            };
            let ty = if default.kind == ExprKind::None { Class::Json } else { class };
            let variable = Variable {
                renamed: Vec::new(),
                kind: VariableKind::Var { per_turn: false },
                name: Ident::new(name, span),
                ty: ty.written(span),
                range: None,
                default: Some(default),
            };
            items.push(noted(ChartItem::Variable(variable), whole, before));
        }
        items
    }

    /// Assigns the initial values that may fail, each in its own block, so that one failure does not prevent the others.
    fn late_data(&mut self) -> Vec<Noted<StateItem>> {
        let document = self.document;
        let mut items = Vec::new();
        for nth in 0..self.scope.variables.len() {
            let variable = &self.scope.variables[nth];
            let Some(data) = variable.data.filter(|_| variable.late) else { continue };
            let Some(written) = &document.data[data].value else { continue };
            let (name, span) = (variable.name.clone(), variable.span);
            let at = ExprContext { before: Some(nth), ..ExprContext::state(0) };
            let value = self.converter().value(written, &at).expr;
            let action = Action::Assign(Ident::new(name, span), value);
            let block =
                Block { actions: vec![noted(action, written.span, &[])], span: written.span };
            items.push(noted(StateItem::Enter(block), written.span, &[]));
        }
        items
    }

    /// The fields of an event: one for its data, if it has any.
    fn fields(&self, event: &str, span: Span) -> Vec<Param> {
        if !self.scope.has_data(event) {
            return Vec::new();
        }
        let name = Ident::new(self.scope.data.clone(), span);
        let kind = TypeKind::Name("Json".to_owned());
        vec![Param { name, ty: TypeExpr { kind, span } }]
    }

    /// Declares the events that the document uses, and one that represents all others.
    fn events(&mut self) -> Vec<Noted<ChartItem>> {
        let mut items = Vec::new();
        for (name, names, span) in event_names(self.document) {
            let fields = self.fields(&name, span);
            items.push(noted(ChartItem::Event(path(names, span), fields), span, &[]));
        }
        let span = self.document.name_span;
        let any = path(vec![Ident::new(CATCH_ALL.to_owned(), span)], span);
        let fields = self.fields(CATCH_ALL, span);
        items.push(noted(ChartItem::Event(any, fields), span, &[]));
        if let Some(first) = items.first_mut()
            && !self.scope.variables.is_empty()
        {
            first.trivia.blank_before = true;
        }
        items
    }

    /// Builds the items of a state or, for state 0, of the chart.
    pub(super) fn body(&mut self, nth: usize) -> Vec<Noted<StateItem>> {
        let document = self.document;
        let state = &document.states[nth];
        let mut items = Vec::new();
        items.extend(self.initial(nth));
        if nth == 0 {
            items.extend(self.late_data());
        }
        for child in &state.children {
            items.extend(self.history(*child));
        }
        for block in &state.enter {
            let body = self.actions(&block.body, &mut ExprContext::state(nth), block.span);
            items.push(noted(StateItem::Enter(body), block.span, &block.before));
        }
        items.extend(self.done_data(nth));
        for block in &state.exit {
            let body = self.actions(&block.body, &mut ExprContext::state(nth), block.span);
            items.push(noted(StateItem::Exit(body), block.span, &block.before));
        }
        for (invoke, written) in document.invokes.iter().enumerate() {
            if written.state == nth {
                items.push(self.invoke(invoke));
            }
        }
        for line in &state.lines {
            items.extend(self.lines(nth, line));
        }
        for child in &state.children {
            if let Some(made) = self.state(*child) {
                let span = document.states[*child].span;
                let before = &document.states[*child].before;
                let first = items.is_empty();
                items.push(if first || nth != 0 {
                    noted(made, span, before)
                } else {
                    apart(made, span, before)
                });
            }
        }
        items
    }
}
