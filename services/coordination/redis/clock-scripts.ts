/**
 * The claim clock in Lua; `local/claim-clock.ts` has the same rules in TypeScript and says
 * why each is so.
 *
 * A claim is one string, `kind fence since heard ttl persisted`, readable with GET:
 * kind `h` (held) or `t` (tombstone), instants in milliseconds of the database's clock,
 * `-` for a persisted instant that is not known.
 *
 * The epoch key, `run_id since`, says since when this store remembers. It is begun anew if
 * it is missing (everything was wiped) or was begun by another server process (a restart
 * or a failover, either of which may have lost the latest writes).
 *
 * KEYS: the epoch, then the claims. ARGV: run id, now, then fence and ttl of each claim.
 * All batches, single claims included, are one script: one round trip, one look at the
 * epoch, and no claim of it is judged under another epoch than the rest.
 *
 * The shebang makes a replica that became read-only refuse even `look`: its copy is stale.
 */
import { RETENTION_MARGIN_MS, RETENTION_TTLS } from "../retention.ts";

/** Begins every script that has to know since when this store remembers: `since_ms`. */
export const EPOCH_PRELUDE = `#!lua
local run_id, now_text = ARGV[1], ARGV[2]
local now = tonumber(now_text)

local function memory_since()
  local epoch = redis.call('GET', KEYS[1])
  if epoch then
    local known_run_id, since = string.match(epoch, '^(%S+) (%S+)$')
    if known_run_id == run_id then return tonumber(since) end
  end
  redis.call('SET', KEYS[1], run_id .. ' ' .. now_text)
  return now
end

local since_ms = memory_since()
`;

const PRELUDE = `${EPOCH_PRELUDE}
local function load(key)
  local text = redis.call('GET', key)
  if not text then return nil end
  local kind, fence, since, heard, ttl, persisted =
    string.match(text, '^(%a) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  if not kind then return nil end
  return {
    held = kind == 'h', fence = tonumber(fence), since = since,
    heard = heard, ttl = ttl, persisted = persisted,
  }
end

local function save(key, kind, fence, since, heard, ttl, persisted, ttl_max)
  local text = table.concat({kind, fence, since, heard, ttl, persisted}, ' ')
  local keep = math.floor(ttl_max * ${RETENTION_TTLS}) + ${RETENTION_MARGIN_MS}
  redis.call('SET', key, text, 'PX', string.format('%.0f', keep))
end

local function later(a, b)
  if tonumber(a) > tonumber(b) then return a end
  return b
end
`;

const TOUCH = `${PRELUDE}
for i = 2, #KEYS do
  local fence, ttl = ARGV[2 * i - 1], ARGV[2 * i]
  local known = load(KEYS[i])
  if not known or known.fence < tonumber(fence) then
    save(KEYS[i], 'h', fence, now_text, now_text, ttl, now_text, tonumber(ttl))
  elseif known.fence == tonumber(fence) then
    local heard = known.held and later(known.heard, now_text) or now_text
    save(KEYS[i], 'h', fence, known.since, heard, ttl, now_text, tonumber(ttl))
  end
end
`;

const RENEW = `${PRELUDE}
local outcomes = {}
for i = 2, #KEYS do
  local fence, ttl_text = ARGV[2 * i - 1], ARGV[2 * i]
  local ttl = tonumber(ttl_text)
  local known = load(KEYS[i])
  local outcome = 'write'
  if known and known.fence > tonumber(fence) then
    outcome = 'superseded'
  elseif not known or known.fence < tonumber(fence) then
    save(KEYS[i], 'h', fence, now_text, now_text, ttl_text, '-', ttl)
  elseif not known.held then
    save(KEYS[i], 'h', fence, known.since, now_text, ttl_text, '-', ttl)
  else
    local heard = later(known.heard, now_text)
    local known_ttl = tonumber(known.ttl)
    save(KEYS[i], 'h', fence, known.since, heard, known.ttl, known.persisted,
      math.max(ttl, known_ttl))
    local persisted = tonumber(known.persisted)
    if persisted and ttl == known_ttl and persisted >= since_ms and
        persisted <= now and now - persisted < ttl / 2 then
      outcome = 'ok'
    end
  end
  outcomes[i - 1] = outcome
end
return outcomes
`;

/** Takes the fence that is left behind, one above the dropped, so that no arithmetic on fences is done here. */
const DROP = `${PRELUDE}
for i = 2, #KEYS do
  local fence, ttl = ARGV[2 * i - 1], ARGV[2 * i]
  local known = load(KEYS[i])
  if not known or known.fence < tonumber(fence) then
    save(KEYS[i], 't', fence, now_text, now_text, ttl, '-', tonumber(ttl))
  end
end
`;

/** Answers a state and a number of milliseconds per claim. */
const LOOK = `${PRELUDE}
local answers = {}
for i = 2, #KEYS do
  local fence, ttl = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local known = load(KEYS[i])
  local state, ms = 'unknown', 0
  if known and (known.fence > fence or (known.fence == fence and known.held)) then
    local ended_at
    if known.fence > fence then
      ended_at = tonumber(known.since)
    else
      ended_at = tonumber(known.heard) + ttl
    end
    if known.fence == fence and ended_at > now then
      state, ms = 'alive', math.min(ended_at - now, ttl)
    elseif now - since_ms >= ttl then
      state, ms = 'dead', math.max(0, now - ended_at)
    end
  end
  answers[#answers + 1] = state
  answers[#answers + 1] = ms
end
return answers
`;

/** Named as the commands they become. */
export const CLOCK_SCRIPTS = {
  musterClockTouch: { lua: TOUCH },
  musterClockRenew: { lua: RENEW },
  musterClockDrop: { lua: DROP },
  musterClockLook: { lua: LOOK },
};
