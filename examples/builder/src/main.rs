//! Runs the builder against a script and tells where it went.

use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::Script;
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = include_str!("../../../charts/builder.script.yaml");
    let oracle = Script::parse("builder", script, Arc::new(VirtualClock::new()))?;
    let (states, status) = builder_example::run("ada", Arc::new(oracle), 50).await?;
    println!("{}", states.join(" -> "));
    println!("{}", status.map_or("not over yet", |status| status.word()));
    Ok(())
}
