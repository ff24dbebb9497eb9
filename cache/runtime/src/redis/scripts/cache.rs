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
    pub(crate) patch: Script,
    pub(crate) hide: Script,
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
            patch: script(adds, PATCH),
            hide: script(takes, HIDE),
            gather: script(adds, GATHER),
            forget: script(takes, FORGET),
        }
    }
}

/// `KEYS` count, chunks. Returns 1, or 0 if the fence is newer, or was set by this epoch on another server: then what is here
/// is older than what the owner has written, and only its next epoch can tell the two apart.
const FENCE: &str = "#!lua flags=allow-oom
local epoch, server = string.match(ARGV[1], '^(%d+)@(%x+)$')
local last, of = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+):?%d*@?(%x*)$')
if last and tonumber(last) > tonumber(epoch) then return 0 end
if last == epoch then return of == server and 1 or 0 end
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
redis.call('SET', KEYS[1], ARGV[1])
return 1";

/// The common beginning of the other scripts. `head` gives epoch and session of the last change of a value of this
/// generation, and whether it is hidden; `read` gives a visible value without its head, or false and the session if
/// this epoch has hidden it; `write` sets a visible one.
const FENCED: &str = "local fence = redis.call('GET', KEYS[1])
local epoch, generation, server = string.match(fence or '', '^(%d+):?(%d*)@(%x+)$')
local holder = epoch and epoch .. '@' .. server
local keeps_log = generation ~= ''
local mark = struct.pack('<I8', tonumber(keeps_log and generation or epoch or 0))
local function last_change(bytes)
  if #bytes < 25 or string.sub(bytes, 1, 8) ~= mark then return nil end
  local of, session, hidden = struct.unpack('<I8I8B', bytes, 9)
  return of, session, hidden ~= 0
end
local function head(key) return last_change(redis.call('GETRANGE', key, '0', '24')) end
local function read(key)
  local value = redis.call('GET', key)
  local of, session, hidden = last_change(value or '')
  if of and not hidden then return string.sub(value, 26) end
  return false, of == tonumber(epoch) and session or 0
end
local function changed(session, hidden)
  return struct.pack('<I8I8B', tonumber(epoch), tonumber(session), hidden and 1 or 0)
end
local function write(key, session, value, life)
  redis.call('SET', key, mark .. changed(session, false) .. value, 'PX', life)
end
";

/// `KEYS` value, lease; `ARGV` session, lease in ms. Returns {0} fenced, {1, value}, {2} leased, {3} busy.
const LOOKUP: &str = "if holder ~= ARGV[1] then return {0} end
local value, hidden_by = read(KEYS[2])
if value then return {1, value} end
local lease = redis.call('GET', KEYS[3])
if math.max(hidden_by, tonumber(lease or 0)) > tonumber(ARGV[2]) then return {3} end
redis.call('DEL', KEYS[2])
redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[3])
return {2}";

/// `KEYS` value, lease, count, chunk; `ARGV` session, value, life in ms, record. Returns 0 fenced, 1 done, 2 not held.
const INSTALL: &str = "if holder ~= ARGV[1] then return 0 end
if redis.call('GET', KEYS[3]) ~= ARGV[2] then return 2 end
write(KEYS[2], ARGV[2], ARGV[3], ARGV[4])
redis.call('DEL', KEYS[3])
if keeps_log and redis.call('EXISTS', KEYS[4]) == 1 then
  redis.call('APPEND', KEYS[5], ARGV[5])
  redis.call('INCRBY', KEYS[4], #ARGV[5])
end
return 1";

/// `KEYS` value and lease of each entry. Returns 0 fenced, 1 done.
const INVALIDATE: &str = "if holder ~= ARGV[1] then return 0 end
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
return 1";

/// `KEYS` values of the entries, then their leases; `ARGV` session, life in ms, entries as `PatchArguments` has them, number of
/// different pieces, those, then three for each compacted value: index of its entry, the session that it replaces, the
/// value. Returns {0}, or {1, a number for each entry}: -1 for one that was not changed; else twice the length of its value,
/// or 0 if nothing came after its end, and 1 more if its last change was not the expected one. A value that an earlier
/// tenure has hidden may lack a write: it goes.
///
/// Entries share what one write adds, and three commands an entry are all: a value's life is that which it began with. Numbers
/// are passed to commands as text, which is cheaper to make than to format.
const PATCH: &str = "if holder ~= ARGV[1] then return {0} end
local results, session, now = {1}, tonumber(ARGV[2]), tonumber(epoch)
local entries, table, pieces, at = (#KEYS - 1) / 2, ARGV[4], 5, 1
local compacted = pieces + tonumber(ARGV[5]) + 1
local shown, hid = changed(session, false), changed(session, true)
for i = 2 + entries, #KEYS, 1000 do redis.call('DEL', unpack(KEYS, i, math.min(i + 999, #KEYS))) end
for i = 1, entries do
  local key, result = KEYS[1 + i], -1
  local wish, expected, count
  wish, expected, count, at = struct.unpack('<BI8I4', table, at)
  local of, last, hidden = head(key)
  local replaces, value
  if ARGV[compacted] == tostring(i) then
    replaces, value, compacted = ARGV[compacted + 1], ARGV[compacted + 2], compacted + 3
  end
  local changes = wish ~= 0 and of and not (of < now and hidden) and (of < now or last < session)
  local same = changes and of == now and last == expected and not value
  if changes then
    if value and of == now and replaces == tostring(last) then write(key, session, value, ARGV[3]) end
    result = same and 0 or 1
  elseif wish == 0 or (of and of < now and hidden) then
    redis.call('DEL', key)
  end
  for _ = 1, count do
    local piece, place
    piece, place, at = struct.unpack('<I4Bc0', table, at)
    if same and place ~= '' then
      redis.call('SETRANGE', key, place, ARGV[pieces + piece])
    elseif changes then
      result = 2 * (redis.call('APPEND', key, ARGV[pieces + piece]) - 25) + (same and 0 or 1)
    end
  end
  if changes then redis.call('SETRANGE', key, '8', wish == 2 and hid or shown) end
  results[#results + 1] = result
end
return results";

/// `KEYS` value and lease of each entry; `ARGV` session. Returns 0 fenced, 1 done. A value that an earlier tenure has hidden
/// goes, as in `PATCH`: hidden anew it would be shown by the next change.
const HIDE: &str = "if holder ~= ARGV[1] then return 0 end
for i = 2, #KEYS, 2 do
  local of, last, hidden = head(KEYS[i])
  local is_older = of and of < tonumber(epoch)
  if is_older then last = 0 end
  redis.call('DEL', KEYS[i + 1])
  if is_older and hidden then
    redis.call('DEL', KEYS[i])
  elseif of and last < tonumber(ARGV[2]) then
    redis.call('SETRANGE', KEYS[i], '8', changed(last, true))
  end
end
return 1";

/// `KEYS` value and lease of each entry, the gaps first; `ARGV` session, lease in ms, number of gaps. Returns {0},
/// or {1, value or nothing of each entry that is not a gap}.
const GATHER: &str = "if holder ~= ARGV[1] then return {0} end
local found, gaps = {1}, tonumber(ARGV[4])
for i = 2, #KEYS, 2 do
  local value, hidden_by = read(KEYS[i])
  if i / 2 > gaps then
    found[#found + 1] = value
  elseif not value then
    local lease = redis.call('GET', KEYS[i + 1])
    if math.max(hidden_by, tonumber(lease or 0)) <= tonumber(ARGV[2]) then
      redis.call('DEL', KEYS[i])
      redis.call('SET', KEYS[i + 1], ARGV[2], 'PX', ARGV[3])
    end
  end
end
return found";

/// `KEYS` count, chunks; `ARGV` pattern of values and leases. Returns 0 fenced, 1 done. Walks all keys: for rare
/// events only.
const FORGET: &str = "if holder ~= ARGV[1] then return 0 end
local cursor = '0'
repeat
  local part = redis.call('SCAN', cursor, 'MATCH', ARGV[2], 'COUNT', 1000)
  cursor = part[1]
  for _, key in ipairs(part[2]) do redis.call('DEL', key) end
until cursor == '0'
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
if keeps_log then redis.call('SET', KEYS[2], '0') end
return 1";
