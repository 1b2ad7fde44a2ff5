//! Writes lists, maps, records and comprehensions, and the loops over them.

use super::super::types::{list_item, owned};
use super::super::uses;
use super::{Binding, Code, Constant, Form, Fragment, Use, Writer, code};
use chartc_core::arena::{LocalId, TypeId};
use chartc_core::model::{Expr, Type, TypeKind};

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
        let nodes = uses::nodes(self.context.chart, item)
            + filter.map_or(0, |filter| uses::nodes(self.context.chart, filter));
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
    pub(in super::super) fn each(&mut self, source: &Expr, local: LocalId, nodes: u64) -> Fragment {
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
    pub(in super::super) fn bind(&mut self, local: LocalId, ty: Type) {
        self.locals.insert(local, ty);
    }

    /// Ends the scope of the local.
    pub(in super::super) fn forget(&mut self, local: LocalId) {
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
pub(in super::super) fn local_name(id: LocalId) -> String {
    format!("item{}", id.0)
}

/// Writes `local in elements`. A local that the body does not read gets an underscore.
pub(in super::super) fn loop_head(elements: Fragment, local: LocalId, body: &Fragment) -> Fragment {
    let name = local_name(local);
    let unused = if body.uses.locals.contains(&local) { "" } else { "_" };
    code!("{unused}{name} in {elements}", elements)
}
