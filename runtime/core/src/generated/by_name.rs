//! Support for `serde_by_name!`: reads an enum by the name of its variant.

use super::UnknownName;
use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;
pub use serde;
use serde::Deserializer;
use serde::de::{Error, Visitor};

struct Name<T>(PhantomData<T>);

impl<T: FromStr<Err = UnknownName>> Visitor<'_> for Name<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        name.parse().map_err(|why| E::custom(format_args!("{why}: {name:?}")))
    }
}

/// Reads an enum by the name of its variant.
///
/// # Errors
/// The value is not a text, or not a name of this kind.
pub fn read_name<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: FromStr<Err = UnknownName>,
    D: Deserializer<'de>,
{
    from.deserialize_str(Name(PhantomData))
}
