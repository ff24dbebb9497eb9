//! What runs inside the server, each whole and at once.
//!
//! `KEYS[1]` is the fence and `ARGV[1]` the epoch of the caller, everywhere. Scripts that take something away may run when
//! memory is full; those that add are refused then, before they have done anything.
//!
//! A value that a writer hides moves into the lease and is handed to the writer, who brings it back, or a newer one, when the
//! write is durable. So a lease that the server loses loses an entry, and never shows an old one; and to hide once more, as a
//! reply was lost, gives the same answer.

use redis::Script;

/// All scripts of a cache server.
#[derive(Debug)]
pub(crate) struct CacheScripts {
    pub(crate) fence: Script,
    pub(crate) lookup: Script,
    pub(crate) install: Script,
    pub(crate) invalidate: Script,
    pub(crate) hide: Script,
    pub(crate) commit: Script,
    pub(crate) gather: Script,
    pub(crate) forget: Script,
}

/// All scripts of a log server.
#[derive(Debug)]
pub(crate) struct LogScripts {
    pub(crate) fence: Script,
    pub(crate) append: Script,
    pub(crate) trim: Script,
}

impl CacheScripts {
    pub(crate) fn new() -> Self {
        Self {
            fence: Script::new(FENCE),
            lookup: Script::new(LOOKUP),
            install: Script::new(INSTALL),
            invalidate: Script::new(INVALIDATE),
            hide: Script::new(HIDE),
            commit: Script::new(COMMIT),
            gather: Script::new(GATHER),
            forget: Script::new(FORGET),
        }
    }
}

impl LogScripts {
    pub(crate) fn new() -> Self {
        Self { fence: Script::new(LOG_FENCE), append: Script::new(LOG_APPEND), trim: Script::new(LOG_TRIM) }
    }
}

/// Returns 1, or 0 if the fence is newer.
const FENCE: &str = "#!lua flags=allow-oom
local fence = redis.call('GET', KEYS[1])
if fence and tonumber(fence) > tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
return 1";

/// `KEYS` value, lease; `ARGV` session, lease in ms. Returns {0} fenced, {1, value}, {2} leased, {3} busy.
const LOOKUP: &str = "#!lua
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0} end
local value = redis.call('GET', KEYS[2])
if value then return {1, value} end
local lease = redis.call('GET', KEYS[3])
if lease and tonumber(string.match(lease, '%d+')) > tonumber(ARGV[2]) then return {3} end
redis.call('SET', KEYS[3], 'I' .. ARGV[2], 'PX', ARGV[3])
return {2}";

/// `KEYS` value, lease; `ARGV` session, value, life in ms. Returns 0 fenced, 1 done, 2 not held.
const INSTALL: &str = "#!lua
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if redis.call('GET', KEYS[3]) ~= 'I' .. ARGV[2] then return 2 end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
redis.call('DEL', KEYS[3])
return 1";

/// `KEYS` value and lease of each entry. Returns 0 fenced, 1 done.
const INVALIDATE: &str = "#!lua flags=allow-oom
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
return 1";

/// `KEYS` value and lease of each entry; `ARGV` session, lease in ms. Returns {0}, or {1, value or nothing of each entry}.
const HIDE: &str = "#!lua flags=allow-oom
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0} end
local found = {1}
for i = 2, #KEYS, 2 do
  local value, lease = redis.call('GET', KEYS[i]), redis.call('GET', KEYS[i + 1])
  local kind = lease and string.sub(lease, 1, 1)
  local session = lease and tonumber(string.match(lease, '%d+'))
  found[#found + 1] = false
  if kind == 'I' or (session and session > tonumber(ARGV[2])) then
    redis.call('DEL', KEYS[i], KEYS[i + 1])
  elseif lease and session < tonumber(ARGV[2]) then
    redis.call('DEL', KEYS[i])
    redis.call('SET', KEYS[i + 1], 'Q' .. ARGV[2], 'PX', ARGV[3])
  elseif lease then
    local from = string.find(lease, ':', 1, true)
    if from then found[#found] = string.sub(lease, from + 1) end
  elseif value then
    found[#found] = value
    redis.call('DEL', KEYS[i])
    redis.call('SET', KEYS[i + 1], 'Q' .. ARGV[2] .. ':' .. value, 'PX', ARGV[3])
  end
end
return found";

/// `KEYS` value and lease of each entry; `ARGV` session, life in ms, then 1 and a value or 0 and nothing of each entry.
/// Returns 0 fenced, 1 done.
const COMMIT: &str = "#!lua
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
for i = 2, #KEYS, 2 do
  local lease = redis.call('GET', KEYS[i + 1])
  local holds = lease and string.match(lease, '^Q%d+') == 'Q' .. ARGV[2]
  if holds and ARGV[i + 2] == '1' then
    redis.call('SET', KEYS[i], ARGV[i + 3], 'PX', ARGV[3])
  else
    redis.call('DEL', KEYS[i])
  end
  redis.call('DEL', KEYS[i + 1])
end
return 1";

/// `KEYS` value and lease of each entry, the gaps first; `ARGV` session, lease in ms, number of gaps. Returns {0}, or
/// {1, value or nothing of each entry that is no gap}.
const GATHER: &str = "#!lua
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {0} end
local found, gaps = {1}, tonumber(ARGV[4])
for i = 2, #KEYS, 2 do
  local value = redis.call('GET', KEYS[i])
  if i / 2 > gaps then
    found[#found + 1] = value
  elseif not value then
    local lease = redis.call('GET', KEYS[i + 1])
    if not lease or tonumber(string.match(lease, '%d+')) <= tonumber(ARGV[2]) then
      redis.call('SET', KEYS[i + 1], 'I' .. ARGV[2], 'PX', ARGV[3])
    end
  end
end
return found";

/// `ARGV` pattern of the keys of the epoch. Returns 0 fenced, 1 done. Walks all keys: for rare events only.
const FORGET: &str = "#!lua flags=allow-oom
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local cursor = '0'
repeat
  local part = redis.call('SCAN', cursor, 'MATCH', ARGV[2], 'COUNT', 1000)
  cursor = part[1]
  for _, key in ipairs(part[2]) do redis.call('DEL', key) end
until cursor == '0'
return 1";

/// `KEYS` writes. Returns {0}, or {1, whether it was fenced before, fields and values}.
const LOG_FENCE: &str = "#!lua flags=allow-oom
local fence = redis.call('GET', KEYS[1])
if fence and tonumber(fence) > tonumber(ARGV[1]) then return {0} end
redis.call('SET', KEYS[1], ARGV[1])
return {1, fence and 1 or 0, redis.call('HGETALL', KEYS[2])}";

/// `KEYS` writes; `ARGV` field, write. Returns 0 fenced, 1 done.
const LOG_APPEND: &str = "#!lua
local fence = redis.call('GET', KEYS[1])
if not fence or tonumber(fence) > tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
return 1";

/// `KEYS` writes; `ARGV` the last number that the store has. Returns 0 fenced, 1 done.
const LOG_TRIM: &str = "#!lua flags=allow-oom
local fence = redis.call('GET', KEYS[1])
if not fence or tonumber(fence) > tonumber(ARGV[1]) then return 0 end
for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
  local epoch, lsn = string.match(field, '(%d+):(%d+)')
  if tonumber(epoch) < tonumber(ARGV[1]) or tonumber(lsn) <= tonumber(ARGV[2]) then
    redis.call('HDEL', KEYS[2], field)
  end
end
return 1";
