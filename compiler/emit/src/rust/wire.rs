//! Writes enums of names: `Display` writes a name as spelled in the chart, and `FromStr` reads it; with the feature `serde` of chartc-core,
//! both serve for data, too.

use chartc_core::visible;
use codegen::{Enum, Impl, Scope, Variant};
use std::collections::BTreeSet;

/// An enum without payload, whose variants represent names of the chart.
pub(super) struct Names<'n> {
    /// The name of the Rust type.
    pub name: &'n str,
    /// The documentation of the type.
    pub doc: String,
    /// The kind of thing that is named, such as `state`, for the error of `FromStr`.
    pub what: &'n str,
    /// The id type that a variant's number converts to; `None` for an enum that the chart declares.
    pub id: Option<&'n str>,
    /// The variants, in order.
    pub rows: Vec<WireVariant>,
}

/// A variant of an enum of names.
pub(super) struct WireVariant {
    /// The Rust identifier.
    pub name: String,
    /// The name as spelled in the chart.
    pub wire: String,
    /// The documentation.
    pub doc: String,
    /// The number of the variant's id.
    pub number: usize,
}

/// Adds the enum with `ALL`, `name`, `id`, `Display` and `FromStr`. `FromStr` rejects a name that several variants share.
pub(super) fn emit(scope: &mut Scope, names: &Names<'_>) {
    let mut item = Enum::new(names.name);
    item.vis("pub").doc(&names.doc);
    for derive in ["Debug", "Clone", "Copy", "PartialEq", "Eq", "PartialOrd", "Ord", "Hash"] {
        item.derive(derive);
    }
    for row in &names.rows {
        let mut variant = Variant::new(&row.name);
        variant.doc(&row.doc);
        // `id` converts a variant to its number.
        if names.id.is_some() {
            variant.discriminant(row.number);
        }
        item.push_variant(variant);
    }
    scope.push_enum(item);
    let all: Vec<String> = names.rows.iter().map(|r| format!("Self::{}", r.name)).collect();
    scope.raw(format!(
        "impl {} {{ /// Every {}, in document order.\npub const ALL: [Self; {}] = [{}]; }}",
        names.name,
        visible::line(names.what),
        all.len(),
        all.join(", ")
    ));
    scope.push_impl(inherent(names));
    scope.push_impl(display(names.name, "f.write_str(self.name())"));
    scope.push_impl(from_str(names));
    scope.raw(format!("chartc_core::serde_by_name!({});", names.name));
}

fn inherent(names: &Names<'_>) -> Impl {
    let mut item = Impl::new(names.name);
    let function = item.new_fn("name").vis("pub").set_const(true).ret("&'static str");
    function.doc("As the chart spells it.").arg_self();
    one_of(function, names, |r| format!("{:?}", r.wire));
    if let Some(id) = names.id {
        let function = item.new_fn("id").vis("pub").set_const(true).ret(format!("arena::{id}"));
        function.doc("Its row in the tables of the chart.").arg_self();
        if names.rows.is_empty() {
            function.line("match self {}");
        } else {
            function.line(format!("arena::{id}(self as u32)"));
        }
    }
    item
}

/// Writes a match over all variants.
fn one_of(
    function: &mut codegen::Function,
    names: &Names<'_>,
    arm: impl Fn(&WireVariant) -> String,
) {
    function.line("match self {");
    for row in &names.rows {
        function.line(format!("Self::{} => {},", row.name, arm(row)));
    }
    function.line("}");
}

/// Writes an implementation of `Display` with `body`, which writes to `f`.
pub(super) fn display(name: &str, body: &str) -> Impl {
    let mut item = Impl::new(name);
    item.impl_trait("core::fmt::Display");
    item.new_fn("fmt")
        .arg_ref_self()
        .arg("f", "&mut core::fmt::Formatter<'_>")
        .ret("core::fmt::Result")
        .line(body);
    item
}

fn from_str(names: &Names<'_>) -> Impl {
    let mut item = Impl::new(names.name);
    item.impl_trait("core::str::FromStr");
    item.associate_type("Err", "generated::UnknownName");
    let mut seen = BTreeSet::new();
    let twice: BTreeSet<&str> =
        names.rows.iter().map(|r| r.wire.as_str()).filter(|w| !seen.insert(*w)).collect();
    let once: Vec<_> = names.rows.iter().filter(|r| !twice.contains(r.wire.as_str())).collect();
    let unknown = format!("Err(generated::UnknownName({:?}))", names.what);
    // Rust warns of a match that has only a wildcard arm.
    let argument = if once.is_empty() { "_" } else { "name" };
    let function =
        item.new_fn("from_str").arg(argument, "&str").ret("Result<Self, generated::UnknownName>");
    if once.is_empty() {
        function.line(unknown);
        return item;
    }
    function.line("match name {");
    for row in once {
        function.line(format!("{:?} => Ok(Self::{}),", row.wire, row.name));
    }
    function.line(format!("_ => {unknown},"));
    function.line("}");
    item
}
