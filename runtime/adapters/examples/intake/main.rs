//! Agents of a chart in an SQLite file, with events from Redis:
//! `intake CHART STORE.db STREAM GROUP [--redis URL] [--shards N] [--consumer NAME] [--idle MS] [--script FILE]`.
//! The address, with a password, may also be in the variable `REDIS_URL`, where no list of processes shows it.
#![allow(clippy::disallowed_methods, reason = "a program reads its arguments and its files")]

mod agents;

use chartc_adapters::redis::{Intake, Options};
use std::error::Error;
use std::path::Path;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut plain = Vec::new();
    let mut url = std::env::var("REDIS_URL").unwrap_or("redis://127.0.0.1".into());
    let (mut shards, mut idle) = (1, Duration::from_secs(10));
    let (mut consumer, mut script) = ("chartc".to_owned(), None);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("`{word}` needs a value"));
        match word.as_str() {
            "--redis" => url = value()?,
            "--shards" => shards = value()?.parse()?,
            "--idle" => idle = Duration::from_millis(value()?.parse()?),
            "--consumer" => consumer = value()?,
            "--script" => script = Some(std::fs::read_to_string(value()?)?),
            _ => plain.push(word),
        }
    }
    let Ok([chart, store, stream, group]) = <[String; 4]>::try_from(plain) else {
        return Err("give a chart, a store, a stream and a group".into());
    };
    let options = Options::new(&url, &stream, &group);
    let options = options.with_shards(shards).with_consumer(&consumer).with_idle(idle);
    let intake = Intake::new(options)?;
    let (engine, mut worker) =
        agents::engine(&agents::plan(&chart)?, Path::new(&store), script.as_deref())?;
    println!("taking events in from {}", intake.address());
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let stop = async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    };
    // The intake owns the handle: when it ends, so does the worker.
    let taken = async move { intake.run(&engine, stop, |notice| eprintln!("{notice:?}")).await };
    let (worked, taken) = tokio::select! {
        worked = worker.work() => (worked, None),
        taken = taken => (Ok(()), Some(taken)),
    };
    worked?;
    if let Some(taken) = taken {
        println!("{:?}", taken?);
    }
    Ok(())
}
