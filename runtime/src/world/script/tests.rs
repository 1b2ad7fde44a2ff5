use super::*;

#[test]
fn a_file_that_cannot_be_read_says_where_and_what_would_be_right() {
    for (text, why) in [
        ("[1]", "a world is a mapping of agent, balances, disk, artifacts"),
        ("balance: {}", "`balance` is unknown; there are agent, balances, disk, artifacts"),
        ("balances: {ada: -1}", "`balances.ada` is a whole number of scrip, 0 or more"),
        ("balances: {ada: 1.5}", "`balances.ada` is a whole number of scrip, 0 or more"),
        ("disk: lots", "`disk` is a whole number of bytes, 0 or more"),
        ("artifacts: [a]", "`artifacts` is a mapping of artifacts by their ids"),
        ("artifacts: {a: 1}", "`artifacts.a` is a mapping of owner, type,"),
        ("artifacts: {a: {ownr: x}}", "`artifacts.a.ownr` is unknown; there are owner, type,"),
        ("artifacts: {a: {read: all}}", "`artifacts.a.read` is everyone, owner, nobody or a list"),
        ("artifacts: {a: {price: {b: 1}}}", "`artifacts.a.price.b` is unknown; there are none"),
        ("artifacts: {a: {methods: {b: {cases: 3}}}}", "`artifacts.a.methods.b` `cases` is a list"),
        (
            "artifacts: {a: {methods: {b: [{answer: 1, after: 2s}]}}}",
            "`artifacts.a.methods.b` has a result that comes later",
        ),
        (
            "disk: 3\nartifacts: {a: {owner: x, content: four}}",
            "`disk` is 3 bytes for `x`, whose artifacts have 4: write less, or allow more",
        ),
        ("artifacts: {a: {}, a: {}}", "duplicate"),
        ("a: [", "line 1 column"),
    ] {
        let found = WorldFile::parse(text).expect_err(text).to_string();
        assert!(found.contains(why), "{text}: {found}");
    }
    let unknown = WorldFile::parse("artifacts: {a: {ownr: x}}").expect_err("no such key").stranger;
    let (key, known) = unknown.expect("it is told");
    assert!(key == "ownr" && known.contains(&"owner".to_owned()));
    assert!(WorldFile::parse("").is_ok_and(|file| file.agent.is_none()));
}
