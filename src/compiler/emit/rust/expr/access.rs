//! Writes reads, and lists, maps, records and comprehensions with the loops over them.

use super::super::code::{self, code};
use super::{Binding, Code, Constant, Error, Form, Fragment, Use, Writer};
use crate::emit::rust::names::{self, list_item, optional, optional_inner, owned};
use chartc_core::arena::{LocalId, StepId, ToolSetId, TypeId, VarId};
use chartc_core::model::{Expr, Observable, Since, StreakOf, Type, TypeKind};
use chartc_core::semantics::unroll::Place;

impl Writer<'_> {
    pub(super) fn enumeration(&self, id: TypeId, name: &str) -> Code {
        let names = &self.context.names;
        if let TypeKind::Enum(all) = &self.context.chart.types[id.index()].kind
            && let Some(i) = all.iter().position(|n| n == name)
        {
            let text = format!("{}::{}", names.types[id.index()], names.type_fields[id.index()][i]);
            return Code::owned(text, Type::Named(id)).known(Constant::Other);
        }
        self.fails(&Type::Named(id), &format!("`{name}` is no name of the enum"))
    }

    pub(super) fn variable(&self, id: VarId) -> Code {
        let row = &self.context.chart.variables[id.index()];
        let name = &self.context.names.variables[id.index()];
        if self.early {
            let name = names::local(self.context, id);
            // Nobody can set it before the machine exists.
            if self.context.is_supplied(id) {
                return self.fails(&row.ty, &format!("`{}` was never set", row.name));
            }
            return Code::place(name, row.ty.clone());
        }
        if !self.context.is_supplied(id) {
            return Code::place(format!("self.data.{name}"), row.ty.clone());
        }
        let text = if self.context.bare {
            format!("generated::set(self.data.{name}.as_ref())?")
        } else {
            format!("generated::given(&self.data.{name}, {:?})?", row.name)
        };
        let text = Fragment::from(text).using(Use::Failure);
        if row.ty == Type::Text {
            return Code::lent(code!("{text}.as_str()", text), Type::Text);
        }
        Code::lent(text, row.ty.clone())
    }

    pub(super) fn answer(&self, step: StepId, seen_as: &Type) -> Code {
        let ty = self.context.chart.steps[step.index()].returns.clone();
        let name = super::super::payload::answer_field(self.context, step);
        if *seen_as == Type::Json && ty == Type::Json {
            // A missing answer reads as `none` here, because the type JSON includes it; a field of `none` is an error.
            return Code::lent(format!("generated::json(&self.answers.{name})"), Type::Json);
        }
        Code::place(format!("self.answers.{name}"), optional(ty))
    }

    pub(super) fn observable(&self, observable: &Observable) -> Code {
        if self.context.is_direct() {
            return self.known(observable);
        }
        let view = |text: String| Fragment::from(text).using(Use::View);
        let int = |text: String| Code::owned(view(format!("i64::from(view.{text})")), Type::Int);
        let text = |text: &str| Code::lent(view(format!("view.{text}()")), Type::Text);
        let duration =
            |text: &str| Code::owned(view(format!("Duration(view.{text}())")), Type::Duration);
        match observable {
            Observable::State => text("state"),
            Observable::Turns => int("turns".into()),
            Observable::TurnsHere => int("turns_here()".into()),
            Observable::TurnsIn(state) => int(format!("turns_in({})", self.state(*state))),
            Observable::FailsHere => int("fails_here()".into()),
            Observable::Elapsed => duration("elapsed"),
            Observable::ElapsedHere => duration("elapsed_here"),
            Observable::In(state) => {
                Code::owned(view(format!("view.is_in({})", self.state(*state))), Type::Bool)
            }
            Observable::Health => text("health"),
            Observable::Calls(Since::Start) => int("calls()".into()),
            Observable::Calls(Since::Entry) => int("calls_here()".into()),
            Observable::Tokens(since) => {
                Code::owned(view(format!("view.tokens({})", *since == Since::Entry)), Type::Int)
            }
            Observable::Cost(since) => {
                Code::owned(view(format!("view.cost({})", *since == Since::Entry)), Type::Float)
            }
            Observable::Advice => {
                let call = view("self.advice(view)".into()).using(Use::Program);
                self.tries(call.using(Use::Allocator), Type::Text, Error::Failure)
            }
            Observable::LastResult => Code::place(
                Fragment::from("self.last_result.text").using(Use::Allocator),
                Type::Text,
            ),
            Observable::LastFailed => Code::owned(
                Fragment::from("self.last_result.failed").using(Use::Allocator),
                Type::Bool,
            ),
            Observable::Event => text("event_name"),
            Observable::Streak(of) => {
                let text = match of {
                    StreakOf::Tool => "self.calls.streak()".to_owned(),
                    StreakOf::Argument(set, argument) => {
                        let tools = self.tools_of(*set);
                        format!("self.calls.streak_of(&[{tools}], {argument:?}, &TABLES)")
                    }
                };
                Code::owned(Fragment::from(text).using(Use::Allocator), Type::Int)
            }
            Observable::Repeated(set, argument) => {
                let tools = self.tools_of(*set);
                let text = format!("self.calls.repeated_value(&[{tools}], {argument:?}, &TABLES)");
                Code::owned(Fragment::from(text).using(Use::Allocator), Type::Json)
            }
        }
    }

    /// Writes the ids of a set's tools.
    fn tools_of(&self, set: ToolSetId) -> String {
        let tools = self.context.chart.tools_of(set).into_iter();
        let tools: Vec<String> = tools.map(|tool| format!("arena::ToolId({})", tool.0)).collect();
        tools.join(", ")
    }

    /// Writes an observable that direct code knows. Charts that read any other have no direct code; nor do charts that read active states
    /// where the place is unknown.
    fn known(&self, observable: &Observable) -> Code {
        let tables = &self.context.tables;
        if let Observable::In(state) = observable {
            let is_in =
                |place: &Place| place.lowest.iter().any(|active| tables.contains(*state, *active));
            let inside = self.place.as_ref().is_some_and(is_in);
            Code::owned(inside.to_string(), Type::Bool).known(Constant::Bool(inside))
        } else if *observable == Observable::State {
            let path = self.place.as_ref().map_or("", |place| &tables.state(place.leaf).path);
            Code::lent(format!("{path:?}"), Type::Text)
        } else if *observable == Observable::Turns {
            Code::owned("i64::from(self.registers.turns())", Type::Int)
        } else if *observable == Observable::Event {
            Code::lent("self.registers.event_name(&TABLES)", Type::Text)
        } else {
            self.fails(&Type::Json, &format!("{observable:?} is not known"))
        }
    }

    /// Writes a state's id: by name, or by number for a state without a name.
    fn state(&self, id: chartc_core::arena::StateId) -> String {
        match &self.context.names.states[id.index()] {
            Some(name) => format!("State::{name}.id()"),
            None => format!("arena::StateId({})", id.0),
        }
    }

    /// Writes `of.name`; for an optional record the result is optional.
    pub(super) fn field(&mut self, of: &Expr, name: &str) -> Code {
        let code = self.expr(of);
        let (inner, missing) = match optional_inner(&code.ty) {
            Some(inner) => (inner.clone(), true),
            None => (code.ty.clone(), false),
        };
        if let Type::Named(id) = inner
            && let Some((field, ty)) = self.declared(id, name)
        {
            if missing {
                return self.read_optional(&code, &field, &ty);
            }
            return Code::place(code!("{of}.{field}", of = code.within(Binding::Whole)), ty);
        }
        self.dynamic_field(code, name)
    }

    fn declared(&self, id: TypeId, name: &str) -> Option<(String, Type)> {
        let TypeKind::Record(fields) = &self.context.chart.types[id.index()].kind else {
            return None;
        };
        let i = fields.iter().position(|f| f.name == name)?;
        Some((self.context.names.type_fields[id.index()][i].clone(), fields[i].ty.clone()))
    }

    fn read_optional(&self, code: &Code, field: &str, ty: &Type) -> Code {
        let inner = self.own(&Code::place(format!("of.{field}"), ty.clone()));
        let function = if optional_inner(ty).is_some() { "and_then" } else { "map" };
        let whole = code.within(Binding::Whole);
        let text = code!("{whole}.as_ref().{function}(|of| {inner})", whole, inner);
        Code::owned(text, optional(ty.clone()))
    }

    fn dynamic_field(&self, code: Code, name: &str) -> Code {
        if optional_inner(&code.ty).is_some() {
            let call = code!("generated::optional_field(&{of}, {name:?})", of = self.json(code));
            return self.tries(call, Type::Json, Error::Failure);
        }
        if code.ty == Type::Json && code.form != Form::Owned {
            let text = code!("expr::field({of}, {name:?})?", of = code.lend());
            return Code::lent(text.using(Use::Failure).using(Use::Allocator), Type::Json);
        }
        let text = code!("expr::field(&{of}, {name:?})?.clone()", of = self.json(code));
        Code::owned(text.using(Use::Failure), Type::Json)
    }

    /// Writes `of[at]`: an element of a list, a map, a text or JSON.
    pub(super) fn index(&mut self, of: &Expr, at: &Expr) -> Code {
        let code = self.expr(of);
        let place = self.expr(at);
        if let (Type::List(item), Type::Int) = (&code.ty, &place.ty) {
            let (list, at) = (code.lend(), self.own(&place));
            let text = code!("generated::element({list}, {at})?", list, at);
            let text = text.using(Use::Failure).using(Use::Allocator);
            let item = (**item).clone();
            return match code.form {
                // A temporary list is gone after this expression.
                Form::Owned => Code::owned(code!("{text}.clone()", text), item),
                Form::Place | Form::Lent if item == Type::Text => {
                    Code::lent(code!("{text}.as_str()", text), item)
                }
                Form::Place | Form::Lent => Code::lent(text, item),
            };
        }
        let ty = if let Type::Map(item) = &code.ty {
            (**item).clone()
        } else if code.ty == Type::Text {
            Type::Text
        } else {
            Type::Json
        };
        let call = code!("expr::index(&{of}, &{at})", of = self.json(code), at = self.json(place));
        let value = self.tries(call, Type::Json, Error::Evaluation);
        self.convert(value, &ty)
    }

    /// Writes `of[from:to]`: a part of a list or text.
    pub(super) fn slice(&mut self, of: &Expr, from: Option<&Expr>, to: Option<&Expr>) -> Code {
        let code = self.expr(of);
        let ty = code.ty.clone();
        let of = self.json(code);
        let mut bound = |bound: Option<&Expr>| match bound {
            Some(expr) => {
                let code = self.expr(expr);
                code!("Some(&{value})", value = self.json(code))
            }
            None => "None".into(),
        };
        let (from, to) = (bound(from), bound(to));
        let call = code!("expr::slice(&{of}, {from}, {to})", of, from, to);
        let value = self.tries(call, Type::Json, Error::Evaluation);
        self.convert(value, &ty)
    }

    /// Writes `of ?? default`.
    pub(super) fn default(&mut self, of: &Expr, default: &Expr, ty: &Type) -> Code {
        let code = self.expr(of);
        let name = self.temporary();
        let (inner, json) = match optional_inner(&code.ty) {
            Some(inner) => (inner.clone(), false),
            None if code.ty == Type::Json => (Type::Json, true),
            // The value is never `none`, so the default is never used.
            None => return self.convert(code, ty),
        };
        let default = self.value_code(default, ty);
        // `unwrap_or` evaluates the default even if nothing is missing.
        if inner == *ty && !json && self.is_at_hand(&default) {
            let (of, default) = (self.operand(&code, Binding::Whole), self.own(&default));
            return Code::owned(code!("{of}.unwrap_or({default})", of, default), ty.clone());
        }
        if inner == *ty && !json && default.constant == Some(Constant::Empty) {
            let of = self.operand(&code, Binding::Whole);
            return Code::owned(code!("{of}.unwrap_or_default()", of), ty.clone());
        }
        let value = self.convert(Code::place(name.as_str(), inner), ty);
        let (of, value, default) = (self.own(&code), self.own(&value), self.own(&default));
        let (some, none) =
            if json { (name, "Value::None") } else { (format!("Some({name})"), "None") };
        let text =
            code!("match {of} {{ {none} => {default}, {some} => {value}, }}", of, default, value);
        Code::owned(text, ty.clone()).bound(Binding::Block)
    }

    /// Whether the code is so cheap that it may be evaluated in vain.
    pub(in crate::emit::rust) fn is_at_hand(&self, code: &Code) -> bool {
        let copy = self.context.facts.is_copy(&code.ty) && !code.text().has(Use::Failure);
        copy && (code.constant.is_some() || code.form != Form::Owned)
    }
}

// Writes lists, maps, records and comprehensions, and the loops over them.

impl Writer<'_> {
    /// Writes an array of the values, each converted to `item`.
    pub(super) fn array(&mut self, items: &[Expr], item: &Type) -> Fragment {
        let items = Fragment::joined(items.iter().map(|i| self.value(i, item)), ", ");
        code!("[{items}]", items)
    }

    /// Writes a list whose items are converted to `item`.
    pub(super) fn list(&mut self, items: &[Expr], item: &Type) -> Code {
        let ty = Type::List(Box::new(item.clone()));
        if items.is_empty() {
            let text = Fragment::from(format!("Vec::<{}>::new()", owned(self.context, item)));
            return Code::owned(text.using(Use::Allocator), ty).known(Constant::Empty);
        }
        let text = code!("Vec::from({items})", items = self.array(items, item));
        Code::owned(text.using(Use::Allocator), ty)
    }

    /// Writes a list of JSON values.
    pub(super) fn json_list(&mut self, items: &[Expr]) -> Code {
        let list = self.list(items, &Type::Json);
        Code::owned(code!("Value::List({list})", list = list.text()), Type::Json)
    }

    /// Writes a map whose values are converted to `item`; later entries win.
    pub(super) fn map(&mut self, entries: &[(Expr, Expr)], item: &Type) -> Code {
        let ty = Type::Map(Box::new(item.clone()));
        if entries.is_empty() {
            let text = Fragment::from(format!("Map::<{}>::new()", owned(self.context, item)));
            return Code::owned(text.using(Use::Allocator), ty).known(Constant::Empty);
        }
        let entries = entries.iter().map(|(key, value)| {
            let (key, value) = (self.value(key, &Type::Text), self.value(value, item));
            code!("({key}, {value})", key, value)
        });
        let entries = Fragment::joined(entries, ", ");
        let text = code!("Map::from_iter([{entries}])", entries);
        Code::owned(text.using(Use::Allocator), ty)
    }

    /// Writes a value of a record type that the chart declares.
    pub(super) fn record(&mut self, id: TypeId, fields: &[(String, Expr)]) -> Code {
        let context = self.context;
        let name = &context.names.types[id.index()];
        let mut all = Fragment::default();
        if let TypeKind::Record(declared) = &context.chart.types[id.index()].kind {
            for (name, value) in fields {
                let Some(i) = declared.iter().position(|f| f.name == *name) else { continue };
                let field = &context.names.type_fields[id.index()][i];
                let value = self.value(value, &declared[i].ty);
                all += code!("{field}: {value}, ", value);
            }
        }
        Code::owned(code!("{name} {{ {all} }}", all), Type::Named(id)).bound(Binding::Block)
    }

    /// Writes `[item for local in source if filter]`.
    pub(super) fn comprehension(
        &mut self,
        item: &Expr,
        local: LocalId,
        source: &Expr,
        filter: Option<&Expr>,
        ty: &Type,
    ) -> Code {
        let nodes = code::nodes(self.context.chart, item)
            + filter.map_or(0, |filter| code::nodes(self.context.chart, filter));
        let elements = self.each(source, local, nodes);
        let outermost = self.loops == 0;
        self.loops += 1;
        let item_ty = list_item(ty).cloned().unwrap_or(Type::Json);
        let filter = filter.map(|f| self.condition(f, Binding::Block));
        let item = self.value(item, &item_ty);
        self.forget(local);
        self.loops -= 1;
        let list = self.temporary();
        let push = code!("{list}.push({item});", item);
        let body = match filter {
            Some(filter) => code!("if {filter} {{ {push} }}", filter, push),
            None => push,
        };
        let head = loop_head(elements, local, &body);
        // Before the start there is no program to count the work.
        let work =
            if self.early && outermost { "let work = generated::Work::new();\n" } else { "" };
        let fill =
            code!("{work}let mut {list} = Vec::new();\n for {head} {{ {body} }}", head, body);
        let (text, ty) = if matches!(ty, Type::List(_)) {
            (code!("{{ {fill}{list} }}", fill), ty.clone())
        } else {
            (code!("{{ {fill}Value::List({list}) }}", fill), Type::Json)
        };
        Code::owned(text.using(Use::Allocator), ty).bound(Binding::Block)
    }

    /// Writes the elements of a list, the characters of a text or the keys of a map, for a loop. The local is in scope until
    /// [`Writer::forget`]. Each repetition costs `nodes` nodes, and one more for the loop itself.
    pub(in crate::emit::rust) fn each(
        &mut self,
        source: &Expr,
        local: LocalId,
        nodes: u64,
    ) -> Fragment {
        let work = if self.early { "&work" } else { "&self.work" };
        let nodes = nodes.saturating_add(1);
        let code = self.expr(source);
        let (ty, held) = if let Some(item) = list_item(&code.ty) {
            let held = match code.form {
                // The body may change the collection, or call a method that borrows the whole program.
                Form::Place | Form::Lent => self.own(&code),
                Form::Owned => code.text(),
            };
            (item.clone(), held)
        } else {
            (Type::Json, code!("expr::elements(&{value})?", value = self.json(code)))
        };
        self.locals.insert(local, ty);
        let text = code!("generated::over({held}, {nodes}, {work})?", held);
        text.using(Use::Failure).using(Use::Work).using(Use::Allocator)
    }

    /// Begins the scope of a local whose value is in a variable of its name.
    pub(in crate::emit::rust) fn bind(&mut self, local: LocalId, ty: Type) {
        self.locals.insert(local, ty);
    }

    /// Ends the scope of the local.
    pub(in crate::emit::rust) fn forget(&mut self, local: LocalId) {
        self.locals.remove(&local);
    }

    /// Writes a read of a local.
    pub(super) fn local(&self, id: LocalId, ty: &Type) -> Code {
        match self.locals.get(&id) {
            Some(ty) => {
                let mut text = Fragment::from(local_name(id));
                text.uses.locals.insert(id);
                Code::place(text, ty.clone())
            }
            None => self.fails(ty, "a local that has no value here"),
        }
    }
}

/// Names the variable that holds a local.
pub(in crate::emit::rust) fn local_name(id: LocalId) -> String {
    format!("item{}", id.0)
}

/// Writes `local in elements`. A local that the body does not read gets an underscore.
pub(in crate::emit::rust) fn loop_head(
    elements: Fragment,
    local: LocalId,
    body: &Fragment,
) -> Fragment {
    let name = local_name(local);
    let unused = if body.uses.locals.contains(&local) { "" } else { "_" };
    code!("{unused}{name} in {elements}", elements)
}
