//! `agent.yaml` files, from text to model.

use chartc::load::Loader;
use std::path::PathBuf;

struct Files;

impl Loader for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|e| e.to_string())
    }

    fn resolve(&self, _from: &str, name: &str) -> String {
        name.to_owned()
    }
}

fn shared() -> Option<Vec<PathBuf>> {
    let root = std::env::var("CHARTC_SHARED").unwrap_or_else(|_| "../shared".to_owned());
    let folder = PathBuf::from(root).join("agent_yaml/files");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).ok()?.filter_map(|f| Some(f.ok()?.path())).collect();
    files.sort();
    Some(files)
}

#[test]
fn shared_files_lower() {
    let Some(files) = shared() else {
        println!("skipped, not found: the shared agent files");
        return;
    };
    for path in files {
        let name = path.to_string_lossy().into_owned();
        let compiled = chartc::check(&[name], &Files);
        assert_eq!(compiled.lowered.len(), 1, "{}", path.display());
    }
}
