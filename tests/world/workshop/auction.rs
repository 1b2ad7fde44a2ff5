//! The auction of the mint: the chart that we ship, in a world, on a clock of its own.

use super::acting::{act, invoke, world};
use chartc::load::Memory;
use chartc_core::expr::{Map, Value};
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::agent::ArtifactHost;
use chartc_runtime::clock::{Clock, VirtualClock};
use chartc_runtime::oracle::Script;
use chartc_world::{AuctionSettings, Auctioneer, Moment, World};
use std::sync::Arc;
use test_support::project::read;

/// The chart, as it is checked.
fn chart() -> Arc<Chart> {
    let text = read("charts/auction.chart");
    let done = chartc::check(&["auction.chart".to_owned()], &Memory::of("auction.chart", &text));
    assert_eq!(chartc::report::short(&done.diagnostics, &done.sources), "");
    done.charts[0].chart().clone()
}

/// Who plays an auction: acts by seconds, and lets the time pass.
struct Hall {
    world: World,
    session: Session<Interpreter<Auctioneer>, ()>,
    clock: Arc<VirtualClock>,
}

impl Hall {
    /// Lets time pass until a second of the run.
    async fn until(&mut self, second: u64) {
        let wait = (second * 1000).checked_sub(self.clock.now()).expect("time goes on");
        self.session.advance(wait).await.expect("nothing of it fails");
        self.world.set_moment(Moment { now_ms: self.clock.now(), ..Moment::default() });
        self.world.audit().expect("the books add up");
    }

    fn bid(&self, agent: &str, artifact: &str, bid: i64) -> Result<Value, String> {
        invoke(&self.world, agent, "genesis_mint", "submit", &format!(r#"["{artifact}", {bid}]"#))
    }

    fn write(&self, agent: &str, artifact: &str) {
        let action = format!(
            r#"{{"action":"write_artifact","artifact_id":"{artifact}","content":"by {agent}"}}"#
        );
        act(&self.world, agent, &action).expect("it is new");
    }

    fn scrip(&self) -> Vec<i64> {
        let all = self.world.balances();
        ["ada", "bob", "eve"].map(|name| all[name]).to_vec()
    }

    /// One field of the last auctions, the newest first.
    fn past(&self, field: &str) -> Vec<Value> {
        let history = invoke(&self.world, "ada", "genesis_mint", "history", "[]");
        let Ok(Value::List(rows)) = history else { panic!("{history:?}") };
        let field = |row: Value| match row {
            Value::Map(row) => row.get(field).cloned().unwrap_or_default(),
            other => panic!("{other:?}"),
        };
        rows.into_iter().map(field).collect()
    }

    fn status(&self, field: &str) -> Value {
        match invoke(&self.world, "ada", "genesis_mint", "status", "[]") {
            Ok(Value::Map(status)) => status.get(field).cloned().unwrap_or_default(),
            other => panic!("{other:?}"),
        }
    }
}

/// An auction among ada, bob and eve, who have 100 scrip and an artifact each: `a`, `b` and `e`.
fn hall(settings: AuctionSettings, answers: &str, play: impl AsyncFnOnce(&mut Hall)) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it starts");
    runtime.block_on(async {
        let clock = Arc::new(VirtualClock::new());
        let world = world(&["ada", "bob", "eve"]);
        let params: Map = settings.params();
        let host = Auctioneer::new(world.clone(), settings, clock.clone()).expect("they fit");
        let (chart, script) = (chart(), format!("answers:\n  appraisal:\n{answers}"));
        let plan = Plan::new(&chart);
        let params = params.iter().map(|(name, value)| (name.to_owned(), value.clone()));
        let machine = Interpreter::new(&plan, host, params).expect("they are its params");
        let oracle = Script::parse("script", &script, clock.clone()).expect("a script");
        let session = Session::new(machine, Arc::new(oracle), clock.clone(), ());
        let mut hall = Hall { world, session, clock };
        for (agent, artifact) in [("ada", "a"), ("bob", "b"), ("eve", "e")] {
            hall.write(agent, artifact);
        }
        hall.until(0).await;
        play(&mut hall).await;
    });
}

fn int(n: i64) -> Value {
    Value::Int(n)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

const SEVENTY: &str = "    - {answer: {rate: {points: 70}}, after: 2s}\n";

#[test]
fn the_best_bid_wins_and_pays_the_second_best() {
    hall(AuctionSettings::default(), SEVENTY, async |hall| {
        assert_eq!(hall.status("phase"), text("waiting"));
        // Early, before anything is open.
        hall.bid("ada", "a", 30).expect("ada has 100");
        assert_eq!(hall.scrip(), [70, 100, 100]);
        hall.until(31).await;
        assert_eq!(
            (hall.status("phase"), hall.status("seconds_left")),
            (text("bidding"), Value::Float(29.0))
        );
        hall.bid("bob", "b", 50).expect("bob has 100");
        hall.bid("eve", "e", 10).expect("eve has 100");
        assert_eq!(hall.world.view("ada").submissions.len(), 3);
        assert_eq!(hall.scrip(), [70, 50, 90]);
        hall.until(59).await;
        assert_eq!(hall.scrip(), [70, 50, 90], "nothing is decided before the end");
        // Bob wins, gets 20 back and pays 30, of which each agent gets 10.
        hall.until(60).await;
        assert_eq!(hall.scrip(), [110, 80, 110]);
        assert_eq!(hall.status("being_scored"), text("b"));
        assert_eq!(hall.world.ledger().circulation(), 300, "scrip has only moved");
        hall.until(62).await;
        assert_eq!(hall.scrip(), [110, 150, 110], "70 points are 70 scrip");
        assert_eq!(hall.world.ledger().circulation(), 370);
        assert_eq!(hall.past("winner"), [text("bob")]);
        assert_eq!(
            [hall.past("bid"), hall.past("price"), hall.past("score")],
            [[int(50)], [int(30)], [int(70)]]
        );
        assert!(hall.world.view("ada").submissions.is_empty());
    });
}

#[test]
fn nobody_bids_and_the_next_period_comes() {
    hall(AuctionSettings::default(), SEVENTY, async |hall| {
        hall.until(61).await;
        assert_eq!((hall.status("phase"), hall.scrip()), (text("closed"), vec![100; 3]));
        // A bid outside of the window is for the next auction.
        hall.bid("ada", "a", 7).expect("any time will do");
        hall.until(90).await;
        assert_eq!((hall.status("phase"), hall.status("auction")), (text("bidding"), int(2)));
        // The only bid pays the minimum, which is nothing.
        hall.until(122).await;
        assert_eq!((hall.scrip(), hall.past("auction")), (vec![170, 100, 100], vec![int(2)]));
    });
}

#[test]
fn equal_bids_go_to_the_earlier_one_and_a_rest_leaves_circulation() {
    hall(AuctionSettings::default(), SEVENTY, async |hall| {
        hall.bid("bob", "b", 20).expect("bob has 100");
        hall.bid("ada", "a", 20).expect("ada has 100");
        hall.until(60).await;
        // 20 for three are 6 each, and 2 are nobody's.
        assert_eq!((hall.scrip(), hall.world.ledger().circulation()), (vec![106, 86, 106], 298));
        assert_eq!(hall.status("being_scored"), text("b"));
    });
}

#[test]
fn ones_own_second_bid_is_no_price() {
    let settings = AuctionSettings { minimum_bid: 5, ..AuctionSettings::default() };
    hall(settings, SEVENTY, async |hall| {
        hall.write("ada", "a2");
        hall.bid("ada", "a", 4).expect_err("it is below the minimum");
        hall.bid("ada", "a", 40).expect("ada has 100");
        hall.bid("ada", "a2", 30).expect("ada has 60");
        hall.until(63).await;
        assert_eq!(hall.past("price"), [int(5)]);
    });
}

#[test]
fn a_bid_is_put_aside_so_that_it_can_be_paid() {
    hall(AuctionSettings::default(), SEVENTY, async |hall| {
        let told = hall.bid("ada", "a", 101).expect_err("ada has 100");
        assert!(told.starts_with("insufficient_scrip: "), "{told}");
        assert!(
            hall.bid("ada", "b", 1).expect_err("it is bob's").starts_with("permission_denied: ")
        );
        assert!(hall.bid("ada", "x", 1).expect_err("there is none").starts_with("not_found: "));
        assert!(hall.bid("ada", "ada", 1).expect_err("an agent").starts_with("intent_rejected: "));
        for bid in [0, -5] {
            assert!(hall.bid("ada", "a", bid).is_err(), "{bid}");
        }
        hall.bid("ada", "a", 80).expect("ada has 100");
        let transfer = |n: u32| {
            invoke(&hall.world, "ada", "genesis_ledger", "transfer", &format!(r#"["bob", {n}]"#))
        };
        transfer(21).expect_err("80 are put aside");
        // A new bid takes the place of the old one.
        hall.bid("ada", "a", 101).expect_err("even with the 80");
        assert_eq!(hall.scrip()[0], 20, "the first bid stands");
        hall.bid("ada", "a", 90).expect("20 and 80");
        assert_eq!(hall.scrip()[0], 10);
        let withdraw =
            |agent: &str| invoke(&hall.world, agent, "genesis_mint", "withdraw", r#"["a"]"#);
        withdraw("bob").expect_err("it is ada's");
        assert_eq!(withdraw("ada"), Ok(int(90)));
        withdraw("ada").expect_err("it is withdrawn");
        assert_eq!((hall.scrip()[0], hall.world.ledger().holds().count()), (100, 0));
    });
}

#[test]
fn low_bids_make_room_for_higher_ones() {
    let settings = AuctionSettings { max_submissions: 2, ..AuctionSettings::default() };
    hall(settings, SEVENTY, async |hall| {
        hall.write("ada", "a2");
        hall.bid("ada", "a", 5).expect("ada has 100");
        hall.bid("ada", "a2", 5).expect("ada has 95");
        let told = hall.bid("bob", "b", 5).expect_err("nobody is below it");
        assert!(told.starts_with("invocation_failed: "), "{told}");
        hall.bid("bob", "b", 6).expect("the later of ada's goes");
        hall.bid("ada", "a", 7).expect("it is there already");
        assert_eq!((hall.scrip(), hall.status("submissions")), (vec![93, 94, 100], int(2)));
    });
}

#[test]
fn an_artifact_that_is_gone_or_sold_does_not_win() {
    hall(AuctionSettings::default(), SEVENTY, async |hall| {
        hall.bid("ada", "a", 60).expect("ada has 100");
        hall.bid("bob", "b", 50).expect("bob has 100");
        hall.bid("eve", "e", 10).expect("eve has 100");
        invoke(&hall.world, "ada", "genesis_store", "delete", r#"["a"]"#).expect("it is ada's");
        invoke(&hall.world, "bob", "genesis_ledger", "transfer_ownership", r#"["b", "eve"]"#)
            .expect("it is bob's");
        hall.until(60).await;
        // Eve's is the only bid that is left, and costs nothing.
        assert_eq!((hall.scrip(), hall.status("being_scored")), (vec![100; 3], text("e")));
    });
}

#[test]
fn the_new_owner_of_an_artifact_bids_in_place_of_the_old_one() {
    hall(AuctionSettings::default(), SEVENTY, async |hall| {
        hall.bid("bob", "b", 50).expect("bob has 100");
        invoke(&hall.world, "bob", "genesis_ledger", "transfer_ownership", r#"["b", "eve"]"#)
            .expect("it is bob's");
        hall.bid("eve", "b", 10).expect("eve has 100");
        assert_eq!(hall.scrip(), [100, 100, 90]);
        hall.world.audit().expect("the books add up");
    });
}

#[test]
fn where_no_model_scores_the_estimate_counts() {
    let settings = AuctionSettings {
        default_score: 10,
        scrip_per_point: 3,
        max_history: 2,
        ..AuctionSettings::default()
    };
    // It fails, it is too slow, it rejects, it says too much.
    let answers = "    - {fail: refusal}\n    - {answer: {rate: {points: 70}}, after: 1h}\n    - reject\n    - {answer: {rate: {points: 1000}}}\n";
    hall(settings, answers, async |hall| {
        let mut scrip = Vec::new();
        for period in 0..4 {
            hall.bid("ada", "a", 1).expect("one is enough");
            hall.until(85 + 60 * period).await;
            scrip.push(hall.scrip()[0]);
        }
        assert_eq!(scrip, [130, 160, 160, 460]);
        assert_eq!(hall.past("score"), [int(100), int(0)], "two are kept, the newest first");
    });
}

#[test]
fn a_world_that_is_taken_back_goes_on_with_its_bids() {
    hall(AuctionSettings::default(), SEVENTY, async |hall| {
        hall.bid("ada", "a", 60).expect("ada has 100");
        hall.until(31).await;
        let saved = hall.world.save();
        hall.bid("bob", "b", 70).expect("bob has 100");
        hall.world.load(&saved).expect("it is its own");
        assert_eq!((hall.scrip(), hall.status("submissions")), (vec![40, 100, 100], int(1)));
        hall.until(62).await;
        assert_eq!(hall.past("winner"), [text("ada")]);
    });
}

#[test]
fn without_an_auctioneer_nobody_bids() {
    let world = world(&["ada"]);
    let told = invoke(&world, "ada", "genesis_mint", "status", "[]").expect_err("there is none");
    assert_eq!(told, "invocation_failed: there are no auctions in this world");
    let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new());
    let settings = AuctionSettings { period_seconds: 1.0, ..AuctionSettings::default() };
    assert!(Auctioneer::new(world, settings, clock).is_err());
}
