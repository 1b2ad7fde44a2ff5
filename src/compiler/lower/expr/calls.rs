//! Lowers calls of functions of the machine, the language and the host.
//!
//! The problem: one form, `f(a, b)`, has three meanings with different rules. A function of the machine takes the path of a state or of a
//! set of tools, which the parser reads as an expression. A function of the language may have several types. A host function has declared
//! ones. The idea: `call` decides by the name, and what is not understood is reported and becomes `ExprKind::Unknown`, after its arguments
//! were lowered for their own findings.
//!
//! - The machine's functions are in `MACHINE`; each has a function here (`in_state`, `streak`, `repeated`).
//! - The language's functions are in `BUILTINS`, with the number of their arguments. `call_builtin` checks their types and determines that
//!   of the result. A new one needs a row there; without an arm in `call_builtin`, it takes any values and returns `Json`.
//! - Names of the language cannot be declared, so the order of the lookups makes no difference.
//!
//! For example, `round(x)` is an `Int`. `round(x, 2)` is a `Float`, and an `Int` as `x` is converted to one. `min(a, b)` of an `Int` and a
//! `Float` is a `Float`. `in(work.draft)` becomes `Observable::In` with the state that the path means in the place of the condition.

use super::{
    Env, arguments, expect, expr, inner, is_faulty, literals, of, only_when_running, present,
    refuse_missing, unknown,
};
use crate::lower::context::{Cx, NameKind};
use crate::lower::{paths, tools};
use crate::rules::TYPE_ERROR;
use crate::syntax;
use crate::syntax::source::{Ident, Span};
use chartc_core::arena::ToolSetId;
use chartc_core::expr::Value;
use chartc_core::model::{
    Builtin, Expr, ExprKind, FunctionKind, Observable, StreakOf, Type, TypeKind,
};

/// Lowers `f(a, b)`.
pub(in crate::lower) fn call(
    cx: &mut Cx<'_>,
    env: &mut Env,
    function: &Ident,
    written: &[syntax::Expr],
    span: Span,
    hint: Option<&Type>,
) -> Expr {
    let name = function.node.as_str();
    if let Some((id, place)) = cx.names.functions.get(name).copied() {
        cx.record_use(function.span, place, NameKind::Function);
        only_when_running(cx, env, name, function.span);
        let declared = cx.chart.functions[id.index()].clone();
        let what = format!("`{name}`");
        let lowered = arguments(cx, env, &what, &declared.params, written, span);
        return match declared.kind {
            FunctionKind::Pure { result, .. } => of(ExprKind::Call(id, lowered), result),
            FunctionKind::Effect => {
                let finding = TYPE_ERROR
                    .at(function.span, format!("`{name}` is an effect and has no value"))
                    .help("a `do` function is called in an action block, a `fn` anywhere");
                cx.report(finding);
                unknown(name)
            }
        };
    }
    match name {
        "in" => in_state(cx, env, function, written, span, Observable::In, Type::Bool),
        "turns_in" => in_state(cx, env, function, written, span, Observable::TurnsIn, Type::Int),
        "streak" => streak(cx, env, function, written, span),
        "repeated" => repeated(cx, env, function, written, span),
        _ => match find(name) {
            Some(found) => call_builtin(cx, env, found, function, written, span, hint),
            None => {
                for argument in written {
                    expr(cx, env, argument, None);
                }
                unknown_function(cx, function);
                unknown(name)
            }
        },
    }
}

/// Reports a function that is neither the language's nor declared.
pub(in crate::lower) fn unknown_function(cx: &mut Cx<'_>, function: &Ident) {
    let declared: Vec<String> = cx.names.functions.keys().cloned().collect();
    let known = names().chain(declared.iter().map(String::as_str));
    cx.unknown("function", &function.node, function.span, known);
}

fn in_state(
    cx: &mut Cx<'_>,
    env: &Env,
    function: &Ident,
    written: &[syntax::Expr],
    span: Span,
    observable: fn(chartc_core::arena::StateId) -> Observable,
    ty: Type,
) -> Expr {
    let name = function.node.as_str();
    only_when_running(cx, env, name, function.span);
    let path = match written {
        [one] => path_of(one),
        _ => None,
    };
    let Some(path) = path else {
        cx.report(TYPE_ERROR.at(span, format!("`{name}` takes the path of a state")));
        return unknown(name);
    };
    if cx.chart.states.is_empty() {
        // Declarations are lowered before states exist. `only_when_running` has reported the call in them.
        return unknown(name);
    }
    let Some(state) = paths::names(cx, env.state, &path.iter().collect::<Vec<_>>()) else {
        return unknown(name);
    };
    if paths::is_history(cx, state) {
        let message =
            format!("`{}` is a history, which is never active", cx.chart.state(state).path);
        cx.report(TYPE_ERROR.at(span, message));
    }
    of(ExprKind::Observable(observable(state)), ty)
}

/// The dotted path that is the only argument; empty if there is none.
fn only_path(written: &[syntax::Expr]) -> Vec<Ident> {
    match written {
        [one] => path_of(one).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// A dotted path, which the parser reads as fields of a name.
fn path_of(written: &syntax::Expr) -> Option<Vec<Ident>> {
    let mut names = Vec::new();
    let mut written = written;
    while let syntax::ExprKind::Field(base, field) = &written.kind {
        names.push(field.clone());
        written = base;
    }
    let syntax::ExprKind::Name(first) = &written.kind else { return None };
    names.push(Ident::new(first.clone(), written.span));
    names.reverse();
    Some(names)
}

fn streak(
    cx: &mut Cx<'_>,
    env: &Env,
    function: &Ident,
    written: &[syntax::Expr],
    span: Span,
) -> Expr {
    only_when_running(cx, env, "streak", function.span);
    let path = only_path(written);
    let of_what = match path.as_slice() {
        [tool] if tool.node == "tool" => StreakOf::Tool,
        [set @ .., argument] if !set.is_empty() => match passed(cx, set, argument) {
            Some((id, argument)) => StreakOf::Argument(id, argument),
            None => return unknown("streak"),
        },
        _ => {
            let finding = TYPE_ERROR
                .at(span, "`streak` takes `tool`, or a tool set and the name of an argument")
                .help("write `streak(tool)` or `streak(search.query)`");
            cx.report(finding);
            return unknown("streak");
        }
    };
    of(ExprKind::Observable(Observable::Streak(of_what)), Type::Int)
}

fn repeated(
    cx: &mut Cx<'_>,
    env: &Env,
    function: &Ident,
    written: &[syntax::Expr],
    span: Span,
) -> Expr {
    only_when_running(cx, env, "repeated", function.span);
    let path = only_path(written);
    let (Some((argument, set)), true) = (path.split_last(), path.len() > 1) else {
        let finding = TYPE_ERROR
            .at(span, "`repeated` takes a tool set and the name of an argument")
            .help("write `repeated(search.query)`");
        cx.report(finding);
        return unknown("repeated");
    };
    match passed(cx, set, argument) {
        Some((id, argument)) => {
            of(ExprKind::Observable(Observable::Repeated(id, argument)), Type::Json)
        }
        None => unknown("repeated"),
    }
}

/// Resolves an argument of the tools of a set, such as `search.query`; reports unknown names.
fn passed(cx: &mut Cx<'_>, set: &[Ident], argument: &Ident) -> Option<(ToolSetId, String)> {
    let words: Vec<&str> = set.iter().map(|name| name.node.as_str()).collect();
    let words = words.join(".");
    let id = tools::named_tool_set(cx, set)?;
    let all = cx.chart.tools_of(id);
    for tool in &all {
        let params = &cx.tool_items[tool.index()].params;
        if let Some(param) = params.iter().find(|param| param.name.node == argument.node) {
            cx.record_use(argument.span, param.name.span, NameKind::Param);
        }
    }
    let tools = all;
    let tools = tools.iter().map(|tool| &cx.chart.tools[tool.index()]);
    let known: Vec<String> =
        tools.flat_map(|tool| &tool.params).map(|param| param.name.clone()).collect();
    if known.contains(&argument.node) {
        return Some((id, argument.node.clone()));
    }
    let what = format!("argument of the tools in `{words}` is named");
    cx.unknown(&what, &argument.node, argument.span, known.iter().map(String::as_str));
    None
}

// Lowers calls of the functions of the language.

/// The name and the function, with the least and the greatest number of arguments.
const BUILTINS: [(&str, Builtin, usize, usize); 38] = [
    ("len", Builtin::Len, 1, 1),
    ("min", Builtin::Min, 1, usize::MAX),
    ("max", Builtin::Max, 1, usize::MAX),
    ("abs", Builtin::Abs, 1, 1),
    ("round", Builtin::Round, 1, 2),
    ("sum", Builtin::Sum, 1, 1),
    ("any", Builtin::Any, 1, 1),
    ("all", Builtin::All, 1, 1),
    ("sort", Builtin::Sorted, 1, 1),
    ("sorted", Builtin::Sorted, 1, 1),
    ("lower", Builtin::Lower, 1, 1),
    ("upper", Builtin::Upper, 1, 1),
    ("concat", Builtin::Concat, 0, usize::MAX),
    ("starts_with", Builtin::StartsWith, 2, 2),
    ("join", Builtin::Join, 2, 2),
    ("split", Builtin::Split, 1, 2),
    ("replace", Builtin::Replace, 3, 3),
    ("str", Builtin::Str, 1, 1),
    ("float", Builtin::Float, 1, 1),
    ("int", Builtin::Int, 1, 1),
    ("bool", Builtin::Bool, 1, 1),
    ("unique", Builtin::Set, 0, 1),
    ("set", Builtin::Set, 0, 1),
    ("get", Builtin::Get, 2, 3),
    ("is_a", Builtin::IsA, 2, 2),
    ("fail", Builtin::Fail, 1, 1),
    ("js_value", Builtin::JsValue, 1, 1),
    ("js_add", Builtin::JsAdd, 2, 2),
    ("js_number", Builtin::JsNumber, 1, 1),
    ("js_text", Builtin::JsText, 1, 1),
    ("js_truth", Builtin::JsTruth, 1, 1),
    ("js_same", Builtin::JsSame, 2, 2),
    ("js_remainder", Builtin::JsRemainder, 2, 2),
    ("js_get", Builtin::JsGet, 2, 2),
    ("js_set", Builtin::JsSet, 3, 3),
    ("js_json", Builtin::JsJson, 1, 1),
    ("js_list", Builtin::JsList, 1, 1),
    ("js_duration", Builtin::JsDuration, 1, 1),
];

/// Names of earlier versions, which are read but not offered.
const EARLIER: [&str; 2] = ["sorted", "set"];

/// Functions that query the machine.
const MACHINE: [&str; 4] = ["in", "turns_in", "streak", "repeated"];

/// The function of this name.
pub(in crate::lower) fn find(name: &str) -> Option<Builtin> {
    BUILTINS.iter().find(|(known, ..)| *known == name).map(|(_, found, ..)| *found)
}

/// The functions of the language, by name.
pub fn names<'n>() -> impl Iterator<Item = &'n str> {
    known().filter(|name| !EARLIER.contains(name))
}

/// The same, with the names of earlier versions.
fn known<'n>() -> impl Iterator<Item = &'n str> {
    BUILTINS.iter().map(|(name, ..)| *name).chain(MACHINE)
}

/// Whether the language has a function of this name.
pub(in crate::lower) fn is_language_function(name: &str) -> bool {
    known().any(|known| known == name)
}

/// Lowers a call of a function of the language.
pub(in crate::lower) fn call_builtin(
    cx: &mut Cx<'_>,
    env: &mut Env,
    builtin: Builtin,
    name: &Ident,
    written: &[syntax::Expr],
    span: Span,
    hint: Option<&Type>,
) -> Expr {
    if !arity_fits(cx, builtin, name, written.len(), span) {
        for argument in written {
            expr(cx, env, argument, None);
        }
        return unknown(&name.node);
    }
    let (arguments, ty) = match builtin {
        Builtin::Len => {
            let sized = |t: &Type| matches!(t, Type::Text | Type::List(_) | Type::Map(_));
            (one(cx, env, name, written, sized, "a text, a list or a map"), Type::Int)
        }
        Builtin::Min | Builtin::Max => return extreme(cx, env, builtin, name, written, hint),
        Builtin::Abs => {
            let arguments = one(cx, env, name, written, is_number, "a number");
            let ty = arguments[0].ty.clone();
            (arguments, ty)
        }
        Builtin::Round => {
            let mut arguments = one(cx, env, name, &written[..1], is_number, "a number");
            let digits = written.get(1).map(|e| expect(cx, env, e, &Type::Int));
            let ty = match (&digits, &arguments[0].ty) {
                (None, _) => Type::Int,
                (Some(_), Type::Json) => Type::Json,
                (Some(_), _) => Type::Float,
            };
            if ty == Type::Float {
                let first = arguments.remove(0);
                arguments.push(literals::coerce(first, &Type::Float).unwrap_or_else(|e| e));
            }
            arguments.extend(digits);
            (arguments, ty)
        }
        Builtin::Sum => {
            let numbers =
                |t: &Type| matches!(t, Type::List(e) if is_number(e) || **e == Type::Json);
            let arguments = one(cx, env, name, written, numbers, "a list of numbers");
            let ty = element(&arguments[0].ty);
            (arguments, ty)
        }
        Builtin::Any | Builtin::All => {
            let bools =
                |t: &Type| matches!(t, Type::List(e) if matches!(**e, Type::Bool | Type::Json));
            (one(cx, env, name, written, bools, "a list of Bool"), Type::Bool)
        }
        Builtin::Sorted => {
            let sortable = |t: &Type| {
                matches!(t, Type::Text | Type::Map(_))
                    || matches!(t, Type::List(e) if is_ordered(e) || **e == Type::Json)
            };
            let arguments = one(cx, env, name, written, sortable, "a list of numbers or texts");
            let ty = Type::List(Box::new(element(&arguments[0].ty)));
            (arguments, ty)
        }
        Builtin::Set => {
            // As in Python, lists, maps and records are no elements of sets.
            let records: Vec<bool> =
                cx.chart.types.iter().map(|ty| matches!(ty.kind, TypeKind::Record(_))).collect();
            let single = |item: &Type| {
                !matches!(item, Type::List(_) | Type::Map(_))
                    && !matches!(item, Type::Named(id) if records[id.index()])
            };
            let lists = |t: &Type| {
                matches!(t, Type::Text | Type::Map(_))
                    || matches!(t, Type::List(item) if single(inner(item)))
            };
            let wanted = "a list of numbers, texts or other single values";
            let arguments = one(cx, env, name, written, lists, wanted);
            let item = arguments.first().map_or(Type::Json, |list| element(&list.ty));
            (arguments, Type::List(Box::new(item)))
        }
        Builtin::Float | Builtin::Int => {
            let convertible = |t: &Type| is_number(t) || matches!(t, Type::Text | Type::Bool);
            let arguments = one(cx, env, name, written, convertible, "a number, a text or a Bool");
            (arguments, if builtin == Builtin::Float { Type::Float } else { Type::Int })
        }
        Builtin::Bool => (written.iter().map(|e| expr(cx, env, e, None)).collect(), Type::Bool),
        Builtin::Get => return get(cx, env, name, written, hint),
        Builtin::IsA => return is_a(cx, env, written),
        Builtin::Fail => {
            let why = written.iter().map(|e| expect(cx, env, e, &Type::Text)).collect();
            (why, hint.map_or(Type::Json, |wanted| inner(wanted).clone()))
        }
        Builtin::JsRemainder => {
            let arguments = one(cx, env, name, written, is_number, "a number");
            let all = |ty: &Type| arguments.iter().all(|a| a.ty == *ty);
            let ty = if all(&Type::Int) {
                Type::Int
            } else if arguments.iter().all(|a| is_number(&a.ty)) {
                Type::Float
            } else {
                Type::Json
            };
            (arguments, ty)
        }
        _ => call_of_texts(cx, env, builtin, name, written),
    };
    of(ExprKind::Builtin(builtin, arguments), ty)
}

/// Lowers the arguments of a function of texts or of ECMAScript, and determines the type of its result.
fn call_of_texts(
    cx: &mut Cx<'_>,
    env: &mut Env,
    builtin: Builtin,
    name: &Ident,
    written: &[syntax::Expr],
) -> (Vec<Expr>, Type) {
    match builtin {
        Builtin::Lower | Builtin::Upper => {
            (one(cx, env, name, written, |t| *t == Type::Text, "a text"), Type::Text)
        }
        Builtin::StartsWith => {
            (written.iter().map(|e| expect(cx, env, e, &Type::Text)).collect(), Type::Bool)
        }
        Builtin::Join => {
            let lists = |t: &Type| matches!(t, Type::List(_));
            let mut arguments = one(cx, env, name, &written[..1], lists, "a list");
            arguments.push(expect(cx, env, &written[1], &Type::Text));
            (arguments, Type::Text)
        }
        Builtin::Split => {
            let arguments = written.iter().map(|e| expect(cx, env, e, &Type::Text)).collect();
            (arguments, Type::List(Box::new(Type::Text)))
        }
        Builtin::Replace => {
            (written.iter().map(|e| expect(cx, env, e, &Type::Text)).collect(), Type::Text)
        }
        Builtin::Concat | Builtin::Str => {
            (written.iter().map(|e| expr(cx, env, e, None)).collect(), Type::Text)
        }
        _ => {
            let any = Some(&Type::Json);
            (written.iter().map(|e| expr(cx, env, e, any)).collect(), script_type(builtin))
        }
    }
}

/// The type of the result of a function of ECMAScript.
fn script_type(builtin: Builtin) -> Type {
    if matches!(builtin, Builtin::JsText | Builtin::JsJson) {
        Type::Text
    } else if matches!(builtin, Builtin::JsTruth | Builtin::JsSame) {
        Type::Bool
    } else if builtin == Builtin::JsDuration {
        Type::Duration
    } else if builtin == Builtin::JsList {
        Type::List(Box::new(Type::Json))
    } else {
        Type::Json
    }
}

fn arity_fits(cx: &mut Cx<'_>, builtin: Builtin, name: &Ident, given: usize, span: Span) -> bool {
    let Some((_, _, least, most)) = BUILTINS.iter().find(|(_, b, ..)| *b == builtin) else {
        return false;
    };
    if (*least..=*most).contains(&given) {
        return true;
    }
    let wanted = match (*least, *most) {
        (1, usize::MAX) => "at least 1 argument".to_owned(),
        (least, usize::MAX) => format!("at least {least} arguments"),
        (1, 1) => "1 argument".to_owned(),
        (least, most) if least == most => format!("{least} arguments"),
        (least, most) => format!("{least} to {most} arguments"),
    };
    let message = format!("`{}` takes {wanted}, {given} given", name.node);
    cx.report(TYPE_ERROR.at(span, message));
    false
}

fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Int | Type::Float)
}

fn is_ordered(ty: &Type) -> bool {
    matches!(ty, Type::Int | Type::Float | Type::Text | Type::Duration)
}

/// The element type of a list, text or map; Json for anything else.
fn element(ty: &Type) -> Type {
    match inner(ty) {
        Type::List(item) => (**item).clone(),
        Type::Text | Type::Map(_) => Type::Text,
        _ => Type::Json,
    }
}

/// Lowers arguments whose types must be Json or satisfy `accepts`.
fn one(
    cx: &mut Cx<'_>,
    env: &mut Env,
    name: &Ident,
    written: &[syntax::Expr],
    accepts: impl Fn(&Type) -> bool,
    wanted: &str,
) -> Vec<Expr> {
    let mut lowered = Vec::new();
    for argument in written {
        let value = expr(cx, env, argument, None);
        let fits = value.ty == Type::Json || accepts(&value.ty) || is_faulty(&value);
        if !fits && !refuse_missing(cx, &value, argument.span) {
            let message =
                format!("`{}` takes {wanted}, found `{}`", name.node, cx.type_name(&value.ty));
            cx.report(TYPE_ERROR.at(argument.span, message));
            lowered.push(unknown(""));
            continue;
        }
        lowered.push(value);
    }
    lowered
}

/// Lowers `min` or `max`, of a list or of several values.
fn extreme(
    cx: &mut Cx<'_>,
    env: &mut Env,
    builtin: Builtin,
    name: &Ident,
    written: &[syntax::Expr],
    hint: Option<&Type>,
) -> Expr {
    if let [list] = written {
        let hint = hint.map(|t| Type::List(Box::new(t.clone())));
        let value = present(cx, env, list, hint.as_ref());
        let fits = value.ty == Type::Json
            || matches!(&value.ty, Type::List(e) if is_ordered(e) || **e == Type::Json);
        if !fits && !is_faulty(&value) && !matches!(value.ty, Type::Optional(_)) {
            let message = format!("`{}` takes a list, or two values and more", name.node);
            let label = format!("this is {}", cx.a(&value.ty));
            cx.report(TYPE_ERROR.at(list.span, message).label(label));
        }
        let ty = element(&value.ty);
        return of(ExprKind::Builtin(builtin, vec![value]), ty);
    }
    let mut values: Vec<Expr> = Vec::new();
    for argument in written {
        let value = present(cx, env, argument, hint);
        let fits = is_ordered(inner(&value.ty)) || *inner(&value.ty) == Type::Json;
        if !fits && !is_faulty(&value) {
            let message = format!("`{}` cannot compare {}", name.node, cx.a(&value.ty));
            cx.report(TYPE_ERROR.at(argument.span, message));
        }
        values.push(value);
    }
    let ty = common(cx, name, &values, written);
    let values =
        values.into_iter().map(|e| literals::coerce(e, &ty).unwrap_or_else(|e| e)).collect();
    of(ExprKind::Builtin(builtin, values), ty)
}

fn common(cx: &mut Cx<'_>, name: &Ident, values: &[Expr], written: &[syntax::Expr]) -> Type {
    let mut ty = values.first().map_or(Type::Json, |first| first.ty.clone());
    for (value, written) in values.iter().zip(written) {
        if value.ty == ty {
            continue;
        }
        ty = match (&ty, &value.ty) {
            (Type::Json, _) | (_, Type::Json) => Type::Json,
            (a, b) if is_number(a) && is_number(b) => Type::Float,
            (a, b) => {
                let (a, b) = (cx.a(a), cx.a(b));
                let message = format!("`{}` cannot compare {a} and {b}", name.node);
                cx.report(TYPE_ERROR.at(written.span, message));
                return Type::Json;
            }
        };
    }
    ty
}

/// Lowers `get(map, key)`, which may find nothing, or `get(map, key, default)`, which always has a value.
fn get(
    cx: &mut Cx<'_>,
    env: &mut Env,
    name: &Ident,
    written: &[syntax::Expr],
    hint: Option<&Type>,
) -> Expr {
    let mut arguments = one(cx, env, name, &written[..1], |t| matches!(t, Type::Map(_)), "a map");
    let value =
        if let Type::Map(value) = &arguments[0].ty { (**value).clone() } else { Type::Json };
    arguments.push(expect(cx, env, &written[1], &Type::Text));
    let ty = match written.get(2) {
        None => super::optional(value),
        Some(default) if value == Type::Json => {
            arguments.push(expr(cx, env, default, hint));
            Type::Json
        }
        Some(default) => {
            let missing = matches!(default.kind, syntax::ExprKind::None);
            let value = if missing { super::optional(value) } else { value };
            arguments.push(expect(cx, env, default, &value));
            value
        }
    };
    of(ExprKind::Builtin(Builtin::Get, arguments), ty)
}

/// The types that charts and agents test with Python's `isinstance`.
const PYTHON_TYPES: [&str; 6] = ["int", "float", "str", "bool", "list", "dict"];

/// Lowers `is_a(x, "int")` or `is_a(x, ["int", "float"])`.
fn is_a(cx: &mut Cx<'_>, env: &mut Env, written: &[syntax::Expr]) -> Expr {
    let value = expr(cx, env, &written[0], None);
    let span = written[1].span;
    let class = expr(cx, env, &written[1], None);
    let one = if let ExprKind::List(items) = &class.kind {
        &items[..]
    } else {
        std::slice::from_ref(&class)
    };
    let texts: Option<Vec<Value>> = one.iter().map(super::value_of).collect();
    let names: Vec<String> = texts.iter().flatten().filter_map(name_of).collect();
    if let Some(name) = names.iter().find(|name| !PYTHON_TYPES.contains(&name.as_str())) {
        cx.unknown("type", name, span, PYTHON_TYPES);
    } else if (names.is_empty() || names.len() < one.len()) && !is_faulty(&class) {
        let finding = TYPE_ERROR
            .at(span, "`is_a` takes the name of a type, or a list of such")
            .help("write `is_a(x, \"int\")`");
        cx.report(finding);
    }
    of(ExprKind::Builtin(Builtin::IsA, vec![value, class]), Type::Bool)
}

fn name_of(value: &Value) -> Option<String> {
    if let Value::Text(name) = value { Some(name.clone()) } else { None }
}
