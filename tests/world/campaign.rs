//! Random worlds, in which agents do whatever there is, sensible or not. The books add up after each action, and a world that was saved and
//! taken back in the middle goes on as the other one.
//!
//! 6 worlds of 500 actions. `WORLDS=1000 cargo test --release -p chartc-world-tests campaign` is the whole campaign.

use crate::door::{act, agent, empty};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::Action;
use chartc_runtime::memory::Memory;
use chartc_world::{ArtifactMemory, Moment, Settings, SpawnLimits, World};

const ACTIONS: u64 = 500;

/// Draws of one seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }

    fn settings(&mut self) -> Settings {
        Settings {
            disk: self.of(&[0, 400, 5_000]) + 200,
            compute: self.of(&[1, 20, 1_000]),
            starting_scrip: self.of(&[0, 10, 100, i64::MAX / 8]),
            max_artifacts: self.of(&[30, 200]),
            max_artifacts_per_agent: self.of(&[5, 100]),
            max_content_bytes: self.of(&[100, 2_000]),
            spawn: SpawnLimits {
                max_depth: 3,
                max_agents: 12,
                per_parent: 4,
                cost: self.of(&[0, 3]),
                min_endowment: self.of(&[0, 1]),
                disk: self.of(&[2, 100]),
                compute: self.of(&[0, 5]),
            },
            max_events: 50,
            ..Settings::default()
        }
    }

    fn id(&mut self) -> String {
        self.of(&[
            "a0",
            "a1",
            "a2",
            "a3",
            "k1",
            "k2",
            "k3",
            "x1",
            "x2",
            "x3",
            "x4",
            "x5",
            "x6",
            "x7",
            "x8",
            "a0_memory",
            "k1_memory",
            "genesis_mint",
            "genesis_ledger",
            "system",
            "nobody",
            "",
        ])
        .to_owned()
    }

    fn number(&mut self) -> Value {
        let n = self.of(&[0, 1, 2, 5, 9, 30, 80, -1, 1_000, i64::MAX, i64::MIN, i64::MAX - 1]);
        if self.below(20) == 0 { Value::Float(1.5) } else { Value::Int(n) }
    }

    fn value(&mut self) -> Value {
        match self.below(4) {
            0 => self.number(),
            1 => Value::Map(self.policy()),
            _ => Value::Text(self.id()),
        }
    }

    fn policy(&mut self) -> Map {
        let mut policy = Map::new();
        for key in ["read", "write", "invoke"] {
            if self.below(3) == 0 {
                let who = self.of(&["everyone", "owner", "nobody", "all"]);
                policy.insert(key.to_owned(), Value::Text(who.to_owned()));
            }
        }
        if self.below(2) == 0 {
            policy.insert("price".to_owned(), self.number());
        }
        policy
    }

    fn action(&mut self) -> Action {
        let (artifact, text) = (self.id(), |text: &str| text.to_owned());
        match self.below(20) {
            0 => Action::Noop,
            1 => Action::Read { artifact },
            2..=6 => {
                let long = "y".repeat(self.below(300) as usize);
                let (ty, content) = match self.below(6) {
                    0 => (None, Value::Text(long)),
                    1 => (Some("data"), Value::Map(self.policy())),
                    2 => (Some("chart"), Value::Text("bad".into())),
                    3 => (Some("agent"), Value::Text(format!("hear import:{}", self.id()))),
                    _ => (Some("chart"), Value::Text(text("echo again fail"))),
                };
                Action::Write { artifact, ty: ty.map(str::to_owned), content }
            }
            7..=9 => {
                let method = text(self.of(&["hear", "echo", "again", "fail", "help", "none"]));
                let arguments = (0..self.below(2)).map(|_| self.value()).collect();
                Action::Invoke { artifact, method, arguments }
            }
            _ => {
                let (owner, method, kinds) = self.of(&[
                    ("genesis_ledger", "balance", "i"),
                    ("genesis_ledger", "all_balances", ""),
                    ("genesis_ledger", "transfer", "in"),
                    ("genesis_ledger", "transfer", "in"),
                    ("genesis_ledger", "transfer", "iin"),
                    ("genesis_ledger", "transfer_ownership", "ii"),
                    ("genesis_ledger", "spawn_principal", "i"),
                    ("genesis_ledger", "spawn_principal", "iin"),
                    ("genesis_ledger", "spawn_principal", "iin"),
                    ("genesis_ledger", "stop_principal", "i"),
                    ("genesis_store", "list", ""),
                    ("genesis_store", "search", "i"),
                    ("genesis_store", "get", "i"),
                    ("genesis_store", "set_policy", "ip"),
                    ("genesis_store", "delete", "i"),
                    ("genesis_event_log", "read", "n"),
                    ("genesis_escrow", "deposit", "in"),
                    ("genesis_escrow", "deposit", "ini"),
                    ("genesis_escrow", "deposit", "in"),
                    ("genesis_escrow", "purchase", "i"),
                    ("genesis_escrow", "purchase", "i"),
                    ("genesis_escrow", "cancel", "i"),
                    ("genesis_rights_registry", "quotas", "i"),
                    ("genesis_rights_registry", "transfer_quota", "din"),
                    ("genesis_rights_registry", "transfer_quota", "cin"),
                    ("genesis_rights_registry", "none", "i"),
                ]);
                let arguments = kinds.chars().map(|kind| match kind {
                    _ if self.below(12) == 0 => self.value(),
                    'i' => Value::Text(self.id()),
                    'n' => self.number(),
                    'p' => Value::Map(self.policy()),
                    'd' => Value::Text(text("disk")),
                    _ => Value::Text(text("compute")),
                });
                let arguments = arguments.collect();
                Action::Invoke { artifact: text(owner), method: text(method), arguments }
            }
        }
    }
}

fn begin(seed: u64) -> World {
    let mut draws = Draws(seed);
    let world = empty(draws.settings());
    for name in ["a0", "a1", "a2", "a3"] {
        world.add_agent(agent(name)).expect("there is room for four");
    }
    world
}

/// One action of somebody; whether it has succeeded.
fn step(world: &World, draws: &mut Draws, at: u64) -> bool {
    if at.is_multiple_of(25) {
        let tick = Some(at as u32 / 25);
        world.set_moment(Moment { tick, now_ms: at, total_ms: None });
        world.renew();
    }
    let agents: Vec<String> = world.agents().into_iter().map(|row| row.name).collect();
    let by = draws.of(&agents);
    let circulation = world.ledger().circulation();
    if draws.below(20) == 0 {
        let long = "z".repeat(draws.below(200) as usize);
        // Where there is no room at all, it is not kept.
        ArtifactMemory::new(world.clone(), &by).record_action(at, &long, Value::None).ok();
        world.audit().expect("the books add up");
    }
    let action = draws.action();
    let (before, agents) = (world.balances(), agents.len());
    let done = act(world, &by, &action);
    let requests = world.take_requests().len();
    if done.is_err() {
        assert_eq!(world.balances(), before, "{by}: {action:?}: nothing is paid for nothing");
        assert_eq!((world.agents().len(), requests), (agents, 0), "{by}: {action:?}");
    }
    assert_eq!(world.audit_changes(), Ok(()), "{by}: {action:?}");
    let after = world.ledger().circulation();
    // Nothing makes scrip here; the cost of a new agent takes some away.
    assert!(after == circulation || after == circulation - 3, "{by}: {action:?}");
    let view = world.shared().view(&by);
    assert_eq!(view.balance, world.ledger().scrip(&by), "{by}: {action:?}");
    done.is_ok()
}

fn play(seed: u64) -> u64 {
    let mut world = begin(seed);
    let other = begin(seed);
    let mut draws = Draws(seed ^ 0x5eed);
    let mut done = 0;
    let mut copy = None;
    for at in 0..ACTIONS {
        if at == ACTIONS / 2 {
            let saved = world.save();
            let text = serde_json::to_string(&saved).expect("JSON");
            other.load(&serde_json::from_str(&text).expect("JSON")).expect("the same world");
            assert_eq!(other.save(), saved, "seed {seed}");
            copy = Some((Draws(draws.0), world.clone()));
            world = other.clone();
        }
        done += u64::from(step(&world, &mut draws, at));
    }
    let Some((mut draws, first)) = copy else { panic!("it is taken in the middle") };
    for at in ACTIONS / 2..ACTIONS {
        step(&first, &mut draws, at);
    }
    assert_eq!(
        serde_json::to_string(&first.save()).expect("JSON"),
        serde_json::to_string(&world.save()).expect("JSON"),
        "seed {seed}: it goes on as the other one"
    );
    done
}

#[test]
#[expect(clippy::disallowed_methods, reason = "who tests says how many")]
fn the_books_add_up_after_each_action() {
    let worlds = std::env::var("WORLDS").ok().and_then(|n| n.parse().ok()).unwrap_or(6);
    let done: u64 = (0..worlds).map(play).sum();
    // It is not that nothing can be done.
    assert!(done > worlds * ACTIONS / 5, "{done} of {}", worlds * ACTIONS);
}

/// Agents that act at the same time: whatever the order, the books add up at any moment, and nobody waits for somebody who waits.
#[test]
fn agents_act_at_once() {
    let world = begin(3);
    std::thread::scope(|scope| {
        for (at, by) in ["a0", "a1", "a2", "a3"].into_iter().enumerate() {
            let world = &world;
            scope.spawn(move || {
                let mut draws = Draws(at as u64);
                for _ in 0..300 {
                    let action = draws.action();
                    // Whether it can be done depends on the others; `act` looks whether the books add up.
                    drop(act(world, by, &action));
                    world.shared().view(by);
                }
            });
        }
    });
    assert_eq!(world.ledger().holds().count(), 0, "nothing stays put aside");
    world.audit().expect("the books add up");
}
