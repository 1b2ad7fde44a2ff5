//! The `.chart` language of chartc for [tree-sitter](https://tree-sitter.github.io/tree-sitter/).
//!
//! ```
//! let mut parser = tree_sitter::Parser::new();
//! parser.set_language(&tree_sitter_chart::LANGUAGE.into())?;
//! let text = "chart Door { event open  initial shut  state shut { on open -> ajar }  state ajar }";
//! let tree = parser.parse(text, None).expect("a language is set");
//! assert!(!tree.root_node().has_error());
//! # Ok::<(), tree_sitter::LanguageError>(())
//! ```

use tree_sitter_language::LanguageFn;

unsafe extern "C" {
    fn tree_sitter_chart() -> *const ();
}

/// The language.
#[allow(unsafe_code, reason = "the parser is C, generated from `grammar.js`")]
// SAFETY: the function is the one that tree-sitter generated.
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_chart) };

/// The types of the nodes, as JSON.
pub const NODE_TYPES: &str = include_str!("../../src/node-types.json");

/// What is coloured how.
pub const HIGHLIGHTS_QUERY: &str = include_str!("../../queries/highlights.scm");

/// Texts in other languages.
pub const INJECTIONS_QUERY: &str = include_str!("../../queries/injections.scm");

/// Scopes, definitions and references.
pub const LOCALS_QUERY: &str = include_str!("../../queries/locals.scm");

/// Symbols of a file.
pub const TAGS_QUERY: &str = include_str!("../../queries/tags.scm");

/// What can be folded.
pub const FOLDS_QUERY: &str = include_str!("../../queries/folds.scm");

/// How lines are indented.
pub const INDENTS_QUERY: &str = include_str!("../../queries/indents.scm");
