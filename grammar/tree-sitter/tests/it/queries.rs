//! The queries fit the grammar, and leave nothing of it without a colour.

use crate::{files, tree};
use std::collections::BTreeSet;
use tree_sitter::{Language, Query, QueryCursor, StreamingIterator};

fn language() -> Language {
    tree_sitter_chart::LANGUAGE.into()
}

/// The queries by their files.
const QUERIES: &[(&str, &str)] = &[
    ("highlights", tree_sitter_chart::HIGHLIGHTS_QUERY),
    ("folds", tree_sitter_chart::FOLDS_QUERY),
    ("indents", tree_sitter_chart::INDENTS_QUERY),
    ("injections", tree_sitter_chart::INJECTIONS_QUERY),
    ("locals", tree_sitter_chart::LOCALS_QUERY),
    ("tags", tree_sitter_chart::TAGS_QUERY),
];

/// The grammar's symbols that are no named nodes.
fn literals() -> BTreeSet<String> {
    let language = language();
    let ids = 0..u16::try_from(language.node_kind_count()).expect("there are some hundred");
    ids.filter(|id| language.node_kind_is_visible(*id) && !language.node_kind_is_named(*id))
        .filter_map(|id| language.node_kind_for_id(id).map(str::to_owned))
        .collect()
}

/// What stands in quotes in a query, its predicates left out.
fn quoted(query: &str) -> BTreeSet<String> {
    (query.lines())
        .filter(|line| !line.trim_start().starts_with([';', '#']) && !line.contains("(#"))
        .flat_map(|line| line.split('"').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

#[test]
fn each_query_fits_the_grammar() {
    for (name, text) in QUERIES {
        let query = Query::new(&language(), text);
        assert!(
            query.is_ok(),
            "{name}.scm: {}",
            query.err().map_or(String::new(), |e| e.to_string())
        );
    }
}

#[test]
fn each_word_and_sign_has_a_colour() {
    let coloured = quoted(tree_sitter_chart::HIGHLIGHTS_QUERY);
    let quotes = ["\"", "\"\"\""].map(str::to_owned);
    let left: Vec<_> =
        literals().into_iter().filter(|l| !coloured.contains(l) && !quotes.contains(l)).collect();
    assert_eq!(left, ["false", "none", "true"], "these have no colour of their own");
    for word in chartc_compiler::syntax::RESERVED {
        let known =
            [true, false].iter().any(|named| language().id_for_node_kind(word, *named) != 0);
        assert!(known, "`{word}` is reserved, but no word of the grammar");
    }
}

#[test]
fn each_name_number_and_text_of_the_charts_has_a_colour() {
    let query = Query::new(&language(), tree_sitter_chart::HIGHLIGHTS_QUERY).expect("it fits");
    for text in files::some() {
        let tree = tree(text);
        let mut names = crate::nodes(&tree).into_iter().filter(|n| n.kind() == "identifier");
        assert!(names.all(|n| n.child_count() == 0), "a name of several parts: {text}");
        let mut cursor = QueryCursor::new();
        let mut coloured = BTreeSet::new();
        let mut matches = cursor.captures(&query, tree.root_node(), text.as_bytes());
        while let Some((found, nth)) = matches.next() {
            coloured.insert(found.captures()[*nth].node.byte_range().start);
        }
        let plain: Vec<_> = (crate::nodes(&tree).into_iter())
            .filter(|n| n.child_count() == 0 && !n.byte_range().is_empty())
            .filter(|n| !["string_content", "\"", "\"\"\""].contains(&n.kind()))
            .filter(|n| !coloured.contains(&n.start_byte()))
            .map(|n| (n.kind(), &text[n.byte_range()]))
            .collect();
        assert!(plain.is_empty(), "{plain:?}");
    }
}

/// What one query finds in a text: the captures' names and texts.
fn captures(query: &str, text: &str) -> Vec<(String, String)> {
    let query = Query::new(&language(), query).expect("it fits");
    let tree = tree(text);
    let mut cursor = QueryCursor::new();
    let mut found = Vec::new();
    let mut matches = cursor.captures(&query, tree.root_node(), text.as_bytes());
    while let Some((m, nth)) = matches.next() {
        let capture = m.captures()[*nth];
        let name = query.capture_names()[capture.index as usize];
        found.push((name.to_owned(), text[capture.node.byte_range()].to_owned()));
    }
    found
}

#[test]
fn tags_name_what_is_declared() {
    let text = "chart Door { event open  initial shut  state shut { on open -> ajar } state ajar }";
    let found = captures(tree_sitter_chart::TAGS_QUERY, text);
    let names: Vec<&str> =
        found.iter().filter(|(c, _)| c == "name").map(|(_, text)| text.as_str()).collect();
    assert_eq!(names, ["Door", "open", "shut", "ajar", "ajar"]);
}

#[test]
fn folds_are_the_bodies() {
    let text = "chart Door {\n  state a {\n    enter {\n    }\n  }\n}\n";
    let found = captures(tree_sitter_chart::FOLDS_QUERY, text);
    assert_eq!(found.len(), 3);
}

/// The names that Helix has for captures, where they are others.
const HELIX: &[(&str, &str)] = &[
    ("keyword.import", "keyword.control.import"),
    ("keyword.conditional", "keyword.control.conditional"),
    ("keyword.repeat", "keyword.control.repeat"),
    ("keyword.modifier", "keyword.storage.modifier"),
    ("number", "constant.numeric"),
    ("number.float", "constant.numeric.float"),
    ("boolean", "constant.builtin.boolean"),
    ("type.definition", "type"),
    ("function.call", "function"),
    ("module", "namespace"),
    ("property", "variable.other.member"),
    ("string.escape", "constant.character.escape"),
    ("comment", "comment.line"),
    ("comment.documentation", "comment.line.documentation"),
];

/// Those of Zed.
const ZED: &[(&str, &str)] = &[
    ("keyword.import", "keyword"),
    ("keyword.conditional", "keyword"),
    ("keyword.repeat", "keyword"),
    ("keyword.modifier", "keyword"),
    ("keyword.function", "keyword"),
    ("number.float", "number"),
    ("type.definition", "type"),
    ("function.call", "function"),
    ("module", "namespace"),
    ("comment.documentation", "comment.doc"),
];

/// The query with the names that another editor has for its captures.
fn renamed(names: &[(&str, &str)]) -> String {
    let mut text = "; Written from grammar/tree-sitter/queries/highlights.scm by the tests there: QUERIES=write cargo test -p tree-sitter-chart\n".to_owned();
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let mut parts = tree_sitter_chart::HIGHLIGHTS_QUERY.split('@');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c| !name(c)).unwrap_or(part.len());
        let (old, rest) = part.split_at(end);
        let new = names.iter().find(|(known, _)| *known == old).map_or(old, |(_, new)| new);
        text.extend(["@", new, rest]);
    }
    text
}

#[test]
fn other_editors_have_the_same_colours() {
    for (path, names) in [
        ("editors/helix/queries/chart/highlights.scm", HELIX),
        ("editors/zed/languages/chart/highlights.scm", ZED),
    ] {
        let text = renamed(names);
        if std::env::var_os("QUERIES").is_some() {
            std::fs::write(files::root().join(path), &text).expect("the project can be written to");
        }
        assert!(
            files::read(path) == text,
            "{path} is old: QUERIES=write cargo test -p tree-sitter-chart"
        );
    }
}

#[test]
fn queries_of_other_editors_fit_the_grammar() {
    for path in [
        "editors/helix/queries/chart/highlights.scm",
        "editors/helix/queries/chart/indents.scm",
        "editors/helix/queries/chart/textobjects.scm",
        "editors/zed/languages/chart/highlights.scm",
        "editors/zed/languages/chart/brackets.scm",
        "editors/zed/languages/chart/indents.scm",
        "editors/zed/languages/chart/outline.scm",
    ] {
        let query = Query::new(&language(), &files::read(path));
        assert!(query.is_ok(), "{path}: {}", query.err().map_or(String::new(), |e| e.to_string()));
    }
}

#[test]
fn queries_of_the_readme_find_what_they_say() {
    let page = files::read("grammar/tree-sitter/README.md");
    let [(_, query)] = &files::blocks(&page, &["scheme"])[..] else { panic!("one block") };
    let text = "chart D { state a { on e -> b.c  llm think { prompt \"x\" } } }";
    let found = captures(query, text);
    let told: Vec<_> = found.iter().map(|(c, t)| (c.as_str(), t.as_str())).collect();
    assert_eq!(told, [("line", "on e -> b.c"), ("left_for", "b.c"), ("step", "think")]);
}
