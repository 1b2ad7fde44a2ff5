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
    assert_eq!(left, ["false", "true"], "these have no colour of their own");
    for word in chartc_text::syntax::RESERVED {
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
