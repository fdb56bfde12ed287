#!lua
-- What a hub does, each in one step. KEYS[1] is what all its keys begin with; ARGV[1] which of `commands`; then its arguments.
--
-- A topic T is a hash, topic:T, of what is known of it, and a stream, messages:T. In the hash: `begun`, which is another one each time it
-- begins; `last` and `dropped`, the ids of its newest message and of the newest that is no longer kept; `bytes` of its messages; and for
-- each worker W on which readers wait, wait:W, until when that counts if the worker does not renew it. Beside it is counted:
--   uses    a topic -> when it was last used, or until when somebody waits on it, in microseconds; uses:O of owner O alone
--   sizes   a topic -> what it takes up
--   owners  a topic -> whose it is
--   shares  an owner -> what all of theirs take up; `total` is that of all
--   oldest  a topic -> when its oldest message came, in milliseconds
-- Ids of messages are those of streams: the time, and a number within it. So none comes a second time, even if the server has lost the
-- newest ones.

local prefix, command = KEYS[1], ARGV[1]
local limits = cjson.decode(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_ms = math.floor(now / 1000)

local TOPIC, MESSAGE = 1024, 256 -- what a topic and a message take up beside their own bytes
local SWEPT_AT_ONCE = 500
local PAGE = 16
local READ_BYTES, READ_MESSAGES = 1024 * 1024, 256
local SEARCHED = 256 -- among so many of the newest messages one is looked for that may have been published already
local LONGER = 2 * (limits.kept_ms + limits.wait_ms) + 60000 -- after that an unused key goes by itself, should nobody sweep

local function key(name) return prefix .. name end
local function exact(number) return string.format('%.0f', number) end
local function topic_of(name) return key('topic:' .. name) end
local function messages_of(name) return key('messages:' .. name) end

local function fields(name)
    local found, flat = {}, redis.call('HGETALL', topic_of(name))
    for index = 1, #flat, 2 do found[flat[index]] = flat[index + 1] end
    return found
end

local function grow(name, owner, size)
    redis.call('HINCRBY', key('sizes'), name, size)
    if redis.call('INCRBY', key('total'), size) <= 0 then redis.call('DEL', key('total')) end
    if tonumber(redis.call('ZINCRBY', key('shares'), size, owner)) <= 0 then redis.call('ZREM', key('shares'), owner) end
end

-- Have the workers look on which somebody waits.
local function wake(name, topic)
    for field, ends in pairs(topic) do
        if string.sub(field, 1, 5) == 'wait:' and tonumber(ends) > now then
            redis.call('PUBLISH', key('wake:' .. string.sub(field, 6)), name)
        end
    end
end

local function forget(name)
    wake(name, fields(name))
    redis.call('DEL', topic_of(name), messages_of(name))
    local size, owner = redis.call('HGET', key('sizes'), name), redis.call('HGET', key('owners'), name)
    if not size then return end
    grow(name, owner, -size)
    redis.call('HDEL', key('sizes'), name)
    redis.call('HDEL', key('owners'), name)
    redis.call('ZREM', key('uses'), name)
    redis.call('ZREM', key('uses:' .. owner), name)
    redis.call('ZREM', key('oldest'), name)
end

-- Let go of the oldest message; gives its successor's id, or nothing.
local function drop_oldest(name, owner)
    local two = redis.call('XRANGE', messages_of(name), '-', '+', 'COUNT', 2)
    local id, size = two[1][1], #two[1][2][2] + MESSAGE
    redis.call('XDEL', messages_of(name), id)
    redis.call('HSET', topic_of(name), 'dropped', id)
    redis.call('HINCRBY', topic_of(name), 'bytes', -size)
    grow(name, owner, -size)
    if two[2] then
        redis.call('ZADD', key('oldest'), string.match(two[2][1], '^%d+'), name)
    else
        redis.call('ZREM', key('oldest'), name)
    end
end

local function drop_expired(name, owner)
    local oldest = tonumber(redis.call('ZSCORE', key('oldest'), name) or math.huge)
    while oldest <= now_ms - limits.kept_ms do
        drop_oldest(name, owner)
        oldest = tonumber(redis.call('ZSCORE', key('oldest'), name) or math.huge)
    end
end

local function expire()
    local before = exact(now - 1000 * limits.kept_ms)
    local over = redis.call('ZRANGE', key('uses'), '-inf', before, 'BYSCORE', 'LIMIT', 0, SWEPT_AT_ONCE)
    for _, name in ipairs(over) do forget(name) end
end

-- Note a use of a topic that is there.
local function use(name, owner, topic)
    local used = now
    for field, ends in pairs(topic) do
        if string.sub(field, 1, 5) == 'wait:' then
            if tonumber(ends) <= now then
                redis.call('HDEL', topic_of(name), field)
            else
                used = math.max(used, tonumber(ends))
            end
        end
    end
    redis.call('ZADD', key('uses'), exact(used), name)
    redis.call('ZADD', key('uses:' .. owner), exact(used), name)
    redis.call('PEXPIRE', topic_of(name), LONGER)
    redis.call('PEXPIRE', messages_of(name), LONGER)
    for _, counted in ipairs({'uses', 'sizes', 'owners', 'shares', 'total', 'oldest', 'uses:' .. owner}) do
        if redis.call('PTTL', key(counted)) < LONGER then redis.call('PEXPIRE', key(counted), 2 * LONGER) end
    end
end

-- What is known of a topic, and whose it is, and it is in use now; nothing where it is not open.
local function in_use(name)
    expire()
    local owner, topic = redis.call('HGET', key('owners'), name), fields(name)
    local emptied = topic.bytes ~= '0' and redis.call('EXISTS', messages_of(name)) == 0 -- by a server that was short of memory
    if not owner or not topic.begun or emptied then
        forget(name)
        return nil
    end
    use(name, owner, topic)
    drop_expired(name, owner)
    return fields(name), owner
end

-- The longest unused topic of an owner, on which nobody waits.
local function unused(owner, besides)
    for _, name in ipairs(redis.call('ZRANGE', key('uses:' .. owner), '-inf', exact(now), 'BYSCORE', 'LIMIT', 0, 2)) do
        if name ~= besides then return name end
    end
end

local function unused_of_the_largest(besides)
    local from = 0
    while true do
        local owner = redis.call('ZREVRANGE', key('shares'), from, from)[1]
        if not owner then return nil end
        local name = unused(owner, besides)
        if name then return name end
        from = from + 1
    end
end

-- Let go of what has to go for so many bytes more of a topic; gives what is in the way.
local function make_room(name, owner, size)
    while tonumber(redis.call('ZSCORE', key('shares'), owner) or 0) + size > limits.owner_bytes do
        local other = unused(owner, name)
        if other then
            forget(other)
        elseif redis.call('ZSCORE', key('oldest'), name) then
            drop_oldest(name, owner)
        else
            return {'busy'}
        end
    end
    while tonumber(redis.call('GET', key('total')) or 0) + size > limits.total_bytes do
        local other = unused_of_the_largest(name)
        if other then
            forget(other)
        elseif redis.call('ZSCORE', key('oldest'), name) then
            drop_oldest(name, owner)
        else
            return {'full'}
        end
    end
end

local function position(topic, id) return topic.begun .. '-' .. id end

local commands = {}

function commands.open(name, owner, begun)
    local topic = in_use(name)
    if not topic then
        local fault = make_room(name, owner, TOPIC)
        if fault then return fault end
        redis.call('HSET', topic_of(name), 'begun', begun, 'last', '0-0', 'dropped', '', 'bytes', 0)
        redis.call('HSET', key('owners'), name, owner)
        grow(name, owner, TOPIC)
        topic = fields(name)
        use(name, owner, topic)
    end
    return position(topic, topic.last)
end

function commands.publish(name, token, message, attempt)
    local topic, owner = in_use(name)
    if not topic then return false end
    if attempt ~= '0' then
        for _, entry in ipairs(redis.call('XREVRANGE', messages_of(name), '+', '-', 'COUNT', SEARCHED)) do
            if entry[2][4] == token then return position(topic, entry[1]) end
        end
    end
    local size = #message + MESSAGE
    if size > limits.topic_bytes then return {'large'} end
    while redis.call('XLEN', messages_of(name)) >= limits.topic_messages
        or tonumber(redis.call('HGET', topic_of(name), 'bytes')) + size > limits.topic_bytes do
        drop_oldest(name, owner)
    end
    local fault = make_room(name, owner, size)
    if fault then return fault end
    local id = redis.call('XADD', messages_of(name), '*', 'body', message, 'token', token)
    redis.call('HSET', topic_of(name), 'last', id)
    redis.call('HINCRBY', topic_of(name), 'bytes', size)
    redis.call('ZADD', key('oldest'), 'NX', string.match(id, '^%d+'), name)
    redis.call('PEXPIRE', messages_of(name), LONGER)
    redis.call('PEXPIRE', key('oldest'), 2 * LONGER)
    grow(name, owner, size)
    wake(name, topic)
    return position(topic, id)
end

-- Messages after a position, and a missed one or not; the worker, if one is given, waits for more.
function commands.read(name, begun, id, worker)
    if worker ~= '' and redis.call('EXISTS', topic_of(name)) == 1 then
        redis.call('HSET', topic_of(name), 'wait:' .. worker, exact(now + 1000 * limits.wait_ms))
    end
    local topic = in_use(name)
    if not topic then return false end
    local missed = false
    if begun == '' or (begun == topic.begun and id == '0-0') then
        missed, id = topic.dropped ~= '', nil
    elseif begun ~= topic.begun then
        missed, id = true, nil
    elseif id ~= topic.last and id ~= topic.dropped and #redis.call('XRANGE', messages_of(name), id, id) == 0 then
        missed, id = true, nil
    end
    local from, found, bytes, reached = id and '(' .. id or '-', {}, 0, id or topic.last
    repeat
        local page = redis.call('XRANGE', messages_of(name), from, '+', 'COUNT', PAGE)
        for _, entry in ipairs(page) do
            if bytes > READ_BYTES then break end
            table.insert(found, position(topic, entry[1]))
            table.insert(found, entry[2][2])
            bytes, reached, from = bytes + #entry[2][2], entry[1], '(' .. entry[1]
        end
    until #page < PAGE or bytes > READ_BYTES or #found >= 2 * READ_MESSAGES
    return {missed and 1 or 0, position(topic, reached), found}
end

function commands.close(name)
    forget(name)
end

-- Let go of what has expired; a worker waits on some topics still, and on others no longer.
function commands.keep(worker, waiting, left)
    expire()
    local before = exact(now_ms - limits.kept_ms)
    local old = redis.call('ZRANGE', key('oldest'), '-inf', before, 'BYSCORE', 'LIMIT', 0, SWEPT_AT_ONCE)
    for _, name in ipairs(old) do drop_expired(name, redis.call('HGET', key('owners'), name)) end
    for _, name in ipairs(cjson.decode(waiting)) do
        local owner = redis.call('HGET', key('owners'), name)
        if owner then
            redis.call('HSET', topic_of(name), 'wait:' .. worker, exact(now + 1000 * limits.wait_ms))
            use(name, owner, fields(name))
        end
    end
    for _, name in ipairs(cjson.decode(left)) do
        local owner = redis.call('HGET', key('owners'), name)
        if owner and redis.call('HDEL', topic_of(name), 'wait:' .. worker) == 1 then use(name, owner, fields(name)) end
    end
end

return commands[command](unpack(ARGV, 3))
