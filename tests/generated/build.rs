//! Generates code for every chart that the tests compare, and for odd charts, whose code is only compiled.
#![allow(clippy::disallowed_methods, reason = "a build script reads charts and writes code")]

use chartc::build::generate;
use chartc::load::Memory;
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
    std::fs::write(folder.join("odd.rs"), modules).expect("as before");
}
