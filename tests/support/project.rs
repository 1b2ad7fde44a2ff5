//! What tests read of the project: its files, its charts, and how many random cases to try.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The project's root folder.
pub fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_root = |folder: &&Path| folder.join("Cargo.lock").is_file();
    package.ancestors().find(is_root).expect("the workspace has a lock file")
}

/// A folder of a test's own, empty, in the target folder of the program that runs.
pub fn folder(name: &str) -> PathBuf {
    let program = std::env::current_exe().expect("a test is a program");
    let target = program.ancestors().nth(3).expect("target/PROFILE/deps/PROGRAM");
    let folder = target.join("tmp").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("the folder is the test's own");
    }
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}

/// Waits until something holds, at most a minute and a half, which the slowest machine does not need.
///
/// # Panics
/// It does not hold by then.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(90);
    while !holds() {
        assert!(std::time::Instant::now() < limit, "in vain: {what}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// The text of a file of the project.
pub fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// All files below `folder` whose name ends with `ending`, as paths from the root with `/`, sorted. `target` folders are left out.
pub fn files(folder: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(dir) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries {
            let path: PathBuf = entry.expect("a folder of the project is readable").path();
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
            let name = name.unwrap_or_default();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    open.push(path);
                }
            } else if name.ends_with(ending) {
                let below = path.strip_prefix(root()).expect("found below the root");
                found.push(below.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

/// What `cargo metadata` says of the workspace and the dependencies that this platform uses.
pub fn metadata() -> serde_json::Value {
    metadata_with(&[]).expect("cargo knows the packages that this was built from")
}

/// The same with more arguments for cargo; `None`, with a message, where a package is wanted that was never downloaded.
pub fn metadata_with(more: &[&str]) -> Option<serde_json::Value> {
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let rustc = String::from_utf8(rustc.stdout).expect("rustc prints text");
    let host = rustc.lines().find_map(|l| l.strip_prefix("host: ")).expect("rustc names its host");
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["metadata", "--offline", "--format-version", "1", "--filter-platform", host])
        .args(more)
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && said.contains("--offline") {
        eprintln!("skipped, not found: {said}");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(serde_json::from_slice(&output.stdout).expect("cargo prints JSON"))
}

/// The folder of test data that is read where it is: `CHARTC_SHARED`, else `shared` beside the project. `None`, with a message,
/// where there is none.
pub fn shared() -> Option<PathBuf> {
    let folder =
        std::env::var_os("CHARTC_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped, not found: {}", folder.display());
    None
}

/// The YAML files in a folder, by name.
pub fn agents(folder: &Path) -> Option<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .collect();
    files.sort();
    Some(files)
}

/// The agents of the test data; `None`, with a message, where there are none.
pub fn shared_agents() -> Option<Vec<PathBuf>> {
    let folder = shared()?.join("agent_yaml/files");
    let files = agents(&folder);
    if files.is_none() {
        eprintln!("skipped, not found: {}", folder.display());
    }
    files
}

/// Fenced blocks of a page whose info string is `info`, each with its line number.
pub fn blocks(page: &str, info: &str) -> Vec<(usize, String)> {
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
pub fn flagship() -> String {
    let readme = read("README.md");
    let (_, chart) = readme.split_once("cat > refund.chart <<END\n").expect("README writes it");
    let (chart, _) = chart.split_once("END\n").expect("it ends");
    chart.lines().filter(|l| !l.contains("may settle")).map(|l| format!("{l}\n")).collect()
}

/// Every chart and agent that the project has, with the name it is read under: shipped charts, those of the tests, examples of the
/// docs and of the pages of findings, shared agents.
pub fn corpus() -> Vec<(String, String)> {
    let mut all = crate::cases::charts();
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
pub fn number<N: std::str::FromStr>(name: &str, otherwise: N) -> N {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// How many random cases a test tries: `CHARTC_CASES`, which `.ci/nightly` sets, or this number.
pub fn cases<N: std::str::FromStr>(otherwise: N) -> N {
    number("CHARTC_CASES", otherwise)
}

/// The seeds of random cases: as many as [`cases`], from `CHARTC_SEED` on.
pub fn seeds(most: u64) -> std::ops::Range<u64> {
    let first = number("CHARTC_SEED", 1);
    first..first + cases(most)
}
