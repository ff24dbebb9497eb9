//! Scripts of a log server.
//!
//! Writes are a list whose name contains the epoch of its owner. Its first item is empty and keeps it alive. To
//! fence the log is to rename the list: a push of an earlier owner then finds no list. So an append is one
//! `RPUSHX`, and a script only if that finds none.
//!
//! A log that was fenced and not used since by an owner that serves is not complete; a take-over may have ended
//! before it was. It is marked until then.

use redis::Script;

/// All of them.
#[derive(Debug)]
pub(crate) struct LogScripts {
    pub(crate) fence: Script,
    pub(crate) page: Script,
    pub(crate) append: Script,
    pub(crate) trim: Script,
}

impl LogScripts {
    pub(crate) fn new() -> Self {
        let script = |head: &str, body: &str| Script::new(&format!("#!lua{head}\n{HEAD}{body}"));
        let (adds, takes) = ("", " flags=allow-oom");
        Self {
            fence: script(takes, FENCE),
            page: script(takes, PAGE),
            append: script(adds, APPEND),
            trim: script(takes, TRIM),
        }
    }
}

/// The common beginning: `KEYS` fence, writes, mark. `last` is the epoch of the fence if its list exists. A fence
/// that does not begin with `1:` is of an unknown version, and is left alone.
const HEAD: &str = "local mine = ARGV[1]
local function list(epoch) return KEYS[2] .. ':' .. epoch end
local fence = redis.call('GET', KEYS[1])
local last = fence and string.match(fence, '^1:(%d+)$')
if fence and not last then return redis.error_reply('LACUNA the log of buffered writes is of another version') end
local is_fenced = last and tonumber(last) > tonumber(mine)
if last and redis.call('EXISTS', list(last)) == 0 then last = false end
local function take()
  if last ~= mine then redis.call('RENAME', list(last), list(mine)) end
  redis.call('SET', KEYS[1], '1:' .. mine)
end
";

/// Returns {0}, or {1, whether it is complete, number of items}.
const FENCE: &str = "if is_fenced then return {0} end
if not last then
  redis.call('SET', KEYS[3], '1')
  redis.call('RPUSH', list(mine), '')
  last = mine
end
take()
local count = redis.call('LLEN', list(mine)) - 1
if count > 0 then redis.call('DEL', KEYS[3]) end
return {1, 1 - redis.call('EXISTS', KEYS[3]), count}";

/// `ARGV` the place of an item, from 1 on. Returns {0}, or {1, items}: that item and those after it, up to 4 MiB and one more. All of
/// a log may take longer than a reply may.
const PAGE: &str = "if is_fenced or last ~= mine then return {0} end
local from, bytes, page = tonumber(ARGV[2]), 0, {}
for place, item in ipairs(redis.call('LRANGE', list(mine), from, from + 63)) do
  page[place] = item
  bytes = bytes + #item
  if bytes > 4194304 then break end
end
return {1, page}";

/// `ARGV` items, at most a few. Returns 0 fenced, 1 done.
const APPEND: &str = "if is_fenced or not last then return 0 end
take()
redis.call('RPUSH', list(mine), unpack(ARGV, 2))
return 1";

/// `ARGV` the last number that the store has. Returns 0 fenced, 1 done. The last removed item becomes the empty
/// one.
const TRIM: &str = "if is_fenced or not last then return 0 end
redis.call('DEL', KEYS[3])
local gone, items
repeat
  gone, items = 0, redis.call('LRANGE', list(last), 1, 64)
  for i, item in ipairs(items) do
    local epoch, lsn = string.match(item, '^(%d+):(%d+):')
    if tonumber(epoch) >= tonumber(mine) and tonumber(lsn) > tonumber(ARGV[2]) then break end
    gone = i
  end
  if gone > 0 then
    redis.call('LTRIM', list(last), gone, -1)
    redis.call('LSET', list(last), 0, '')
  end
until gone < 64
return 1";
