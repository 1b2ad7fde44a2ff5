//! Writes the options of a question, as hosts see them.

use super::code::Use;
use super::payload::choice_fields;
use super::program::HostMethods;
use super::{Context, tools};
use chartc_core::arena::ChoiceId;
use codegen::Impl;
use std::fmt::Write;

/// Adds `Machine::options`.
pub(super) fn options(context: &Context<'_>, asked: &HostMethods, item: &mut Impl) {
    let function = item.new_fn("options").arg_mut_self();
    let of_steps = tools::offers(context);
    let used = context.has_choices() || !of_steps.is_empty();
    function.arg(if used { "key" } else { "_key" }, "machine::StepKey").ret("Vec<host::Offer>");
    if !of_steps.is_empty() {
        function.line(of_steps);
    }
    if !context.has_choices() {
        function.line("Vec::new()");
        return;
    }
    let mut arms = String::new();
    for i in 0..context.chart.choices.len() {
        let fields = choice_fields(context, ChoiceId::at(i));
        if !fields.is_empty() {
            let rows: Vec<String> = (fields.iter())
                .map(|f| format!("({:?}.into(), {:?}.into())", f.name, context.written(&f.ty)))
                .collect();
            let _ = writeln!(arms, "{i} => Vec::from([{}]),", rows.join(", "));
        }
    }
    let text = match &asked.option {
        Some(method) => format!(
            "self.engine.with_view(key.leaf, |core, {}| {{
                {}.unwrap_or_else(|why| {{
                    generated::offered(&mut core.notes, &TABLES, choice, why)
                }})
            }}).into()",
            if method.reads(Use::View) { "view" } else { "_" },
            method.call("core", "choice")
        ),
        None => r#""".into()"#.to_owned(),
    };
    let arguments = if arms.is_empty() {
        "Vec::new()".to_owned()
    } else {
        format!("match choice.0 {{ {arms} _ => Vec::new(), }}")
    };
    // The engine is borrowed while it lists the options, so their texts are evaluated afterwards.
    function.line(format!(
        "let mut offers = Vec::new();
        self.engine.options(key, &mut |choice, tool| {{
            generated::add_offer(&mut offers, choice, tool);
        }});
        for offer in &mut offers {{
            let (choice, tool) = (offer.choice, offer.tool);
            let own = ChoiceName::ALL[choice.index()].name();
            offer.name = tool.map_or(own, |tool| TABLES.tools[tool.index()].name).into();
            offer.text = {text};
            offer.arguments = {arguments};
        }}
        offers",
        text = tools::text(context, &text),
        arguments = tools::arguments(context, &arguments),
    ));
}
