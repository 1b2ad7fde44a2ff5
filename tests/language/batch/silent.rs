//! What a program needs to run generated code without a sink.

use super::{Member, made};
use std::fmt::Write;
use syn::{Fields, Item};

/// Whether the methods of the machine take any sink, so that nothing is left of records where it is `()`.
fn is_generic(code: &str) -> bool {
    code.contains("pub fn send<S: machine::Sink")
}

/// The expression that makes a machine nobody listens to, and the items that it needs.
pub(super) fn unheard(member: &Member) -> (String, String) {
    let made = made(member);
    if !is_generic(&member.code) {
        return (format!("told({made})"), String::new());
    }
    let module = &member.module;
    let name = format!("Silent_{module}");
    let items = format!(
        "#[allow(non_camel_case_types)]
        struct {name}({module}::Machine<{module}::ByName<driver::Scripted>>);
        impl driver::silent::Silent for {name} {{
            fn give(&mut self, input: Input<Vec<Value>>, now: u64) -> Option<Receipt> {{
                Some(match input {{
                    Input::Start => self.0.start(now, &mut ()),
                    Input::Turn => self.0.turn(now, &mut ()),
                    Input::Tick => self.0.tick(now, &mut ()),
                    Input::Stop => self.0.stop(now, &mut ()),
                    Input::Answer(..) | Input::Exhausted(..) => return None,
                    Input::Unmade(_) | Input::Warn(_) | Input::Charge(..) => return None,
                    Input::Event(id, values) => {{
                        let mut values = values.into_iter();
                        let event = match id.0 {{ {} _ => return None }};
                        if values.next().is_some() {{ return None; }}
                        self.0.send(event, now, &mut ())
                    }}
                }})
            }}
            fn machine(&mut self) -> &mut dyn chartc_core::host::Machine {{ &mut self.0 }}
        }}\n",
        events(member)
    );
    (format!("unheard({made}, {name})"), items)
}

/// Arms that make each event of its data, read from the code of `enum Event`.
fn events(member: &Member) -> String {
    let file = syn::parse_file(&member.code).expect("generated code parses");
    let event = file.items.iter().find_map(|item| match item {
        Item::Enum(item) if item.ident == "Event" => Some(item),
        _ => None,
    });
    let mut arms = String::new();
    for (i, variant) in event.into_iter().flat_map(|event| &event.variants).enumerate() {
        let _ = write!(arms, "{i} => {}::Event::{}", member.module, variant.ident);
        if let Fields::Named(fields) = &variant.fields {
            let names = fields.named.iter().filter_map(|field| field.ident.as_ref());
            let read = names.map(|name| format!("{name}: driver::silent::field(&mut values)?"));
            let _ = write!(arms, " {{ {} }}", read.collect::<Vec<_>>().join(", "));
        }
        arms.push_str(",\n");
    }
    arms
}

/// What the items and expressions of [`unheard`] use.
pub(super) const SHARED: &str = "
#[allow(unused_imports)]
use chartc_core::{expr::Value, machine::{Input, Receipt}};
fn told<M: chartc_core::host::Machine + 'static, E: std::fmt::Display>(made: Result<M, E>)
    -> driver::Unheard<'static> {
    boxed(made).map(|machine| Box::new(driver::silent::HandledInput(machine)) as _)
}
fn unheard<M, E: std::fmt::Display, S: driver::silent::Silent + 'static>(
    made: Result<M, E>,
    silent: impl FnOnce(M) -> S,
) -> driver::Unheard<'static> {
    match made { Ok(machine) => Ok(Box::new(silent(machine))), Err(why) => Err(why.to_string()) }
}
";
