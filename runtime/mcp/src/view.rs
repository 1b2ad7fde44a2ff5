//! Descriptions of servers and their tools for people.

use crate::config::Place;
use crate::fault::Fault;

/// A server, as `chartc tools list` shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerView {
    /// The name in the configuration.
    pub name: String,
    /// The place in the configuration.
    pub place: Place,
    /// The tools that charts may use, or the reason why the server cannot be used.
    pub tools: Result<Vec<ToolView>, Fault>,
    /// Problems of the server's list of tools.
    pub faults: Vec<String>,
}

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolView {
    /// The name in charts, without the server's name.
    pub called: String,
    /// The name on the server.
    pub name: String,
    /// The description by the server; may be empty.
    pub doc: String,
    /// The name of each parameter, its type as written in a chart, and whether it is required.
    pub parameters: Vec<(String, String, bool)>,
    /// The type of the result as written in a chart; `Text` if the server declares none.
    pub result: String,
}
