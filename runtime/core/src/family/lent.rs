//! The host, which the machines of a family lend to each other.

use crate::expr::Value;
use crate::host::Host;
use alloc::string::String;

/// The slot of a machine for the host. There is one host for the whole family, so a parent's slot is empty while its child handles an
/// input.
#[derive(Debug, Clone, Default)]
pub struct Lent<H>(Option<H>);

impl<H> Lent<H> {
    /// A slot with a host, or an empty one.
    pub const fn of(host: Option<H>) -> Self {
        Self(host)
    }

    /// Takes the host out of the slot.
    pub fn take(&mut self) -> Option<H> {
        self.0.take()
    }

    /// Puts the host back. `None` leaves the slot as it is.
    pub fn put(&mut self, host: Option<H>) {
        if host.is_some() {
            self.0 = host;
        }
    }

    /// The host. It is present whenever no child handles an input.
    ///
    /// # Panics
    /// The slot is empty, which cannot be the case between two inputs.
    pub fn get(&self) -> &H {
        self.0.as_ref().expect("no child is at work")
    }

    /// The host. It is present whenever no child handles an input.
    ///
    /// # Panics
    /// The slot is empty, which cannot be the case between two inputs.
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
