//! What each crate that others build on makes public, as a listing. A change of it shows as a change of a snapshot.
//!
//! Rustc warns of a `pub` that nobody outside of the crate can name, and CI denies warnings: every `pub` item is part of the listing.

use crate::project::{files, read};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Fields, ImplItem, Item, TraitItem, Type, Visibility};

#[test]
fn public_items_are_as_listed() {
    let crates = [
        ("chartc", "src"),
        ("chartc-core", "runtime/core/src"),
        ("chartc-runtime", "runtime/src"),
        ("chartc-memory", "runtime/memory/src"),
        ("chartc-mcp", "runtime/mcp/src"),
        ("chartc-providers", "runtime/providers/src"),
        ("chartc-store", "runtime/store/src"),
        ("chartc-restate", "runtime/restate/src"),
        ("chartc-serve", "runtime/serve/src"),
        ("chartc-otel", "runtime/otel/src"),
        ("chartc-redis", "runtime/redis/src"),
        ("chartc-world", "runtime/world/src"),
    ];
    for (name, folder) in crates {
        insta::assert_snapshot!(format!("surface_{name}"), listing(folder));
    }
}

/// The public items of a crate, one on each line, sorted; those of a type stand behind its name.
fn listing(folder: &str) -> String {
    let mut lines = Vec::new();
    for file in files(folder, ".rs").iter().filter(|file| !file.ends_with("/tests.rs")) {
        let text = read(file);
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{file} is no Rust: {e}"));
        let module = crate::imports::module(file, folder).join("::");
        items(&parsed.items, &module, &mut lines);
    }
    lines.sort();
    lines.dedup();
    lines.join("\n")
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Tokens with blanks only between words.
fn spelled(tokens: impl ToTokens) -> String {
    let mut out = String::new();
    write(tokens.into_token_stream(), &mut out);
    out
}

fn write(tokens: TokenStream, out: &mut String) {
    for token in tokens {
        let word = match &token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                    proc_macro2::Delimiter::Brace => ("{", "}"),
                    proc_macro2::Delimiter::Bracket => ("[", "]"),
                    proc_macro2::Delimiter::None => ("", ""),
                };
                out.push_str(open);
                write(group.stream(), out);
                out.push_str(close);
                continue;
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => token.to_string(),
        };
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if out.ends_with(is_word) && word.starts_with(is_word) || out.ends_with([',', '=', '>']) {
            out.push(' ');
        }
        out.push_str(&word);
    }
}

fn fields(of: &str, fields: &Fields, every: bool, lines: &mut Vec<String>) {
    for (nth, field) in fields.iter().enumerate().filter(|(_, f)| every || is_public(&f.vis)) {
        let name = field.ident.as_ref().map_or_else(|| nth.to_string(), ToString::to_string);
        lines.push(format!("{of}.{name}: {}", spelled(&field.ty)));
    }
}

fn items(items: &[Item], module: &str, lines: &mut Vec<String>) {
    let path = |name: &dyn std::fmt::Display| match module {
        "" => name.to_string(),
        _ => format!("{module}::{name}"),
    };
    for item in items {
        match item {
            Item::Mod(inner) => {
                if is_public(&inner.vis) {
                    lines.push(format!("{} mod", path(&inner.ident)));
                }
                if let Some((_, content)) =
                    inner.content.as_ref().filter(|_| inner.ident != "tests")
                {
                    self::items(content, &path(&inner.ident), lines);
                }
            }
            Item::Fn(one) if is_public(&one.vis) => {
                lines.push(format!("{} {}", path(&one.sig.ident), spelled(&one.sig)));
            }
            Item::Struct(one) if is_public(&one.vis) => {
                let name = path(&one.ident);
                lines.push(format!("{name} struct{}", spelled(&one.generics)));
                fields(&name, &one.fields, false, lines);
            }
            Item::Enum(one) if is_public(&one.vis) => {
                let name = path(&one.ident);
                lines.push(format!("{name} enum{}", spelled(&one.generics)));
                for variant in &one.variants {
                    let name = format!("{name}::{}", variant.ident);
                    lines.push(format!("{name} variant"));
                    fields(&name, &variant.fields, true, lines);
                }
            }
            Item::Trait(one) if is_public(&one.vis) => {
                let name = path(&one.ident);
                lines.push(format!("{name} trait{}", spelled(&one.generics)));
                for inner in &one.items {
                    match inner {
                        TraitItem::Fn(f) => {
                            let kind = if f.default.is_some() { "provided " } else { "" };
                            let sig = spelled(&f.sig);
                            lines.push(format!("{name}::{} {kind}{sig}", f.sig.ident));
                        }
                        TraitItem::Const(c) => {
                            lines.push(format!("{name}::{}: {}", c.ident, spelled(&c.ty)));
                        }
                        TraitItem::Type(t) => lines.push(format!("{name}::{} type", t.ident)),
                        other => panic!("{module}: {} is not listed", spelled(other)),
                    }
                }
            }
            Item::Const(one) if is_public(&one.vis) => {
                lines.push(format!("{} const: {}", path(&one.ident), spelled(&one.ty)));
            }
            Item::Type(one) if is_public(&one.vis) => {
                lines.push(format!("{} type = {}", path(&one.ident), spelled(&one.ty)));
            }
            Item::Use(one) if is_public(&one.vis) => {
                lines.push(path(&format!("use {}", spelled(&one.tree))));
            }
            Item::Impl(one) => {
                let Type::Path(of) = &*one.self_ty else { continue };
                let of = path(&spelled(of));
                if one.trait_.is_some() {
                    continue;
                }
                for inner in &one.items {
                    match inner {
                        ImplItem::Fn(f) if is_public(&f.vis) => {
                            lines.push(format!("{of}::{} {}", f.sig.ident, spelled(&f.sig)));
                        }
                        ImplItem::Const(c) if is_public(&c.vis) => {
                            lines.push(format!("{of}::{} const: {}", c.ident, spelled(&c.ty)));
                        }
                        _ => {}
                    }
                }
            }
            Item::Macro(one) => {
                let exported = one.attrs.iter().any(|a| a.path().is_ident("macro_export"));
                if let Some(name) = one.ident.as_ref().filter(|_| exported) {
                    lines.push(format!("{name}! macro"));
                }
            }
            _ => {}
        }
    }
}
