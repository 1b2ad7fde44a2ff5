//! The connection to the server, and what is asked of it.

use crate::entry::{DELETED, EntryId, Fields, Raw};
use crate::error::IntakeError;
use crate::options::Options;
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, Cmd, RedisError, Value, cmd, from_redis_value as plain,
};
use std::time::Duration;

/// How long the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Entries that one command claims.
const CLAIMED: usize = 1_000;

/// Streams are divided among the processes that are alive: each has a fair part, and holds it as long as it shows itself. All of it in
/// one script, so that no two have the same stream.
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

/// Gives streams back.
const LEAVE: &str = r"
for _, key in ipairs(KEYS) do
    if redis.call('GET', key) == ARGV[1] then redis.call('DEL', key) end
end
return 1
";

/// Takes over what was delivered to others. What was deleted from the stream meanwhile goes into the dead stream.
const CLAIM: &str = r"
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return false end
local claimed = redis.call('XAUTOCLAIM', KEYS[1], ARGV[2], ARGV[3], 0, ARGV[4], 'COUNT', ARGV[5], 'JUSTID')
for _, id in ipairs(claimed[3] or {}) do
    redis.call('XADD', KEYS[3], '*', 'dead:reason', ARGV[6], 'dead:stream', KEYS[1], 'dead:entry', id)
end
return {claimed[1], claimed[3] or {}}
";

/// Reads, if the stream is still held: a process that was held up reads nothing that another one is to read.
const READ: &str = r"
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return false end
local read = redis.call('XREADGROUP', 'GROUP', ARGV[2], ARGV[3], 'COUNT', ARGV[5], 'STREAMS', KEYS[1], ARGV[4])
if not read then return {} end
return read[1][2]
";

/// Puts an entry into the dead stream, once. A script that fails undoes nothing: it acknowledges last.
const BURY: &str = r"
if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[2], ARGV[2], 1) == 0 then return 0 end
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 3))
return redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
";

/// Fields that a script may have in hand; Lua's stack ends at 8,000 values.
const HANDFUL: usize = 2_000;

/// The streams of this process.
pub(crate) struct Heartbeat {
    /// How many it may have.
    pub(crate) share: usize,
    /// Those that it has had since the last time.
    pub(crate) kept: Vec<usize>,
    /// Those that are new. Another process may have had one of them, even if this one has not noticed.
    pub(crate) taken: Vec<usize>,
}

/// What a read gives: `None` if the stream is held by another process.
pub(crate) type Held<T> = Result<Option<T>, RedisError>;

/// A connection for commands that wait.
pub(crate) struct Line(MultiplexedConnection);

/// Where everything is.
pub(crate) struct Link {
    client: Client,
    connection: MultiplexedConnection,
    options: Options,
    /// This process, with a number that no other one has.
    me: String,
}

impl Link {
    /// The client, and the server's address without a password.
    pub(crate) fn client(options: &Options) -> Result<(Client, String), IntakeError> {
        let client = Client::open(options.url.as_str()).map_err(|_| IntakeError::Address)?;
        let address = client.get_connection_info().addr.to_string();
        Ok((client, address))
    }

    /// Connects, and makes the groups that are not there.
    pub(crate) async fn open(
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

    /// Shows itself. `None` if a later process has its name.
    pub(crate) async fn beat(&mut self, is_first: bool) -> Held<Heartbeat> {
        let owners = (0..self.options.shards).map(|shard| self.owner(shard));
        let keys: Vec<String> = std::iter::once(self.members()).chain(owners).collect();
        let mut script = Self::script(BEAT, &keys);
        script.arg(&self.me).arg(milliseconds(self.options.idle)).arg(u8::from(is_first));
        let said: Option<(usize, Vec<usize>, Vec<usize>)> = plain(&self.ask(&script).await?)?;
        Ok(said.map(|(share, kept, taken)| Heartbeat { share, kept, taken }))
    }

    /// Gives streams back; with all of them, takes itself off the list.
    pub(crate) async fn leave(&mut self, shards: &[usize], is_all: bool) -> Result<(), RedisError> {
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

    /// The stream of entries that are of no use.
    pub(crate) fn dead(&self) -> String {
        format!("{}:dead", self.options.stream)
    }

    /// Takes over a piece of what was delivered to others. Gives where to go on, `0-0` at the end, and what was deleted.
    pub(crate) async fn claim(&mut self, shard: usize, from: &str) -> Held<(String, Vec<String>)> {
        let mut script = Self::script(CLAIM, &self.keys(shard));
        script.arg(&self.me).arg(&self.options.group).arg(&self.options.consumer);
        script.arg(from).arg(CLAIMED).arg(DELETED);
        plain(&self.ask(&script).await?)
    }

    /// Reads entries: own pending ones behind an id, or with `>` new ones.
    pub(crate) async fn read(&mut self, shard: usize, after: &str, count: usize) -> Held<Vec<Raw>> {
        let mut script = Self::script(READ, &self.keys(shard)[..2]);
        script.arg(&self.me).arg(&self.options.group).arg(&self.options.consumer);
        script.arg(after).arg(count);
        let said: Option<Vec<(String, Option<Fields>)>> = plain(&self.ask(&script).await?)?;
        let raw =
            |(id, fields): (String, Option<Fields>)| EntryId::of(&id).map(|id| Raw { id, fields });
        Ok(said.map(|entries| entries.into_iter().filter_map(raw).collect()))
    }

    /// The last entry that was delivered to the group.
    pub(crate) async fn last(&mut self, shard: usize) -> Result<EntryId, RedisError> {
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
    pub(crate) async fn acknowledge(
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

    /// Puts an entry into the dead stream, and acknowledges it.
    pub(crate) async fn dead_letter(
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

    /// Resolves when there may be something behind these entries, or after the time.
    pub(crate) fn news(
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
            // A command that blocks has a connection of its own: others would wait behind it.
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
