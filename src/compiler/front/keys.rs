//! Tables of the keys of a file format: what each key may contain, and what it means. Readers take the keys that they know from such a
//! table, and JSON Schemas, completion and hover are made from it.

/// A mapping with known keys.
#[derive(Debug, PartialEq)]
pub struct Mapping {
    /// The name in a schema, such as `step`.
    pub name: &'static str,
    /// The documentation, in Markdown.
    pub doc: &'static str,
    /// The keys, in the order in which they are offered.
    pub keys: &'static [Key],
    /// Further requirements, each for one value of a key.
    pub cases: &'static [Case],
    /// Whether other keys, or a value that is not a mapping, are permitted: only a part of the format is known.
    pub is_open: bool,
}

impl Mapping {
    /// Creates a mapping that has these keys and no others.
    pub const fn new(name: &'static str, doc: &'static str, keys: &'static [Key]) -> Self {
        Self { name, doc, keys, cases: &[], is_open: false }
    }

    /// Adds requirements that depend on the value of a key.
    #[must_use]
    pub const fn cases(mut self, cases: &'static [Case]) -> Self {
        self.cases = cases;
        self
    }

    /// Permits other keys, which have no meaning here.
    #[must_use]
    pub const fn open(mut self) -> Self {
        self.is_open = true;
        self
    }

    /// Finds a key by name. A key that ends in `*` stands for all names with this prefix.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.is(name))
    }

    /// The names of all keys, except those that end in `*`.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().filter(|key| !key.is_prefix()).map(|key| key.name)
    }

    /// The requirements for a value of the key; `None` is the absent key.
    pub fn case(&self, value: Option<&str>) -> Option<&'static Case> {
        self.cases.iter().find(|case| case.value == value)
    }
}

/// The requirements of a mapping if a key has a certain value.
#[derive(Debug, PartialEq)]
pub struct Case {
    /// The key that decides.
    pub key: &'static str,
    /// The value of the key; `None` if the key is absent.
    pub value: Option<&'static str>,
    /// The keys of which at least one must be present.
    pub needs: &'static [Need],
    /// The keys that have no effect.
    pub ignores: &'static [&'static str],
}

/// A key that makes a mapping complete.
#[derive(Debug, PartialEq)]
pub struct Need {
    /// The name of the key.
    pub key: &'static str,
    /// Other keys. If one of them is present, the key is not enough.
    pub without: &'static [&'static str],
}

impl Need {
    /// Creates a requirement that the key satisfies whatever else is present.
    pub(crate) const fn from_key(key: &'static str) -> Self {
        Self { key, without: &[] }
    }
}

/// A key of a mapping.
#[derive(Debug, PartialEq)]
pub struct Key {
    /// The name, as written. With `*` at its end, it stands for all keys with this prefix.
    pub name: &'static str,
    /// The values that it may have.
    pub shape: Shape,
    /// The meaning, in Markdown.
    pub doc: &'static str,
    /// The value that applies if the key is absent, as written.
    pub default: Option<&'static str>,
    /// Whether the key must be present.
    pub is_required: bool,
    /// Whether a key without a value counts as absent.
    pub may_be_empty: bool,
    /// For an older name: the key to write instead.
    pub instead: Option<&'static str>,
}

impl Key {
    /// Creates a key that may be absent.
    pub const fn new(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        let (default, instead) = (None, None);
        Self { name, shape, doc, default, is_required: false, may_be_empty: false, instead }
    }

    /// Sets the value that applies if the key is absent, as written.
    #[must_use]
    pub const fn default(mut self, value: &'static str) -> Self {
        self.default = Some(value);
        self
    }

    /// Makes the key required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Lets the key without a value count as absent.
    #[must_use]
    pub const fn or_nothing(mut self) -> Self {
        self.may_be_empty = true;
        self
    }

    /// Marks the key as an older name of another one.
    #[must_use]
    pub const fn old(mut self, instead: &'static str) -> Self {
        self.instead = Some(instead);
        self
    }

    /// Whether the key stands for all names with a prefix.
    pub fn is_prefix(&self) -> bool {
        self.name.ends_with('*')
    }

    /// Whether a name is a name of this key.
    pub fn is(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => self.name == name,
        }
    }
}

/// A word that a value may consist of.
#[derive(Debug, PartialEq, Eq)]
pub struct Word {
    /// The word, as written.
    pub word: &'static str,
    /// The meaning, in Markdown.
    pub doc: &'static str,
}

impl Word {
    /// Creates a word with its meaning.
    pub const fn new(word: &'static str, doc: &'static str) -> Self {
        Self { word, doc }
    }
}

/// The things that a name in a value may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Something outside of the file, or the thing that the mapping describes.
    Free,
    /// A state of the file.
    State,
    /// A state of the file, or `*` for all states.
    StateOrAll,
}

/// The values that a key may have.
#[derive(Debug, PartialEq)]
pub enum Shape {
    /// Any value.
    Anything,
    /// Any text.
    Text,
    /// A text with something other than blanks in it.
    Name(Names),
    /// A text that is not empty, or a whole number, which is read as one.
    Label,
    /// A text in which this regular expression finds a match. The second text is an example.
    Pattern(&'static str, &'static str),
    /// One of a list of words.
    Words(&'static [Word]),
    /// `true` or `false`.
    Flag,
    /// `true` or `false`, or one of YAML's older words for them, such as `yes`.
    Switch,
    /// A whole number in a range.
    Count {
        /// The least permitted number.
        least: u64,
        /// The greatest permitted number.
        most: Option<u64>,
    },
    /// A number.
    Number(Sign),
    /// A list.
    List {
        /// The shape of each item.
        of: &'static Shape,
        /// Whether there must be at least one item.
        is_filled: bool,
    },
    /// A mapping with known keys.
    Mapping(&'static Mapping),
    /// A mapping whose keys are names.
    ByName {
        /// The shape of each value.
        of: &'static Shape,
        /// A regular expression that the names must match.
        names: Option<&'static str>,
        /// Whether there must be at least one entry.
        is_filled: bool,
    },
    /// The levels of rules, by name or code.
    Levels,
    /// One of several shapes.
    Either(&'static [Shape]),
}

/// The range of numbers that are permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// All numbers.
    Any,
    /// Numbers from 0 on.
    NotNegative,
    /// Numbers above 0.
    Positive,
}

impl Shape {
    /// A list of items of this shape, which may be empty.
    pub const fn list(of: &'static Self) -> Self {
        Self::List { of, is_filled: false }
    }

    /// A list of items of this shape, with at least one item.
    pub const fn some(of: &'static Self) -> Self {
        Self::List { of, is_filled: true }
    }

    /// A mapping from any names to values of this shape.
    pub const fn by_name(of: &'static Self) -> Self {
        Self::ByName { of, names: None, is_filled: false }
    }

    /// A whole number of at least `least`.
    pub const fn from(least: u64) -> Self {
        Self::Count { least, most: None }
    }

    /// A whole number of at least `least` that fits into 32 bits.
    pub const fn small(least: u64) -> Self {
        Self::Count { least, most: Some(u32::MAX as u64) }
    }

    /// The alternatives of a [`Shape::Either`], or else the shape itself.
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
