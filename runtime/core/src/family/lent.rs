//! A host that the machines of a family lend each other.

use crate::expr::Value;
use crate::host::Host;
use alloc::string::String;

/// The slot of a host. While a child runs, its host is lent to the child: one host serves the whole family.
#[derive(Debug, Clone, Default)]
pub struct Lent<H>(Option<H>);

impl<H> Lent<H> {
    /// A slot, with or without a host.
    pub const fn of(host: Option<H>) -> Self {
        Self(host)
    }

    /// Takes the host away.
    pub fn take(&mut self) -> Option<H> {
        self.0.take()
    }

    /// Puts a host back; `None` changes nothing.
    pub fn put(&mut self, host: Option<H>) {
        if host.is_some() {
            self.0 = host;
        }
    }

    /// The host, which is present whenever no child runs.
    ///
    /// # Panics
    /// Never between two inputs.
    pub fn get(&self) -> &H {
        self.0.as_ref().expect("no child is at work")
    }

    /// The host, which is present whenever no child runs.
    ///
    /// # Panics
    /// Never between two inputs.
    pub fn get_mut(&mut self) -> &mut H {
        self.0.as_mut().expect("no child is at work")
    }
}

impl<H: Host> Host for Lent<H> {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        match &mut self.0 {
            Some(host) => host.call(function, arguments),
            None => Err(String::from("the host is busy")),
        }
    }
}
