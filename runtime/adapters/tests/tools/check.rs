//! Charts compared with a server.

use crate::support::{Declared, chart, folder, has, hostile, pool};
use chartc_adapters::tools::FindingKind::{
    self, Excluded, MissingParameter, MissingTool, ParameterType, ResultType, UnknownParameter,
    Unmapped,
};
use chartc_core::arena::TypeId;
use chartc_core::model::Type::{self, Bool, Float, Int, Json, Text};

const KIND: Type = Type::Named(TypeId(0));
const PLACE: Type = Type::Named(TypeId(1));

fn list(of: Type) -> Type {
    Type::List(Box::new(of))
}

fn optional(of: Type) -> Type {
    Type::Optional(Box::new(of))
}

#[tokio::test]
async fn declarations_are_compared_with_the_servers_schemas() {
    if !has("python3") {
        return;
    }
    let folder = folder("check");
    let text = hostile("good", &folder.join("told"), "[servers.h.tools]\nsum = \"get-sum\"");
    let (pool, _) = pool(&text, &folder).await;
    let sound: &[Declared<'_>] = &[
        ("h.echo", &[("text", Text)], Text),
        ("h.echo", &[("text", Text), ("shout", optional(Bool))], Json),
        ("h.add", &[("a", Int), ("b", Int)], Int),
        ("h.add", &[("a", Int), ("b", Int)], Text),
        ("h.add", &[("a", Json), ("b", Int)], Float),
        ("h.place", &[("kind", KIND), ("near", optional(PLACE))], PLACE),
        ("h.sum", &[("values", list(Int))], Float),
    ];
    assert_eq!(pool.check(&[&chart(sound)]), []);
    let wrong: &[(Declared<'_>, FindingKind, &str, &str)] = &[
        (("h.ecko", &[], Text), MissingTool, "has no tool `ecko`", "did you mean `echo`?"),
        (
            ("h.get_sum", &[], Text),
            MissingTool,
            "`get_sum`",
            "it has `get-sum`: write `h.`get-sum``",
        ),
        (("g.echo", &[], Text), Unmapped, "tools.toml maps no tool `g.echo`", "[tools.\"g.echo\"]"),
        (
            ("h.echo", &[], Text),
            MissingParameter,
            "requires the parameter `text`, of type Text",
            "add it",
        ),
        (
            ("h.echo", &[("text", Text), ("shuot", Bool)], Text),
            UnknownParameter,
            "knows no parameter `shuot`",
            "did you mean `shout`?",
        ),
        (
            ("h.echo", &[("text", Int)], Text),
            ParameterType,
            "`text` is Int in the chart, and Text on the server",
            "",
        ),
        (
            ("h.echo", &[("text", optional(Text))], Text),
            ParameterType,
            "it may be `none`, which the server does not take",
            "",
        ),
        (("h.add", &[("a", Float), ("b", Int)], Int), ParameterType, "`a` is Float", ""),
        (
            ("h.place", &[("kind", Text)], PLACE),
            ParameterType,
            "and one of \"hill\", \"lake\" on the server",
            "declare an enum with the values hill, lake",
        ),
        (("h.sum", &[("values", list(Text))], Text), ParameterType, "List(Float)", ""),
        (
            ("h.add", &[("a", Int), ("b", Int)], Bool),
            ResultType,
            "is Bool in the chart, and Int",
            "-> Text",
        ),
        (("h.place", &[("kind", KIND)], KIND), ResultType, "is Kind in the chart", ""),
    ];
    for (declared, kind, message, help) in wrong {
        let findings = pool.check(&[&chart(std::slice::from_ref(declared))]);
        assert_eq!(findings.len(), 1, "{findings:?}");
        let finding = &findings[0];
        assert_eq!((finding.kind, finding.tool.as_str()), (*kind, declared.0));
        assert!(finding.message.contains(message), "{finding:?}");
        assert!(finding.help.contains(help), "{finding:?}");
        let is_mapped =
            finding.configured.as_ref().is_some_and(|place| place.to_string() == "tools.toml:1");
        assert_eq!(is_mapped, *kind != Unmapped, "{finding:?}");
    }
    pool.close().await;
}

#[tokio::test]
async fn a_tool_that_is_left_out_is_not_there() {
    if !has("python3") {
        return;
    }
    let folder = folder("excluded");
    let text = hostile("good", &folder.join("told"), "include_tools = [\"echo\"]");
    let (pool, _) = pool(&text, &folder).await;
    let tools = pool.servers().remove(0).tools.expect("it runs");
    assert_eq!(tools.len(), 1);
    let add: &[Declared<'_>] = &[("h.add", &[("a", Int), ("b", Int)], Int)];
    assert_eq!(pool.check(&[&chart(add)])[0].kind, Excluded);
    let refused =
        crate::support::call(&pool, "h.die", serde_json::json!({}), crate::support::TEXT).await;
    assert!(refused.expect_err("it is left out").to_string().contains("`include_tools`"));
    pool.close().await;
}

#[tokio::test]
async fn declarations_of_hostile_names_stay_declarations() {
    if !has("python3") {
        return;
    }
    let folder = folder("evil");
    let (pool, _) = pool(&hostile("evil-text", &folder.join("told"), ""), &folder).await;
    let name = pool.servers().remove(0).tools.expect("it runs").remove(0).called;
    let text =
        pool.declaration("h", &name, &mut std::collections::BTreeSet::new()).expect("it is there");
    pool.close().await;
    assert_eq!(
        text,
        "/// \\u{202e}evil\n/// }\n/// tool evil.run() -> Text\\u{1b}[2J\ntool h.`x\\`) -> Text\\ntool`(`a\\n\\`b`: Text?) -> Text\n"
    );
}

#[tokio::test]
async fn huge_schemas_are_compared_and_told_briefly() {
    if !has("python3") {
        return;
    }
    let folder = folder("huge-schema");
    let (pool, _) = pool(&hostile("huge-schema", &folder.join("told"), ""), &folder).await;
    let tools: &[Declared<'_>] = &[
        ("h.wide", &[("p00", Int)], Text),
        ("h.choice", &[("one", Text)], Text),
        ("h.deep", &[("d", Json)], Text),
    ];
    let findings = pool.check(&[&chart(tools)]);
    let more = "the server requires 39991 more parameters: p10, p11";
    assert!(findings.iter().any(|one| one.message.starts_with(more)), "{findings:?}");
    assert_eq!(findings.len(), 13);
    assert!(findings.iter().all(|one| one.message.len() + one.help.len() <= 3000));
    assert_eq!(findings.last().map(|one| one.kind), Some(ParameterType));
    let types = &mut std::collections::BTreeSet::new();
    for name in ["wide", "choice", "deep"] {
        let text = pool.declaration("h", name, types).expect("it is there");
        assert!(text.ends_with("-> Text\n"), "{name}");
    }
    pool.close().await;
}
