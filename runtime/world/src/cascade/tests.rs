//! Tests of cascades with logs written by hand.

use super::*;
use chartc_core::expr::Map;
use chartc_runtime::trace::What;
use chartc_runtime::trace::{Cause, Line};
use std::collections::BTreeMap;

/// A log: `ada turn`, `ada act NAME`, `ada act read_artifact ID`, `bob event NAME by ada`, `bob taken A B`, `bob sees ID ID`, `spawn eve ada`;
/// and of the world `world wrote ID ada` and `world gave ada bob`.
fn cascades(log: &[&str]) -> Cascades {
    let mut all = Cascades::new();
    let mut seqs: BTreeMap<String, u64> = BTreeMap::new();
    // By the agents: the line before their last action.
    let mut causes: BTreeMap<String, u64> = BTreeMap::new();
    for row in log {
        let words: Vec<&str> = row.split(' ').collect();
        let (mut agent, mut by) = (words[0], None);
        let text = |word: &str| Value::Text(word.to_owned());
        let what = match words[1..] {
            ["turn"] => What::Turn { turn: 1 },
            ["act", name, ..] => {
                let id = words.get(3).map(|id| ("artifact_id".to_owned(), text(id)));
                causes.insert(agent.to_owned(), seqs.get(agent).copied().unwrap_or(0));
                What::Acted {
                    step: "s".into(),
                    action: name.into(),
                    arguments: Value::Map(id.into_iter().collect()),
                    reasoning: String::new(),
                    value: Value::None,
                    changes: Vec::new(),
                    failed: String::new(),
                    why: String::new(),
                }
            }
            ["event", name, "by", from] => {
                by = Some(Cause { agent: from.to_owned(), seq: causes[from] });
                What::Event { event: name.into(), data: Value::None }
            }
            ["event", name] => What::Event { event: name.into(), data: Value::None },
            ["taken", from, to] => What::Taken {
                line: LineName {
                    state: from.into(),
                    nth: 1,
                    trigger: "on e".into(),
                    targets: vec![to.into()],
                },
                held: vec![],
            },
            ["sees", ref ids @ ..] => {
                let row =
                    |id: &&str| Value::Map([("id".to_owned(), text(id))].into_iter().collect());
                let value = Value::List(ids.iter().map(row).collect());
                What::Input { name: "artifacts".into(), value }
            }
            ["wrote", id, by] => {
                agent = "";
                of_the_world("created", &[("artifact_id", text(id)), ("by", text(by))])
            }
            ["gave", from, to] => {
                agent = "";
                let amount = ("amount", Value::Int(5));
                of_the_world("transferred", &[("from", text(from)), ("to", text(to)), amount])
            }
            [new, parent] => {
                agent = "";
                of_the_world("spawned", &[("agent", text(new)), ("parent", text(parent))])
            }
            _ => panic!("{row}"),
        };
        let seq = seqs.entry(agent.to_owned()).or_default();
        *seq += 1;
        let line = Line { v: 1, seq: *seq, at_ms: 0, child: String::new(), what };
        all.observe(&Logged { agent: agent.to_owned(), by, line });
    }
    all
}

fn of_the_world(event: &str, data: &[(&str, Value)]) -> What {
    let data: Map = data.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    What::World { event: event.into(), data: Value::Map(data) }
}

fn shown(deeds: &[Deed], margin: &str, out: &mut Vec<String>) {
    for deed in deeds {
        out.push(format!("{margin}{}", deed.action));
        for effect in &deed.effects {
            let again = if effect.again { " again" } else { "" };
            let moves = effect.transitions.join("; ");
            out.push(format!("{margin} {} {} [{moves}]{again}", effect.agent, effect.event));
            shown(&effect.actions, &format!("{margin}  "), out);
            if effect.more > 0 {
                out.push(format!("{margin}  … {} more", effect.more));
            }
        }
        if deed.more > 0 {
            out.push(format!("{margin} … {} more", deed.more));
        }
    }
}

fn tree(all: &Cascades, agent: &str, bounds: Bounds) -> Vec<String> {
    let mut out = Vec::new();
    let tree = all.tree(agent, bounds).expect("an agent");
    shown(&tree.actions, "", &mut out);
    if tree.more > 0 {
        out.push(format!("… {} more", tree.more));
    }
    out
}

/// Ada posts, which bob and cyd see; bob answers her, and she sends him off.
const TALK: &[&str] = &[
    "ada turn",
    "ada act post",
    "bob event seen by ada",
    "bob taken idle reading",
    "cyd event seen by ada",
    "bob turn",
    "bob taken reading writing",
    "bob act reply",
    "cyd turn",
    "cyd act noop",
    "ada event answered by bob",
    "ada taken waiting angry",
    "ada turn",
    "ada act block",
    "bob event blocked by ada",
    "bob taken writing gone",
    "ada turn",
    "ada act noop",
];

#[test]
fn a_tree_tells_what_followed() {
    let all = cascades(TALK);
    assert_eq!(
        tree(&all, "ada", Bounds::default()),
        [
            "post",
            " bob seen [idle -> reading]",
            "  reply",
            "   ada answered [waiting -> angry]",
            "    block",
            "     bob blocked [writing -> gone]",
            " cyd seen []",
            "  noop",
            "block",
            " bob blocked [writing -> gone] again",
        ]
    );
    assert_eq!(tree(&all, "cyd", Bounds::default()), [""; 0]);
    assert!(all.tree("eve", Bounds::default()).is_none());
    let whole = all.tree("ada", Bounds::default()).expect("an agent");
    assert_eq!((whole.effects, whole.reached), (4, 2));
}

#[test]
fn an_action_follows_from_what_was_heard_before_its_turn() {
    let all = cascades(&[
        "ada act post",
        "bob turn",
        "bob event seen by ada",
        "bob act early",
        "bob turn",
        "bob turn",
        "bob act next",
        "bob turn",
        "bob act later",
        "cyd act shout",
        "bob event heard by cyd",
        "bob event seen by ada",
        "bob turn",
        "bob act both",
    ]);
    let ada = ["post", " bob seen []", "  next", " bob seen []", "  both"];
    assert_eq!(tree(&all, "ada", Bounds::default()), ada);
    assert_eq!(tree(&all, "cyd", Bounds::default()), ["shout", " bob heard []", "  both"]);
}

#[test]
fn a_new_agent_is_an_effect() {
    let all = cascades(&["ada turn", "ada act make", "world eve ada", "eve turn", "eve act greet"]);
    assert_eq!(tree(&all, "ada", Bounds::default()), ["make", " eve  []", "  greet"]);
    // The line of the world may stand before that of the action.
    let all = cascades(&["ada turn", "world eve ada", "ada act make", "eve turn", "eve act greet"]);
    assert_eq!(tree(&all, "ada", Bounds::default()), ["make", " eve  []", "  greet"]);
}

#[test]
fn artifacts_that_others_read_use_and_see_are_effects() {
    let all = cascades(&[
        "ada act write_artifact",
        "world wrote plan ada",
        "bob act read_artifact plan",
        "bob turn",
        "bob act write_artifact",
        "world wrote post bob",
        "ada turn",
        "ada sees post plan",
        "ada act praise",
        "ada turn",
        "ada sees post plan",
        "ada act rest",
        "cyd act invoke_artifact plan",
        "cyd act read_artifact none",
        "bob act read_artifact post",
    ]);
    assert_eq!(
        tree(&all, "ada", Bounds::default()),
        [
            "write_artifact",
            " bob read plan []",
            "  write_artifact",
            "   ada saw post []",
            "    praise",
            " cyd used plan []",
        ],
        "an artifact is seen once, and nobody has an effect by what it has written itself"
    );
    assert_eq!(all.totals(), (3, 2));
    // Only the newest artifacts that were seen count.
    let mut log = Vec::new();
    let mut sees = "bob sees".to_owned();
    for nth in 0..15 {
        log.extend(["ada act write_artifact".to_owned(), format!("world wrote p{nth} ada")]);
        sees.push_str(&format!(" p{nth}"));
    }
    log.extend([sees, "bob act like".to_owned()]);
    let log: Vec<&str> = log.iter().map(String::as_str).collect();
    let all = cascades(&log);
    assert_eq!(all.totals(), (10, 1));
    let longest = all.longest();
    assert_eq!(longest[0].event, "saw p5", "{longest:?}");
}

#[test]
fn scrip_from_others_is_an_effect() {
    let all = cascades(&[
        "ada act invoke_artifact",
        "world gave ada bob",
        "bob turn",
        "bob act invoke_artifact",
        "world gave bob cyd",
        "world gave bob bob",
    ]);
    assert_eq!(
        tree(&all, "ada", Bounds::default()),
        ["invoke_artifact", " bob got 5 scrip []", "  invoke_artifact", "   cyd got 5 scrip []"]
    );
    assert_eq!(all.longest().len(), 2);
}

#[test]
fn a_tree_is_bounded() {
    let mut log = vec!["ada act post".to_owned()];
    for nth in 0..20 {
        log.push(format!("b{nth} event seen by ada"));
    }
    let log: Vec<&str> = log.iter().map(String::as_str).collect();
    let rows = tree(&cascades(&log), "ada", Bounds::default());
    assert_eq!((rows.len(), rows.last().map(String::as_str)), (10, Some(" … 12 more")));
    // Two agents answer each other without end.
    let mut log = vec!["ada act ping", "bob event ping by ada"];
    for _ in 0..10_000 {
        log.extend(["bob turn", "bob act pong", "ada event pong by bob"]);
        log.extend(["ada turn", "ada act ping", "bob event ping by ada"]);
    }
    let all = cascades(&log);
    let bounds = Bounds { depth: 3, width: 1, ..Bounds::default() };
    assert_eq!(
        tree(&all, "ada", bounds),
        [
            "ping",
            " bob ping []",
            "  pong",
            "   ada pong []",
            "    ping",
            "     bob ping []",
            "      … 1 more",
            "… 10000 more",
        ]
    );
    assert_eq!(all.longest().len(), 20_001);
}

#[test]
fn sums_name_edges_the_longest_cascade_and_the_most_influential() {
    let all = cascades(TALK);
    let edges: Vec<String> =
        all.edges().iter().map(|e| format!("{} {} {}", e.from, e.to, e.count)).collect();
    assert_eq!(edges, ["ada bob 2", "ada cyd 1", "bob ada 1"]);
    let links: Vec<String> =
        all.longest().iter().map(|l| format!("{} {} {}", l.from, l.action, l.to)).collect();
    assert_eq!(links, ["ada post bob", "bob reply ada", "ada block bob"]);
    let rows: Vec<(String, u64, u64, u64)> =
        all.influence(5).into_iter().map(|i| (i.agent, i.effects, i.followed, i.reached)).collect();
    assert_eq!(rows, [("ada".to_owned(), 3, 4, 2), ("bob".to_owned(), 1, 2, 1)]);
}
