//! What the files of a crate import, read from their tokens, and the cycles among its modules.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use test_support::project::{files, read};

/// Every path that a file names, as segments from the root of its crate (`crate`) or from another crate.
pub(crate) fn paths(file: &str, source_folder: &str) -> Vec<Vec<String>> {
    let tokens: TokenStream =
        read(file).parse().unwrap_or_else(|e| panic!("{file} is no Rust: {e}"));
    let mut found = Vec::new();
    walk(&tokens.into_iter().collect::<Vec<_>>(), &module(file, source_folder), &mut found);
    found
}

/// The files of a package: those of packages below it are not its own.
pub(crate) fn own_files(source_folder: &str) -> Vec<String> {
    let nested: Vec<String> = files(source_folder, "Cargo.toml")
        .iter()
        .filter_map(|manifest| Some(manifest.strip_suffix("Cargo.toml")?.to_owned()))
        .filter(|folder| folder.trim_end_matches('/') != source_folder)
        .collect();
    let own = |file: &String| !nested.iter().any(|folder| file.starts_with(folder.as_str()));
    files(source_folder, ".rs").into_iter().filter(own).collect()
}

/// `src/emit/dot/mod.rs` is module `emit::dot`.
pub(crate) fn module(file: &str, source_folder: &str) -> Vec<String> {
    let below = file.strip_prefix(source_folder).unwrap_or(file).trim_start_matches('/');
    let below = below.trim_end_matches(".rs").trim_end_matches("/mod");
    match below {
        "lib" => Vec::new(),
        _ => below.split('/').map(String::from).collect(),
    }
}

fn ident(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(i)) => Some(i.to_string()),
        _ => None,
    }
}

fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    (at..at + 2).all(|i| matches!(tokens.get(i), Some(TokenTree::Punct(p)) if p.as_char() == ':'))
}

fn walk(tokens: &[TokenTree], module: &[String], found: &mut Vec<Vec<String>>) {
    let mut at = 0;
    while at < tokens.len() {
        if let (Some("mod"), Some(name), Some(TokenTree::Group(body))) =
            (ident(tokens.get(at)).as_deref(), ident(tokens.get(at + 1)), tokens.get(at + 2))
        {
            if !name.ends_with("tests") {
                let inner = [module, &[name]].concat();
                walk(&body.stream().into_iter().collect::<Vec<_>>(), &inner, found);
            }
            at += 3;
            continue;
        }
        match &tokens[at] {
            // `pub(super)` and `pub(in …)` name a module, but import nothing from it.
            TokenTree::Ident(word) if word == "pub" => {
                let is_restricted = matches!(tokens.get(at + 1), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis);
                at += if is_restricted { 2 } else { 1 };
            }
            TokenTree::Ident(_) if at < 2 || !is_separator(tokens, at - 2) => {
                at = path(tokens, at, Vec::new(), module, found);
            }
            TokenTree::Group(group) => {
                walk(&group.stream().into_iter().collect::<Vec<_>>(), module, found);
                at += 1;
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => at += 1,
        }
    }
}

/// Reads the path (or the tree of a `use`) that starts at `at`, and gives the index behind it.
fn path(
    tokens: &[TokenTree],
    mut at: usize,
    mut segments: Vec<String>,
    module: &[String],
    found: &mut Vec<Vec<String>>,
) -> usize {
    if ident(tokens.get(at)).is_none() {
        return at;
    }
    while let Some(name) = ident(tokens.get(at)) {
        segments.push(name);
        at += 1;
        if !is_separator(tokens, at) {
            break;
        }
        at += 2;
        if let Some(TokenTree::Group(group)) = tokens.get(at)
            && group.delimiter() == Delimiter::Brace
        {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            let mut i = 0;
            while i < inner.len() {
                i = path(&inner, i, segments.clone(), module, found).max(i + 1);
            }
            return at + 1;
        }
    }
    let supers = segments.iter().take_while(|s| *s == "super").count();
    let absolute = match segments.first().map(String::as_str) {
        Some("super") => {
            let above = &module[..module.len().saturating_sub(supers)];
            let mut absolute = vec!["crate".to_string()];
            absolute.extend(above.iter().chain(&segments[supers..]).cloned());
            absolute
        }
        _ => segments,
    };
    if absolute.len() > 1 {
        found.push(absolute);
    }
    at
}

/// Modules by name, each with the siblings that its files name. What a crate re-exports at its root counts as its module's.
pub(crate) fn arrows(source_folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let files = own_files(source_folder);
    let top = |file: &str| module(file, source_folder).into_iter().next();
    let modules: BTreeSet<String> = files.iter().filter_map(|f| top(f)).collect();
    let exported: BTreeMap<String, String> = (files.iter().filter(|f| f.ends_with("/lib.rs")))
        .flat_map(|f| paths(f, source_folder))
        .filter(|path| modules.contains(&path[0]))
        .map(|path| (path[path.len() - 1].clone(), path[0].clone()))
        .collect();
    let mut arrows: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for file in &files {
        let Some(own) = top(file) else { continue };
        let named = (paths(file, source_folder).into_iter())
            .filter(|path| path[0] == "crate")
            .map(|mut path| exported.get(&path[1]).cloned().unwrap_or_else(|| path.remove(1)))
            .filter(|other| modules.contains(other) && *other != own);
        arrows.entry(own.clone()).or_default().extend(named);
    }
    arrows
}

/// A cycle among modules, its first one at both ends; empty where there is none.
pub(crate) fn cycle(arrows: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    fn visit<'a>(
        module: &'a String,
        arrows: &'a BTreeMap<String, BTreeSet<String>>,
        path: &mut Vec<&'a String>,
        done: &mut BTreeSet<&'a String>,
    ) -> Vec<String> {
        if let Some(start) = path.iter().position(|on_path| *on_path == module) {
            return path[start..].iter().copied().chain([module]).cloned().collect();
        }
        if !done.insert(module) {
            return Vec::new();
        }
        path.push(module);
        let found = arrows.get(module).into_iter().flatten();
        let found = found.map(|next| visit(next, arrows, path, done)).find(|c| !c.is_empty());
        path.pop();
        found.unwrap_or_default()
    }
    let (mut path, mut done) = (Vec::new(), BTreeSet::new());
    let found = arrows.keys().map(|module| visit(module, arrows, &mut path, &mut done));
    found.into_iter().find(|cycle| !cycle.is_empty()).unwrap_or_default()
}

/// Groups of files of a crate that import each other, directly or not. A module and those below it may name each other, and do not count;
/// nor do tests.
pub(crate) fn file_cycles(source_folder: &str) -> Vec<Vec<String>> {
    let files: BTreeMap<Vec<String>, String> = own_files(source_folder)
        .into_iter()
        .filter(|file| !file.ends_with("/tests.rs"))
        .map(|file| (module(&file, source_folder), file))
        .collect();
    let named = |own: &Vec<String>, file: &String| -> BTreeSet<Vec<String>> {
        let paths = paths(file, source_folder).into_iter().filter(|path| path[0] == "crate");
        let modules = paths.filter_map(|path| {
            (1..path.len()).rev().map(|end| path[1..=end].to_vec()).find(|m| files.contains_key(m))
        });
        modules.filter(|other| !other.starts_with(own) && !own.starts_with(other)).collect()
    };
    let arrows: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> =
        files.iter().map(|(own, file)| (own, named(own, file))).collect();
    let reached = |from: &Vec<String>| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&Vec<String>> = arrows[from].iter().collect();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(&arrows[next]);
            }
        }
        seen
    };
    let reaches: BTreeMap<_, _> = files.keys().map(|own| (own, reached(own))).collect();
    let mut cycles: Vec<Vec<String>> = Vec::new();
    for (own, seen) in &reaches {
        let cycle: Vec<String> = (seen.iter())
            .filter(|other| reaches[**other].contains(own))
            .map(|other| other.join("::"))
            .collect();
        if !cycle.is_empty() && !cycles.contains(&cycle) {
            cycles.push(cycle);
        }
    }
    cycles
}

/// The files that import from a module above them, each with that module. Such an import runs back up, because the module above declares
/// the file.
pub(crate) fn arrows_up(source_folder: &str) -> BTreeSet<(String, String)> {
    let files: BTreeMap<Vec<String>, String> = own_files(source_folder)
        .into_iter()
        .filter(|file| !file.ends_with("/tests.rs"))
        .map(|file| (module(&file, source_folder), file))
        .collect();
    let mut found = BTreeSet::new();
    for (own, file) in &files {
        for path in paths(file, source_folder).iter().filter(|path| path[0] == "crate") {
            let named = (1..path.len()).rev().map(|end| &path[1..=end]);
            let named = named.map(<[String]>::to_vec).find(|module| files.contains_key(module));
            let above = named.filter(|named| named != own && own.starts_with(named));
            found.extend(above.map(|above| (own.join("::"), above.join("::"))));
        }
    }
    found
}

/// The modules without a row, and the arrows that their rows do not have.
pub(crate) fn directions(source_folder: &str, table: &[(&str, &[&str])]) -> BTreeSet<String> {
    let table: BTreeMap<_, _> = table.iter().copied().collect();
    let mut faults = BTreeSet::new();
    for (own, named) in arrows(source_folder) {
        let Some(may) = table.get(own.as_str()) else {
            faults.insert(format!("{source_folder}: module `{own}` has no row in this test"));
            continue;
        };
        for other in named.iter().filter(|other| !may.contains(&other.as_str())) {
            faults.insert(format!("{source_folder}: `{own}` must not know `{other}`"));
        }
    }
    faults
}

#[test]
fn paths_are_read_from_use_trees_and_expressions() {
    let source = "use super::{a::B, c}; use crate::d; fn f() { crate::e::g(); } mod t { use super::super::h; }";
    let tokens: TokenStream = source.parse().expect("it is Rust");
    let mut found = Vec::new();
    walk(&tokens.into_iter().collect::<Vec<_>>(), &["m".to_string()], &mut found);
    let found: Vec<String> = found.iter().map(|p| p.join("::")).collect();
    assert_eq!(found, ["crate::a::B", "crate::c", "crate::d", "crate::e::g", "crate::h"]);
}
