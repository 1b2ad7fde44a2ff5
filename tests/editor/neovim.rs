//! Neovim, without a window: the package of `editors/neovim`, its colours, and the server under it.

use crate::client::folder;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Neovim 0.11 or later; `None`, with a message, where there is none.
fn neovim() -> Option<PathBuf> {
    let binary = root().join("target/neovim/bin/nvim");
    if binary.exists() {
        return Some(binary);
    }
    eprintln!("skipped, not found: {}", binary.display());
    None
}

/// A home in which the package is installed as `docs/editors.md` says; `None`, with a message, without a C compiler.
fn home(name: &str) -> Option<PathBuf> {
    let home = folder(name);
    let done = Command::new("sh")
        .arg(root().join("editors/neovim/install.sh"))
        .env("HOME", &home)
        .env("XDG_DATA_HOME", home.join(".local/share"))
        .output()
        .expect("a shell runs");
    if !done.status.success() {
        eprintln!("skipped, not found: a C compiler: {}", String::from_utf8_lossy(&done.stderr));
        return None;
    }
    Some(home)
}

/// What a script prints.
fn run(neovim: &Path, home: &Path, script: &str, environment: &[(&str, &Path)]) -> Vec<String> {
    let script = root().join("tests/editor/neovim").join(script);
    // A fault in a script leaves Neovim with a failure; without one it ends by itself.
    let faults = format!(
        "lua local done, why = pcall(dofile, [[{}]]) if not done then print(why) vim.cmd('cquit 1') end",
        script.display()
    );
    let done = Command::new(neovim)
        .args(["--headless", "-c", &faults, "-c", "qall!"])
        .envs(environment.iter().copied())
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home.join(".config"))
        .env("XDG_DATA_HOME", home.join(".local/share"))
        .env("XDG_STATE_HOME", home.join(".local/state"))
        .env("XDG_CACHE_HOME", home.join(".cache"))
        .output()
        .expect("Neovim runs");
    // Without a window, `print` goes to the standard error output.
    let said = [done.stdout, done.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    assert!(done.status.success(), "{said}");
    said.lines().map(|line| line.trim_end().to_owned()).collect()
}

const DOOR: &str = r#"/// A door.
chart Door {
  event open
  initial shut
  state shut {
    on open -> ajar
  }
  state ajar { llm think { prompt "Say {state}" } }
}
"#;

#[test]
fn a_chart_has_its_colours_and_folds() {
    let (Some(neovim), Some(home)) = (neovim(), home("neovim-colours")) else { return };
    let here = folder("neovim-colours-chart");
    std::fs::write(here.join("door.chart"), DOOR).expect("written");
    let said = run(&neovim, &home, "colours.lua", &[("FILE", &here.join("door.chart"))]);
    for line in [
        "filetype chart",
        "commentstring // %s",
        "errors false",
        "1:7 door comment.documentation",
        "2:1 chart keyword",
        "2:7 Door variable type.definition",
        "3:9 open variable constant",
        "5:9 shut variable label",
        "6:16 ajar variable label",
        "8:28 prompt keyword",
        "8:36 Say string",
        "8:41 state string variable",
        "fold 1 0",
        "fold 2 1",
        "fold 6 2",
    ] {
        assert!(said.iter().any(|one| one == line), "no {line:?} in {said:#?}");
    }
}

const FAULTY: &str = "/// A door.
chart Door {
  event open
  event shut
      initial closed
  state closed { on opne -> ajar }
  state ajar   { on shut -> closed }
}
";

#[test]
fn the_server_finds_corrects_and_formats() {
    let (Some(neovim), Some(home)) = (neovim(), home("neovim-server")) else { return };
    let here = folder("neovim-server-chart");
    std::fs::write(here.join("door.chart"), FAULTY).expect("written");
    std::fs::write(here.join("chartc.toml"), "").expect("written");
    std::fs::write(here.join("agent.yaml"), "id: x\nwrkflow: {}\n").expect("written");
    std::fs::write(here.join("other.yaml"), "a: 1\n").expect("written");
    let binary = Path::new(env!("CARGO_BIN_EXE_chartc"));
    let said = run(&neovim, &home, "server.lua", &[("CHARTC", binary), ("FOLDER", &here)]);
    for line in [
        "encoding: utf-8",
        "root: found",
        "finding: 6:21 ERROR C0102 no event `opne`",
        "corrected: no finding",
        "definition: line 7",
        "rename: 2 places",
        "  |   initial closed",
        "agent: C0101",
        "other: 0 servers",
        "ended: yes",
    ] {
        assert!(said.iter().any(|one| one == line), "no {line:?} in {said:#?}");
    }
    let behind = |start: &str| {
        let line = said.iter().find_map(|line| line.strip_prefix(start));
        line.unwrap_or_else(|| panic!("no {start:?} in {said:#?}")).to_owned()
    };
    assert!(behind("hover: ").contains("event open"), "{said:#?}");
    let offered = behind("completion: ");
    let offered: Vec<&str> = offered.split(' ').collect();
    assert!(offered.contains(&"ajar") && offered.contains(&"closed"), "{said:#?}");
}
