//! What an expression reads: variables, answers, observables, fields, elements, host functions.

use super::super::types::{optional, optional_inner};
use super::{Binding, Code, Form, Writer};
use chartc_core::arena::{FunctionId, StepId, TypeId, VarId};
use chartc_core::model::{Expr, FunctionKind, Observable, StreakOf, Type, TypeKind};

impl Writer<'_> {
    pub(super) fn enumeration(&self, id: TypeId, name: &str) -> Code {
        let names = &self.context.names;
        if let TypeKind::Enum(all) = &self.context.chart.types[id.index()].kind
            && let Some(i) = all.iter().position(|n| n == name)
        {
            let text = format!("{}::{}", names.types[id.index()], names.type_fields[id.index()][i]);
            return Code::owned(text, Type::Named(id));
        }
        self.fails(&Type::Named(id), &format!("`{name}` is no name of the enum"))
    }

    pub(super) fn variable(&self, id: VarId) -> Code {
        let row = &self.context.chart.variables[id.index()];
        let name = &self.context.names.variables[id.index()];
        if self.early {
            let name = super::super::data::local(self.context, id);
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
        if row.ty == Type::Text {
            return Code::lent(format!("{text}.as_str()"), Type::Text);
        }
        Code::lent(text, row.ty.clone())
    }

    pub(super) fn answer(&self, step: StepId, seen_as: &Type) -> Code {
        self.allocates();
        let ty = self.context.chart.steps[step.index()].returns.clone();
        self.context.answers.borrow_mut().insert(step);
        let name = super::super::payload::answer_field(self.context, step);
        if *seen_as == Type::Json && ty == Type::Json {
            // Not known to be missing: what reads a field of `none` fails.
            return Code::lent(format!("generated::json(&self.answers.{name})"), Type::Json);
        }
        Code::place(format!("self.answers.{name}"), optional(ty))
    }

    pub(super) fn observable(&self, observable: &Observable) -> Code {
        let int = |text: &str| Code::owned(format!("i64::from({text})"), Type::Int);
        if self.context.is_direct() {
            return self.known(observable);
        }
        match observable {
            Observable::State => Code::lent("view.state()", Type::Text),
            Observable::Turns => int("view.turns"),
            Observable::TurnsHere => int("view.turns_here()"),
            Observable::TurnsIn(state) => int(&format!("view.turns_in({})", self.state(*state))),
            Observable::FailsHere => int("view.fails_here()"),
            Observable::Elapsed => Code::owned("Duration(view.elapsed())", Type::Duration),
            Observable::ElapsedHere => Code::owned("Duration(view.elapsed_here())", Type::Duration),
            Observable::In(state) => {
                Code::owned(format!("view.is_in({})", self.state(*state)), Type::Bool)
            }
            Observable::Health => Code::lent("view.health()", Type::Text),
            Observable::Advice => {
                self.allocates();
                self.context.advice.set(true);
                Code::owned("self.advice(view)?", Type::Text)
            }
            Observable::LastResult => {
                self.allocates();
                self.context.last_result.set(true);
                Code::place("self.last_result", Type::Text)
            }
            Observable::Event => Code::lent("view.event_name()", Type::Text),
            Observable::Streak(of) => {
                self.allocates();
                self.context.streak.set(true);
                let text = match of {
                    StreakOf::Tool => "self.calls.streak()".to_owned(),
                    StreakOf::Argument(set, argument) => {
                        let tools = self.context.chart.tools_of(*set).into_iter();
                        let tools: Vec<String> =
                            tools.map(|tool| format!("arena::ToolId({})", tool.0)).collect();
                        let tools = tools.join(", ");
                        format!("self.calls.streak_of(&[{tools}], {argument:?}, &TABLES)")
                    }
                };
                Code::owned(text, Type::Int)
            }
        }
    }

    /// What code that is written out knows of the machine. A chart that reads anything else is not written out.
    fn known(&self, observable: &Observable) -> Code {
        match (observable, &self.place) {
            (Observable::In(state), Some(place)) => {
                let tables = &self.context.tables;
                let inside = place.lowest.iter().any(|active| tables.contains(*state, *active));
                Code::owned(inside.to_string(), Type::Bool)
            }
            (Observable::State, Some(place)) => {
                let path = self.context.tables.state(place.leaf).path;
                Code::lent(format!("{path:?}"), Type::Text)
            }
            (Observable::Turns, _) => Code::owned("i64::from(self.registers.turns())", Type::Int),
            (Observable::Event, _) => Code::lent("self.registers.event_name(&TABLES)", Type::Text),
            (other, _) => self.fails(&Type::Json, &format!("{other:?} is not known")),
        }
    }

    /// A state's id: by its name, or by number for one that has none.
    fn state(&self, id: chartc_core::arena::StateId) -> String {
        match &self.context.names.states[id.index()] {
            Some(name) => format!("State::{name}.id()"),
            None => format!("arena::StateId({})", id.0),
        }
    }

    /// `of.name`; of an optional record it is optional too.
    pub(super) fn field(&self, of: &Expr, name: &str) -> Code {
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
            return Code::place(format!("{}.{field}", code.within(Binding::Whole)), ty);
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
        let inner = Code::place(format!("of.{field}"), ty.clone());
        let function = if optional_inner(ty).is_some() { "and_then" } else { "map" };
        let whole = code.within(Binding::Whole);
        let text = format!("{whole}.as_ref().{function}(|of| {})", self.own(&inner));
        Code::owned(text, optional(ty.clone()))
    }

    fn dynamic_field(&self, code: Code, name: &str) -> Code {
        self.allocates();
        if optional_inner(&code.ty).is_some() {
            let text = format!("generated::optional_field(&{}, {name:?})?", self.json(code));
            return Code::owned(text, Type::Json);
        }
        if code.ty == Type::Json && code.form != Form::Owned {
            return Code::lent(format!("expr::field({}, {name:?})?", code.lend()), Type::Json);
        }
        Code::owned(format!("expr::field(&{}, {name:?})?.clone()", self.json(code)), Type::Json)
    }

    /// `of[at]`.
    pub(super) fn index(&self, of: &Expr, at: &Expr) -> Code {
        self.allocates();
        let code = self.expr(of);
        let place = self.expr(at);
        if let (Type::List(item), Type::Int) = (&code.ty, &place.ty) {
            let text = format!("generated::element({}, {})?", code.lend(), self.own(&place));
            let (text, form) = match code.form {
                Form::Owned => (format!("{text}.clone()"), Form::Owned),
                Form::Place | Form::Lent if **item == Type::Text => {
                    (format!("{text}.as_str()"), Form::Lent)
                }
                Form::Place | Form::Lent => (text, Form::Lent),
            };
            return Code { text, ty: (**item).clone(), form, binding: Binding::Whole };
        }
        let ty = if let Type::Map(item) = &code.ty {
            (**item).clone()
        } else if code.ty == Type::Text {
            Type::Text
        } else {
            Type::Json
        };
        let value = format!("expr::index(&{}, &{})?", self.json(code), self.json(place));
        self.convert(Code::owned(value, Type::Json), &ty)
    }

    /// `of[from:to]`.
    pub(super) fn slice(&self, of: &Expr, from: Option<&Expr>, to: Option<&Expr>) -> Code {
        self.allocates();
        let code = self.expr(of);
        let ty = code.ty.clone();
        let bound = |bound: Option<&Expr>| match bound {
            Some(expr) => format!("Some(&{})", self.json(self.expr(expr))),
            None => "None".to_owned(),
        };
        let text = format!("expr::slice(&{}, {}, {})?", self.json(code), bound(from), bound(to));
        self.convert(Code::owned(text, Type::Json), &ty)
    }

    /// `of ?? default`.
    pub(super) fn default(&self, of: &Expr, default: &Expr, ty: &Type) -> Code {
        let code = self.expr(of);
        let name = self.temporary();
        let (some, none, value) = if let Some(inner) = optional_inner(&code.ty) {
            (format!("Some({name})"), "None", Code::place(&name, inner.clone()))
        } else if code.ty == Type::Json {
            (name.clone(), "Value::None", Code::place(&name, Type::Json))
        } else {
            // It is never `none`.
            return self.convert(code, ty);
        };
        let (value, default) = (self.convert(value, ty), self.value(default, ty));
        let text = format!(
            "match {} {{ {none} => {default}, {some} => {}, }}",
            self.own(&code),
            self.own(&value)
        );
        Code::owned(text, ty.clone()).bound(Binding::Block)
    }

    /// A call of a host function whose result is used.
    pub(super) fn call(&self, id: FunctionId, arguments: &[Expr]) -> Code {
        let row = &self.context.chart.functions[id.index()];
        let ty = match &row.kind {
            FunctionKind::Pure { result, .. } => result.clone(),
            FunctionKind::Effect => Type::Json,
        };
        Code::owned(self.host_call(id, arguments), ty).bound(Binding::Block)
    }
}
