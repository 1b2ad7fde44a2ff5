//! Merges cells that differ only in names: one piece of code for all of them, with the names in tables. For example, `direct::taken(sink,
//! 0)` and `direct::taken(sink, 1)` become `direct::taken(sink, T0[at])`, with `static T0: [u32; 2] = [0, 1]`.

use super::super::code::{Fragment, Use, code};

/// The kind of a name that may differ between cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// A transition or state, by its number.
    Row,
    /// A configuration.
    Configuration,
}

impl Name {
    fn ty(self) -> &'static str {
        match self {
            Self::Row => "u32",
            Self::Configuration => "Configuration",
        }
    }
}

/// A part of the code of a cell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum CodePart {
    Code(Fragment),
    Name(Name, String),
}

/// The code of a cell.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Steps(Vec<CodePart>);

impl Steps {
    /// Adds code.
    pub(super) fn code(&mut self, code: impl Into<Fragment>) {
        let code = code.into();
        match self.0.last_mut() {
            _ if code.is_empty() => {}
            Some(CodePart::Code(last)) => *last += code,
            Some(CodePart::Name(..)) | None => self.0.push(CodePart::Code(code)),
        }
    }

    /// Adds a name.
    pub(super) fn name(&mut self, name: Name, text: String) {
        self.0.push(CodePart::Name(name, text));
    }

    /// Reports a transition or state to the sink.
    pub(super) fn tell(&mut self, what: &str, row: u32) {
        self.code(Fragment::from(format!("direct::{what}(sink, ")).using(Use::Sink));
        self.name(Name::Row, row.to_string());
        self.code(");\n");
    }

    /// Adds all of `more`.
    pub(super) fn append(&mut self, more: Self) {
        for part in more.0 {
            match part {
                CodePart::Code(code) => self.code(code),
                CodePart::Name(name, text) => self.name(name, text),
            }
        }
    }

    /// Returns the steps as code.
    pub(super) fn fragment(&self) -> Fragment {
        let parts = self.0.iter().map(|part| match part {
            CodePart::Code(code) => code.clone(),
            CodePart::Name(_, text) => text.as_str().into(),
        });
        parts.collect()
    }

    /// Whether both are equal, except for names.
    fn is_like(&self, other: &Self) -> bool {
        let alike = |(a, b): (&CodePart, &CodePart)| match (a, b) {
            (CodePart::Code(a), CodePart::Code(b)) => a == b,
            (CodePart::Name(a, _), CodePart::Name(b, _)) => a == b,
            (CodePart::Code(_), CodePart::Name(..)) | (CodePart::Name(..), CodePart::Code(_)) => {
                false
            }
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(alike)
    }
}

/// Groups cells that differ only in names. A group is a list of numbers of cells; groups are ordered by their first cells.
pub(super) fn groups(cells: &[Steps]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (nth, steps) in cells.iter().enumerate() {
        match groups.iter_mut().find(|group| cells[group[0]].is_like(steps)) {
            Some(group) => group.push(nth),
            None => groups.push(vec![nth]),
        }
    }
    groups
}

/// Returns one piece of code for all cells, if they differ only in names. `cells` pairs each cell with its index in tables of `len`
/// entries; `at` is the index of the current cell.
pub(super) fn merged(cells: &[(usize, &Steps)], len: usize, at: &Fragment) -> Option<Fragment> {
    let (_, first) = cells.first()?;
    if !cells.iter().all(|(_, steps)| steps.is_like(first)) {
        return None;
    }
    let (mut tables, mut out) = (String::new(), Fragment::default());
    let mut names = 0;
    for (i, part) in first.0.iter().enumerate() {
        let (name, text) = match part {
            CodePart::Code(code) => {
                out += code.clone();
                continue;
            }
            CodePart::Name(name, text) => (name, text),
        };
        let of = |steps: &Steps| match &steps.0[i] {
            CodePart::Name(_, text) => text.clone(),
            CodePart::Code(_) => {
                unreachable!("cells that are alike have their names in the same places")
            }
        };
        let nth = names;
        names += 1;
        // A name that all cells share needs no table.
        if cells.iter().all(|(_, steps)| of(steps) == *text) {
            out += text.as_str().into();
            continue;
        }
        // The entries of other cells are never read.
        let mut column = vec![text.clone(); len];
        for (place, steps) in cells {
            column[*place] = of(steps);
        }
        let (ty, column) = (name.ty(), column.join(", "));
        tables += &format!("static T{nth}: [{ty}; {len}] = [{column}];\n");
        out += format!("T{nth}[at]").into();
    }
    if tables.is_empty() {
        return Some(out);
    }
    Some(code!("{tables}let at = {at};\n{out}", at, out))
}
