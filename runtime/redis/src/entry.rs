//! Entries of a stream, and how they are read as events.

use chartc_core::expr::{Map, Value};
use chartc_runtime::agents::{Event, INPUTS, TURN};

/// The id of an entry: milliseconds since 1970, and a sequence number within the millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct EntryId(pub(crate) u64, pub(crate) u64);

impl EntryId {
    pub(crate) fn of(text: &str) -> Option<Self> {
        let (time, number) = text.split_once('-')?;
        Some(Self(time.parse().ok()?, number.parse().ok()?))
    }
}

impl std::fmt::Display for EntryId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.0, self.1)
    }
}

/// The reason for a dead letter without content.
pub(crate) const DELETED: &str = "it was deleted from the stream before it was taken";

/// The fields of an entry, as names and values, in order.
pub(crate) type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// An entry as Redis returns it.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    pub(crate) id: EntryId,
    /// `None` if the entry was deleted from the stream while it was pending.
    pub(crate) fields: Option<Fields>,
}

/// An event for an agent.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) id: EntryId,
    pub(crate) agent: String,
    pub(crate) event: Event,
    /// All fields as they were read, for the dead stream.
    pub(crate) fields: Fields,
}

impl Entry {
    /// Whether the entry has to wait while a turn is deferred. Turns do, and inputs, because they belong to the turn after them.
    pub(crate) fn is_of_turns(&self) -> bool {
        self.event.name == TURN || self.event.name == INPUTS
    }

    /// Reads an entry of the stream `key`, which is the stream `name` or one of its shards.
    ///
    /// # Errors
    /// The entry is no event; returns it with the reason.
    pub(crate) fn read(raw: Raw, key: &str, name: &str) -> Result<Self, (Raw, String)> {
        match read(&raw, key, name) {
            Ok((agent, event)) => {
                Ok(Self { id: raw.id, agent, event, fields: raw.fields.unwrap_or_default() })
            }
            Err(why) => Err((raw, why)),
        }
    }
}

fn read(raw: &Raw, key: &str, name: &str) -> Result<(String, Event), String> {
    let Some(fields) = &raw.fields else {
        return Err(DELETED.into());
    };
    let agent = field(fields, "agent")?.filter(|agent| !agent.is_empty());
    let agent = agent.ok_or("it has no field `agent`")?;
    let event = field(fields, "event")?.ok_or("it has no field `event`")?;
    let data = match field(fields, "data")? {
        None => Map::new(),
        Some(text) => match serde_json::from_str(text) {
            Ok(Value::Map(map)) => map,
            Ok(_) => return Err("`data` is not a JSON object".into()),
            Err(why) => return Err(format!("`data` is not JSON: {why}")),
        },
    };
    let id = match field(fields, "id")? {
        None => format!("redis:{key}:{}", raw.id),
        Some("") => return Err("`id` is empty".into()),
        // The id does not name the shard, so that it stays the same if the number of shards changes.
        Some(id) => format!("redis:{name}:id:{id}"),
    };
    Ok((agent.to_owned(), Event::new(id, event).with(data)))
}

/// Returns the text of a field, or `None` if the entry does not have it.
///
/// # Errors
/// The field occurs twice or is not UTF-8.
fn field<'f>(fields: &'f Fields, name: &str) -> Result<Option<&'f str>, String> {
    let mut found = fields.iter().filter(|(key, _)| key == name.as_bytes());
    let Some((_, value)) = found.next() else { return Ok(None) };
    if found.next().is_some() {
        return Err(format!("it has the field `{name}` twice"));
    }
    let text = std::str::from_utf8(value);
    text.map(Some).map_err(|_| format!("`{name}` is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &[(&str, &[u8])]) -> Result<Entry, String> {
        let bytes = |(key, value): &(&str, &[u8])| (key.as_bytes().to_vec(), value.to_vec());
        let fields = Some(fields.iter().map(bytes).collect());
        let raw = Raw { id: EntryId(7, 1), fields };
        Entry::read(raw, "s:0", "s").map_err(|(_, why)| why)
    }

    #[test]
    fn entries_are_events() {
        let entry =
            read(&[("agent", b"ada"), ("event", b"go"), ("data", b"{\"n\": 1}"), ("x", b"\xff")]);
        let entry = entry.expect("a good one");
        assert_eq!((entry.agent.as_str(), entry.event.name.as_str()), ("ada", "go"));
        assert_eq!(entry.event.id, "redis:s:0:7-1");
        assert_eq!(entry.event.data.get("n"), Some(&Value::Int(1)));
        assert!(!entry.is_of_turns());
        let entry = read(&[("agent", b"ada"), ("event", b"turn"), ("id", b"x")]).expect("a turn");
        assert_eq!(entry.event.id, "redis:s:id:x");
        assert!(entry.is_of_turns());
    }

    #[test]
    fn misfits_have_a_reason() {
        let agent: (&str, &[u8]) = ("agent", b"ada");
        let go: (&str, &[u8]) = ("event", b"go");
        for (fields, why) in [
            (vec![go], "it has no field `agent`"),
            (vec![("agent", b"".as_slice()), go], "it has no field `agent`"),
            (vec![agent], "it has no field `event`"),
            (vec![agent, agent, go], "it has the field `agent` twice"),
            (vec![("agent", b"\xff".as_slice()), go], "`agent` is not UTF-8"),
            (vec![agent, go, ("data", b"[1]")], "`data` is not a JSON object"),
            (vec![agent, go, ("id", b"")], "`id` is empty"),
        ] {
            assert_eq!(read(&fields).expect_err(why), why);
        }
        assert!(
            read(&[agent, go, ("data", b"{")])
                .expect_err("bad")
                .starts_with("`data` is not JSON: ")
        );
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(read(&[agent, go, ("data", deep.as_bytes())]).is_err());
    }

    #[test]
    fn ids_are_ordered_as_numbers() {
        assert!(EntryId::of("9-10") > EntryId::of("9-9"));
        assert_eq!(EntryId::of("10-2").map(|id| id.to_string()), Some("10-2".into()));
        assert_eq!(EntryId::of("x-1"), None);
    }
}
