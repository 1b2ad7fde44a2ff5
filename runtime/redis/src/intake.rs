//! The outer loop of an intake: connect, work until the connection breaks, pause, connect again.

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

/// The first and the longest pause before a new connection. It doubles with each failure.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// Reads the events of a stream and applies them to the agents of an engine.
pub struct Intake {
    client: Client,
    address: String,
    options: Options,
}

impl Intake {
    /// Creates an intake. It does not connect yet.
    ///
    /// # Errors
    /// The address is not that of a Redis server, or an option cannot work.
    pub fn new(options: Options) -> Result<Self, IntakeError> {
        options.check()?;
        let (client, address) = Link::client(&options)?;
        Ok(Self { client, address, options })
    }

    /// The server's address, without a password.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Applies events until `stop` resolves. Then it waits for the events under way, at most 10 seconds, and releases its streams for other
    /// processes. If the server cannot be reached, the intake tries again, with growing pauses. Dropping the future loses no events: those
    /// that are not acknowledged are delivered again.
    ///
    /// # Errors
    /// The server refuses a command for good, or another process has taken this one's name.
    pub async fn run<E: Engine + Sync>(
        self,
        engine: &E,
        stop: impl Future<Output = ()>,
        mut tell: impl FnMut(Notice),
    ) -> Result<Counts, IntakeError> {
        let mut stop = pin!(stop);
        let mut counts = Counts::default();
        let mut pause = PAUSES.0;
        // A random suffix, since the same consumer name may be used by an earlier process that has not noticed that it was replaced.
        let number = RandomState::new().hash_one(std::process::id());
        let me = format!("{}:{number:016x}", self.options.consumer);
        // Only the first connection takes over streams from an earlier process of the same name. A later one must not take them back from a
        // successor.
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
            // A random delay of up to half the pause is added, so that not all processes reconnect at the same time.
            let more = pause.mul_f64((RandomState::new().hash_one(0) % 512) as f64 / 1024.0);
            tokio::select! {
                biased;
                () = &mut stop => return Ok(counts),
                () = tokio::time::sleep(pause + more) => pause = (pause * 2).min(PAUSES.1),
            }
        }
    }
}
