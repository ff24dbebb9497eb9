//! Scripts of the log of entries: what the next owner needs to begin warm.
//!
//! Chunks have no time to live, so that no `volatile-` policy evicts them. A separate key counts their bytes: if
//! the count differs, a chunk was lost, and the range begins cold. A count that is gone stays away until then: a new
//! one would agree with new chunks, and an `allkeys-` policy may have evicted all old ones with it.

/// `KEYS` count, chunks; `ARGV` the previous epoch, or nothing. Returns {0}, or {1, chunks}: those of the last
/// owner if the range stays warm, else none. What was fenced on another server is an older state of the cache: no owner
/// begins warm with it.
pub(super) const TAKE_OVER: &str = "#!lua flags=allow-oom
local epoch, server = string.match(ARGV[1], '^(%d+)@(%x+)$')
local fence = redis.call('GET', KEYS[1])
local last, generation, of = string.match(fence or '', '^(%d+):?(%d*)@?(%x*)$')
if last and tonumber(last) > tonumber(epoch) then return {0} end
if last == epoch and of ~= server then return {0} end
if last and of == server and generation ~= '' and (last == ARGV[2] or last == epoch) then
  local bytes, chunks = 0, {}
  for i = 3, #KEYS do
    local chunk = redis.call('GET', KEYS[i])
    if chunk then
      bytes = bytes + #chunk
      chunks[#chunks + 1] = chunk
    end
  end
  if redis.call('GET', KEYS[2]) == tostring(bytes) then
    redis.call('SET', KEYS[1], epoch .. ':' .. generation .. '@' .. server)
    return {1, chunks}
  end
end
for i = 3, #KEYS do redis.call('DEL', KEYS[i]) end
redis.call('SET', KEYS[2], '0')
redis.call('SET', KEYS[1], epoch .. ':' .. epoch .. '@' .. server)
return {1, {}}";

/// `KEYS` count, chunks; `ARGV` the bytes for each. Returns 0 fenced, 1 done.
pub(super) const APPEND: &str = "#!lua
local fence = redis.call('GET', KEYS[1])
local epoch, generation, server = string.match(fence or '', '^(%d+):?(%d*)@(%x+)$')
if not epoch or epoch .. '@' .. server ~= ARGV[1] then return 0 end
if generation == '' or redis.call('EXISTS', KEYS[2]) == 0 then return 1 end
for i = 3, #KEYS do
  redis.call('APPEND', KEYS[i], ARGV[i - 1])
  redis.call('INCRBY', KEYS[2], #ARGV[i - 1])
end
return 1";

/// `KEYS` chunk. Returns {0}, or {1, its bytes or nothing}.
pub(super) const READ: &str = "#!lua flags=allow-oom
local epoch, server = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+):?%d*@(%x+)$')
if not epoch or epoch .. '@' .. server ~= ARGV[1] then return {0} end
return {1, redis.call('GET', KEYS[2])}";

/// `KEYS` count, chunk; `ARGV` length of the replaced part, its new bytes. Returns 0 fenced, 1 done, 2 not that
/// long.
pub(super) const REPLACE: &str = "#!lua
local fence = redis.call('GET', KEYS[1])
local epoch, generation, server = string.match(fence or '', '^(%d+):?(%d*)@(%x+)$')
if not epoch or epoch .. '@' .. server ~= ARGV[1] then return 0 end
local chunk = redis.call('GET', KEYS[3])
local length = tonumber(ARGV[2])
if generation == '' or not chunk or length > #chunk or redis.call('EXISTS', KEYS[2]) == 0 then return 2 end
redis.call('SET', KEYS[3], ARGV[3] .. string.sub(chunk, length + 1))
redis.call('INCRBY', KEYS[2], #ARGV[3] - length)
return 1";
