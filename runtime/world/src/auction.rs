//! The auctions of the mint. `charts/auction.chart` says what happens when; here is what each of it does to the world.

use crate::bids::{self, AuctionSettings, Book};
use crate::world::World;
use chartc_core::expr::Value;
use chartc_core::host::Host;
use chartc_runtime::agent::Failure;
use chartc_runtime::clock::Clock;
use std::sync::Arc;

/// The functions of the auction's chart, carried out in a world.
///
/// Whoever runs the agents runs the chart as a session of its own named `genesis_mint`, on the world's clock, with
/// [`AuctionSettings::params`]; a model that answers its question gives the score, otherwise [`AuctionSettings::default_score`] counts.
#[derive(Clone)]
pub struct Auctioneer {
    world: World,
    clock: Arc<dyn Clock>,
}

impl Auctioneer {
    /// From now on bids are taken in this world. One that has taken bids before, as in a snapshot, keeps them.
    ///
    /// # Errors
    /// The settings do not fit each other; or the books of the world do not add up.
    pub fn new(
        world: World,
        settings: AuctionSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        settings.check()?;
        world.auction(|state| Book::begin(state, settings)).map_err(said)?;
        Ok(Self { world, clock })
    }
}

fn said(failure: Failure) -> String {
    failure.to_string()
}

impl Host for Auctioneer {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        let done = match (function, arguments) {
            ("open", []) => {
                let now = self.clock.now();
                self.world.auction(|state| bids::open(state, now))
            }
            ("resolve", []) => self.world.auction(bids::resolve),
            ("mint", [Value::Int(score)]) => self.world.auction(|state| bids::mint(state, *score)),
            ("winner", []) => self.world.auction(|state| Ok(Book::of(state)?.won_artifact())),
            ("content", []) => self.world.auction(|state| Ok(Book::of(state)?.won_content())),
            ("estimate", []) => self.world.auction(|state| Ok(Book::of(state)?.estimate())),
            _ => return Err(format!("the auctioneer has no such function `{function}`")),
        };
        done.map_err(said)
    }
}
