//! Cases: texts, and what is found in each. A `.cases` file consists of sections:
//!
//! ```text
//! -- situation
//! # Why it matters.
//! chart A { initial a  state a { on go -> b }  state b }
//! => C0102 |go| no event `go`
//!    help: declare it
//! ```
//!
//! - A section lists all findings, each under its line, or below the text if the section does not contain its line. `|n|2` is the
//!   second `n` of its line. A level stands behind the code if it is not the default one. The notes `label`, `help` and `see`, which
//!   gives the line of a related place, have three spaces before them.
//! - `=> nothing` says that there is no finding. A section that lists nothing fails.
//! - The text is the file `a.chart`, unless the head names another one: `-- situation (agent.yaml)`. `--- b.chart` begins another file
//!   that can be imported; the files named in the head, `(a.chart, b.chart)`, are all checked.
//! - `-- frame` holds until the next frame. Its text contains `…`, which each section replaces, or is changed by each section: lines
//!   that begin with `- ` stand once in it, and are replaced by the lines that begin with `+ `.
//!
//! In `tests/language/behaviour`, the sections are items of a standard chart: see [`chart`].

use crate::project::{files, read, root};
use std::fmt::Write;

/// What every case declares before its own items.
pub const HEAD: &str = "event a  event b  event c  event d\n  input x: Bool = false  input y: Bool = false  \
                    input n: Int = 0\n  var m: Int = 0\n";

/// What stands above the chart.
const ABOVE: &[&str] = &["enum ", "type ", "tool ", "tools ", "client "];

/// The chart with these items, and below it the charts that are written on one line.
pub fn chart(items: &str) -> String {
    let (above, items): (Vec<&str>, Vec<&str>) =
        items.lines().partition(|l| ABOVE.iter().any(|w| l.starts_with(w)));
    let (below, items): (Vec<&str>, Vec<&str>) =
        items.into_iter().partition(|l| l.starts_with("chart "));
    let below = below.iter().map(|l| format!("{l}\n")).collect::<String>();
    format!("{}\nchart T {{\n  {HEAD}{}\n}}\n{below}", above.join("\n"), items.join("\n"))
}

/// The charts of all situations of the tests on findings, with a name for each.
pub fn charts() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for path in files("tests/language/behaviour", ".cases") {
        for (n, section) in sections(&read(&path)).iter().enumerate() {
            all.push((format!("{path}.{n}.chart"), chart(&section.text())));
        }
    }
    all
}

/// The first file of each situation in a file of cases that are whole files.
pub fn texts(path: &str) -> Vec<String> {
    let (mut all, mut frame) = (Vec::new(), String::new());
    for section in sections(&read(path)) {
        if section.head == "frame" {
            frame = section.text();
        } else {
            let (files, _) = section.files(&frame, "a.chart");
            all.extend(files.texts.into_iter().next().map(|(_, text)| text));
        }
    }
    all
}

/// What sections consist of.
#[derive(Clone, Copy)]
pub enum Form {
    /// Items of the standard chart.
    Items,
    /// A whole file, of this name unless the head names another one.
    File(&'static str),
}

/// The files of a section: those to be checked, and the text of each, with those that they import.
pub struct Files {
    /// The names of the files to be checked.
    pub checked: Vec<String>,
    /// Names and texts of all files.
    pub texts: Vec<(String, String)>,
}

/// A finding as a section lists it.
pub struct Found {
    /// The name of its file.
    pub file: String,
    /// The line of the file, from 1.
    pub line: usize,
    /// `=> C0102 |x| message`, and a line for each of its notes.
    pub shown: String,
}

/// A section as it is written.
struct Section<'a> {
    head: &'a str,
    remarks: Vec<&'a str>,
    lines: Vec<&'a str>,
    /// Whether it lists findings or says that there are none.
    lists: bool,
    says_nothing: bool,
}

/// The notes of a finding, each on a line of its own.
const NOTES: &[&str] = &["   help: ", "   label: ", "   see: "];

const NOTHING: &str = "=> nothing";

fn sections(cases: &str) -> Vec<Section<'_>> {
    written(cases).map(Section::read).collect()
}

/// The sections as they are written, without `-- `.
fn written(cases: &str) -> impl Iterator<Item = &str> {
    cases.split("\n-- ").filter(|s| !s.trim().is_empty())
}

impl<'a> Section<'a> {
    fn read(section: &'a str) -> Self {
        let (head, body) = section.split_once('\n').unwrap_or((section, ""));
        let body: Vec<&str> = body.trim_end().lines().collect();
        let remarks = body.iter().take_while(|l| l.starts_with("# ")).count();
        let is_listed = |l: &&&str| l.starts_with("=> ") || NOTES.iter().any(|n| l.starts_with(n));
        let rest = &body[remarks..];
        let mut lines: Vec<&str> = rest.iter().filter(|l| !is_listed(l)).copied().collect();
        while lines.last().is_some_and(|l| l.trim().is_empty()) {
            lines.pop();
        }
        Section {
            head,
            remarks: body[..remarks].to_vec(),
            lines,
            lists: rest.iter().any(|l| is_listed(&l)),
            says_nothing: rest.contains(&NOTHING),
        }
    }

    fn text(&self) -> String {
        self.lines.iter().map(|l| format!("{l}\n")).collect()
    }

    /// The names in brackets at the end of the head.
    fn names(&self) -> Option<Vec<String>> {
        let (_, names) = self.head.strip_suffix(')')?.rsplit_once('(')?;
        let names: Vec<String> = names.split(", ").map(str::to_owned).collect();
        names.iter().all(|n| n.contains('.') && !n.contains(' ')).then_some(names)
    }

    /// The files of the section, and for each of its lines the file and the line in it.
    fn files(&self, frame: &str, otherwise: &str) -> (Files, Vec<Option<(String, usize)>>) {
        let checked = self.names().unwrap_or_else(|| vec![otherwise.to_owned()]);
        let mut texts = vec![(checked[0].clone(), String::new())];
        let mut places = Vec::new();
        let above = frame.lines().take_while(|l| !l.contains(HOLE)).count();
        let mut count = if frame.contains(HOLE) { above } else { 0 };
        let is_change = !frame.is_empty() && !frame.contains(HOLE);
        for line in &self.lines {
            if let Some(name) = line.strip_prefix("--- ") {
                texts.push((name.to_owned(), String::new()));
                places.push(None);
                count = 0;
                continue;
            }
            count += 1;
            let (name, text) = texts.last_mut().expect("there is a first file");
            places.push((!is_change).then(|| (name.clone(), count)));
            *text += &format!("{line}\n");
        }
        if is_change {
            texts[0].1 = changed(frame, self);
        } else if !frame.is_empty() {
            texts[0].1 = frame.replacen(HOLE, texts[0].1.trim_end_matches('\n'), 1);
        }
        (Files { checked, texts }, places)
    }
}

/// What a section replaces in a frame.
const HOLE: &str = "…";

/// The text with some of its lines, or parts of lines, replaced.
fn changed(text: &str, section: &Section) -> String {
    let mut text = text.to_owned();
    let mut lines = section.lines.iter().peekable();
    while lines.peek().is_some() {
        let mut side = |sign: &str| -> Vec<&str> {
            std::iter::from_fn(|| lines.next_if(|l| l.starts_with(sign)))
                .map(|l| l[sign.len()..].trim_end())
                .collect()
        };
        let (was, is) = (side("- "), side("+ "));
        assert!(!was.is_empty(), "section `{}`: a change begins with `- `", section.head);
        let was = if is.is_empty() { format!("{}\n", was.join("\n")) } else { was.join("\n") };
        let count = text.matches(&was).count();
        assert!(count == 1, "section `{}`: its frame has `{was}` {count} times", section.head);
        text = text.replacen(&was, &is.join("\n"), 1);
    }
    text
}

/// Compares every section of a file with what is found now; `UPDATE=1` writes that.
#[track_caller]
pub fn compare(path: &str, form: Form, find: &dyn Fn(&Files) -> Vec<Found>) {
    let cases = read(path);
    let is_update = std::env::var_os("UPDATE").is_some();
    let (mut now, mut frame, mut silent) = (String::new(), String::new(), Vec::new());
    for section in sections(&cases) {
        let is_frame = section.head == "frame";
        if is_frame {
            frame = section.text();
        }
        let written = section.compared(&frame, form, find, is_frame);
        let lists = if is_update { written.contains("\n=> ") } else { section.lists };
        if !lists && !is_frame {
            silent.push(section.head.to_owned());
        }
        now += &written;
    }
    assert!(!now.is_empty(), "{path} has no sections");
    if is_update {
        std::fs::write(root().join(path), &now).expect("the file can be written");
    }
    assert!(
        silent.is_empty(),
        "{path}: these sections list nothing: {silent:?}. `UPDATE=1` writes what is found; where nothing is, write `{NOTHING}`"
    );
    assert!(is_update || cases == now, "{path}: {}", difference(&cases, &now));
}

impl Section<'_> {
    /// The section with what is found now.
    fn compared(
        &self,
        frame: &str,
        form: Form,
        find: &dyn Fn(&Files) -> Vec<Found>,
        is_frame: bool,
    ) -> String {
        let mut out = format!("\n-- {}\n", self.head);
        for remark in &self.remarks {
            writeln!(out, "{remark}").expect("a String takes all");
        }
        if is_frame {
            return out + &self.text();
        }
        let (files, places) = match form {
            Form::File(name) => self.files(frame, name),
            Form::Items => {
                let texts = vec![("a.chart".to_owned(), chart(&self.text()))];
                (Files { checked: vec!["a.chart".to_owned()], texts }, Vec::new())
            }
        };
        let mut found = find(&files);
        for (n, line) in self.lines.iter().enumerate() {
            writeln!(out, "{line}").expect("a String takes all");
            if let Some(Some((file, number))) = places.get(n) {
                let (here, rest): (Vec<Found>, Vec<Found>) =
                    found.into_iter().partition(|f| f.file == *file && f.line == *number);
                out.extend(here.into_iter().map(|f| f.shown));
                found = rest;
            }
        }
        out.extend(found.into_iter().map(|f| f.shown));
        if self.says_nothing && !out.contains("\n=> ") {
            out += &format!("{NOTHING}\n");
        }
        out
    }
}

/// The first section that differs, and its first line that does.
fn difference(cases: &str, now: &str) -> String {
    let mut pairs = written(cases).zip(written(now));
    let Some((was, is)) = pairs.find(|(was, is)| was.trim_end() != is.trim_end()) else {
        return "blank lines differ; `UPDATE=1` writes the file".to_owned();
    };
    let head = was.lines().next().unwrap_or_default();
    let (was, is): (Vec<&str>, Vec<&str>) =
        (was.trim_end().lines().collect(), is.trim_end().lines().collect());
    let at = was.iter().zip(&is).take_while(|(a, b)| a == b).count();
    let line = |all: &[&str]| all.get(at).map_or("(the end of the section)", |l| l).to_owned();
    format!(
        "section `{head}` differs\n  listed: {}\n  found:  {}\nThe section as found:\n-- {}\n",
        line(&was),
        line(&is),
        is.join("\n")
    )
}
