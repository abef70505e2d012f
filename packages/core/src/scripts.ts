/** A Lua script and its SHA-1, by which EVALSHA calls it. */
export interface Script {
  readonly sha: string;
  readonly lua: string;
}

/*
 * Every script takes the lock's keys as KEYS (all of one lease, sorted) and is atomic per node.
 * The value of a key is its holder's token, or `token:owner` where an owner label was given.
 * A "holding" is one string, `<remaining ms> <value>`, so that no driver can mistake it for a number.
 */

/**
 * Sets every key that is free, if no key has another holder. Idempotent per value: a key that already
 * holds it is left alone, TTL included, so a re-sent command can neither be denied by itself nor lengthen
 * the lock. Serves repair too.
 *
 * ARGV: value, ttl ms. Reply: 1 (granted) or the first other holder's holding (denied).
 */
export const ACQUIRE: Script = {
  sha: "89aa4ad8d7edbee9c28a82b27ecaedfbd91ca2a1",
  lua: `for _, key in ipairs(KEYS) do
  local held = redis.call('GET', key)
  if held and held ~= ARGV[1] then
    return redis.call('PTTL', key) .. ' ' .. held
  end
end
for _, key in ipairs(KEYS) do
  redis.call('SET', key, ARGV[1], 'PX', ARGV[2], 'NX')
end
return 1`,
};

/**
 * Raises the TTL of every key, if all of them hold the value. Never shortens, so that a late or repeated
 * extension takes nothing away from a holder who was promised more. (PEXPIRE GT would need Redis 7.)
 *
 * ARGV: value, ttl ms. Reply: 1 (extended), 0 (a key is missing) or -1 (a key has another holder).
 */
export const EXTEND: Script = {
  sha: "a515892e648b8f94873e5c2e783c57690ac82287",
  lua: `local answer = 1
for _, key in ipairs(KEYS) do
  local held = redis.call('GET', key)
  if not held then
    answer = math.min(answer, 0)
  elseif held ~= ARGV[1] then
    answer = -1
  end
end
if answer < 1 then
  return answer
end
for _, key in ipairs(KEYS) do
  local left = redis.call('PTTL', key)
  if left >= 0 and left < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', key, ARGV[2])
  end
end
return 1`,
};

/**
 * Deletes every key that holds the value; with ms > 0 lets it stand for those ms instead (minHoldMs).
 *
 * ARGV: value, ms. Reply: 1 (every key held the value) or 0.
 */
export const RELEASE: Script = {
  sha: "20980477e4d4ecf95753348498be7b9d2c866aab",
  lua: `local ours = 0
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then
    ours = ours + 1
    if tonumber(ARGV[2]) > 0 then
      redis.call('PEXPIRE', key, ARGV[2])
    else
      redis.call('DEL', key)
    end
  end
end
return ours == #KEYS and 1 or 0`,
};

/**
 * Reads who holds the keys and for how long; changes nothing.
 *
 * ARGV: value. Reply: the shortest holding where all keys hold the value, else the first other holding,
 * or '' where a key is free.
 */
export const LOOK: Script = {
  sha: "c47c40b9fcdd740b0e571a380d5a4918c862d3a1",
  lua: `local least
for _, key in ipairs(KEYS) do
  local held = redis.call('GET', key)
  local left = redis.call('PTTL', key)
  if held ~= ARGV[1] then
    return held and left .. ' ' .. held or ''
  end
  if not least or left < least then
    least = left
  end
end
return least .. ' ' .. ARGV[1]`,
};
