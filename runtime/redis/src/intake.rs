//! The loop around connections: it connects, works, and connects again.

use crate::error::{IntakeError, lasts};
use crate::link::Link;
use crate::notice::{Counts, Notice};
use crate::options::Options;
use crate::session::{Broken, Session};
use chartc_runtime::agents::Engine;
use redis::Client;
use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::time::Duration;

/// The first pause before the server is tried again, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// Takes the events of a stream in.
pub struct Intake {
    client: Client,
    address: String,
    options: Options,
}

impl Intake {
    /// Nothing is connected yet.
    ///
    /// # Errors
    /// The address is none, or an option has no meaning.
    pub fn new(options: Options) -> Result<Self, IntakeError> {
        options.check()?;
        let (client, address) = Link::client(&options)?;
        Ok(Self { client, address, options })
    }

    /// The server's address, without a password.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Takes events in until `stop` resolves: then what is under way ends, and the streams are free for others. A server that cannot be
    /// reached is tried again, with longer and longer pauses. A future that is dropped has lost nothing either.
    ///
    /// # Errors
    /// The server refuses for good, or another process has taken this one's name.
    pub async fn run<E: Engine + Sync>(
        self,
        engine: &E,
        stop: impl Future<Output = ()>,
        mut tell: impl FnMut(Notice),
    ) -> Result<Counts, IntakeError> {
        let mut stop = pin!(stop);
        let mut counts = Counts::default();
        let mut pause = PAUSES.0;
        // Sixteen digits that no other process has.
        let number = RandomState::new().hash_one(std::process::id());
        let me = format!("{}:{number:016x}", self.options.consumer);
        let mut is_first = true;
        loop {
            let opened = tokio::select! {
                biased;
                () = &mut stop => return Ok(counts),
                opened = Link::open(self.client.clone(), &self.options, &me) => opened,
            };
            let worked = match opened {
                Err(fault) => Err(Broken::Redis(fault)),
                Ok(link) => {
                    let mut session = Session::new(link, &self.options, engine, &mut counts);
                    match session.begin(is_first).await {
                        Ok(()) => {
                            is_first = false;
                            pause = PAUSES.0;
                            tell(Notice::Connected { address: self.address.clone() });
                            session.work(stop.as_mut(), &mut tell).await
                        }
                        Err(broken) => Err(broken),
                    }
                }
            };
            let fault = match worked {
                Ok(()) => return Ok(counts),
                Err(Broken::Taken) => return Err(IntakeError::Taken(self.options.consumer)),
                Err(Broken::Redis(fault)) => fault,
            };
            let (address, why) = (self.address.clone(), fault.to_string());
            if lasts(&fault) {
                return Err(IntakeError::Refused { address, why });
            }
            tell(Notice::Lost { address, why, pause });
            // By chance up to a half more, so that not all processes come back at once.
            let more = pause.mul_f64((RandomState::new().hash_one(0) % 512) as f64 / 1024.0);
            tokio::select! {
                biased;
                () = &mut stop => return Ok(counts),
                () = tokio::time::sleep(pause + more) => pause = (pause * 2).min(PAUSES.1),
            }
        }
    }
}
