//! What commands write: whole or not at all.

use super::{CHART, SECRET, folder, run, write};
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const OLD: &str = "what was here before\n";

/// A chart whose runs stop before their end.
const ASKING: &str = "chart B {\n  event e\n  limits { calls 9 }\n  initial a\n  state a {\n    llm s { prompt \"Go on.\" }\n    on e -> f\n  }\n  final f\n}\n\
                      test \"t\" for B { expect at a }\n";

/// A chart with a `check` line that a run refutes.
const REFUTED: &str = "chart C {\n  event e\n  check at_most(0 calls)\n  initial a\n  state a {\n    llm s { prompt \"Go on.\" }\n    on e -> f\n  }\n  final f\n}\n";

/// A disk without room; it is taken away at the end.
struct FullDisk(PathBuf);

impl FullDisk {
    /// `None`, with a message, where disks cannot be mounted.
    fn mount(at: &Path) -> Option<Self> {
        std::fs::create_dir_all(at).expect("the target folder can be written");
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(at).output();
        if !mounted.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: no disk can be mounted here");
            return None;
        }
        Some(Self(at.to_owned()))
    }

    fn fill(&self) {
        let fill = std::fs::write(self.0.join("fill"), vec![b'x'; 1 << 17]);
        assert!(fill.is_err(), "the disk is small");
    }
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// The files of a folder with what they hold.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("it is there").flatten();
    let files = entries.map(|entry| entry.path()).filter(|path| path.is_file());
    files.map(|path| (path.clone(), std::fs::read(&path).expect("it is there"))).collect()
}

#[test]
fn a_full_disk_takes_no_file_away() {
    let folder = folder("full");
    write(&folder.join("a.chart"), CHART);
    write(&folder.join("b.chart"), ASKING);
    write(&folder.join("c.chart"), REFUTED);
    let Some(disk) = FullDisk::mount(&folder.join("disk")) else { return };
    let unformatted = CHART.replace("  event", "        event");
    write(&disk.0.join("fmt.chart"), &unformatted);
    for file in ["out.rs", "out.dot", "out.txt", "out.xml", "out.json"] {
        write(&disk.0.join(file), OLD);
    }
    std::fs::create_dir(disk.0.join("folder")).expect("there is room yet");
    disk.fill();
    let before = contents(&disk.0);
    for (arguments, named) in [
        (&["fmt", "disk/fmt.chart"][..], "disk/fmt.chart"),
        (&["fmt", "disk"], "disk/fmt.chart"),
        (&["build", "a.chart", "-o", "disk/out.rs"], "disk/out.rs"),
        (&["build", "a.chart", "-o", "disk/new.rs"], "disk/new.rs"),
        (&["graph", "a.chart", "-o", "disk/out.dot"], "disk/out.dot"),
        (&["convert", "a.chart", "-o", "disk/out.txt"], "disk/out.txt"),
        (&["test", "b.chart", "--junit", "disk/out.xml"], "disk/out.xml"),
        (&["new", "agent", "--dir", "disk"], "disk/agent.chart"),
        (&["check", "c.chart", "--witness", "disk/folder"], "disk/folder/"),
        (&["run", "a.chart", "--snapshot", "disk/out.json"], "disk/out.json"),
        (&["run", "a.chart", "--trace", "disk/new.jsonl"], "disk/new.jsonl"),
        (&["run", "b.chart", "--llm", "first", "--record", "disk/folder"], "disk/folder/"),
    ] {
        let (code, said) = run(&folder, arguments);
        assert!(matches!(code, Some(1 | 2)), "{arguments:?}: {code:?} {said}");
        let message = format!("cannot write {named}");
        assert!(said.contains(&message) && said.contains("No space"), "{arguments:?}: {said}");
        let _ = std::fs::remove_file(disk.0.join("new.jsonl"));
        assert_eq!(contents(&disk.0), before, "{arguments:?}");
        assert!(contents(&disk.0.join("folder")).is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_device_that_is_full_is_named() {
    let folder = folder("full-device");
    write(&folder.join("a.chart"), CHART);
    for arguments in [
        &["build", "a.chart", "-o", "/dev/full"][..],
        &["graph", "a.chart", "-o", "/dev/full"],
        &["convert", "a.chart", "-o", "/dev/full"],
        &["run", "a.chart", "--snapshot", "/dev/full"],
        &["run", "a.chart", "--trace", "/dev/full"],
    ] {
        let (code, said) = run(&folder, arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {said}");
        assert!(said.contains("cannot write /dev/full: No space"), "{arguments:?}: {said}");
    }
}

#[test]
fn what_is_written_keeps_its_mode_and_its_links() {
    let folder = folder("modes");
    write(&folder.join("a.chart"), &CHART.replace("  event", "        event"));
    let real = folder.join("lib/real.chart");
    write(&real, &CHART.replace("  event", "        event"));
    for file in [&folder.join("a.chart"), &real] {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o640)).expect("as before");
    }
    symlink("lib/real.chart", folder.join("link.chart")).expect("links can be made");
    assert_eq!(run(&folder, &["fmt", "a.chart", "link.chart"]), (Some(0), String::new()));
    for file in [&folder.join("a.chart"), &real] {
        assert_eq!(std::fs::read_to_string(file).expect("it is there"), CHART);
        let mode = std::fs::metadata(file).expect("it is there").mode();
        assert_eq!(mode & 0o7777, 0o640, "{}", file.display());
    }
    assert!(folder.join("link.chart").is_symlink());
    assert_eq!(run(&folder, &["build", "a.chart", "-o", "new.rs"]).0, Some(0));
    write(&folder.join("plain"), "");
    let mode = |file: &str| std::fs::metadata(folder.join(file)).expect("it is there").mode();
    assert_eq!(mode("new.rs"), mode("plain"), "a new file has the mode that any has");
    let left: Vec<_> = contents(&folder).into_keys().collect();
    assert!(left.iter().all(|file| file.extension().is_none_or(|e| e != "part")), "{left:?}");
}

#[test]
fn a_link_out_of_the_project_is_not_written_through() {
    let around = folder("out-link");
    let folder = around.join("p");
    write(&folder.join("chartc.toml"), "");
    write(&folder.join("a.chart"), CHART);
    write(&around.join("outside"), SECRET);
    symlink("../outside", folder.join("out.rs")).expect("links can be made");
    symlink("circle", folder.join("circle")).expect("links can be made");
    symlink("inside.rs", folder.join("new.rs")).expect("links can be made");
    for (target, code) in [("out.rs", 2), ("circle", 2), (".", 2), ("no/out.rs", 2), ("new.rs", 0)]
    {
        for arguments in
            [&["build", "a.chart", "-o", target][..], &["run", "a.chart", "--trace", target]]
        {
            let (exit, said) = run(&folder, arguments);
            assert_eq!(exit, Some(code), "{arguments:?}: {said}");
            assert!(code == 0 || said.contains(&format!("cannot write {target}")), "{said}");
        }
    }
    assert_eq!(std::fs::read_to_string(around.join("outside")).expect("as before"), SECRET);
    assert!(folder.join("inside.rs").is_file() && folder.join("new.rs").is_symlink());
    assert_eq!(run(&folder, &["build", "a.chart", "-o", "../outside"]).0, Some(0));
}

#[test]
fn a_linked_folder_is_no_way_out_either() {
    let around = folder("out-folder");
    let folder = around.join("p");
    for (file, text) in [("chartc.toml", ""), ("a.chart", CHART), ("b.chart", ASKING), ("in/x", "")]
    {
        write(&folder.join(file), text);
    }
    write(&around.join("outside/x"), SECRET);
    symlink("../outside", folder.join("out")).expect("links can be made");
    symlink("in", folder.join("inner")).expect("links can be made");
    let run_of = ["run", "b.chart", "--llm", "first", "--turns", "1"];
    for (arguments, code) in [
        (&["graph", "a.chart", "-o"][..], 2),
        (&["new", "zed", "--dir"], 2),
        (&[&run_of[..], &["--trace"]].concat(), 2),
        (&[&run_of[..], &["--snapshot"]].concat(), 2),
        (&[&run_of[..], &["--record"]].concat(), 2),
        (&[&run_of[..], &["--memory"]].concat(), 2),
    ] {
        for (place, is_out) in [("out", true), ("inner", false)] {
            let names_folder = matches!(arguments.last(), Some(&"--dir" | &"--record"));
            let file =
                format!("{place}/new{}", arguments.len() + arguments.last().map_or(0, |a| a.len()));
            let target = if names_folder { place.to_owned() } else { file };
            let (exit, said) = run(&folder, &[arguments, &[&target]].concat());
            if is_out {
                assert_eq!(exit, Some(code), "{arguments:?}: {said}");
                assert!(said.contains("a link on the way leads out of the project"), "{said}");
                assert!(!said.contains("turn 1"), "{said}");
            } else {
                assert_eq!(exit, Some(0), "{arguments:?}: {said}");
            }
        }
    }
    assert_eq!(contents(&around.join("outside")).len(), 1);
}

#[test]
fn where_a_snapshot_goes_is_looked_at_before_the_run() {
    let around = folder("late");
    let folder = around.join("p");
    write(&folder.join("chartc.toml"), "");
    write(&folder.join("b.chart"), ASKING);
    symlink("../outside", folder.join("out")).expect("links can be made");
    for target in ["out", "no/such/s.json", "."] {
        let (code, said) = run(
            &folder,
            &["run", "b.chart", "--llm", "first", "--turns", "1", "--snapshot", target],
        );
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("cannot write") && !said.contains("turn 1"), "{said}");
    }
}

#[test]
fn a_trace_has_one_writer() {
    let folder = folder("one-writer");
    write(&folder.join("b.chart"), ASKING);
    let trace = folder.join("t.jsonl");
    let held = std::fs::File::create(&trace).expect("the target folder can be written");
    held.lock().expect("locks are to be had");
    std::fs::write(&trace, OLD).expect("as before");
    let arguments = ["run", "b.chart", "--llm", "first", "--turns", "1", "--trace", "t.jsonl"];
    let (code, said) = run(&folder, &arguments);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("another command is writing it"), "{said}");
    assert_eq!(std::fs::read_to_string(&trace).expect("as before"), OLD);
    drop(held);
    assert_eq!(run(&folder, &arguments).0, Some(0));
}

#[test]
fn descriptors_and_pipes_are_written_as_they_are() {
    let folder = folder("devices");
    write(&folder.join("a.chart"), CHART);
    let (_, plain) = run(&folder, &["graph", "a.chart"]);
    assert_eq!(run(&folder, &["graph", "a.chart", "-o", "/dev/stdout"]), (Some(0), plain.clone()));
    assert_eq!(run(&folder, &["graph", "a.chart", "-o", "/dev/stderr"]), (Some(0), plain.clone()));
    assert_eq!(run(&folder, &["graph", "a.chart", "-o", "-"]), (Some(0), plain.clone()));
    assert!(!folder.join("-").exists());
    assert_eq!(run(&folder, &["graph", "a.chart", "-o", "/dev/null"]), (Some(0), String::new()));
    let made = Command::new("mkfifo").arg(folder.join("pipe")).status();
    assert!(made.expect("mkfifo is there").success());
    let reader = {
        let pipe = folder.join("pipe");
        std::thread::spawn(move || std::fs::read_to_string(pipe))
    };
    assert_eq!(run(&folder, &["graph", "a.chart", "-o", "pipe"]), (Some(0), String::new()));
    assert_eq!(reader.join().expect("it does not panic").expect("chartc writes it"), plain);
}

#[test]
fn a_snapshot_that_four_processes_write_is_always_a_whole_one() {
    let folder = folder("at-once");
    write(&folder.join("b.chart"), ASKING);
    let snapshot = folder.join("s.json");
    let writers: Vec<_> = (1..=4)
        .map(|turns: u32| {
            let folder = folder.clone();
            std::thread::spawn(move || {
                for _ in 0..5 {
                    let turns = turns.to_string();
                    let arguments = [
                        "run",
                        "b.chart",
                        "--llm",
                        "first",
                        "--turns",
                        &turns,
                        "--snapshot",
                        "s.json",
                    ];
                    let (code, said) = run(&folder, &arguments);
                    assert_eq!(code, Some(0), "{said}");
                }
            })
        })
        .collect();
    while !writers.iter().all(std::thread::JoinHandle::is_finished) {
        if let Ok(text) = std::fs::read_to_string(&snapshot) {
            let whole: Result<serde_json::Value, _> = serde_json::from_str(&text);
            assert!(whole.is_ok() && text.ends_with('\n'), "{text}");
        }
    }
    for writer in writers {
        writer.join().expect("each run ends well");
    }
    let left: Vec<_> = contents(&folder).into_keys().collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn a_store_takes_no_other_file_away() {
    let folder = folder("store-links");
    write(&folder.join("a.chart"), CHART);
    write(&folder.join("inside/chartc.toml"), "");
    write(&folder.join("inside/a.chart"), CHART);
    let inside = folder.join("inside");
    let store = |name: &str| {
        let store = format!("{name}.db");
        run(&inside, &["run", "a.chart", "--store", &store, "--run", "a", "--turns", "1"])
    };
    // What is beside a store: a link, another's file, a hard link to it, a pipe.
    for (nth, suffix) in [".lock", "-wal", "-shm", "-journal"].into_iter().enumerate() {
        let victim = inside.join(format!("victim{nth}"));
        write(&victim, SECRET);
        let name = format!("linked{nth}");
        symlink(&victim, inside.join(format!("{name}.db{suffix}"))).expect("links can be made");
        let (code, said) = store(&name);
        assert!(code == Some(2) && said.contains("is in the way"), "{suffix}: {said}");
        assert_eq!(std::fs::read_to_string(&victim).expect("it is there"), SECRET, "{suffix}");
        let pipe =
            Command::new("mkfifo").arg(inside.join(format!("pipe{nth}.db{suffix}"))).status();
        assert!(pipe.expect("mkfifo starts").success());
        let (code, said) = store(&format!("pipe{nth}"));
        assert!(code == Some(2) && said.contains("is in the way"), "{suffix}: {said}");
    }
    write(&inside.join("notes.txt"), SECRET);
    std::fs::hard_link(inside.join("notes.txt"), inside.join("hard.db.lock")).expect("a link");
    let (code, said) = store("hard");
    assert!(code == Some(2) && said.contains("is in the way"), "{said}");
    assert_eq!(std::fs::read_to_string(inside.join("notes.txt")).expect("it is there"), SECRET);
    // Links out of the project: to a folder, and to a file that is not there yet.
    symlink("..", inside.join("out")).expect("links can be made");
    symlink("../new.db", inside.join("dangling.db")).expect("links can be made");
    for name in ["out/s", "dangling"] {
        let (code, said) = store(name);
        assert!(code == Some(2) && said.contains("out of the project"), "{name}: {said}");
    }
    assert_eq!(store("s").0, Some(0));
    for to in ["out/copy.db", "dangling.db"] {
        let (code, said) = run(&inside, &["store", "s.db", "backup", to]);
        assert!(code == Some(2) && said.contains("out of the project"), "{to}: {said}");
    }
    assert!(!folder.join("s.db").exists() && !folder.join("new.db").exists());
    // A link within the project names the same store, with the same lock.
    symlink("s.db", inside.join("same.db")).expect("links can be made");
    assert_eq!(store("same").0, Some(0));
    assert!(!inside.join("same.db.lock").exists());
}

#[test]
fn a_disk_that_cannot_be_written_is_named_as_such() {
    let folder = folder("read-only");
    write(&folder.join("a.chart"), CHART);
    let Some(disk) = FullDisk::mount(&folder.join("disk")) else { return };
    let mount = |options: &str| {
        let mounted = Command::new("mount").args(["-o", options]).arg(&disk.0).status();
        assert!(mounted.expect("mount starts").success());
    };
    mount("remount,size=4m");
    let begin = ["run", "a.chart", "--store", "disk/s.db", "--run", "a", "--turns", "1"];
    assert_eq!(run(&folder, &begin).0, Some(0));
    mount("remount,ro");
    for command in [
        &["store", "disk/s.db", "list"][..],
        &["store", "disk/s.db", "check"],
        &["store", "disk/s.db", "send", "a", "e"],
        &["replay", "a", "--store", "disk/s.db"],
        &["store", "disk/s.db", "resume", "a"],
        &begin,
    ] {
        let (code, said) = run(&folder, command);
        assert_eq!(code, Some(2), "{command:?}: {said}");
        assert!(said.to_lowercase().contains("read-only"), "{command:?}: {said}");
        assert!(!said.contains("is no store"), "{command:?}: {said}");
    }
    mount("remount,rw");
    assert_eq!(run(&folder, &["store", "disk/s.db", "list"]).0, Some(0));
}
