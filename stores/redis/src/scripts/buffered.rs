//! Scripts of a log server.
//!
//! A log that was fenced and not used since, by an owner that serves, has not got all there is: a take-over may have ended before it
//! was complete. It is marked until then.

use redis::Script;

/// All of them.
#[derive(Debug)]
pub(crate) struct LogScripts {
    pub(crate) fence: Script,
    pub(crate) append: Script,
    pub(crate) trim: Script,
}

impl LogScripts {
    pub(crate) fn new() -> Self {
        Self { fence: Script::new(FENCE), append: Script::new(APPEND), trim: Script::new(TRIM) }
    }
}

/// `KEYS` writes, mark. Returns {0}, or {1, whether it has all there is, fields and values}.
const FENCE: &str = "#!lua flags=allow-oom
local fence = redis.call('GET', KEYS[1])
if fence and tonumber(fence) > tonumber(ARGV[1]) then return {0} end
if not fence then redis.call('SET', KEYS[3], '1') end
redis.call('SET', KEYS[1], ARGV[1])
return {1, 1 - redis.call('EXISTS', KEYS[3]), redis.call('HGETALL', KEYS[2])}";

/// `KEYS` writes, mark; `ARGV` field, write. Returns 0 fenced, 1 done.
const APPEND: &str = "#!lua
local fence = redis.call('GET', KEYS[1])
if not fence or tonumber(fence) > tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('DEL', KEYS[3])
return 1";

/// `KEYS` writes, mark; `ARGV` the last number that the store has. Returns 0 fenced, 1 done.
const TRIM: &str = "#!lua flags=allow-oom
local fence = redis.call('GET', KEYS[1])
if not fence or tonumber(fence) > tonumber(ARGV[1]) then return 0 end
for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
  local epoch, lsn = string.match(field, '(%d+):(%d+)')
  if tonumber(epoch) < tonumber(ARGV[1]) or tonumber(lsn) <= tonumber(ARGV[2]) then
    redis.call('HDEL', KEYS[2], field)
  end
end
redis.call('DEL', KEYS[3])
return 1";
