//! What agents remember in the world.

use crate::door::{act, with, world};
use chartc_core::expr::Value;
use chartc_runtime::agent::Action;
use chartc_runtime::memory::Memory;
use chartc_world::{ArtifactMemory, Settings};

#[test]
fn memories_are_in_the_world() {
    let first = world(&["ada", "bob"]);
    let memory = ArtifactMemory::new(first.clone(), "ada");
    memory.record_action(1, "sold gold to bob", Value::None).expect("there is room");
    memory.record_observation(2, "rain", Value::Int(3)).expect("there is room");
    assert!(memory.search("gold", 5).expect("it is there")[0].text.contains("sold"));
    first.audit().expect("its bytes are booked");
    let second = world(&["ada", "bob"]);
    second.load(&first.save()).expect("the same world");
    let again = ArtifactMemory::new(second.clone(), "ada");
    assert_eq!(again.search("", 5).expect("all"), memory.search("", 5).expect("all"));
    assert_eq!(again.search("", 5).expect("all").len(), 2);
    assert!(ArtifactMemory::new(second, "bob").search("gold", 5).expect("none").is_empty());
}

#[test]
fn what_has_a_name_is_kept_once() {
    let first = world(&["ada"]);
    let memo = |text: &str| chartc_runtime::memory::Memo {
        kind: chartc_runtime::memory::MemoryKind::Action,
        tick: 1,
        text: text.to_owned(),
        data: Value::None,
    };
    let memory = ArtifactMemory::new(first.clone(), "ada");
    assert_eq!(memory.record_once("run:1", memo("one")), Ok(true));
    assert_eq!(memory.record_once("run:1", memo("one")), Ok(false));
    let other = ArtifactMemory::new(first, "ada");
    assert_eq!(other.record_once("run:1", memo("one")), Ok(false));
    assert_eq!(other.record_once("run:2", memo("two")), Ok(true));
    assert_eq!(memory.search("", 5).expect("all").len(), 2, "it sees what another handle wrote");
}

#[test]
fn the_oldest_make_room() {
    let world = with(Settings { disk: 1_000, ..Settings::default() }, &["ada"]);
    let memory = ArtifactMemory::new(world.clone(), "ada");
    for tick in 0..200 {
        memory.record_action(tick, &format!("turn {tick}"), Value::None).expect("room is made");
        world.audit().expect("the books add up");
    }
    let all = memory.search("", 1_000).expect("all");
    assert_eq!(all[0].text, "turn 199");
    assert!(all.len() > 5 && all.len() < 30, "{}", all.len());
    assert!(memory.search("turn 3", 50).expect("some").iter().all(|memo| memo.tick > 100));
    let long = "x".repeat(2_000);
    memory.record_action(200, &long, Value::None).expect_err("larger than the disk");
    world.audit().expect("the books add up");
    assert_eq!(memory.search("", 1_000).expect("all").len(), all.len());
}

#[test]
fn what_an_agent_writes_there_itself_is_read_as_far_as_it_is_a_memory() {
    let world = world(&["ada"]);
    let memory = ArtifactMemory::new(world.clone(), "ada");
    memory.record_action(1, "sold gold", Value::None).expect("there is room");
    for content in [Value::Text("nothing".into()), Value::List(vec![Value::Int(3)]), Value::None] {
        let action = Action::Write { artifact: "ada_memory".into(), ty: None, content };
        act(&world, "ada", &action).expect("her own");
        assert!(memory.search("", 5).expect("it is read").is_empty());
        memory.record_action(2, "found gold", Value::None).expect("there is room");
        assert_eq!(memory.search("gold", 5).expect("it is read").len(), 1);
        world.audit().expect("the books add up");
    }
}
