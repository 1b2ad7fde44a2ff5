//! What a file may lead to: each kind of path from each place that can give one.

use super::{CHART, SECRET, command, folder, run, write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

const TYPE: &str = "type O { id: Text }\n";

/// Whether a path may be read when another file gives it.
#[derive(Clone, Copy, PartialEq)]
enum May {
    Work,
    /// With this code.
    Not(&'static str),
    /// Who runs the test says whether it may.
    Either,
}

/// A folder with one of each: what lies in it, and what another file says of it.
fn project(name: &str) -> (PathBuf, Vec<(String, May)>) {
    use May::{Either, Not, Work};
    let around = folder(name);
    let inner = around.join("p");
    let secret = format!("KEY={SECRET}\n");
    write(&inner.join("chartc.toml"), "");
    for (file, text) in [
        ("p/in.chart", TYPE),
        ("p/UPPER.CHART", TYPE),
        ("p/line\nbreak.chart", TYPE),
        ("p/esc\u{1b}[31m.chart", TYPE),
        ("p/shut.chart", TYPE),
        ("p/.env", secret.as_str()),
        ("p/secrets.yaml", secret.as_str()),
        (".env", secret.as_str()),
        ("out/o.chart", TYPE),
        ("out/secret.chart", secret.as_str()),
    ] {
        write(&around.join(file), text);
    }
    write(&inner.join("big.chart"), &format!("// {}", "x".repeat(17 << 20)));
    let shut = std::fs::Permissions::from_mode(0o0);
    std::fs::set_permissions(inner.join("shut.chart"), shut).expect("the test owns it");
    std::fs::create_dir(inner.join("folder.chart")).expect("the target folder can be written");
    if let Err(why) = UnixListener::bind(inner.join("socket.chart")) {
        eprintln!("skipped: no socket here ({why})");
    }
    let made = Command::new("mkfifo").arg(inner.join("pipe.chart")).status();
    assert!(made.expect("mkfifo is there").success());
    for (link, target) in [
        ("dangling.chart", "nowhere.chart"),
        ("loop.chart", "loop.chart"),
        ("link.chart", "in.chart"),
        ("link_out.chart", "../out/secret.chart"),
        ("link_env.chart", ".env"),
        ("link_ptmx.chart", "/dev/ptmx"),
        ("link_zero.chart", "/dev/zero"),
        ("link_environ.chart", "/proc/self/environ"),
        ("out_folder", "../out"),
    ] {
        symlink(target, inner.join(link)).expect("links can be made");
    }
    let absolute = |path: &str| around.join(path).canonicalize().expect("it was made");
    let absolute = |path: &str| absolute(path).to_string_lossy().into_owned();
    let paths = [
        ("in.chart", Work),
        ("UPPER.CHART", Work),
        ("line\nbreak.chart", Work),
        ("esc\u{1b}[31m.chart", Work),
        ("link.chart", Work),
        ("shut.chart", Either),
        ("/dev/ptmx", Not("C0013")),
        ("/dev/zero", Not("C0013")),
        ("/dev/stdin", Not("C0013")),
        ("/proc/self/fd/0", Not("C0013")),
        ("/proc/self/environ", Not("C0013")),
        (".env", Not("C0013")),
        ("../.env", Not("C0013")),
        ("secrets.yaml", Not("C0013")),
        ("../out/secret.chart", Not("C0013")),
        ("out_folder/secret.chart", Not("C0013")),
        ("link_out.chart", Not("C0013")),
        ("link_env.chart", Not("C0013")),
        ("link_ptmx.chart", Not("C0013")),
        ("link_zero.chart", Not("C0013")),
        ("link_environ.chart", Not("C0013")),
        ("", Not("C0013")),
        (".", Not("C0013")),
        ("/", Not("C0013")),
        ("pipe.chart", Not("C0002")),
        ("socket.chart", Not("C0002")),
        ("folder.chart", Not("C0002")),
        ("dangling.chart", Not("C0002")),
        ("loop.chart", Not("C0002")),
        ("missing.chart", Not("C0002")),
        ("big.chart", Not("C0002")),
    ];
    let mut paths: Vec<(String, May)> =
        paths.into_iter().map(|(path, may)| (path.to_owned(), may)).collect();
    paths.push((absolute("p/in.chart"), Work));
    paths.push((absolute("out/secret.chart"), Not("C0013")));
    (inner, paths)
}

/// A path as a text of a chart.
fn quoted(path: &str) -> String {
    let path = path.replace('\n', "\\n").replace('\u{1b}', "\\u{1b}");
    format!("\"{path}\"")
}

/// The command ends, shows no secret, and says what it is to say of the path.
fn hold(folder: &Path, arguments: &[&str], path: &str, may: May) {
    let (code, said) = run(folder, arguments);
    assert!(!said.contains(SECRET), "{arguments:?} shows what {path:?} says");
    match may {
        May::Work => assert_eq!(code, Some(0), "{arguments:?} {path:?}\n{said}"),
        May::Not(rule) => {
            assert_eq!(code, Some(1), "{arguments:?} {path:?}\n{said}");
            assert!(said.contains(rule), "{arguments:?} {path:?}\n{said}");
        }
        May::Either => assert!(matches!(code, Some(0 | 1)), "{arguments:?} {path:?}\n{said}"),
    }
}

#[test]
fn paths_that_a_chart_imports() {
    let (folder, paths) = project("import");
    for (path, may) in paths {
        write(&folder.join("it.chart"), &format!("import {}\n{CHART}", quoted(&path)));
        for arguments in [
            &["check", "--format", "short", "it.chart"][..],
            &["build", "it.chart"],
            &["convert", "it.chart"],
            #[cfg(feature = "run")]
            &["run", "it.chart", "--turns", "1"],
        ] {
            hold(&folder, arguments, &path, may);
        }
    }
}

#[test]
#[cfg(feature = "run")]
fn paths_that_a_test_imports() {
    let (folder, paths) = project("test");
    write(&folder.join("it.chart"), CHART);
    for (path, may) in paths {
        let tests = format!(
            "import \"it.chart\"\nimport {}\ntest \"t\" for A {{ expect at a }}\n",
            quoted(&path)
        );
        write(&folder.join("it.test.chart"), &tests);
        hold(&folder, &["test", "it.chart"], &path, may);
        hold(&folder, &["check", "--format", "short", "it.chart"], &path, may);
    }
}

#[test]
fn a_folder_is_checked_without_what_lies_outside_it() {
    let (folder, _) = project("walk");
    for arguments in [
        &["check", "--format", "short"][..],
        &["check", "--format", "short", "."],
        &["fmt", "--check"],
        #[cfg(feature = "run")]
        &["test"],
    ] {
        let (code, said) = run(&folder, arguments);
        assert_eq!(code, Some(1), "{said}");
        assert!(!said.contains(SECRET), "{said}");
        assert!(
            said.contains("`link_out.chart`") || said.contains("read link_out.chart"),
            "{said}"
        );
    }
    let before = std::fs::read(folder.join("../out/secret.chart")).expect("it was made");
    run(&folder, &["fmt"]);
    let after = std::fs::read(folder.join("../out/secret.chart")).expect("it is still there");
    assert_eq!(before, after, "a link led out of the folder");
}

#[test]
fn scripts_of_scxml_are_imports_as_well() {
    let folder = folder("script");
    write(&folder.join("set.js"), "x = 2");
    write(&folder.join("../files-script-outside.js"), &format!("{SECRET} = 2"));
    write(&folder.join(".env"), &format!("KEY={SECRET}\n"));
    let document = |src: &str| {
        format!(
            "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\" datamodel=\"ecmascript\" initial=\"a\">\
             <datamodel><data id=\"x\" expr=\"1\"/></datamodel><script src=\"{src}\"/>\
             <state id=\"a\"><transition event=\"e\" cond=\"x == 2\" target=\"f\"/></state><final id=\"f\"/></scxml>"
        )
    };
    for (src, may) in [
        ("set.js", May::Work),
        (".env", May::Not("C0013")),
        ("/dev/ptmx", May::Not("C0013")),
        ("../files-script-outside.js", May::Not("C0013")),
    ] {
        write(&folder.join("it.scxml"), &document(src));
        hold(&folder, &["check", "--format", "short", "it.scxml"], src, may);
    }
}

#[test]
fn a_pipe_that_is_named_is_read_and_a_device_is_not_waited_for() {
    let folder = folder("named");
    let made = Command::new("mkfifo").arg(folder.join("pipe")).status();
    assert!(made.expect("mkfifo is there").success());
    let writer = {
        let pipe = folder.join("pipe");
        std::thread::spawn(move || std::fs::write(pipe, CHART))
    };
    assert_eq!(run(&folder, &["check", "pipe"]), (Some(0), "no findings in 1 file\n".into()));
    writer.join().expect("it does not panic").expect("chartc reads it");
    for device in ["/dev/ptmx", "/dev/zero", "/proc/self/environ"] {
        let (code, said) = run(&folder, &["check", "--format", "short", device]);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("C0002") && !said.contains(SECRET), "{said}");
    }
}

#[test]
fn what_is_named_may_lie_anywhere_and_be_imported() {
    let folder = folder("root");
    write(&folder.join("lib/o.chart"), TYPE);
    write(&folder.join("lib/plain.yaml"), "id: plain\nworkflow:\n  steps: []\n");
    let inner = folder.join("p");
    write(&inner.join("chartc.toml"), "");
    write(&inner.join("it.chart"), &format!("import \"../lib/o.chart\"\n{CHART}"));
    let code = |arguments: &[&str]| run(&inner, arguments).0;
    assert_eq!(code(&["check", "it.chart"]), Some(1));
    assert_eq!(code(&["check", "it.chart", "../lib/o.chart"]), Some(0));
    assert_eq!(code(&["check", "it.chart", "--root", ".."]), Some(0));
    assert_eq!(code(&["build", "it.chart", "--root", ".."]), Some(0));
    assert_eq!(code(&["check", "it.chart", "--root", "nowhere"]), Some(2));
    // Seen from the outer project nothing changes: the nearest mark counts.
    assert_eq!(run(&folder, &["check", "p/it.chart"]).0, Some(1));
    std::fs::remove_file(inner.join("chartc.toml")).expect("it was made");
    assert_eq!(run(&folder, &["check", "p/it.chart"]).0, Some(0));
    // What is read from standard input lies in the working directory.
    let mut piped = command(&inner, &["check", "-"]);
    piped.stdin(std::fs::File::open(inner.join("it.chart")).expect("it was made"));
    let output = piped.output().expect("chartc starts");
    assert_eq!(output.status.code(), Some(0), "{}", super::text(&output));
}

#[test]
fn what_says_what_to_ignore_is_no_trap() {
    for name in [".gitignore", ".ignore", "sub/.gitignore"] {
        for device in [false, true] {
            let folder = folder("ignoring");
            write(&folder.join("a.chart"), CHART);
            write(&folder.join("sub/b.chart"), CHART);
            let path = folder.join(name);
            if device {
                symlink("/dev/zero", &path).expect("links can be made");
            } else {
                let made = Command::new("mkfifo").arg(&path).status();
                assert!(made.expect("mkfifo is there").success());
            }
            for arguments in [&["check"][..], &["fmt", "--check", "."], &["check", "sub"]] {
                let (code, said) = run(&folder, arguments);
                if name != "sub/.gitignore" || arguments != ["check", "sub"] || device {
                    assert_eq!(code, Some(2), "{name} {arguments:?}: {said}");
                    assert!(said.contains("ignore: it is not a regular file"), "{said}");
                }
            }
            assert_eq!(run(&folder, &["check", "a.chart"]).0, Some(0));
        }
    }
}

#[test]
fn what_is_ignored_is_not_looked_at() {
    let folder = folder("ignored");
    write(&folder.join("a.chart"), CHART);
    write(&folder.join("b.chart"), "nonsense");
    write(&folder.join("sub/c.chart"), "nonsense");
    write(&folder.join(".gitignore"), "b.chart\n");
    write(&folder.join("sub/.ignore"), "*.chart\n");
    let (code, said) = run(&folder, &["check", "--format", "short"]);
    assert_eq!((code, said.as_str()), (Some(0), ""));
}

#[test]
fn names_that_are_no_unicode_are_refused_by_name() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder("names");
    let odd = std::ffi::OsStr::from_bytes(b"odd-\xff.chart");
    std::fs::write(folder.join(odd), CHART).expect("the file system takes any bytes");
    for command in [&["check"][..], &["fmt"], &["fmt", "--check"], &["test"]] {
        let (code, said) = run(&folder, command);
        assert!(code == Some(2), "{command:?}: {said}");
        assert!(said.contains("odd-\u{fffd}.chart: its name is not UTF-8"), "{command:?}: {said}");
    }
}

#[test]
fn names_of_files_are_no_commands_of_a_build_server() {
    let folder = folder("commands");
    let text = CHART.replace("  event", "        event");
    for name in ["::stop-commands::x.chart", "##[group]y.chart", "##vso[task.x]z.chart"] {
        write(&folder.join(name), &text);
        write(&folder.join(format!("bad-{name}")), &text.replace("-> f", "-> ##[group]"));
        write(&folder.join(name.replace(".chart", "-bad.chart")), &text.replace("-> f", "-> g"));
    }
    for command in [
        &["fmt", "--check"][..],
        &["fmt", "--diff"],
        &["check", "--format", "short"],
        &["check"],
        &["test"],
    ] {
        let (_, said) = run(&folder, command);
        assert!(said.contains("chart"), "{command:?}: {said}");
        for line in said.lines() {
            assert!(!line.trim_start().starts_with("::"), "{command:?}: {line}");
            assert!(!line.contains("##[") && !line.contains("##vso["), "{command:?}: {line}");
        }
    }
}
