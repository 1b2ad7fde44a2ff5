//! Messages that tell the user what to start or set after a server could not be reached or refused a call.

use crate::known::Provider;

/// The address of a server, with what messages say about it.
pub(crate) struct ServerAddress<'a> {
    /// The address without a trailing slash.
    pub(crate) address: &'a str,
    pub(crate) is_local: bool,
    pub(crate) has_key: bool,
    pub(crate) known: Option<&'static Provider>,
    /// The names of the settings (such as environment variables) for the address and for the key.
    pub(crate) set_by: Option<&'a (String, String)>,
}

/// The message for a server that does not accept connections.
pub(crate) fn unreachable(place: &ServerAddress<'_>, why: &str) -> String {
    let ServerAddress { address, is_local, known, set_by, .. } = place;
    let start = match (is_local, known.map_or("", |known| known.start)) {
        (true, "") => "start the server".to_owned(),
        (false, "") => "check the network".to_owned(),
        (_, command) => format!("start it with `{command}`"),
    };
    let other = match set_by {
        Some((address, _)) => format!("set another address with {address}"),
        None => "correct the address".to_owned(),
    };
    format!("no server answers at {address} ({why}): {start}, or {other}")
}

/// The message for a call that the server refuses and would refuse again. `why` begins with the status.
pub(crate) fn rejected(place: &ServerAddress<'_>, status: Option<u16>, why: &str) -> String {
    let ServerAddress { address, has_key, set_by, .. } = place;
    let key = set_by.map_or("its key", |(_, key)| key);
    let cure = match status {
        Some(401 | 403) if *has_key => format!("check {key}"),
        Some(401 | 403) => format!("set {key}"),
        Some(402) => "the account has no credit left".to_owned(),
        Some(404) => "check the address and the name of the model".to_owned(),
        Some(300..=399 | 405) => "check the address".to_owned(),
        Some(_) | None => {
            "change the prompt, the client or the model: the same request will not be taken"
                .to_owned()
        }
    };
    format!("{address}: {why}; {cure}")
}

/// The message for a model that the server does not have. `has` lists the models that it has.
pub(crate) fn without_model(place: &ServerAddress<'_>, model: &str, has: &str) -> String {
    let fetch = match place.known {
        Some(known) if known.name == "ollama" => format!("; `ollama pull {model}` fetches it"),
        Some(_) | None => String::new(),
    };
    format!("{} has no model `{model}`: it has {has}{fetch}", place.address)
}
