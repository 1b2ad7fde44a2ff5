//! Looks after one support ticket: a customer writes, the model decides, a tool looks the order up.

chartc_core::include_chart!(mod ticket);

use chartc_core::expr::Value;
use chartc_core::host::ToolCall;
use chartc_runtime::Session;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::{OracleError, Script};
use chartc_runtime::tools::{Calling, Tools};
use std::sync::Arc;
use ticket::{Event, Machine, Params, State};

/// The orders of the shop.
struct Orders;

impl Tools for Orders {
    fn call(&self, call: ToolCall) -> Calling {
        Box::pin(async move {
            match call.tool.as_str() {
                "orders.find" => Ok(Value::Text("A17: lost in the post".into())),
                other => Err(OracleError::Other(format!("no tool `{other}`"))),
            }
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clock = Arc::new(VirtualClock::new());
    let script = Script::parse("ticket", include_str!("../ticket.script.yaml"), clock.clone())?;
    let machine = Machine::new(Params, ())?;
    let mut session =
        Session::new(machine, Arc::new(script), clock, ()).with_tools(Arc::new(Orders));

    let text = "Where is my order A17?".to_owned();
    session.tell(Event::Reply { text }).await?;
    session.run_turns(2).await?;
    assert!(session.machine().is_in(State::Answered));
    println!("known about the order: {}", session.machine().data().order);

    session.run_turns(7).await?;
    println!("{} after {} model calls", session.configuration().join(" "), session.calls());
    Ok(())
}
