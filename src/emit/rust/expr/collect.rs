//! Lists, maps, records and comprehensions.

use super::super::body::mentions;
use super::super::types::{list_item, owned};
use super::super::uses;
use super::{Binding, Code, Form, Writer};
use chartc_core::arena::{LocalId, TypeId};
use chartc_core::model::{Expr, Type, TypeKind};

impl Writer<'_> {
    /// A list whose items are made `item`s.
    pub(super) fn list(&self, items: &[Expr], item: &Type) -> Code {
        self.allocates();
        let ty = Type::List(Box::new(item.clone()));
        if items.is_empty() {
            return Code::owned(format!("Vec::<{}>::new()", owned(self.context, item)), ty);
        }
        let items: Vec<String> = items.iter().map(|i| self.value(i, item)).collect();
        Code::owned(format!("Vec::from([{}])", items.join(", ")), ty)
    }

    /// A list of anything.
    pub(super) fn json_list(&self, items: &[Expr]) -> Code {
        let list = self.list(items, &Type::Json);
        Code::owned(format!("Value::List({})", list.text), Type::Json)
    }

    /// A map whose values are made `item`s; later entries win.
    pub(super) fn map(&self, entries: &[(Expr, Expr)], item: &Type) -> Code {
        self.allocates();
        let ty = Type::Map(Box::new(item.clone()));
        if entries.is_empty() {
            return Code::owned(format!("Map::<{}>::new()", owned(self.context, item)), ty);
        }
        let entries: Vec<String> = entries
            .iter()
            .map(|(key, value)| {
                format!("({}, {})", self.value(key, &Type::Text), self.value(value, item))
            })
            .collect();
        Code::owned(format!("Map::from_iter([{}])", entries.join(", ")), ty)
    }

    /// A record.
    pub(super) fn record(&self, id: TypeId, fields: &[(String, Expr)]) -> Code {
        let context = self.context;
        let mut out = format!("{} {{ ", context.names.types[id.index()]);
        if let TypeKind::Record(declared) = &context.chart.types[id.index()].kind {
            for (name, value) in fields {
                let Some(i) = declared.iter().position(|f| f.name == *name) else { continue };
                let value = self.value(value, &declared[i].ty);
                out.push_str(&format!("{}: {value}, ", context.names.type_fields[id.index()][i]));
            }
        }
        out.push('}');
        Code::owned(out, Type::Named(id)).bound(Binding::Block)
    }

    /// `[item for local in source if filter]`.
    pub(super) fn comprehension(
        &self,
        item: &Expr,
        local: LocalId,
        source: &Expr,
        filter: Option<&Expr>,
        ty: &Type,
    ) -> Code {
        self.allocates();
        let nodes = uses::nodes(self.context.chart, item)
            + filter.map_or(0, |filter| uses::nodes(self.context.chart, filter));
        let source = self.each(source, local, nodes);
        let outermost = self.loops.get() == 0;
        self.loops.set(self.loops.get() + 1);
        let item_ty = list_item(ty).cloned().unwrap_or(Type::Json);
        let filter = filter.map(|f| self.condition(f, Binding::Block));
        let item = self.value(item, &item_ty);
        self.forget(local);
        self.loops.set(self.loops.get() - 1);
        let source = unused(source, local, &[&item, filter.as_deref().unwrap_or_default()]);
        let list = self.temporary();
        // Before the start no program counts.
        let work =
            if self.early && outermost { "let work = generated::Work::new();\n" } else { "" };
        let mut out = format!("{{ {work}let mut {list} = Vec::new();\n for {source} {{ ");
        match filter {
            Some(filter) => out.push_str(&format!("if {filter} {{ {list}.push({item}); }}")),
            None => out.push_str(&format!("{list}.push({item});")),
        }
        out.push('}');
        if matches!(ty, Type::List(_)) {
            let code = Code::owned(out + &list + "}", ty.clone());
            return code.bound(Binding::Block);
        }
        let code = Code::owned(out + &format!("Value::List({list}) }}"), Type::Json);
        code.bound(Binding::Block)
    }

    /// `local in …`, the head of a loop over the elements of a list, the characters of a text or the keys of a map. The local
    /// is in scope until it is forgotten. What is repeated takes so many nodes each time.
    pub(in super::super) fn each(&self, source: &Expr, local: LocalId, nodes: u64) -> String {
        self.allocates();
        let work = if self.early {
            "&work"
        } else {
            self.context.repeats.set(true);
            "&self.work"
        };
        let nodes = nodes.saturating_add(1);
        let code = self.expr(source);
        let name = local_name(local);
        let held = match code.form {
            // The body may change what is looped over, or call what borrows all of the program.
            Form::Place | Form::Lent => self.own(&code),
            Form::Owned => code.text.clone(),
        };
        let (ty, text) = if let Some(item) = list_item(&code.ty) {
            (item.clone(), format!("{name} in generated::over({held}, {nodes}, {work})?"))
        } else {
            let value = self.json(code);
            let held = format!("expr::elements(&{value})?");
            (Type::Json, format!("{name} in generated::over({held}, {nodes}, {work})?"))
        };
        self.locals.borrow_mut().insert(local, ty);
        text
    }

    /// The local is out of scope.
    pub(in super::super) fn forget(&self, local: LocalId) {
        self.locals.borrow_mut().remove(&local);
    }

    /// A bound local.
    pub(super) fn local(&self, id: LocalId, ty: &Type) -> Code {
        match self.locals.borrow().get(&id) {
            Some(ty) => Code::place(local_name(id), ty.clone()),
            None => self.fails(ty, "a local that has no value here"),
        }
    }
}

fn local_name(id: LocalId) -> String {
    format!("item{}", id.0)
}

/// The head of a loop; a local that no part mentions gets a name that says so.
pub(in super::super) fn unused(head: String, local: LocalId, parts: &[&str]) -> String {
    let name = local_name(local);
    if parts.iter().any(|part| mentions(part, &name)) { head } else { format!("_{head}") }
}
