//! Prints expressions and types, with as few parentheses as their meaning needs, and texts and names.

use super::Out;
use crate::syntax::source::Ident;
use crate::syntax::{
    Binding, Ends, Expr, ExprKind, Hole, Param, ParamArgument, Path, Template, TemplatePart,
    TypeExpr, TypeKind, UnaryOp, is_lower_snake, is_reserved, is_upper_camel, is_word,
    placeholder_end,
};
use chartc_core::expr::{Value, format};
use chartc_core::visible;

/// The surroundings of an expression: the indentation of its line, or a placeholder, in which everything stays on one line.
#[derive(Debug, Clone, Copy)]
enum PrintContext {
    Level(usize),
    Hole,
}

/// Prints an expression on a line of indentation `level`.
pub(super) fn expr(expr: &Expr, level: usize) -> String {
    at_least(expr, Binding::If, PrintContext::Level(level))
}

/// Prints arguments in parentheses.
pub(super) fn arguments(all: &[Expr], level: usize) -> String {
    format!("({})", list(all, PrintContext::Level(level)))
}

/// Prints the arguments of a chart that is run, in parentheses.
pub(super) fn params_given(all: &[ParamArgument], level: usize) -> String {
    let given = all.iter().map(|argument| {
        let value = expr(&argument.value, level);
        match &argument.name {
            Some(name) => format!("{}: {value}", lower(&name.node)),
            None => value,
        }
    });
    format!("({})", given.collect::<Vec<_>>().join(", "))
}

/// Prints a placeholder: `{expr:spec}`.
pub(super) fn hole(hole: &Hole) -> String {
    let mut inner = at_least(&hole.expr, Binding::If, PrintContext::Hole);
    // Two braces in a row would stand for one brace of the text.
    if inner.starts_with('{') {
        inner.insert(0, ' ');
    }
    if inner.ends_with('}') {
        inner.push(' ');
    }
    if hole.spec.node.is_empty() {
        return format!("{{{inner}}}");
    }
    format!("{{{inner}:{}}}", hole.spec.node)
}

/// Prints parameters in parentheses: `(a: T, b: T)`.
pub(super) fn params(params: &[Param]) -> String {
    format!("({})", params.iter().map(param).collect::<Vec<_>>().join(", "))
}

/// Prints a parameter: `a: T in 1..9`.
pub(super) fn param(param: &Param) -> String {
    let range = range(param.range.as_ref(), 0);
    format!("{}: {}{range}", lower(&param.name.node), type_expr(&param.ty))
}

/// Prints a range after a type: ` in 1..9`.
pub(super) fn range(ends: Option<&Ends>, level: usize) -> String {
    ends.map_or_else(String::new, |(from, to)| {
        format!(" in {}..{}", expr(from, level), expr(to, level))
    })
}

/// Prints a type.
pub(super) fn type_expr(ty: &TypeExpr) -> String {
    match &ty.kind {
        TypeKind::Name(name) => upper(name),
        TypeKind::List(item) => format!("List({})", type_expr(item)),
        TypeKind::Map(key, value) => format!("Map({}, {})", type_expr(key), type_expr(value)),
        TypeKind::Optional(inner) => format!("{}?", type_expr(inner)),
    }
}

fn binding(expr: &Expr) -> Binding {
    match &expr.kind {
        ExprKind::If(..) => Binding::If,
        ExprKind::Binary(op, ..) => op.binding(),
        ExprKind::Unary(UnaryOp::Not, _) => Binding::Not,
        ExprKind::Compare(..) => Binding::Compare,
        ExprKind::Default(..) => Binding::Default,
        ExprKind::Unary(UnaryOp::Negate, _) => Binding::Sign,
        ExprKind::Int(value) if *value < 0 => Binding::Sign,
        ExprKind::Float(value) if value.is_sign_negative() && value.is_finite() => Binding::Sign,
        _ => Binding::Whole,
    }
}

/// Prints an expression, in parentheses if it binds less tightly than `least`.
fn at_least(expr: &Expr, least: Binding, at: PrintContext) -> String {
    let text = bare(expr, at);
    if binding(expr) < least { format!("({text})") } else { text }
}

fn list(all: &[Expr], at: PrintContext) -> String {
    all.iter().map(|e| at_least(e, Binding::If, at)).collect::<Vec<_>>().join(", ")
}

fn bare(expr: &Expr, at: PrintContext) -> String {
    let whole = |e: &Expr| at_least(e, Binding::If, at);
    let tight = |e: &Expr| at_least(e, Binding::Whole, at);
    match &expr.kind {
        ExprKind::None => "none".to_owned(),
        // An empty name, which the parser reports as a missing expression.
        ExprKind::Bad => "``".to_owned(),
        ExprKind::Bool(value) => value.to_string(),
        // The digits of the least integer do not fit without their sign.
        ExprKind::Int(i64::MIN) => format!("({} - 1)", i64::MIN + 1),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::GroupedInt(value) => {
            format::format(&Value::Int(*value), "_").unwrap_or_else(|_| value.to_string())
        }
        ExprKind::Float(value) => float(*value),
        ExprKind::Text(text) => match at {
            PrintContext::Level(level) => template(text, level),
            PrintContext::Hole => line(text),
        },
        ExprKind::Duration(value) => duration(*value),
        ExprKind::Name(name) => lower(name),
        ExprKind::Field(of, name) => {
            let of = if let ExprKind::Name(of) = &of.kind { word(of) } else { tight(of) };
            format!("{of}.{}", lower(&name.node))
        }
        ExprKind::Index(of, index) => format!("{}[{}]", tight(of), whole(index)),
        ExprKind::Slice(of, from, to) => {
            let end = |e: &Option<Box<Expr>>| e.as_ref().map_or(String::new(), |e| whole(e));
            format!("{}[{}:{}]", tight(of), end(from), end(to))
        }
        ExprKind::Call(name, arguments) => {
            if name.node == "in" {
                // Its argument is the path of a state.
                let states = arguments.iter().map(|of| within_in(of).unwrap_or_else(|| whole(of)));
                return format!("in({})", states.collect::<Vec<_>>().join(", "));
            }
            format!("{}({})", lower(&name.node), list(arguments, at))
        }
        ExprKind::Unary(UnaryOp::Not, of) => format!("not {}", at_least(of, Binding::Not, at)),
        ExprKind::Unary(UnaryOp::Negate, of) => format!("-{}", at_least(of, Binding::Sign, at)),
        ExprKind::Binary(op, left, right) => {
            let (to_left, to_right) = op.operands();
            let (left, right) = (at_least(left, to_left, at), at_least(right, to_right, at));
            format!("{left} {} {right}", op.word())
        }
        ExprKind::Compare(first, rest) => {
            let mut out = at_least(first, Binding::Default, at);
            for (op, next) in rest {
                out.push_str(&format!(" {} {}", op.word(), at_least(next, Binding::Default, at)));
            }
            out
        }
        ExprKind::If(test, then, otherwise) => {
            let (test, then) = (at_least(test, Binding::Or, at), at_least(then, Binding::Or, at));
            format!("if {test} then {then} else {}", whole(otherwise))
        }
        ExprKind::Default(value, default) => {
            let value = at_least(value, Binding::Sum, at);
            format!("{value} ?? {}", at_least(default, Binding::Default, at))
        }
        ExprKind::List(items) => format!("[{}]", list(items, at)),
        ExprKind::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|e| format!("{}: {}", whole(&e.key), whole(&e.value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        ExprKind::Record(name, fields) if fields.is_empty() => {
            format!("{} {{ }}", word(&name.node))
        }
        ExprKind::Record(name, fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(n, e)| format!("{}: {}", lower(&n.node), whole(e))).collect();
            format!("{} {{ {} }}", upper(&name.node), fields.join(", "))
        }
        ExprKind::Comprehension { .. } | ExprKind::Flattened(_) => {
            let (mut item, mut sources) = (expr, String::new());
            // A comprehension that is an item of one that is not flattened has brackets of its own.
            let mut is_part = true;
            while is_part {
                let (outer, is_flat) = match &item.kind {
                    ExprKind::Flattened(outer) => (&**outer, true),
                    _ => (item, false),
                };
                let ExprKind::Comprehension { item: inner, name, source, filter } = &outer.kind
                else {
                    break;
                };
                let filter = filter.as_ref().map_or(String::new(), |f| format!(" if {}", whole(f)));
                sources += &format!(" for {} in {}{filter}", lower(&name.node), whole(source));
                (item, is_part) = (inner, is_flat);
            }
            format!("[{}{sources}]", whole(item))
        }
    }
}

/// Prints an expression that is the path of a state.
fn within_in(of: &Expr) -> Option<String> {
    match &of.kind {
        ExprKind::Name(name) => Some(state_name(name)),
        ExprKind::Field(of, name) => Some(format!("{}.{}", within_in(of)?, state_name(&name.node))),
        _ => None,
    }
}

/// Prints a name before a dot, which may be the name of a type or of anything else.
fn word(name: &str) -> String {
    let plain = (is_upper_camel(name) || is_lower_snake(name)) && !is_reserved(name);
    if plain { name.to_owned() } else { quote(name) }
}

/// Prints a number with a point or an exponent; infinity and NaN are calls.
pub(super) fn float(value: f64) -> String {
    if value.is_finite() {
        return format!("{value:?}");
    }
    let word = if value.is_nan() {
        "nan"
    } else if value > 0.0 {
        "inf"
    } else {
        "-inf"
    };
    format!("float(\"{word}\")")
}

/// Prints milliseconds in the largest unit that divides them. One minute is `60s`, and one or two days are `24h` or `48h`.
pub(super) fn duration(ms: u64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let few = |size: u64| (size == 60_000 && ms == size) || (size == 86_400_000 && ms < 3 * size);
    let fits = |size: u64| ms > 0 && ms.is_multiple_of(size) && !few(size);
    let unit = units.into_iter().find(|(size, _)| fits(*size));
    unit.map_or_else(|| format!("{ms}ms"), |(size, word)| format!("{}{word}", ms / size))
}

// Prints texts and names.

/// Prints a name of anything except a type or a chart.
pub(super) fn lower(name: &str) -> String {
    if is_lower_snake(name) && !is_reserved(name) { name.to_owned() } else { quote(name) }
}

/// Prints the name of a type or a chart.
pub(super) fn upper(name: &str) -> String {
    if is_upper_camel(name) { name.to_owned() } else { quote(name) }
}

/// Prints a name in back-quotes.
pub(super) fn quote(name: &str) -> String {
    let mut out = String::from("`");
    within(name, &mut out, |c, out| match c {
        '`' => out.push_str("\\`"),
        '"' | '{' | '}' => visible::escape(c, out),
        c => out.push(c),
    });
    out.push('`');
    out
}

/// Prints a dotted name.
pub(super) fn path(path: &Path) -> String {
    path.names.iter().map(|n| lower(&n.node)).collect::<Vec<_>>().join(".")
}

/// Prints the name of a state: any word, because states keep the names that other formats gave them.
pub(super) fn state_name(name: &str) -> String {
    if is_word(name) && !is_reserved(name) { name.to_owned() } else { quote(name) }
}

/// Prints the path of a state.
pub(super) fn state_path(path: &Path) -> String {
    path.names.iter().map(|n| state_name(&n.node)).collect::<Vec<_>>().join(".")
}

/// Prints names, separated by commas.
pub(super) fn names(names: &[Ident]) -> String {
    names.iter().map(|n| lower(&n.node)).collect::<Vec<_>>().join(", ")
}

/// Prints the contents of a quoted text: hidden characters become escapes, and `plain` writes the others.
fn within(text: &str, out: &mut String, plain: impl Fn(char, &mut String)) {
    let mut hidden = visible::hidden(text).map(|(at, _)| at).peekable();
    for (at, c) in text.char_indices() {
        if hidden.next_if_eq(&at).is_some() || matches!(c, '\n' | '\t') {
            visible::escape(c, out);
        } else if c == '\\' {
            out.push_str("\\\\");
        } else {
            plain(c, out);
        }
    }
}

/// Prints a text without placeholders, on one line.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::from("\"");
    within(text, &mut out, |c, out| match c {
        '"' => out.push_str("\\\""),
        c => out.push(c),
    });
    out.push('"');
    out
}

/// Prints a text on a line of indentation `level`.
pub(super) fn template(template: &Template, level: usize) -> String {
    if template.block
        && let Some(block) = block(template, level)
    {
        return block;
    }
    line(template)
}

/// Prints a text on one line: `"…"`.
pub(super) fn line(template: &Template) -> String {
    let mut out = String::from("\"");
    for part in &template.parts {
        match part {
            TemplatePart::Text(text, _) => within(text, &mut out, |c, out| match c {
                '"' => out.push_str("\\\""),
                '{' => out.push_str("{{"),
                '}' => out.push_str("}}"),
                c => out.push(c),
            }),
            TemplatePart::Hole(inner) => {
                let inner = hole(inner);
                let is_plain = placeholder_end(inner.as_bytes(), 0, &mut Vec::new());
                let is_plain = is_plain == Some(inner.len());
                out.push_str(&if is_plain { inner } else { within_quotes(&inner) });
            }
            TemplatePart::Bad { text, .. } => out.push_str(&within_quotes(text)),
        }
    }
    out.push('"');
    out
}

/// Escapes the contents of braces in a one-line text.
fn within_quotes(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ")
}

/// Prints a text as `"""…"""`. `None` if this form cannot contain the text.
fn block(template: &Template, level: usize) -> Option<String> {
    let mut inner = String::new();
    for part in &template.parts {
        match part {
            TemplatePart::Text(text, _) => {
                inner.push_str(&text.replace('{', "{{").replace('}', "}}"));
            }
            TemplatePart::Hole(placeholder) => inner.push_str(&hole(placeholder)),
            TemplatePart::Bad { text, .. } => inner.push_str(text),
        }
    }
    // In a one-line string, a stray `{` would pair with a `}` that belongs to another line.
    let is_stray = template.parts.iter().any(|part| matches!(part, TemplatePart::Bad { .. }));
    let is_hidden = visible::hidden(&inner).next().is_some();
    if inner.contains("\"\"\"") || is_hidden && !is_stray {
        return None;
    }
    let quoted = inner.starts_with('"') || inner.ends_with('"');
    if !inner.contains('\n') && !quoted {
        return Some(format!("\"\"\"{inner}\"\"\""));
    }
    let indent = Out::indent(level + 1);
    let mut out = String::from("\"\"\"\n");
    for line in inner.split('\n') {
        if !line.is_empty() {
            out.push_str(&indent);
            out.push_str(line);
        }
        if line.ends_with('\r') {
            // The parser takes one `\r` as a part of the line end.
            out.push('\r');
        }
        out.push('\n');
    }
    out.push_str(&indent);
    out.push_str("\"\"\"");
    Some(out)
}

/// Prints a text of an `import` or of a client, where braces have no meaning.
pub(super) fn uninterpolated(template: &Template) -> String {
    let text: String = template
        .parts
        .iter()
        .map(|part| match part {
            TemplatePart::Text(text, _) | TemplatePart::Bad { text, .. } => text.clone(),
            TemplatePart::Hole(inner) => hole(inner),
        })
        .collect();
    plain(&text)
}

/// Prints ` renamed_from a, b`, or nothing; `spell` prints a name.
pub(super) fn renamed(from: &[Ident], spell: fn(&str) -> String) -> String {
    if from.is_empty() {
        return String::new();
    }
    let names: Vec<String> = from.iter().map(|name| spell(&name.node)).collect();
    format!(" renamed_from {}", names.join(", "))
}
