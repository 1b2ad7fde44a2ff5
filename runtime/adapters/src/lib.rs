//! What charts talk to. Each module is a feature; nothing of one is compiled for another.
//!
//! | module | connects a run with |
//! |---|---|
//! | `models` | the servers of model providers, as an oracle |
//! | `tools` | servers of the Model Context Protocol, commands and HTTP endpoints, as tools |
//! | `server` | clients, over HTTP and the Model Context Protocol |
//! | `telemetry` | collectors of OpenTelemetry spans |
//! | `redis` | events in Redis streams |
//! | `restate` | Restate servers, which keep its agents |

#[cfg(feature = "models")]
pub mod models;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "restate")]
pub mod restate;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "telemetry")]
pub mod telemetry;
#[cfg(feature = "tools")]
pub mod tools;
#[cfg(any(feature = "models", feature = "tools"))]
mod web;
