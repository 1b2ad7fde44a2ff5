//! Only one file writes to the terminal, and it escapes what it writes.

use proc_macro2::{TokenStream, TokenTree};
use test_support::project::{files, read};

/// Those that write: to the terminal; for a build script to cargo, which reads lines.
const WRITERS: &[&str] = &["src/cli/output.rs", "src/build.rs", "src/compiler/build.rs"];

/// Names of macros and functions by which a program writes to its standard streams.
const DOORS: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];
const STREAMS: &[&str] = &["stdout", "stderr"];

/// Whether a file is part of what users run, and not one of the writers.
fn is_shipped(file: &str) -> bool {
    !WRITERS.contains(&file)
        && !file.split('/').any(|folder| ["tests", "examples"].contains(&folder))
}

/// The doors that a file uses outside of its tests.
fn doors(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |at: usize, sign: char| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == sign);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) => {
                let name = name.to_string();
                let is_macro = DOORS.contains(&name.as_str()) && is(at + 1, '!');
                let is_stream = STREAMS.contains(&name.as_str()) && at > 0 && is(at - 1, ':');
                if is_macro || is_stream {
                    found.push(name);
                }
            }
            TokenTree::Group(group) => doors(group.stream(), found),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[test]
fn one_file_writes_to_the_terminal() {
    let mut faults = Vec::new();
    for folder in ["src", "compiler", "runtime"] {
        for file in files(folder, ".rs").into_iter().filter(|f| is_shipped(f)) {
            let mut found = Vec::new();
            doors(read(&file).parse().expect("it is Rust"), &mut found);
            faults.extend(found.into_iter().map(|door| format!("{file}: {door}")));
        }
    }
    assert!(faults.is_empty(), "write through `cli::output`, which escapes: {faults:#?}");
}

#[test]
fn doors_are_found() {
    let mut found = Vec::new();
    doors(
        "fn f() { println!(\"x\"); std::io::stderr().flush(); let stdout = 1; }"
            .parse()
            .expect("it is Rust"),
        &mut found,
    );
    assert_eq!(found, ["println", "stderr"]);
}
