//! One agent, driven by hand.

use chartc_runtime::Session;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::First;
use social_example::social::{Event, Host, Machine, Params, Post, State};
use std::sync::Arc;

struct Ada;

impl Host for Ada {
    fn relevance(&mut self, post: Option<&Post>, interests: &[String]) -> Result<f64, String> {
        let text = post.map_or("", |post| &post.text);
        Ok(if interests.iter().any(|topic| text.contains(topic)) { 0.6 } else { 0.0 })
    }

    fn publish(&mut self, kind: &str, _post: Option<&Post>) -> Result<(), String> {
        println!("ada: {kind}");
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let params = Params::new("ada", vec!["rust".into()], "You like to argue.");
    let machine = Machine::new(Params { patience: Some(3), ..params }, Ada)?;
    let mut session = Session::new(machine, Arc::new(First), Arc::new(VirtualClock::new()), ());
    let post = Post { id: "1".into(), text: "rust on the moon".into(), velocity: 1.0 };
    for event in [Event::StartBrowsing, Event::SeesPost { post }, Event::Decides] {
        session.tell(event).await?;
    }
    // The model was asked, and took the first option.
    assert!(session.machine().is_in(State::ActiveComposing));
    session.tell(Event::Finishes).await?;
    session.run_turns(3).await?;
    println!("{}, after {} model call", session.configuration().join(" "), session.calls());
    Ok(())
}
