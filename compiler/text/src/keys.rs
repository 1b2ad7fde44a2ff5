//! Tables of the keys of a file format: what each may hold, and what it means. Readers take their known keys from such a table, and
//! JSON Schemas, completion and hover are made from it.

/// A mapping with known keys.
#[derive(Debug, PartialEq)]
pub struct Mapping {
    /// Its name in a schema, such as `step`.
    pub name: &'static str,
    /// In Markdown.
    pub doc: &'static str,
    /// In the order in which they are offered.
    pub keys: &'static [Key],
    /// What else is required of the mapping, by the value of a key.
    pub cases: &'static [Case],
    /// Whether there may be other keys, or something else than a mapping: what is known is only a part.
    pub is_open: bool,
}

impl Mapping {
    /// A mapping that has these keys and no others.
    pub const fn new(name: &'static str, doc: &'static str, keys: &'static [Key]) -> Self {
        Self { name, doc, keys, cases: &[], is_open: false }
    }

    /// With what else is required by the value of a key.
    #[must_use]
    pub const fn cases(mut self, cases: &'static [Case]) -> Self {
        self.cases = cases;
        self
    }

    /// With other keys, which have no meaning here.
    #[must_use]
    pub const fn open(mut self) -> Self {
        self.is_open = true;
        self
    }

    /// The key with this name. A key that ends in `*` stands for all names with this prefix.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.is(name))
    }

    /// The names of all keys, without those that stand for many.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().filter(|key| !key.is_prefix()).map(|key| key.name)
    }

    /// The case of a value; `None` where the key is absent.
    pub fn case(&self, value: Option<&str>) -> Option<&'static Case> {
        self.cases.iter().find(|case| case.value == value)
    }
}

/// What a mapping needs where a key has a value.
#[derive(Debug, PartialEq)]
pub struct Case {
    /// The key.
    pub key: &'static str,
    /// Its value; `None` where the key is absent.
    pub value: Option<&'static str>,
    /// At least one of these is there.
    pub needs: &'static [Need],
    /// These mean nothing.
    pub ignores: &'static [&'static str],
}

/// A key that makes a mapping complete.
#[derive(Debug, PartialEq)]
pub struct Need {
    /// Its name.
    pub key: &'static str,
    /// It does so only without any of these.
    pub without: &'static [&'static str],
}

impl Need {
    /// Whatever else is there.
    pub const fn from_key(key: &'static str) -> Self {
        Self { key, without: &[] }
    }
}

/// A key of a mapping.
#[derive(Debug, PartialEq)]
pub struct Key {
    /// As it is written; with `*` at its end all keys with this prefix.
    pub name: &'static str,
    /// What it may hold.
    pub shape: Shape,
    /// What it means, in Markdown.
    pub doc: &'static str,
    /// What holds without it, as it is written.
    pub default: Option<&'static str>,
    /// Whether it must be there.
    pub is_required: bool,
    /// Whether a key without a value counts as absent.
    pub may_be_empty: bool,
    /// What to write instead, where it is an older name.
    pub instead: Option<&'static str>,
}

impl Key {
    /// A key that may be absent.
    pub const fn new(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        let (default, instead) = (None, None);
        Self { name, shape, doc, default, is_required: false, may_be_empty: false, instead }
    }

    /// With what holds without it, as it is written.
    #[must_use]
    pub const fn default(mut self, value: &'static str) -> Self {
        self.default = Some(value);
        self
    }

    /// It must be there.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Without a value it counts as absent.
    #[must_use]
    pub const fn or_nothing(mut self) -> Self {
        self.may_be_empty = true;
        self
    }

    /// It is an older name.
    #[must_use]
    pub const fn old(mut self, instead: &'static str) -> Self {
        self.instead = Some(instead);
        self
    }

    /// Whether it stands for all names with a prefix.
    pub fn is_prefix(&self) -> bool {
        self.name.ends_with('*')
    }

    /// Whether this is the key with that name.
    pub fn is(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => self.name == name,
        }
    }
}

/// A word that a value may be.
#[derive(Debug, PartialEq, Eq)]
pub struct Word {
    /// As it is written.
    pub word: &'static str,
    /// What it means, in Markdown.
    pub doc: &'static str,
}

impl Word {
    /// A word and what it means.
    pub const fn new(word: &'static str, doc: &'static str) -> Self {
        Self { word, doc }
    }
}

/// What a name in a value names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Something outside of the file, or the thing itself.
    Free,
    /// A state of the file.
    State,
    /// A state of the file, or `*` for all.
    StateOrAll,
}

/// What a key may hold.
#[derive(Debug, PartialEq)]
pub enum Shape {
    /// Anything.
    Anything,
    /// Any text.
    Text,
    /// A text with something other than blanks in it.
    Name(Names),
    /// A text that is not empty, or a whole number, which is read as one.
    Label,
    /// A text that this regular expression finds, such as the example.
    Pattern(&'static str, &'static str),
    /// One of these words.
    Words(&'static [Word]),
    /// `true` or `false`.
    Flag,
    /// `true` or `false`, or one of YAML's older words for them.
    Switch,
    /// A whole number.
    Count {
        /// The least.
        least: u64,
        /// The most.
        most: Option<u64>,
    },
    /// A number.
    Number(Sign),
    /// A list.
    List {
        /// What each item is.
        of: &'static Shape,
        /// Whether there must be one.
        is_filled: bool,
    },
    /// A mapping with known keys.
    Mapping(&'static Mapping),
    /// A mapping whose keys are names.
    ByName {
        /// What each value is.
        of: &'static Shape,
        /// A regular expression for the names.
        names: Option<&'static str>,
        /// Whether there must be one.
        is_filled: bool,
    },
    /// The levels of rules, by name or code.
    Levels,
    /// One of these.
    Either(&'static [Shape]),
}

/// Which numbers are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// All.
    Any,
    /// 0 and above.
    NotNegative,
    /// Above 0.
    Positive,
}

impl Shape {
    /// A list of this, which may be empty.
    pub const fn list(of: &'static Self) -> Self {
        Self::List { of, is_filled: false }
    }

    /// A list of this with at least one item.
    pub const fn some(of: &'static Self) -> Self {
        Self::List { of, is_filled: true }
    }

    /// A mapping of any names to this.
    pub const fn by_name(of: &'static Self) -> Self {
        Self::ByName { of, names: None, is_filled: false }
    }

    /// A whole number from `least` on.
    pub const fn from(least: u64) -> Self {
        Self::Count { least, most: None }
    }

    /// A whole number from `least` on that fits into 32 bits.
    pub const fn small(least: u64) -> Self {
        Self::Count { least, most: Some(u32::MAX as u64) }
    }

    /// The alternatives: those of [`Shape::Either`], else the shape itself.
    pub const fn alternatives(&'static self) -> &'static [Self] {
        if let Self::Either(all) = self { all } else { std::slice::from_ref(self) }
    }

    /// The mapping with known keys among the alternatives.
    pub fn mapping(&'static self) -> Option<&'static Mapping> {
        self.alternatives().iter().find_map(|shape| {
            if let Self::Mapping(mapping) = shape { Some(*mapping) } else { None }
        })
    }
}
