//! Documents made from a table: one for each mapping in it, with each key given values of every kind.

use chartc::keys::{Key, Mapping, Shape, Sign};
use serde_json::{Map, Value, json};

/// A value that the shape permits.
fn sample(shape: &'static Shape) -> Value {
    match shape {
        Shape::Anything | Shape::Text | Shape::Name(_) | Shape::Label => json!("a"),
        Shape::Pattern(_, example) => json!(example),
        Shape::Words(words) => json!(words[0].word),
        Shape::Flag | Shape::Switch => json!(true),
        Shape::Count { least, .. } => json!(least),
        Shape::Number(sign) => match sign {
            Sign::Any | Sign::NotNegative | Sign::Positive => json!(1.5),
        },
        Shape::List { of, .. } => json!([sample(of)]),
        Shape::Mapping(table) => minimal(table),
        Shape::ByName { of, .. } => json!({"a": sample(of)}),
        Shape::Levels => json!({"warnings": "deny"}),
        Shape::Either(all) => sample(&all[0]),
    }
}

/// The mapping with no more than it needs.
fn minimal(table: &'static Mapping) -> Value {
    let required = table.keys.iter().filter(|key| key.is_required);
    let mut made: Map<String, Value> =
        required.map(|key| (key.name.to_owned(), sample(&key.shape))).collect();
    if let Some(case) = table.case(None) {
        let key = table.key(case.needs[0].key).expect("a key of the table");
        made.insert(key.name.to_owned(), sample(&key.shape));
    }
    Value::Object(made)
}

/// A place in documents where a mapping stands.
pub(super) struct Place {
    /// The smallest document with it.
    pub(super) document: Value,
    /// The way to it, as a JSON pointer.
    pub(super) path: String,
    pub(super) table: &'static Mapping,
}

/// Every place of every mapping in the files that a table is of.
pub(super) fn places(top: &'static Mapping) -> Vec<Place> {
    let mut found = vec![Place { document: minimal(top), path: String::new(), table: top }];
    let mut next = 0;
    while next < found.len() {
        let inner: Vec<_> = found[next].table.keys.iter().flat_map(|key| within(key)).collect();
        for (key, below, value, table) in inner {
            let Place { document, path, .. } = &found[next];
            let mut document = document.clone();
            at(&mut document, path)[key.name] = value;
            let path = format!("{path}/{}{below}", key.name);
            found.push(Place { document, path, table });
        }
        next += 1;
    }
    found
}

/// The mappings that a key may hold: the way from the key, the key's value, the mapping.
fn within(key: &'static Key) -> Vec<(&'static Key, &'static str, Value, &'static Mapping)> {
    let mut found = Vec::new();
    for shape in key.shape.alternatives() {
        match shape {
            Shape::Mapping(table) => found.push((key, "", minimal(table), *table)),
            Shape::List { of, .. } => {
                let inner = of.mapping().map(|table| (key, "/0", json!([minimal(table)]), table));
                found.extend(inner);
            }
            Shape::ByName { of, .. } => {
                let inner = of.mapping();
                found.extend(inner.map(|table| (key, "/a", json!({"a": minimal(table)}), table)));
            }
            _ => {}
        }
    }
    found
}

pub(super) fn at<'v>(document: &'v mut Value, path: &str) -> &'v mut Value {
    document.pointer_mut(path).expect("the document has this place")
}

/// Values of every kind.
pub(super) fn values() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(3),
        json!(5_000_000_000_u64),
        json!(1.5),
        json!(-0.5),
        json!("a"),
        json!(" "),
        json!(""),
        json!("Yes"),
        json!("90s"),
        json!("0s"),
        json!("a->b"),
        json!("->b"),
        json!([]),
        json!(["a"]),
        json!([1]),
        json!([{}]),
        json!([[]]),
        json!({}),
        json!({"a": "b"}),
        json!({"a": 1}),
        json!({"1": "b"}),
        json!({"a": []}),
    ]
}

/// What a document says, and the document: those of a table with one value of every kind for each key, with a key that there is
/// not, and without each key.
pub(super) fn variants(top: &'static Mapping) -> Vec<(String, Value)> {
    let mut made = Vec::new();
    for place in places(top) {
        let mut vary = |what: String, change: &dyn Fn(&mut Map<String, Value>)| {
            let mut document = place.document.clone();
            change(at(&mut document, &place.path).as_object_mut().expect("a mapping"));
            made.push((format!("{} {what}", place.path), document));
        };
        vary("as it is".into(), &|_| {});
        vary("with an unknown key".into(), &|map| {
            map.insert("zzz_unheard_of".into(), json!(1));
        });
        for key in place.table.keys {
            let name = key.name.trim_end_matches('*');
            vary(format!("without {name}"), &|map| {
                map.remove(name);
            });
            let mut all = values();
            for shape in key.shape.alternatives() {
                all.push(sample(shape));
                if let Shape::Words(words) = shape {
                    all.extend(words.iter().map(|word| json!(word.word)));
                }
            }
            for value in all {
                vary(format!("with {name}: {value}"), &|map| {
                    map.insert(name.to_owned(), value.clone());
                });
            }
        }
    }
    made
}
