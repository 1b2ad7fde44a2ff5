//! What serialised types are called in files: the names of their fields and variants. Every later version has to read a stored run, a trace
//! or a cassette of today: a field may get another name in Rust, and not in files.
//!
//! A type's own name is in no file, so the listing does not have it, and renaming a type changes nothing here.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Fields, Item, Meta};
use test_support::project::{files, read};

#[test]
fn fields_have_the_names_that_files_have() {
    let mut lines = Vec::new();
    for folder in ["src", "compiler", "runtime"] {
        let is_product = |file: &&String| !file.contains("/tests/") && !file.ends_with("tests.rs");
        for file in files(folder, ".rs").iter().filter(is_product) {
            let parsed = syn::parse_file(&read(file));
            shapes(&parsed.unwrap_or_else(|e| panic!("{file} is no Rust: {e}")).items, &mut lines);
        }
    }
    lines.sort();
    assert!(lines.len() > 150, "{} serialised types are found", lines.len());
    insta::assert_snapshot!("formats", lines.join("\n"));
}

/// A line for each serialised type.
fn shapes(items: &[Item], lines: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Mod(inner) if inner.ident != "tests" => {
                let content = inner.content.as_ref().map(|(_, items)| items.as_slice());
                shapes(content.unwrap_or_default(), lines);
            }
            Item::Struct(one) if is_serialised(&one.attrs) => {
                let rules = Rules::of(&one.attrs);
                lines.push(format!("struct{}{}", rules.others, fields(&one.fields, &rules)));
            }
            Item::Enum(one) if is_serialised(&one.attrs) => {
                let rules = Rules::of(&one.attrs);
                let variants = one.variants.iter().map(|variant| {
                    let own = Rules::of(&variant.attrs);
                    let name = own.name(&rules.cased(&variant.ident.to_string()));
                    format!(" {name}{}{}", own.others, fields(&variant.fields, &own))
                });
                let variants: Vec<String> = variants.collect();
                lines.push(format!("enum{}{}", rules.others, variants.join(" |")));
            }
            _ => {}
        }
    }
}

fn fields(all: &Fields, of: &Rules) -> String {
    let named = all.iter().map(|field| {
        let own = Rules::of(&field.attrs);
        let name = field.ident.as_ref().map_or("_".to_owned(), ToString::to_string);
        let name = name.strip_prefix("r#").unwrap_or(&name);
        format!("{}{}", own.name(&of.cased_field(name)), own.others)
    });
    let named: Vec<String> = named.collect();
    match all {
        Fields::Named(_) => format!(" {{ {} }}", named.join(", ")),
        Fields::Unnamed(_) => format!("({})", named.join(", ")),
        Fields::Unit => String::new(),
    }
}

/// Whether serde is derived, also under a condition.
fn is_serialised(attributes: &[Attribute]) -> bool {
    fn derives(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(word) => word == "Serialize" || word == "Deserialize",
            TokenTree::Group(group) => derives(group.stream()),
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        })
    }
    let named = |a: &&Attribute| a.path().is_ident("derive") || a.path().is_ident("cfg_attr");
    attributes.iter().filter(named).filter_map(inside).any(derives)
}

fn inside(attribute: &Attribute) -> Option<TokenStream> {
    match &attribute.meta {
        Meta::List(list) => Some(list.tokens.clone()),
        Meta::Path(_) | Meta::NameValue(_) => None,
    }
}

/// What the attributes of serde say of a type, a variant or a field.
#[derive(Default)]
struct Rules {
    rename: Option<String>,
    rename_all: Option<String>,
    /// The others that change what is written or read, as they are listed.
    others: String,
}

impl Rules {
    fn of(attributes: &[Attribute]) -> Self {
        let mut rules = Self::default();
        for attribute in attributes {
            let Some(tokens) = inside(attribute) else { continue };
            if attribute.path().is_ident("serde") {
                rules.add(tokens);
            } else if attribute.path().is_ident("cfg_attr") {
                let mut tokens = tokens.into_iter().peekable();
                while let Some(token) = tokens.next() {
                    if let (TokenTree::Ident(word), Some(TokenTree::Group(group))) =
                        (&token, tokens.peek())
                        && word == "serde"
                    {
                        rules.add(group.stream());
                    }
                }
            }
        }
        rules
    }

    fn add(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_comma =
            |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
        for rule in tokens.split(is_comma).filter(|rule| !rule.is_empty()) {
            let value = rule.get(2).map(|v| v.to_string().trim_matches('"').to_owned());
            match (rule[0].to_string().as_str(), value) {
                ("rename", value) => self.rename = value,
                ("rename_all", value) => self.rename_all = value,
                (word @ ("tag" | "content" | "alias"), Some(value)) => {
                    self.others += &format!(" {word}={value}");
                }
                // Behind these stand names of functions and types, which are in no file.
                (word, _) => self.others += &format!(" {word}"),
            }
        }
    }

    fn name(&self, given: &str) -> String {
        self.rename.clone().unwrap_or_else(|| given.to_owned())
    }

    /// A variant, as `rename_all` spells it.
    fn cased(&self, name: &str) -> String {
        match self.rename_all.as_deref() {
            Some("snake_case") => {
                let mut out = String::new();
                for (at, c) in name.char_indices() {
                    if c.is_uppercase() && at > 0 {
                        out.push('_');
                    }
                    out.extend(c.to_lowercase());
                }
                out
            }
            Some("lowercase") => name.to_lowercase(),
            Some("camelCase") => name[..1].to_lowercase() + &name[1..],
            Some(other) => panic!("rename_all = {other:?} is not known here"),
            None => name.to_owned(),
        }
    }

    /// A field, as `rename_all` spells it.
    fn cased_field(&self, name: &str) -> String {
        match self.rename_all.as_deref() {
            Some("camelCase") => {
                let mut words = name.split('_');
                let first = words.next().unwrap_or_default().to_owned();
                words.fold(first, |out, word| out + &word[..1].to_uppercase() + &word[1..])
            }
            _ => name.to_owned(),
        }
    }
}
