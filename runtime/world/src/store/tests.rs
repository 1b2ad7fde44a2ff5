//! Checkpoints and calls of a world, files that are damaged, and files of another kind.

#![allow(clippy::disallowed_methods, reason = "folders of the tests' own")]

use super::*;
use std::path::PathBuf;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("chartc-world-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&path));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("s.db")
    }

    fn store(&self) -> WorldStore {
        WorldStore::own(&self.file(), Safety::Process).expect("a store")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn checkpoint(number: u64, agents: &[(&str, Option<&str>)], log: &[&str]) -> Checkpoint {
    let agents = agents.iter().map(|(name, saved)| ((*name).into(), saved.map(str::to_owned)));
    Checkpoint {
        number,
        now_ms: number * 1000,
        world: None,
        agents: agents.collect(),
        meta: format!("meta {number}"),
        log: log.iter().map(|line| (*line).to_owned()).collect(),
    }
}

#[test]
fn what_is_committed_is_loaded_and_agents_stay_in_their_order() {
    let folder = Folder::new("whole");
    let store = folder.store();
    assert_eq!(store.load().expect("empty"), None);
    assert_eq!(store.given().expect("empty"), None);
    store.begin("{\"seed\":7}").expect("a beginning");
    let why = store.begin("{}").expect_err("twice").to_string();
    assert!(why.ends_with("it has a world already: go on with it, or give another path"), "{why}");
    let first = Checkpoint {
        world: Some("w".into()),
        ..checkpoint(0, &[("zoe", Some("z")), ("ada", Some("a")), ("bob", Some("b"))], &["x", "y"])
    };
    store.commit(&first).expect("a disk");
    store.commit(&checkpoint(3, &[("ada", Some("a2")), ("bob", None)], &["z"])).expect("a disk");
    store.commit(&checkpoint(4, &[("bob", Some("b2"))], &[])).expect("a disk");
    let why = store.commit(&checkpoint(3, &[], &[])).expect_err("an earlier one").to_string();
    assert!(why.ends_with("checkpoint 3 comes after checkpoint 4"), "{why}");
    store.commit(&checkpoint(4, &[], &[])).expect("the end of the same round");
    drop(store);
    let store = folder.store();
    let pair = |name: &str, saved: &str| (name.to_owned(), saved.to_owned());
    let loaded = Loaded {
        number: 4,
        now_ms: 4000,
        world: Some("w".into()),
        agents: vec![pair("zoe", "z"), pair("ada", "a2"), pair("bob", "b2")],
        meta: "meta 4".into(),
        log_lines: 3,
    };
    assert_eq!(store.load().expect("a checkpoint"), Some(loaded));
    assert_eq!(store.given().expect("a beginning").as_deref(), Some("{\"seed\":7}"));
    assert_eq!(store.log(0).expect("lines"), ["x", "y", "z"]);
    assert_eq!(store.log(2).expect("lines"), ["z"]);
    assert_eq!(store.log(9).expect("lines"), [""; 0]);
}

#[test]
fn calls_stay_as_long_as_a_checkpoint_can_need_them() {
    let folder = Folder::new("calls");
    let store = folder.store();
    for id in ["settled", "dropped", "open"] {
        store.call_begun(id, "q").expect("a disk");
    }
    store.call_settled("settled", "a").expect("a disk");
    store.call_dropped("dropped").expect("a disk");
    assert!(store.call_settled("never", "a").is_err());
    let has = |id: &str| store.call(id).expect("it can be read").is_some();
    store.commit(&checkpoint(1, &[], &[])).expect("a disk");
    assert!(has("settled") && has("dropped") && has("open"), "the agent may not have noticed");
    let kept = KeptCall { question: "q".into(), answer: Some("a".into()) };
    assert_eq!(store.call("settled").expect("it can be read"), Some(kept));
    store.commit(&checkpoint(2, &[], &[])).expect("a disk");
    assert!(!has("settled") && !has("dropped") && has("open"));
    store.call_begun("settled", "another").expect("a disk");
    assert_eq!(store.call("settled").expect("it can be read").and_then(|call| call.answer), None);
}

#[test]
fn files_of_another_kind_and_of_another_process_are_refused() {
    let folder = Folder::new("kinds");
    let world = folder.store();
    let said = |why: StoreError| why.to_string();
    let owned = WorldStore::own(&folder.file(), Safety::Process).err().map(said);
    assert!(owned.is_some_and(|why| why.contains("another process goes on")));
    drop(world);
    let path = folder.file().display().to_string();
    let wrong = format!("{path} keeps a world of agents, not single runs: give another path");
    assert_eq!(Store::open(&folder.file()).err().map(said), Some(wrong.clone()));
    assert_eq!(Store::own(&folder.file(), Safety::Process).err().map(said), Some(wrong));
    let runs = folder.0.join("runs.db");
    drop(Store::own(&runs, Safety::Process).expect("a store"));
    for opened in [WorldStore::open(&runs), WorldStore::own(&runs, Safety::Process)] {
        let wrong = format!(
            "{} keeps single runs, not a world of agents: give another path",
            runs.display()
        );
        assert_eq!(opened.err().map(said), Some(wrong));
    }
    let text = folder.0.join("text.db");
    std::fs::write(&text, "no database, but a text that is long enough to be looked at")
        .expect("a disk");
    assert!(matches!(WorldStore::own(&text, Safety::Process), Err(StoreError::Other(_))));
}

#[test]
fn damage_is_told_by_its_part() {
    let folder = Folder::new("damage");
    let store = folder.store();
    let mut first = checkpoint(1, &[("ada", Some("a"))], &["x", "y"]);
    first.world = Some("w".into());
    store.commit(&first).expect("a disk");
    store.call_begun("c", "q").expect("a disk");
    let told = |sql: &str, undo: &str| {
        let execute = |sql| store.store().connection().execute_batch(sql).expect("SQL");
        execute(sql);
        let all = [
            store.load().err().map(|why| why.to_string()),
            store.log(0).err().map(|why| why.to_string()),
            store.call("c").err().map(|why| why.to_string()),
        ];
        execute(undo);
        all.into_iter().flatten().collect::<Vec<_>>().join("\n")
    };
    for (sql, undo, part) in [
        ("UPDATE agent SET saved = 'b'", "UPDATE agent SET saved = 'a'", "an agent is not"),
        ("UPDATE world SET saved = 'v'", "UPDATE world SET saved = 'w'", "the world is not"),
        (
            "UPDATE checkpoint SET now = 0",
            "UPDATE checkpoint SET now = 1000",
            "the checkpoint is not",
        ),
        ("UPDATE call SET question = 'p'", "UPDATE call SET question = 'q'", "a call is not"),
        (
            "UPDATE line SET text = 'z' WHERE seq = 1",
            "UPDATE line SET text = 'x' WHERE seq = 1",
            "a line of the log is not",
        ),
        ("DELETE FROM line WHERE seq = 1", "", "the number of lines of the log is not"),
        ("DELETE FROM agent", "", "the number of agents is not"),
    ] {
        let why = told(sql, undo);
        assert!(why.contains(part), "{sql}: {why}");
    }
}
