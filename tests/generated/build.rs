//! Generates code for every chart that the tests compare, and for odd charts, whose code is only compiled.
#![allow(clippy::disallowed_methods, reason = "a build script reads charts and writes code")]

use chartc::build::generate;
use chartc::load::Memory;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

fn main() {
    for chart in [
        "bells",
        "blocks",
        "doubt",
        "family",
        "flat",
        "flow",
        "grown",
        "lamp",
        "letters",
        "loops",
        "many",
        "names",
        "nested",
        "nightlight",
        "posts",
        "regions",
        "searching",
        "social",
        "tools",
        "walks",
        "words",
    ] {
        chartc::build::compile(&format!("charts/{chart}.chart"));
    }
    for chart in ["hierarchy", "parallel", "ring", "table"] {
        chartc::build::compile(&format!("../bench/charts/{chart}.chart"));
    }
    chartc::build::compile("charts/worker.agent.yaml");
    chartc::build::compile("../../charts/phases.chart");
    chartc::build::compile("../../charts/refunds.scxml");
    chartc::build::compile("../../charts/researcher.chart");
    odd();
}

/// A module for each of the odd charts, in one file. What is wrong with them is no news.
fn odd() {
    let folder = std::env::var("OUT_DIR").expect("cargo says where");
    let folder = Path::new(&folder);
    println!("cargo::rerun-if-changed=charts/odd");
    let files = std::fs::read_dir("charts/odd").expect("the charts can be read");
    let mut files: Vec<_> = files.map(|file| file.expect("as before").path()).collect();
    files.sort();
    let mut modules = String::new();
    for path in files {
        let name = path.file_stem().expect("a chart has a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("as before");
        let made = generate("odd.chart", &Memory::of("odd.chart", &text));
        let code = made.code.unwrap_or_else(|why| panic!("{name}: {why}"));
        std::fs::write(folder.join(format!("odd_{name}.rs")), code)
            .expect("OUT_DIR can be written");
        let _ = writeln!(
            modules,
            "/// `{name}.chart`.\npub mod {name} {{ include!(concat!(env!(\"OUT_DIR\"), \"/odd_{name}.rs\")); }}"
        );
    }
    for (role, text) in roles() {
        let made = generate("names.chart", &Memory::of("names.chart", &text));
        let code = made.code.unwrap_or_else(|why| panic!("{role}: {why}"));
        std::fs::write(folder.join(format!("odd_names_of_{role}.rs")), code)
            .expect("OUT_DIR can be written");
        let _ = writeln!(
            modules,
            "/// Names of Rust as {role}.\npub mod names_of_{role} {{ include!(concat!(env!(\"OUT_DIR\"), \"/odd_names_of_{role}.rs\")); }}"
        );
    }
    std::fs::write(folder.join("odd.rs"), modules).expect("as before");
}

/// Names of Rust's prelude, methods, macros and crates, and names that generated code could use.
const NAMES: &str = "
    Send Sync Unpin Sized Copy Drop Fn FnMut FnOnce AsyncFn AsyncFnMut AsyncFnOnce drop size_of size_of_val align_of Box ToOwned Clone
    PartialEq PartialOrd Eq Ord AsRef AsMut Into From Default Iterator Extend IntoIterator DoubleEndedIterator ExactSizeIterator Option Some
    None Result Ok Err String ToString Vec TryFrom TryInto FromIterator Future IntoFuture Debug Hash Display assert vec println panic derive
    cfg test write char u8 u16 i32 i64 u64 usize f64 into try_into from try_from clone clone_from to_owned to_string iter into_iter borrow
    borrow_mut as_ref as_mut eq ne lt cmp partial_cmp clamp default fmt hash type_id by_ref next poll new ALL COUNT NAMES TABLES START ID LEN
    MAX MIN N core std alloc chartc_core";

/// For each kind of name in a chart, such as states, a chart with all of [`NAMES`].
fn roles() -> Vec<(&'static str, String)> {
    // Of names that are equal in Rust, the first.
    let distinct = |key: &dyn Fn(&str) -> String| {
        let mut seen = BTreeSet::new();
        NAMES.split_whitespace().filter(|name| seen.insert(key(name))).collect::<Vec<_>>()
    };
    let types = distinct(&|name| name.replace('_', "").to_lowercase());
    let values = distinct(&|name| name.to_lowercase());
    let all = |names: &[&str], line: &dyn Fn(usize, &str) -> String| {
        names
            .iter()
            .enumerate()
            .map(|(nth, name)| line(nth, &format!("`{name}`")))
            .collect::<String>()
    };
    let goes = |before: String, lines: String| {
        format!("{before}chart T {{\n  event go\n  var x: Int = 0\n  initial a\n{lines}}}\n")
    };
    let on_go = |actions: String| format!("  state a {{ on go {{ {actions} }} }}\n");
    let vars = |of: &dyn Fn(&str) -> String| {
        all(&types, &|nth, name| format!("  var v{nth}: {}\n", of(name)))
    };
    vec![
        (
            "types",
            goes(
                all(&types, &|_, name| format!("type {name} {{ a: Int }}\n")),
                vars(&|name| format!("{name}? = none"))
                    + &on_go(all(&types, &|nth, name| format!("v{nth} = {name} {{ a: {nth} }} "))),
            ),
        ),
        (
            "enums",
            goes(
                all(&types, &|_, name| format!("enum {name} {{ a b }}\n")),
                vars(&|name| format!("{name} = {name}.a"))
                    + &on_go(all(&types, &|nth, name| format!("v{nth} = {name}.b "))),
            ),
        ),
        (
            "values",
            goes(
                format!(
                    "enum Kind {{ {} }}\ntype Row {{ {} }}\n",
                    all(&types, &|_, name| format!("{name} ")),
                    all(&values, &|_, name| format!("{name}: Int "))
                ),
                "  var k: Kind = Kind.`Send`\n  var r: Row? = none\n".to_owned()
                    + &on_go(
                        all(&types, &|_, name| format!("k = Kind.{name} "))
                            + "r = Row { "
                            + &all(&values, &|nth, name| format!("{name}: {nth} "))
                            + "}",
                    ),
            ),
        ),
        (
            "functions",
            goes(
                String::new(),
                all(&values, &|_, name| format!("  fn {name}(x: Int) -> Int\n"))
                    + &on_go(all(&values, &|_, name| format!("x = {name}(x) "))),
            ),
        ),
        (
            "effects",
            goes(
                String::new(),
                all(&values, &|_, name| format!("  do {name}(x: Int)\n"))
                    + &on_go(all(&values, &|_, name| format!("{name}(x) "))),
            ),
        ),
        (
            "states",
            goes(
                String::new(),
                "  state a { on go -> `Send` }\n".to_owned()
                    + &all(&types, &|nth, name| {
                        let next = types.get(nth + 1).unwrap_or(&"a");
                        format!("  state {name} {{ on go -> `{next}` }}\n")
                    }),
            ),
        ),
        (
            "finals",
            goes(
                String::new(),
                all(&types, &|nth, name| format!("  event e{nth}\n  final {name}\n"))
                    + "  state a { on go -> `Send`\n"
                    + &all(&types, &|nth, name| format!("    on e{nth} -> {name}\n"))
                    + "  }\n",
            ),
        ),
        (
            "events",
            goes(
                String::new(),
                all(&types, &|_, name| format!("  event {name}({name}: Int)\n"))
                    + "  state a {\n"
                    + &all(&types, &|_, name| format!("    on {name}(w) {{ x = w }}\n"))
                    + "  }\n",
            ),
        ),
        (
            "variables",
            goes(
                String::new(),
                all(&values, &|nth, name| {
                    format!("  {} {name}: Int = {nth}\n", ["var", "param", "input"][nth % 3])
                }) + &on_go(all(&values, &|nth, name| {
                    if nth % 3 == 0 { format!("{name} = {name} + 1 ") } else { String::new() }
                })),
            ),
        ),
        (
            "options",
            goes(
                String::new(),
                "  state a { ask pick on turn else stay { prompt \"Which? {options}\" } }\n"
                    .to_owned()
                    + "  state b { on go -> a }\n"
                    + &all(&types, &|nth, name| format!("  may {name} \"do {nth}\" -> b\n")),
            ),
        ),
        (
            "steps",
            goes(
                String::new(),
                "  var t: Text = \"\"\n  state a { on go -> s0 }\n".to_owned()
                    + &all(&types, &|nth, name| {
                        format!(
                            "  state s{nth} {{ llm {name} {{ prompt \"\"\"x\"\"\" returns Text into t }} }}\n"
                        )
                    }),
            ),
        ),
    ]
}
