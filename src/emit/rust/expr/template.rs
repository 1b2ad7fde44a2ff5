//! Texts with placeholders.

use super::{Code, Writer};
use chartc_core::model::{Template, TemplatePart, Type};

impl Writer<'_> {
    /// A literal as it is, anything else as a block that builds it.
    pub(super) fn text(&self, text: &Template) -> Code {
        match text.literal() {
            Some(literal) => Code::lent(format!("{literal:?}"), Type::Text),
            None => {
                let body = self.template(text);
                Code::owned(format!("{{ {body} text }}"), Type::Text).bound(super::Binding::Block)
            }
        }
    }

    /// Statements that leave the text in a variable `text`. `{options}` reads a variable `options`.
    pub(in super::super) fn template(&self, template: &Template) -> String {
        self.allocates();
        let mut out = "let mut text = String::new();\n".to_owned();
        out.push_str(&self.parts(template));
        out
    }

    /// Statements that append the text to a variable `text`.
    pub(in super::super) fn parts(&self, template: &Template) -> String {
        self.allocates();
        let mut out = String::new();
        for part in &template.parts {
            match part {
                // A line of the text is a line of the code.
                TemplatePart::Text(text) => {
                    for line in text.split_inclusive('\n') {
                        out.push_str(&format!("text.push_str({line:?});\n"));
                    }
                }
                TemplatePart::Hole { expr, spec } => {
                    let code = self.expr(expr);
                    if spec.is_empty() && code.ty == Type::Text {
                        out.push_str(&format!("text.push_str({});\n", code.lend()));
                    } else {
                        let value = self.json(code);
                        out.push_str(&format!(
                            "generated::show(&mut text, &{value}, {spec:?})?;\n"
                        ));
                    }
                }
                TemplatePart::Options => {
                    out.push_str("generated::push_options(&mut text, options)?;\n");
                }
                TemplatePart::Bad(bad) => {
                    let why = format!("`{bad}` is no placeholder");
                    out.push_str(&format!("generated::fails::<()>({why:?})?;\n"));
                }
            }
        }
        out
    }
}
