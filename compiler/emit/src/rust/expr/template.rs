//! Writes texts with placeholders.

use super::{Binding, Code, Constant, Fragment, Use, Writer, code};
use chartc_core::model::{Template, TemplatePart, Type};

impl Writer<'_> {
    /// Writes a literal text as it is, and any other text as a block that builds it.
    pub(super) fn text(&mut self, text: &Template) -> Code {
        match text.literal() {
            Some(literal) => {
                let constant = if literal.is_empty() { Constant::Empty } else { Constant::Other };
                Code::lent(format!("{literal:?}"), Type::Text).known(constant)
            }
            None => {
                let body = self.template(text);
                Code::owned(code!("{{ {body} text }}", body), Type::Text).bound(Binding::Block)
            }
        }
    }

    /// Writes statements that leave the text in a variable `text`. `{options}` reads the variable `options`.
    pub(in super::super) fn template(&mut self, template: &Template) -> Fragment {
        let parts = template.parts.iter().map(|part| self.part(part)).collect::<Fragment>();
        if parts.is_empty() {
            return Fragment::from("let text = String::new();\n").using(Use::Allocator);
        }
        code!("let mut text = String::new();\n{parts}", parts).using(Use::Allocator)
    }

    /// Writes statements that append a part to the variable `text`.
    fn part(&mut self, part: &TemplatePart) -> Fragment {
        match part {
            // Each line of the text becomes a line of code.
            TemplatePart::Text(text) => text.split_inclusive('\n').map(push).collect(),
            TemplatePart::Hole { expr, spec } => {
                let code = self.expr(expr);
                if spec.is_empty() && code.ty == Type::Text {
                    return code!("text.push_str({part});\n", part = code.lend());
                }
                let value = self.json(code);
                code!("generated::show(&mut text, &{value}, {spec:?})?;\n", value)
                    .using(Use::Failure)
            }
            TemplatePart::Options => {
                let push = Fragment::from("generated::push_options(&mut text, options)?;\n");
                push.using(Use::Options).using(Use::Failure)
            }
            TemplatePart::Bad(bad) => {
                let why = format!("`{bad}` is no placeholder");
                Fragment::from(format!("generated::fails::<()>({why:?})?;\n")).using(Use::Failure)
            }
        }
    }
}

/// Writes the statement that appends a line.
fn push(line: &str) -> Fragment {
    let mut chars = line.chars();
    match (chars.next(), chars.next()) {
        (Some(one), None) => format!("text.push({one:?});\n").into(),
        _ => format!("text.push_str({line:?});\n").into(),
    }
}
