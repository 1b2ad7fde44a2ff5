//! Servers and their tools, as people see them.

use crate::config::Place;
use crate::fault::Fault;

/// A server, as people see it.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerView {
    /// Its name in the configuration.
    pub name: String,
    /// Where it is configured.
    pub place: Place,
    /// Its tools, or why it cannot be used.
    pub tools: Result<Vec<ToolView>, Fault>,
    /// What is wrong with its list.
    pub faults: Vec<String>,
}

/// A tool of a server, as people see it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolView {
    /// Its name in charts, without the server.
    pub called: String,
    /// Its name on the server.
    pub name: String,
    /// Its description.
    pub doc: String,
    /// The type of each parameter, as a chart would write it, and whether it is required.
    pub parameters: Vec<(String, String, bool)>,
    /// The type of the result, as a chart would write it; `Text` where the server declares none.
    pub result: String,
}
