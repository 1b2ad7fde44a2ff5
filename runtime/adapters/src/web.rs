//! The HTTP client of models and tools.

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{ClientBuilder, Url};
use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// A client for an address. It follows no redirects, because they could lead headers with credentials, and arguments, to another server.
pub(crate) fn client(url: &str) -> ClientBuilder {
    // It fails only if another part of the program has installed a provider, which works as well.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut client = reqwest::Client::builder();
    if is_of_this_machine(url) {
        // A proxy from the environment would get calls to this machine, with their headers.
        client = client.no_proxy();
    }
    client
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT)
        .dns_resolver(Arc::new(Lookup))
}

/// Whether an address, which may have placeholders behind its host, is one of this machine.
pub(crate) fn is_of_this_machine(url: &str) -> bool {
    let url = Url::parse(&url.replace(['{', '}'], "x"));
    url.is_ok_and(|url| url.host_str().is_some_and(is_loopback))
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Resolves names with the operating system, on a separate thread. If no thread can be started, the request fails; the default resolver
/// panics.
struct Lookup;

impl Resolve for Lookup {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let (tell, told) = oneshot::channel();
            std::thread::Builder::new().name("lookup".into()).spawn(move || {
                let found = (name.as_str(), 0).to_socket_addrs();
                // Nobody receives it if the request was dropped.
                drop(tell.send(found));
            })?;
            let found = told.await??;
            Ok(Box::new(found) as Addrs)
        })
    }
}
