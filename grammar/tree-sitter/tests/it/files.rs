//! The charts of the project and of the shared folder.

use std::path::{Path, PathBuf};

/// The project's root folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a file of the project.
pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// All files below a folder whose name ends so, sorted; `target` and hidden folders are left out.
fn below(folder: PathBuf, ending: &str) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder]);
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && name != "node_modules" && !name.starts_with('.') {
                    open.push(path);
                }
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Blocks of a page that begin with three back-quotes and one of these words.
pub(crate) fn blocks(page: &str, infos: &[&str]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((n, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let text: String =
            lines.by_ref().map_while(|(_, l)| (l != "```").then(|| format!("{l}\n"))).collect();
        if infos.contains(&info) {
            found.push((n + 1, text));
        }
    }
    found
}

/// Each chart of the project, with its name.
pub(crate) fn charts() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = (below(root(), ".chart").into_iter())
        .map(|path| (path.display().to_string(), read(&path)))
        .collect();
    let folders = ["docs", "src/compiler/rules"];
    let pages = folders.iter().flat_map(|folder| below(root().join(folder), ".md"));
    for page in pages.chain([root().join("README.md")]) {
        for (line, block) in blocks(&read(&page), &["chart", "chart good", "chart bad"]) {
            all.push((format!("{}, block at {line}", page.display()), block));
        }
    }
    all
}

/// Each chart of the folder of test data: `CHARTC_SHARED`, else `shared` beside the project. Says so where there is none.
pub(crate) fn shared() -> Vec<(String, String)> {
    let folder =
        std::env::var_os("CHARTC_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    if !folder.is_dir() {
        eprintln!("skipped, not found: {}", folder.display());
        return Vec::new();
    }
    (below(folder, ".chart").into_iter())
        .filter_map(|path| Some((path.display().to_string(), std::fs::read_to_string(path).ok()?)))
        .collect()
}

/// Some of the project's charts, of middling length.
pub(crate) fn some() -> &'static [String] {
    static SOME: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    SOME.get_or_init(|| {
        let all = charts().into_iter().map(|(_, text)| text);
        all.filter(|text| (200..6000).contains(&text.len()) && crate::compiles(text)).collect()
    })
}
