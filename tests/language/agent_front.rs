//! `agent.yaml` files, from text to model and to `.chart` text.

use chartc::Compilation;
use chartc::load::Memory;
use chartc_compiler::lint::LINTS;
use std::path::{Path, PathBuf};
use test_support::project::{agents, root, shared_agents};

fn own() -> Vec<PathBuf> {
    agents(&root().join("tests/language/fixtures/agents")).expect("the project has its fixtures")
}

pub(crate) fn check(name: &str, text: &str) -> Compilation {
    chartc::check(&[name.to_owned()], &Memory::of(name, text))
}

/// One finding a line: place, code, message, what is underlined, help. Those of lints are left to the lints' tests.
pub(crate) fn findings(compilation: &Compilation) -> String {
    let mut out = String::new();
    let reported = |code: &str| code == "C0103" || !LINTS.iter().any(|lint| lint.rule.code == code);
    for d in compilation.diagnostics.iter().filter(|d| reported(d.rule.code)) {
        let source = compilation.sources.get(d.span.file);
        let at = source.position(d.span.start);
        let (severity, code) = (d.severity.word(), d.rule.code);
        out +=
            &format!("{}:{}:{} {severity} {code} {}", source.name, at.line, at.column, d.message);
        out += &format!("\n    {}\n", source.slice(d.span).replace('\n', "⏎"));
        if let Some(help) = &d.help {
            out += &format!("    help: {help}\n");
        }
    }
    out
}

/// Code that is refused, or no Python at all, is an expression of its own kind, which no chart can say: it is printed as `none`.
fn readable(compilation: &Compilation) -> bool {
    !compilation.diagnostics.iter().any(|d| matches!(d.rule.code, "C0001" | "C0404"))
}

/// The file as a chart lowers to the same model as the file itself.
fn converts_to_the_same(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let first = check("agent.yaml", &text);
    let printed = chartc_compiler::syntax::print::print(&first.files[0]);
    let second = check("agent.chart", &printed);
    let chart = |c: &Compilation| c.lowered.first().map(|l| l.chart.clone());
    let (a, b) = (chart(&first), chart(&second));
    let same = a == b || !readable(&first);
    assert!(same, "{}\n{printed}\n{}", path.display(), first_difference(&a, &b));
    printed
}

/// Where two models part, in a few lines.
pub(crate) fn first_difference(a: &impl std::fmt::Debug, b: &impl std::fmt::Debug) -> String {
    let (a, b) = (format!("{a:#?}"), format!("{b:#?}"));
    let (a, b): (Vec<_>, Vec<_>) = (a.lines().collect(), b.lines().collect());
    let at = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let from = at.saturating_sub(12);
    let part = |all: &[&str]| all[from.min(all.len())..(at + 12).min(all.len())].join("\n");
    format!("--- agent.yaml\n{}\n--- .chart\n{}", part(&a), part(&b))
}

#[test]
fn shared_files_convert() {
    for path in shared_agents().unwrap_or_default() {
        converts_to_the_same(&path);
    }
}

#[test]
fn own_files_convert() {
    let mut charts = 0;
    for path in own() {
        let printed = converts_to_the_same(&path);
        charts += usize::from(!printed.is_empty());
        let name = path.file_stem().expect("a file has a name").to_string_lossy();
        if !printed.is_empty() && name != "faults" && name != "refused" {
            insta::assert_snapshot!(format!("convert_{name}"), printed);
        }
    }
    assert!(charts >= 8);
}

#[test]
fn artifacts_and_methods_keep_their_names() {
    let text = "\
id: a
workflow:
  state_machine:
    states: [x, y, z]
    transitions:
      - {from: x, to: y, condition: {invoke: shop-a, method: open, fallback: false}}
      - {from: x, to: z, condition: {invoke: shop_a, method: open, fallback: false}}
      - {from: y, to: z, condition: {invoke: shop-a, method: open, fallback: false}}
      - {from: y, to: x, condition: {invoke: shop, method: a_open, fallback: false}}
      - {from: z, to: x, condition: {invoke: shop-a, method: open, fallback: true}}
      - {from: z, to: y, condition: {invoke: repeats_one, method: artifact, fallback: false}}
  steps:
    - {name: s, type: code, action: ring-bell, in_state: x, transition_to: y}
    - {name: t, type: code, action: ring_bell, in_state: x}
";
    let done = check("a.yaml", text);
    let functions: Vec<String> = chartc_compiler::syntax::print::print(&done.files[0])
        .lines()
        .filter(|line| line.starts_with("  fn ") || line.starts_with("  do "))
        .map(|line| line.trim().to_owned())
        .collect();
    assert_eq!(
        functions,
        [
            "do ring_bell()",
            "do ring_bell_2()",
            "fn shop_a_open() -> Json from \"shop-a\" \"open\" else false",
            "fn shop_a_open_2() -> Json from \"shop_a\" \"open\" else false",
            "fn shop_a_open_3() -> Json from \"shop\" \"a_open\" else false",
            "fn shop_a_open_4() -> Json from \"shop-a\" \"open\" else true",
            // The name without a number is that of a function which the record decides.
            "fn repeats_one_artifact_2() -> Json from \"repeats_one\" \"artifact\" else false",
        ]
    );
}

#[test]
fn every_comment_is_kept_once() {
    let name = "comments.yaml";
    let text = std::fs::read_to_string(root().join("tests/language/fixtures/agents").join(name));
    let text = text.expect("the fixture can be read");
    let printed = chartc_compiler::syntax::print::print(&check(name, &text).files[0]);
    // Each of them begins with its number.
    let numbers = |text: &str, sign: &str| -> Vec<String> {
        text.split(&format!("{sign} c")).skip(1).map(|rest| rest[..2].to_owned()).collect()
    };
    let (written, mut kept) = (numbers(&text, "#"), numbers(&printed, "//"));
    assert_eq!(written.len(), 36);
    // States stand behind their table, with their steps.
    kept.sort();
    assert_eq!(written, kept, "{printed}");
}

#[test]
fn comments_stay_in_order_where_items_do() {
    let text = "\
# 1
id: a # 2
workflow: # 3
  state_machine:
    initial_state: x # 4
    states: # 5
      - x
      - y
  steps: # 6
    # 7
    - name: look # 8
      type: llm
      in_state: x
      # 9
      prompt: \"#\" # 10
      transition_to: y # 11

    # 12

    # 13
    - name: count # 14
      in_state: y
      code: | # 15
        # 16
        a = \"#\" # 17
        if a: # 18
          b = 1 # 19
          # 20
        # 21
      # 22
#23
#/ 24
";
    let printed = chartc_compiler::syntax::print::print(&check("agent.yaml", text).files[0]);
    let comments: Vec<&str> =
        printed.split("//").skip(1).map(|rest| rest.lines().next().unwrap_or_default()).collect();
    insta::assert_snapshot!("comments_in_order", printed);
    let wanted: Vec<String> = (1..=24).map(|n| n.to_string()).collect();
    let shown: Vec<&str> = comments.iter().map(|c| c.trim_matches([' ', '/', '#'])).collect();
    assert_eq!(shown, wanted);
}

#[test]
fn findings_of_own_files() {
    for path in own() {
        let file = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let found = findings(&check(&file, &text));
        insta::assert_snapshot!(format!("findings_{}", file.replace(".yaml", "")), found);
    }
}

/// Reads, prints and lowers a mutilated file: whatever comes of it, no panic, and the printed chart reads to the same model.
fn survives(text: &str) {
    let first = check("agent.yaml", text);
    let printed = chartc_compiler::syntax::print::print(&first.files[0]);
    let second = check("agent.chart", &printed);
    let chart = |c: &Compilation| c.lowered.first().map(|l| l.chart.clone());
    let (a, b) = (chart(&first), chart(&second));
    let same = a == b || !readable(&first);
    assert!(same, "{text}\n--- prints\n{printed}\n{}", first_difference(&a, &b));
}

#[test]
fn mutilated_files() {
    let rounds: u64 = std::env::var("CHARTC_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(6);
    let mut seed = 1_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below.max(1)
    };
    let bits = [
        "{", "}", "[", "]", "\"", "'", "|", ">", ":", "- ", "\n", "\t", "  ", "#", "&a", "*a", "é",
        "\\", "(", ")", "=", "==", " if ", " else ", " for ", " in ", " and ", " or ", "not ", "`",
        "{{", "}}", "!", "%", "?", "0", "1e9", ".", ",", "\u{0}", "\u{feff}", "->",
    ];
    for path in own() {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        for _ in 0..rounds {
            let mut text: Vec<char> = text.chars().collect();
            for _ in 0..=random(3) {
                let at = random(text.len());
                match random(4) {
                    0 => text.truncate(at),
                    1 => drop(text.remove(at.min(text.len().saturating_sub(1)))),
                    2 => {
                        let (from, len) = (random(text.len()), random(60));
                        let part: Vec<char> = text[from..(from + len).min(text.len())].to_vec();
                        text.splice(at..at, part);
                    }
                    _ => drop(text.splice(at..at, bits[random(bits.len())].chars())),
                }
                if text.is_empty() {
                    break;
                }
            }
            survives(&text.into_iter().collect::<String>());
        }
    }
}

#[test]
fn many_comments_cost_linear_time() {
    let text = |lines: usize| {
        let lines = "# about it\n\n  # more\n".repeat(lines);
        format!(
            "{lines}id: a\nworkflow:\n  steps:\n    - name: b\n      code: |\n        a = 1\n{lines}"
        )
    };
    let kept =
        |lines| chartc_compiler::syntax::print::print(&check("agent.yaml", &text(lines)).files[0]);
    assert_eq!(kept(50_000).matches("// about it").count(), 100_000);
}
