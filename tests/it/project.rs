//! What tests read of the project: its files, its charts, and how many random cases to try.

#[path = "../house/project.rs"]
#[allow(dead_code, reason = "only the tests of the book, which is of the default build, ask cargo")]
mod own;

pub(crate) use own::*;

use std::path::PathBuf;

/// The folder of test data that is read where it is: `CHARTC_SHARED`, else `shared` beside the project. `None`, with a message,
/// where there is none.
pub(crate) fn shared() -> Option<PathBuf> {
    let folder =
        std::env::var_os("CHARTC_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped, not found: {}", folder.display());
    None
}

/// Fenced blocks of a page whose info string is `info`, each with its line number.
pub(crate) fn blocks(page: &str, info: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, bool, String)> = None;
    for (n, line) in page.lines().enumerate() {
        match &mut open {
            None => {
                if let Some(word) = line.strip_prefix("```") {
                    open = Some((n + 1, word == info, String::new()));
                }
            }
            Some((start, wanted, text)) if line == "```" => {
                if *wanted {
                    found.push((*start, std::mem::take(text)));
                }
                open = None;
            }
            Some((_, _, text)) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    found
}

/// The chart of README, after the option that breaks its property has been removed.
pub(crate) fn flagship() -> String {
    let readme = read("README.md");
    let (_, chart) = readme.split_once("cat > refund.chart <<END\n").expect("README writes it");
    let (chart, _) = chart.split_once("END\n").expect("it ends");
    chart.lines().filter(|l| !l.contains("may settle")).map(|l| format!("{l}\n")).collect()
}

/// Every chart and agent that the project has, with the name it is read under: shipped charts, those of the tests, examples of the
/// docs and of the pages of findings, shared agents.
pub(crate) fn corpus() -> Vec<(String, String)> {
    let mut all = crate::behaviour::charts();
    for folder in ["charts", "compiler", "examples", "src", "tests"] {
        let agents = if folder == "tests" { ".yaml" } else { "agent.yaml" };
        for path in files(folder, ".chart").into_iter().chain(files(folder, agents)) {
            let text = read(&path);
            all.push((path, text));
        }
    }
    let pages = files("docs", ".md").into_iter().chain(files("src/compiler/rules", ".md"));
    for page in pages.chain(["README.md".to_owned()]) {
        let text = read(&page);
        for info in ["chart", "chart good", "chart bad", "yaml good", "yaml bad"] {
            let ending = if info.starts_with("yaml") { "agent.yaml" } else { "chart" };
            for (line, block) in blocks(&text, info) {
                all.push((format!("{page}.{line}.{ending}"), block));
            }
        }
    }
    if let Some(shared) = shared() {
        let folder = shared.join("agent_yaml/files");
        let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
            .map(|entries| entries.flatten().map(|e| e.path()).collect())
            .unwrap_or_default();
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(&path).expect("the shared agents are texts");
            all.push((path.to_string_lossy().into_owned(), text));
        }
    }
    all
}

/// The number in this environment variable; `otherwise` without it.
pub(crate) fn number<N: std::str::FromStr>(name: &str, otherwise: N) -> N {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// How many random cases a test tries: `CHARTC_CASES`, which `.ci/nightly` sets, or this number.
pub(crate) fn cases<N: std::str::FromStr>(otherwise: N) -> N {
    number("CHARTC_CASES", otherwise)
}

/// The seeds of random cases: as many as [`cases`], from `CHARTC_SEED` on.
pub(crate) fn seeds(most: u64) -> std::ops::Range<u64> {
    let first = number("CHARTC_SEED", 1);
    first..first + cases(most)
}
