//! Runs a population and tells after each round how many agents are in each state: `social-example [SEED [ROUNDS [AGENTS]]]`.

#![allow(clippy::disallowed_methods, reason = "a program reads its arguments")]

use social_example::{World, show};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<u32>());
    let mut number = |unless_said: u32| arguments.next().unwrap_or(Ok(unless_said));
    let (seed, rounds, agents) = (u64::from(number(7)?), number(24)?, number(100)? as usize);

    let mut world = World::new(seed, agents, || ()).await?;
    println!("{}", show::people(&world, seed));
    for round in 1..=rounds {
        world.round().await?;
        print!("{}", show::round(&world, round));
    }
    println!("\n{}", show::summary(&world).trim_end());
    Ok(())
}
