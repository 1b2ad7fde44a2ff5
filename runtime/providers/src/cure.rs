//! What to start or set after a call that no server took.

use crate::server::Server;
use chartc_runtime::oracle::OracleError;

/// The same error with the address, and with what to do.
pub(crate) async fn told(server: &Server, model: &str, error: OracleError) -> OracleError {
    match error {
        OracleError::Unreachable(why) => OracleError::Unreachable(unreachable(server, &why)),
        OracleError::Rejected(why) => OracleError::Rejected(rejected(server, model, why).await),
        error @ (OracleError::Denied(_)
        | OracleError::Script(_)
        | OracleError::Timeout(_)
        | OracleError::Refusal(_)
        | OracleError::RateLimited { .. }
        | OracleError::Server { .. }
        | OracleError::Connection(_)
        | OracleError::Empty
        | OracleError::Endless
        | OracleError::Other(_)
        | OracleError::Recorded { .. }) => error,
    }
}

fn address(server: &Server) -> &str {
    server.url().trim_end_matches('/')
}

fn unreachable(server: &Server, why: &str) -> String {
    let start = server.known.map_or("", |known| known.start);
    let start = match (server.is_local(), start) {
        (true, "") => "start the server".to_owned(),
        (false, "") => "check the network".to_owned(),
        (_, command) => format!("start it with `{command}`"),
    };
    let place = match &server.set_by {
        Some((address, _)) => format!("set another address with {address}"),
        None => "correct the address".to_owned(),
    };
    format!("no server answers at {} ({why}): {start}, or {place}", address(server))
}

async fn rejected(server: &Server, model: &str, why: String) -> String {
    let key = server.set_by.as_ref().map_or("its key", |(_, key)| key);
    let at = address(server);
    // It begins with the status.
    let status: u16 = why.get(..3).and_then(|digits| digits.parse().ok()).unwrap_or_default();
    let cure = match status {
        401 | 403 if server.has_key() => format!("check {key}"),
        401 | 403 => format!("set {key}"),
        402 => "the account has no credit left".to_owned(),
        404 if !model.is_empty() => match server.list().await {
            Ok(models) if models.has(model) == Some(false) => {
                return without_model(server, model, &models.shown());
            }
            Ok(_) | Err(_) => "check the address and the name of the model".to_owned(),
        },
        300..=399 | 404 | 405 => "check the address".to_owned(),
        _ => "change the prompt, the client or the model: the same request will not be taken"
            .to_owned(),
    };
    format!("{at}: {why}; {cure}")
}

/// A model that the server does not have, and those that it has.
pub(crate) fn without_model(server: &Server, model: &str, has: &str) -> String {
    let fetch = match server.known {
        Some(known) if known.name == "ollama" => format!("; `ollama pull {model}` fetches it"),
        Some(_) | None => String::new(),
    };
    format!("{} has no model `{model}`: it has {has}{fetch}", address(server))
}
