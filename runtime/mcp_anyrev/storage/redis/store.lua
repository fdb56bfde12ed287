#!lua
-- What a session store does, each in one step. KEYS[1] is what all its keys begin with; ARGV[1] which of `commands`; ARGV[2] under what.
--
-- A value is a hash, which expires by itself. What is kept of all of them is counted beside it:
--   ends    a value -> when its time is over, in milliseconds
--   sizes   a value -> what it takes up
--   owners  a value -> whose it is
--   shares  an owner -> what all of theirs take up; `total` is that of all
--   going:O the values of owner O that may go to make room, the first to go first: those that were never used by when they came, which
--           is shifted to before everything else, then those that were by when that was

local prefix, command, at = KEYS[1], ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_ms = math.floor(now / 1000)

local FLAT = 512 -- what a value takes up beside its own bytes
local NEVER_USED = 4.5e15
local SWEPT_AT_ONCE = 1000
local LONGER = 60000 -- for how long what is counted is kept beyond the last value
local PAGE = 64

local function key(name) return prefix .. name end
local function exact(number) return string.format('%.0f', number) end
local function value_of(name) return key('value:' .. name) end

local function forget(name)
    redis.call('DEL', value_of(name))
    local size = tonumber(redis.call('HGET', key('sizes'), name))
    if not size then return end
    local owner = redis.call('HGET', key('owners'), name)
    redis.call('HDEL', key('sizes'), name)
    redis.call('HDEL', key('owners'), name)
    redis.call('ZREM', key('ends'), name)
    redis.call('ZREM', key('going:' .. owner), name)
    if redis.call('DECRBY', key('total'), size) <= 0 then redis.call('DEL', key('total')) end
    if tonumber(redis.call('ZINCRBY', key('shares'), -size, owner)) <= 0 then redis.call('ZREM', key('shares'), owner) end
end

local function sweep()
    local over = redis.call('ZRANGE', key('ends'), '-inf', exact(now_ms), 'BYSCORE', 'LIMIT', 0, SWEPT_AT_ONCE)
    for _, name in ipairs(over) do forget(name) end
    return #over
end

-- The version of what is there; what is over is not.
local function version_of(name)
    local ends = redis.call('ZSCORE', key('ends'), name)
    local version = ends and tonumber(ends) > now_ms and redis.call('HGET', value_of(name), 'version')
    if not version then forget(name) end
    return version
end

local function keep_for(counted, milliseconds)
    for _, each in ipairs(counted) do
        if redis.call('PTTL', key(each)) < milliseconds then redis.call('PEXPIRE', key(each), exact(milliseconds)) end
    end
end

local function keep(name, owner, milliseconds)
    redis.call('PEXPIREAT', value_of(name), exact(now_ms + milliseconds))
    redis.call('ZADD', key('ends'), exact(now_ms + milliseconds), name)
    keep_for({'ends', 'sizes', 'owners', 'shares', 'total', 'going:' .. owner}, milliseconds + LONGER)
end

-- Add to `gone` what goes first of an owner; gives how much is too much even then.
local function going(owner, excess, in_use, gone)
    local from = 0
    while excess > 0 do
        local range = {key('going:' .. owner), '-inf', exact(now - in_use), 'BYSCORE', 'LIMIT', from, PAGE}
        local page = redis.call('ZRANGE', unpack(range))
        for _, name in ipairs(page) do
            if excess <= 0 then break end
            if name ~= at and not gone[name] then
                local size = tonumber(redis.call('HGET', key('sizes'), name))
                gone[name], gone.size = true, gone.size + size
                table.insert(gone, name)
                excess = excess - size
            end
        end
        if #page < PAGE then break end
        from = from + PAGE
    end
    return excess
end

local commands = {}

function commands.put_if(expected, version, value, milliseconds, owner, in_flight, owner_bytes, total_bytes, in_use)
    while sweep() == SWEPT_AT_ONCE do end
    local held = version_of(at)
    if held == version then return version end -- this is the same attempt once more, whose answer did not arrive
    if (held or '') ~= expected then return false end
    local size, freed, gone = #value + FLAT, tonumber(redis.call('HGET', key('sizes'), at)) or 0, {size = 0}
    local share = tonumber(redis.call('ZSCORE', key('shares'), owner) or 0)
    if going(owner, share - freed + size - owner_bytes, tonumber(in_use), gone) > 0 then return {'busy'} end
    local excess = tonumber(redis.call('GET', key('total')) or 0) - freed - gone.size + size - total_bytes
    local from = 0
    while excess > 0 do -- whoever has most of all gives up
        local largest = redis.call('ZREVRANGE', key('shares'), from, from)[1]
        if not largest then return {'full'} end
        excess = going(largest, excess, tonumber(in_use), gone)
        from = from + 1
    end
    for _, name in ipairs(gone) do forget(name) end
    forget(at)
    milliseconds = tonumber(milliseconds)
    if milliseconds <= 0 then return version end
    redis.call('HSET', value_of(at), 'value', value, 'version', version)
    redis.call('HSET', key('sizes'), at, size)
    redis.call('HSET', key('owners'), at, owner)
    redis.call('INCRBY', key('total'), size)
    redis.call('ZINCRBY', key('shares'), size, owner)
    if in_flight == '0' then
        redis.call('ZADD', key('going:' .. owner), exact(held and now or now - NEVER_USED), at)
    end
    keep(at, owner, milliseconds)
    return version
end

function commands.touch(milliseconds)
    if not version_of(at) then return 0 end
    milliseconds = tonumber(milliseconds)
    if milliseconds <= 0 then
        forget(at)
        return 1
    end
    local owner = redis.call('HGET', key('owners'), at)
    redis.call('ZADD', key('going:' .. owner), 'XX', exact(now), at)
    keep(at, owner, milliseconds)
    return 1
end

function commands.consume()
    local value = version_of(at) and redis.call('HGET', value_of(at), 'value')
    forget(at)
    return value
end

function commands.delete()
    forget(at)
end

commands.sweep = sweep

return commands[command](unpack(ARGV, 3))
