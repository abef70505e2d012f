/** A Lua script and its SHA-1, by which EVALSHA calls it. */
export interface Script {
  readonly sha: string;
  readonly lua: string;
}

/*
 * Every script takes the lock's keys as KEYS (all of one lease, sorted) and is atomic per node.
 * The value of a key is its holder's token, or `token:owner` where an owner label was given.
 * A "holding" is one string, `held <remaining ms> <value>`, which no driver can mistake for a number and
 * no gateway answers by accident.
 */

/** Counts the keys that hold ARGV[1] (mine), with the shortest TTL of them, and notes another holding. */
const READ = `local mine, other, least = 0
for _, key in ipairs(KEYS) do
  local held, left = redis.call('GET', key), redis.call('PTTL', key)
  if held == ARGV[1] then
    mine, least = mine + 1, math.min(least or left, left)
  elseif held then
    other = other or 'held ' .. left .. ' ' .. held
  end
end
`;

/**
 * Sets every key that is free, if no key has another holder. Idempotent per value: a key that already
 * holds it is left alone, TTL included, so a re-sent command can neither be denied by itself nor lengthen
 * the lock. Serves repair too.
 *
 * ARGV: value, ttl ms. Reply: 1 (granted) or another holding (denied).
 */
export const ACQUIRE: Script = {
  sha: "7ee4b9959184e689e48163798077e9bba5954aa9",
  lua: `${READ}if other then return other end
for _, key in ipairs(KEYS) do
  redis.call('SET', key, ARGV[1], 'PX', ARGV[2], 'NX')
end
return 1`,
};

/**
 * Raises the TTL of every key, if all of them hold the value. Never shortens, so that a late or repeated
 * extension takes nothing away from a holder who was promised more. (PEXPIRE GT would need Redis 7.)
 *
 * ARGV: value, ttl ms. Reply: 1 (extended), 0 (a key is missing) or another holding.
 */
export const EXTEND: Script = {
  sha: "ca8d69e9cc2e0e9a5a695e3ce201bd5be71479ce",
  lua: `${READ}if other then return other end
if mine < #KEYS then return 0 end
for _, key in ipairs(KEYS) do
  if redis.call('PTTL', key) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', key, ARGV[2])
  end
end
return 1`,
};

/**
 * Deletes every key that holds the value; with ms > 0 lets it stand for those ms instead (minHoldMs). Then
 * tells who waits, if told to: a node that refuses to publish (ACL) has released all the same.
 *
 * ARGV: value, ms, channels to publish to. Reply: 1 (every key held the value) or 0.
 */
export const RELEASE: Script = {
  sha: "a13df88b6a1d205f0e52555b141b8e37b5200e9e",
  lua: `local mine = 0
for _, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then
    mine = mine + 1
    if ARGV[2] == '0' then
      redis.call('DEL', key)
    else
      redis.call('PEXPIRE', key, ARGV[2])
    end
  end
end
for i = 3, mine > 0 and #ARGV or 0 do
  redis.pcall('PUBLISH', ARGV[i], '')
end
return mine == #KEYS and 1 or 0`,
};

/**
 * Reads who holds the keys and for how long; changes nothing.
 *
 * ARGV: value. Reply: another holding, else the shortest of ours, or '' where a key is free.
 */
export const LOOK: Script = {
  sha: "dea9ed8ca78e461923b77cba19d048a9c37558f9",
  lua: `${READ}return other or mine == #KEYS and 'held ' .. least .. ' ' .. ARGV[1] or ''`,
};
