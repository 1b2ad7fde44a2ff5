//! The host of the mint's auctions. The chart `charts/auction.chart` decides when an auction opens, closes and is scored. Its host
//! functions, defined here, change the world.

use crate::bids::{self, AuctionSettings, Book};
use crate::world::World;
use chartc_core::expr::Value;
use chartc_core::host::Host;
use chartc_runtime::agent::Failure;
use chartc_runtime::clock::Clock;
use std::sync::Arc;

/// The host functions of the auction's chart, for one world.
///
/// The engine runs the chart as a session with the name `genesis_mint`, on the world's clock and with the params of
/// [`AuctionSettings::params`]. The chart asks a model for the score of the winner. Without an answer, [`AuctionSettings::default_score`]
/// counts.
#[derive(Clone)]
pub struct Auctioneer {
    world: World,
    clock: Arc<dyn Clock>,
}

impl Auctioneer {
    /// Lets a world accept bids. Bids that the world has already, for example from a snapshot, are kept.
    ///
    /// # Errors
    /// The settings contradict each other, or the saved state of the auctions is damaged.
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
