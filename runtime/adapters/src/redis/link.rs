//! The connection to the server, and the commands that it sends. Several are Lua scripts, because Redis runs a script without interruption.

use super::{IntakeError, Options};
use chartc_core::expr::{self, Map};
use chartc_runtime::agents::{Event, INPUTS, TURN};
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, Cmd, RedisError, Value, cmd, from_redis_value as plain,
};
use std::time::Duration;

/// The time limit for the server to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The maximum number of entries that one command claims.
const CLAIMED: usize = 1_000;

/// Renews this process's claims and takes free streams. The set of live processes is a sorted set by the time at which they expire; each
/// stream has a key that names its owner and expires with it. Each process may own its share, the number of streams divided by that of live
/// processes, rounded up.
///
/// `KEYS` are the sorted set and the owner keys of all streams. `ARGV` are the name of this process with its suffix of 17 characters (`:`
/// and 16 digits), the time to live in milliseconds, and `1` for the first call of a process. Returns the share, the streams that were its
/// own, and those that it took; nil if a later process has the same name.
const BEAT: &str = r"
local me, ttl = ARGV[1], tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function is_mine(other)
    return other and other ~= me and string.sub(other, 1, #other - 17) == string.sub(me, 1, #me - 17)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
for _, other in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    if is_mine(other) then
        if ARGV[3] == '0' then return false end
        redis.call('ZREM', KEYS[1], other)
    end
end
redis.call('ZADD', KEYS[1], now + ttl, me)
local share = math.ceil((#KEYS - 1) / redis.call('ZCARD', KEYS[1]))
local free, kept, taken = {}, {}, {}
local function hold(nth, list)
    redis.call('SET', KEYS[nth], me, 'PX', ttl)
    list[#list + 1] = nth - 2
end
for nth = 2, #KEYS do
    local owner = redis.call('GET', KEYS[nth])
    if owner == me then
        hold(nth, kept)
    elseif ARGV[3] == '1' and is_mine(owner) then
        hold(nth, taken)
    elseif not owner then
        free[#free + 1] = nth
    end
end
for _, nth in ipairs(free) do
    if #kept + #taken < share then hold(nth, taken) end
end
return {share, kept, taken}
";

/// Releases streams, unless another process owns them by now.
const LEAVE: &str = r"
for _, key in ipairs(KEYS) do
    if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
return 1
";

/// Transfers to this consumer a batch of entries that were delivered to other consumers and not acknowledged. Those that were deleted from
/// the stream meanwhile go to the dead stream, since Redis drops them from the list of pending entries here. Returns nil if the stream
/// belongs to another process.
const CLAIM: &str = r"
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return false end
local claimed = redis.call('XAUTOCLAIM', KEYS[1], ARGV[2], ARGV[3], 0, ARGV[4], 'COUNT', ARGV[5], 'JUSTID')
for _, id in ipairs(claimed[3] or {}) do
    redis.call('XADD', KEYS[3], '*', 'dead:reason', ARGV[6], 'dead:stream', KEYS[1], 'dead:entry', id)
end
return {claimed[1], claimed[3] or {}}
";

/// Reads entries if this process still owns the stream; otherwise returns nil. The check is in the same script, so a process that was
/// suspended cannot read what its successor has to read.
const READ: &str = r"
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return false end
local read = redis.call('XREADGROUP', 'GROUP', ARGV[2], ARGV[3], 'COUNT', ARGV[5], 'STREAMS', KEYS[1], ARGV[4])
if not read then return {} end
return read[1][2]
";

/// Adds an entry to the dead stream, once, and acknowledges it. Redis does not roll a failed script back, so it acknowledges last: a
/// failure leaves the entry pending.
const BURY: &str = r"
if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[2], ARGV[2], 1) == 0 then return 0 end
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 3))
return redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
";

/// The maximum number of fields that the script copies. `unpack` puts them on Lua's stack, which holds 8,000 values.
const HANDFUL: usize = 2_000;

/// The result of a heartbeat.
pub(super) struct Heartbeat {
    /// The number of streams that this process may own.
    pub(super) share: usize,
    /// The streams that it already owned.
    pub(super) kept: Vec<usize>,
    /// The streams that it has taken now. Another process may have owned one in between, even if this process did not notice that it lost
    /// it.
    pub(super) taken: Vec<usize>,
}

/// The result of a read; `None` if another process owns the stream.
pub(super) type Held<T> = Result<Option<T>, RedisError>;

/// A connection of its own for commands that block.
pub(super) struct Line(MultiplexedConnection);

/// The connection with the names of all keys that it uses.
pub(super) struct Link {
    client: Client,
    connection: MultiplexedConnection,
    options: Options,
    /// The consumer name with a random suffix, which identifies this process.
    me: String,
}

impl Link {
    /// Creates the client, and returns it with the server's address, which contains no password.
    pub(super) fn client(options: &Options) -> Result<(Client, String), IntakeError> {
        let client = Client::open(options.url.as_str()).map_err(|_| IntakeError::Address)?;
        let address = client.get_connection_info().addr.to_string();
        Ok((client, address))
    }

    /// Connects, and creates the streams and groups that do not exist.
    pub(super) async fn open(
        client: Client,
        options: &Options,
        me: &str,
    ) -> Result<Self, RedisError> {
        let connection = connect(&client, PATIENCE).await?;
        let mut link = Self { client, connection, options: options.clone(), me: me.to_owned() };
        for shard in 0..options.shards {
            let mut make = cmd("XGROUP");
            make.arg("CREATE").arg(options.key(shard)).arg(&options.group).arg("0").arg("MKSTREAM");
            match link.ask(&make).await {
                Ok(_) => {}
                // The group exists already: another process or an earlier run has created it.
                Err(why) if why.code() == Some("BUSYGROUP") => {}
                Err(why) => return Err(why),
            }
        }
        Ok(link)
    }

    async fn ask(&mut self, command: &Cmd) -> Result<Value, RedisError> {
        self.connection.send_packed_command(command).await?.extract_error()
    }

    fn owner(&self, shard: usize) -> String {
        format!("{}:{}:owner", self.options.key(shard), self.options.group)
    }

    fn members(&self) -> String {
        format!("{}:{}:consumers", self.options.stream, self.options.group)
    }

    fn script(text: &str, keys: &[String]) -> Cmd {
        let mut script = cmd("EVAL");
        script.arg(text).arg(keys.len()).arg(keys);
        script
    }

    /// Sends a heartbeat; see [`BEAT`]. `None` if a later process has the same name.
    pub(super) async fn beat(&mut self, is_first: bool) -> Held<Heartbeat> {
        let owners = (0..self.options.shards).map(|shard| self.owner(shard));
        let keys: Vec<String> = std::iter::once(self.members()).chain(owners).collect();
        let mut script = Self::script(BEAT, &keys);
        script.arg(&self.me).arg(milliseconds(self.options.idle)).arg(u8::from(is_first));
        let said: Option<(usize, Vec<usize>, Vec<usize>)> = plain(&self.ask(&script).await?)?;
        Ok(said.map(|(share, kept, taken)| Heartbeat { share, kept, taken }))
    }

    /// Releases streams. With `is_all`, also removes this process from the set of live processes.
    pub(super) async fn leave(&mut self, shards: &[usize], is_all: bool) -> Result<(), RedisError> {
        let keys: Vec<String> = shards.iter().map(|shard| self.owner(*shard)).collect();
        self.ask(Self::script(LEAVE, &keys).arg(&self.me)).await?;
        if is_all {
            self.ask(cmd("ZREM").arg(self.members()).arg(&self.me)).await?;
        }
        Ok(())
    }

    fn keys(&self, shard: usize) -> [String; 3] {
        [self.options.key(shard), self.owner(shard), self.dead()]
    }

    /// The key of the dead stream, which gets entries that cannot be applied.
    pub(super) fn dead(&self) -> String {
        format!("{}:dead", self.options.stream)
    }

    /// Claims one batch of entries from other consumers, beginning at the id `from`; see [`CLAIM`]. Returns the id at which the next batch
    /// begins (`0-0` after the last one), and the ids of deleted entries.
    pub(super) async fn claim(&mut self, shard: usize, from: &str) -> Held<(String, Vec<String>)> {
        let mut script = Self::script(CLAIM, &self.keys(shard));
        script.arg(&self.me).arg(&self.options.group).arg(&self.options.consumer);
        script.arg(from).arg(CLAIMED).arg(DELETED);
        plain(&self.ask(&script).await?)
    }

    /// Reads at most `count` entries: with an id in `after`, this consumer's pending entries behind it; with `>`, new ones.
    pub(super) async fn read(&mut self, shard: usize, after: &str, count: usize) -> Held<Vec<Raw>> {
        let mut script = Self::script(READ, &self.keys(shard)[..2]);
        script.arg(&self.me).arg(&self.options.group).arg(&self.options.consumer);
        script.arg(after).arg(count);
        let said: Option<Vec<(String, Option<Fields>)>> = plain(&self.ask(&script).await?)?;
        let raw =
            |(id, fields): (String, Option<Fields>)| EntryId::of(&id).map(|id| Raw { id, fields });
        Ok(said.map(|entries| entries.into_iter().filter_map(raw).collect()))
    }

    /// Returns the id of the last entry that was delivered to the group.
    pub(super) async fn last(&mut self, shard: usize) -> Result<EntryId, RedisError> {
        let said = self.ask(cmd("XINFO").arg("GROUPS").arg(self.options.key(shard))).await?;
        let groups: Vec<std::collections::BTreeMap<String, Value>> = plain(&said)?;
        let name = |group: &std::collections::BTreeMap<String, Value>| {
            group.get("name").and_then(|name| plain::<String>(name).ok())
        };
        let ours = groups.iter().find(|group| name(group).as_ref() == Some(&self.options.group));
        let last = ours.and_then(|group| group.get("last-delivered-id"));
        let last = last.and_then(|last| plain::<String>(last).ok());
        Ok(last.and_then(|last| EntryId::of(&last)).unwrap_or_default())
    }

    /// Acknowledges entries.
    pub(super) async fn acknowledge(
        &mut self,
        shard: usize,
        ids: &[EntryId],
    ) -> Result<(), RedisError> {
        let mut acknowledge = cmd("XACK");
        acknowledge.arg(self.options.key(shard)).arg(&self.options.group);
        for id in ids {
            acknowledge.arg(id.to_string());
        }
        self.ask(&acknowledge).await.map(drop)
    }

    /// Adds an entry to the dead stream with the reason, and acknowledges it.
    pub(super) async fn dead_letter(
        &mut self,
        shard: usize,
        raw: &Raw,
        reason: &str,
    ) -> Result<(), RedisError> {
        let (key, dead, id) = (self.options.key(shard), self.dead(), raw.id.to_string());
        let fields = raw.fields.as_deref().unwrap_or_default();
        let mut add = if fields.len() <= HANDFUL {
            let mut script = Self::script(BURY, &[key.clone(), dead]);
            script.arg(&self.options.group).arg(&id);
            script
        } else {
            // Too many fields for a script. A crash between the two commands may then add the entry to the dead stream twice.
            let mut add = cmd("XADD");
            add.arg(dead).arg("*");
            add
        };
        add.arg("dead:reason").arg(reason).arg("dead:stream").arg(key);
        add.arg("dead:entry").arg(id);
        for (name, value) in fields {
            add.arg(name.as_slice()).arg(value.as_slice());
        }
        self.ask(&add).await?;
        if fields.len() > HANDFUL { self.acknowledge(shard, &[raw.id]).await } else { Ok(()) }
    }

    /// Resolves when one of the streams may have entries behind the given ids, or after `time`. Returns the connection for the next call.
    pub(super) fn news(
        &self,
        line: Option<Line>,
        behind: Vec<(usize, EntryId)>,
        time: Duration,
    ) -> impl Future<Output = Result<Line, RedisError>> + use<> {
        let client = self.client.clone();
        let mut read = cmd("XREAD");
        read.arg("COUNT").arg(1).arg("BLOCK").arg(milliseconds(time)).arg("STREAMS");
        for (shard, _) in &behind {
            read.arg(self.options.key(*shard));
        }
        for (_, id) in &behind {
            read.arg(id.to_string());
        }
        async move {
            // A blocking command needs a connection of its own, because all commands of a connection wait behind it.
            let mut line = match line {
                Some(line) => line,
                None => Line(connect(&client, time + PATIENCE).await?),
            };
            line.0.send_packed_command(&read).await?.extract_error()?;
            Ok(line)
        }
    }
}

async fn connect(client: &Client, patience: Duration) -> Result<MultiplexedConnection, RedisError> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(PATIENCE)
        .set_response_timeout(patience);
    client.get_multiplexed_async_connection_with_config(&config).await
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

// Entries of a stream, and how they are read as events.

/// The id of an entry: milliseconds since 1970, and a sequence number within the millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct EntryId(pub(super) u64, pub(super) u64);

impl EntryId {
    pub(super) fn of(text: &str) -> Option<Self> {
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
pub(super) const DELETED: &str = "it was deleted from the stream before it was taken";

/// The fields of an entry, as names and values, in order.
pub(super) type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// An entry as Redis returns it.
#[derive(Debug, Clone)]
pub(super) struct Raw {
    pub(super) id: EntryId,
    /// `None` if the entry was deleted from the stream while it was pending.
    pub(super) fields: Option<Fields>,
}

/// An event for an agent.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) id: EntryId,
    pub(super) agent: String,
    pub(super) event: Event,
    /// All fields as they were read, for the dead stream.
    pub(super) fields: Fields,
}

impl Entry {
    /// Whether the entry has to wait while a turn is deferred. Turns do, and inputs, because they belong to the turn after them.
    pub(super) fn is_of_turns(&self) -> bool {
        self.event.name == TURN || self.event.name == INPUTS
    }

    /// Reads an entry of the stream `key`, which is the stream `name` or one of its shards.
    ///
    /// # Errors
    /// The entry is no event; returns it with the reason.
    pub(super) fn read(raw: Raw, key: &str, name: &str) -> Result<Self, (Raw, String)> {
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
            Ok(expr::Value::Map(map)) => map,
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
        assert_eq!(entry.event.data.get("n"), Some(&expr::Value::Int(1)));
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
