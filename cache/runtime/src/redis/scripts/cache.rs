//! Scripts of a cache server.

use redis::Script;

use super::entry_log;

/// All of them.
#[derive(Debug)]
pub(crate) struct CacheScripts {
    pub(crate) fence: Script,
    pub(crate) take_over: Script,
    pub(crate) append_log: Script,
    pub(crate) read_log: Script,
    pub(crate) replace_log: Script,
    pub(crate) lookup: Script,
    pub(crate) install: Script,
    pub(crate) invalidate: Script,
    pub(crate) hide: Script,
    pub(crate) commit: Script,
    pub(crate) gather: Script,
    pub(crate) forget: Script,
}

impl CacheScripts {
    pub(crate) fn new() -> Self {
        let script = |head: &str, body: &str| Script::new(&format!("#!lua{head}\n{FENCED}{body}"));
        let (adds, takes) = ("", " flags=allow-oom");
        Self {
            fence: Script::new(FENCE),
            take_over: Script::new(entry_log::TAKE_OVER),
            append_log: Script::new(entry_log::APPEND),
            read_log: Script::new(entry_log::READ),
            replace_log: Script::new(entry_log::REPLACE),
            lookup: script(adds, LOOKUP),
            install: script(adds, INSTALL),
            invalidate: script(takes, INVALIDATE),
            hide: script(takes, HIDE),
            commit: script(adds, COMMIT),
            gather: script(adds, GATHER),
            forget: script(takes, FORGET),
        }
    }
}

/// `KEYS` count, chunks. Returns 1, or 0 if the fence is newer.
const FENCE: &str = "#!lua flags=allow-oom
local last = string.match(redis.call('GET', KEYS[1]) or '', '^%d+')
if last and tonumber(last) > tonumber(ARGV[1]) then return 0 end
if last == ARGV[1] then return 1 end
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
redis.call('SET', KEYS[1], ARGV[1])
return 1";

/// The common beginning of the other scripts. `read` gives a value of this generation, without its first bytes;
/// `write` sets one.
const FENCED: &str = "local fence = redis.call('GET', KEYS[1])
local epoch, generation = string.match(fence or '', '^(%d+):?(%d*)$')
local keeps_log = generation ~= ''
local mark = struct.pack('<I8', tonumber(keeps_log and generation or epoch or 0))
local function read(key)
  local value = redis.call('GET', key)
  if value and string.sub(value, 1, 8) == mark then return string.sub(value, 9) end
  return false
end
local function write(key, value, life) redis.call('SET', key, mark .. value, 'PX', life) end
";

/// `KEYS` value, lease; `ARGV` session, lease in ms. Returns {0} fenced, {1, value}, {2} leased, {3} busy.
const LOOKUP: &str = "if epoch ~= ARGV[1] then return {0} end
local value = read(KEYS[2])
if value then return {1, value} end
local lease = redis.call('GET', KEYS[3])
if lease and tonumber(string.match(lease, '%d+')) > tonumber(ARGV[2]) then return {3} end
redis.call('SET', KEYS[3], 'I' .. ARGV[2], 'PX', ARGV[3])
return {2}";

/// `KEYS` value, lease, count, chunk; `ARGV` session, value, life in ms, record. Returns 0 fenced, 1 done, 2 not held.
const INSTALL: &str = "if epoch ~= ARGV[1] then return 0 end
if redis.call('GET', KEYS[3]) ~= 'I' .. ARGV[2] then return 2 end
write(KEYS[2], ARGV[3], ARGV[4])
redis.call('DEL', KEYS[3])
if keeps_log then
  redis.call('APPEND', KEYS[5], ARGV[5])
  redis.call('INCRBY', KEYS[4], #ARGV[5])
end
return 1";

/// `KEYS` value and lease of each entry. Returns 0 fenced, 1 done.
const INVALIDATE: &str = "if epoch ~= ARGV[1] then return 0 end
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
return 1";

/// `KEYS` value and lease of each entry; `ARGV` session, lease in ms. Returns {0}, or {1, value or nothing of each
/// entry}.
const HIDE: &str = "if epoch ~= ARGV[1] then return {0} end
local found = {1}
for i = 2, #KEYS, 2 do
  local value, lease = read(KEYS[i]), redis.call('GET', KEYS[i + 1])
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
const COMMIT: &str = "if epoch ~= ARGV[1] then return 0 end
for i = 2, #KEYS, 2 do
  local lease = redis.call('GET', KEYS[i + 1])
  local holds = lease and string.match(lease, '^Q%d+') == 'Q' .. ARGV[2]
  if holds and ARGV[i + 2] == '1' then
    write(KEYS[i], ARGV[i + 3], ARGV[3])
  else
    redis.call('DEL', KEYS[i])
  end
  redis.call('DEL', KEYS[i + 1])
end
return 1";

/// `KEYS` value and lease of each entry, the gaps first; `ARGV` session, lease in ms, number of gaps. Returns {0},
/// or {1, value or nothing of each entry that is not a gap}.
const GATHER: &str = "if epoch ~= ARGV[1] then return {0} end
local found, gaps = {1}, tonumber(ARGV[4])
for i = 2, #KEYS, 2 do
  local value = read(KEYS[i])
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

/// `KEYS` count, chunks; `ARGV` pattern of values and leases. Returns 0 fenced, 1 done. Walks all keys: for rare
/// events only.
const FORGET: &str = "if epoch ~= ARGV[1] then return 0 end
local cursor = '0'
repeat
  local part = redis.call('SCAN', cursor, 'MATCH', ARGV[2], 'COUNT', 1000)
  cursor = part[1]
  for _, key in ipairs(part[2]) do redis.call('DEL', key) end
until cursor == '0'
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
if keeps_log then redis.call('SET', KEYS[2], '0') end
return 1";
