-- What is kept of one application, in a schema of its own, which is where all names are looked up; and what is done with it, each in one
-- step. Times are in microseconds since the epoch, by the server's clock.
--
-- What is kept is counted by triggers, so whatever deletes a row counts it, too: in stored_shares and topic_shares for each owner, and
-- under the owner '' for all of them. What changes what is counted waits for its turn (`take_turn`).
--
-- What is refused is told by '!' and a word in place of what is given otherwise; then nothing has happened.

CREATE FUNCTION now_is() RETURNS bigint LANGUAGE sql VOLATILE AS
$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

CREATE FUNCTION take_turn(what text) RETURNS void LANGUAGE sql AS
$$ SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || what, 0)) $$;

-- Values. used: when a value was last touched or replaced, if it ever was. since: when its time began, which is over at ends.

CREATE TABLE stored (
    number bigint GENERATED ALWAYS AS IDENTITY,
    key text PRIMARY KEY,
    value bytea NOT NULL,
    version text NOT NULL,
    owner text NOT NULL,
    size bigint NOT NULL,
    in_flight boolean NOT NULL,
    used bigint,
    since bigint NOT NULL,
    ends bigint NOT NULL
);
CREATE INDEX ON stored (ends);
CREATE INDEX ON stored (since);
CREATE INDEX ON stored (owner, in_flight, used NULLS FIRST, number);

CREATE TABLE stored_shares (owner text PRIMARY KEY, bytes bigint NOT NULL) WITH (fillfactor = 50);

CREATE FUNCTION count_stored() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO stored_shares VALUES (new.owner, new.size), ('', new.size)
        ON CONFLICT (owner) DO UPDATE SET bytes = stored_shares.bytes + excluded.bytes;
    ELSE
        UPDATE stored_shares SET bytes = bytes - old.size WHERE owner IN (old.owner, '');
        DELETE FROM stored_shares WHERE owner = old.owner AND bytes <= 0;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count AFTER INSERT OR DELETE ON stored FOR EACH ROW EXECUTE FUNCTION count_stored();

-- Let go of so many bytes of an owner, in the order in which they go; gives how many are too many even then.
CREATE FUNCTION give_up_stored(whose text, excess bigint, in_use bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE now bigint := now_is(); going record;
BEGIN
    IF excess <= 0 THEN RETURN 0; END IF;
    FOR going IN
        SELECT key, size FROM stored
        WHERE owner = whose AND NOT in_flight AND (used IS NULL OR used <= now - in_use OR used > now)
        ORDER BY used NULLS FIRST, number
    LOOP
        DELETE FROM stored WHERE key = going.key;
        excess := excess - going.size;
        EXIT WHEN excess <= 0;
    END LOOP;
    RETURN excess;
END $$;

CREATE FUNCTION put_if(
    at text, expected text, made text, what bytea, lasts bigint, whose text, waited_for boolean,
    owner_bytes bigint, total_bytes bigint, in_use bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE now bigint; held text; excess bigint; needed bigint := octet_length(what) + 512; largest record;
BEGIN
    PERFORM take_turn('store');
    now := now_is();
    DELETE FROM stored WHERE ends <= now;
    SELECT version INTO held FROM stored WHERE key = at;
    IF held = made THEN RETURN made; END IF; -- this is the same attempt once more, whose answer did not arrive
    IF held IS DISTINCT FROM expected THEN RETURN NULL; END IF;
    DELETE FROM stored WHERE key = at;
    excess := coalesce((SELECT bytes FROM stored_shares WHERE owner = whose), 0) + needed - owner_bytes;
    IF give_up_stored(whose, excess, in_use) > 0 THEN RAISE 'busy' USING ERRCODE = 'MCP01'; END IF;
    excess := coalesce((SELECT bytes FROM stored_shares WHERE owner = ''), 0) + needed - total_bytes;
    IF excess > 0 THEN -- then whoever has most of all gives up
        FOR largest IN SELECT owner FROM stored_shares WHERE owner <> '' ORDER BY bytes DESC LOOP
            excess := give_up_stored(largest.owner, excess, in_use);
            EXIT WHEN excess <= 0;
        END LOOP;
        IF excess > 0 THEN RAISE 'full' USING ERRCODE = 'MCP02'; END IF;
    END IF;
    IF lasts > 0 THEN
        INSERT INTO stored (key, value, version, owner, size, in_flight, used, since, ends)
        VALUES (at, what, made, whose, needed, waited_for, CASE WHEN held IS NOT NULL THEN now END, now, now + lasts);
    END IF;
    RETURN made;
EXCEPTION
    WHEN SQLSTATE 'MCP01' THEN RETURN '!busy';
    WHEN SQLSTATE 'MCP02' THEN RETURN '!full';
END $$;

CREATE FUNCTION get_stored(at text) RETURNS TABLE (value bytea, version text, lasts bigint) LANGUAGE sql AS
$$ SELECT value, version, ends - now_is() FROM stored WHERE key = at AND ends > now_is() $$;

CREATE FUNCTION touch(at text, lasts bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE now bigint := now_is();
BEGIN
    UPDATE stored SET used = now, since = now, ends = now + lasts WHERE key = at AND ends > now;
    RETURN FOUND;
END $$;

CREATE FUNCTION consume(at text) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE taken record;
BEGIN
    PERFORM take_turn('store');
    DELETE FROM stored WHERE key = at RETURNING value, ends INTO taken;
    RETURN CASE WHEN taken.ends > now_is() THEN taken.value END;
END $$;

-- Let go of what has expired. Where the clock was set back, nothing is kept for longer than it was put for.
CREATE FUNCTION sweep_stored() RETURNS void LANGUAGE plpgsql AS $$
DECLARE now bigint;
BEGIN
    PERFORM take_turn('store');
    now := now_is();
    UPDATE stored SET ends = ends - since + now, since = now WHERE since > now;
    DELETE FROM stored WHERE ends <= now;
END $$;

-- Topics. begun: another one each time the topic begins. last, dropped: the newest message, and the newest that is no longer kept, or 0.

CREATE TABLE topics (
    name text PRIMARY KEY,
    begun text NOT NULL,
    owner text NOT NULL,
    last bigint NOT NULL DEFAULT 0,
    dropped bigint NOT NULL DEFAULT 0,
    messages bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    used bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX ON topics (used);
CREATE INDEX ON topics (owner, used);

-- Numbers go up in a topic, and are the time where that goes up; so none comes a second time, even if the newest ones are lost. token is
-- another one for each message, also where publishing it is tried again.
CREATE TABLE messages (
    topic text NOT NULL,
    number bigint NOT NULL,
    body bytea NOT NULL,
    size bigint NOT NULL,
    came bigint NOT NULL,
    token text NOT NULL UNIQUE,
    PRIMARY KEY (topic, number)
);
CREATE INDEX ON messages (came);

CREATE TABLE topic_shares (owner text PRIMARY KEY, bytes bigint NOT NULL) WITH (fillfactor = 50);

-- On which topics readers of a worker wait, for as long as it says so again.
CREATE UNLOGGED TABLE waits (topic text, worker text, until bigint NOT NULL, PRIMARY KEY (topic, worker));
CREATE INDEX ON waits (worker);

CREATE FUNCTION count_topics() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO topic_shares VALUES (new.owner, 1024), ('', 1024)
        ON CONFLICT (owner) DO UPDATE SET bytes = topic_shares.bytes + excluded.bytes;
    ELSE
        UPDATE topic_shares SET bytes = bytes - 1024 - old.bytes WHERE owner IN (old.owner, '');
        DELETE FROM topic_shares WHERE owner = old.owner AND bytes <= 0;
        DELETE FROM messages WHERE topic = old.name;
        DELETE FROM waits WHERE topic = old.name;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count AFTER INSERT OR DELETE ON topics FOR EACH ROW EXECUTE FUNCTION count_topics();

CREATE FUNCTION count_messages() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE whose text;
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE topics SET last = new.number, messages = messages + 1, bytes = bytes + new.size
        WHERE name = new.topic RETURNING owner INTO whose;
        UPDATE topic_shares SET bytes = bytes + new.size WHERE owner IN (whose, '');
    ELSE
        UPDATE topics
        SET dropped = greatest(dropped, old.number), messages = messages - 1, bytes = bytes - old.size
        WHERE name = old.topic RETURNING owner INTO whose;
        IF FOUND THEN -- with its topic it is counted there, and the topic is gone by now
            UPDATE topic_shares SET bytes = bytes - old.size WHERE owner IN (whose, '');
        END IF;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER count AFTER INSERT OR DELETE ON messages FOR EACH ROW EXECUTE FUNCTION count_messages();

CREATE FUNCTION expire_topics(kept bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE now bigint := now_is();
BEGIN
    DELETE FROM topics WHERE used <= now - kept
    AND NOT EXISTS (SELECT FROM waits WHERE topic = name AND until > now);
END $$;

-- A topic, which is in use now; what has been there for too long goes.
CREATE FUNCTION in_use(at text, kept bigint) RETURNS topics LANGUAGE plpgsql AS $$
DECLARE its topics;
BEGIN
    PERFORM expire_topics(kept);
    UPDATE topics SET used = now_is() WHERE name = at;
    IF FOUND THEN DELETE FROM messages WHERE topic = at AND came <= now_is() - kept; END IF;
    SELECT * INTO its FROM topics WHERE name = at;
    RETURN its;
END $$;

CREATE FUNCTION drop_oldest(at text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM messages WHERE topic = at
    AND number = (SELECT number FROM messages WHERE topic = at ORDER BY number LIMIT 1);
    RETURN FOUND;
END $$;

-- Let go of the longest unused topic of an owner, on which nobody waits.
CREATE FUNCTION forget_unused(whose text, besides text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE now bigint := now_is();
BEGIN
    DELETE FROM topics WHERE name = (
        SELECT name FROM topics WHERE owner = whose AND name <> besides
        AND NOT EXISTS (SELECT FROM waits WHERE topic = name AND until > now) ORDER BY used LIMIT 1
    );
    RETURN FOUND;
END $$;

CREATE FUNCTION forget_unused_of_the_largest(besides text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE largest record;
BEGIN
    FOR largest IN SELECT owner FROM topic_shares WHERE owner <> '' ORDER BY bytes DESC LOOP
        IF forget_unused(largest.owner, besides) THEN RETURN true; END IF;
    END LOOP;
    RETURN false;
END $$;

-- Let go of what has to go for so many bytes more of a topic.
CREATE FUNCTION make_room(at text, whose text, needed bigint, owner_bytes bigint, total_bytes bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WHILE coalesce((SELECT bytes FROM topic_shares WHERE owner = whose), 0) + needed > owner_bytes LOOP
        IF NOT (forget_unused(whose, at) OR drop_oldest(at)) THEN RAISE 'busy' USING ERRCODE = 'MCP01'; END IF;
    END LOOP;
    WHILE coalesce((SELECT bytes FROM topic_shares WHERE owner = ''), 0) + needed > total_bytes LOOP
        IF NOT (forget_unused_of_the_largest(at) OR drop_oldest(at)) THEN RAISE 'full' USING ERRCODE = 'MCP02'; END IF;
    END LOOP;
END $$;

-- Have the workers look on which somebody waits. They are told which topic it is and no more.
CREATE FUNCTION wake(at text) RETURNS void LANGUAGE sql AS
$$ SELECT pg_notify('mcp_anyrev_' || worker, at) FROM waits WHERE topic = at AND until > now_is() $$;

CREATE FUNCTION open_topic(at text, whose text, begins text, kept bigint, owner_bytes bigint, total_bytes bigint)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE its topics;
BEGIN
    PERFORM take_turn('hub');
    its := in_use(at, kept);
    IF its.name IS NULL THEN
        PERFORM make_room(at, whose, 1024, owner_bytes, total_bytes);
        INSERT INTO topics (name, begun, owner, used) VALUES (at, begins, whose, now_is()) RETURNING * INTO its;
    END IF;
    RETURN its.begun || '-' || its.last;
EXCEPTION
    WHEN SQLSTATE 'MCP01' THEN RETURN '!busy';
    WHEN SQLSTATE 'MCP02' THEN RETURN '!full';
END $$;

CREATE FUNCTION publish(
    at text, what bytea, its_token text, topic_messages bigint, topic_bytes bigint,
    kept bigint, owner_bytes bigint, total_bytes bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE its topics; needed bigint := octet_length(what) + 256; made bigint;
BEGIN
    PERFORM take_turn('hub');
    its := in_use(at, kept);
    IF its.name IS NULL THEN RETURN NULL; END IF;
    SELECT number INTO made FROM messages WHERE token = its_token;
    IF FOUND THEN RETURN its.begun || '-' || made; END IF; -- this is the same attempt once more
    IF needed > topic_bytes THEN RETURN '!large'; END IF;
    WHILE its.messages >= topic_messages OR its.bytes + needed > topic_bytes LOOP
        PERFORM drop_oldest(at);
        SELECT * INTO its FROM topics WHERE name = at;
    END LOOP;
    PERFORM make_room(at, its.owner, needed, owner_bytes, total_bytes);
    made := greatest(its.last + 1, now_is());
    INSERT INTO messages VALUES (at, made, what, needed, now_is(), its_token);
    PERFORM wake(at);
    RETURN its.begun || '-' || made;
EXCEPTION
    WHEN SQLSTATE 'MCP01' THEN RETURN '!busy';
    WHEN SQLSTATE 'MCP02' THEN RETURN '!full';
END $$;

-- Messages after a number of a topic that began so: first a row without a body, whose number is where that begins, then one for each
-- message; none where the topic is not open. An empty `begins` is for everything that is kept. The worker, if one is given, waits for more.
CREATE FUNCTION read_topic(at text, begins text, since bigint, its_worker text, kept bigint, wait bigint)
RETURNS TABLE (began text, missed boolean, number bigint, body bytea) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    its topics; now bigint := now_is(); oldest bigint; after_it bigint := since; untidy boolean; lost boolean;
BEGIN
    SELECT * INTO its FROM topics WHERE name = at;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT came INTO oldest FROM messages WHERE topic = at ORDER BY number LIMIT 1;
    untidy := its.used <= now - kept / 20 OR its.used > now OR oldest <= now - kept OR oldest > now
        OR its_worker IS NOT NULL
        AND NOT EXISTS (SELECT FROM waits WHERE topic = at AND worker = its_worker AND until > now + wait / 2);
    IF untidy THEN
        PERFORM set_config('synchronous_commit', 'off', true); -- what is noted here may be lost: it would be noted again
        PERFORM take_turn('hub');
        IF its_worker IS NOT NULL THEN
            INSERT INTO waits SELECT at, its_worker, now_is() + wait FROM topics WHERE name = at
            ON CONFLICT (topic, worker) DO UPDATE SET until = excluded.until;
        END IF;
        its := in_use(at, kept);
        IF its.name IS NULL THEN RETURN; END IF;
    END IF;
    IF begins = '' OR (begins = its.begun AND since = 0) THEN
        lost := its.dropped > 0;
        after_it := 0;
    ELSE
        lost := begins <> its.begun OR (
            since NOT IN (its.last, its.dropped)
            AND NOT EXISTS (SELECT FROM messages WHERE topic = at AND number = since)
        );
        IF lost THEN after_it := 0; END IF;
    END IF;
    RETURN QUERY SELECT its.begun, lost, after_it, NULL::bytea;
    RETURN QUERY SELECT its.begun, lost, m.number, m.body FROM (
        SELECT n.number, n.body, sum(n.size) OVER (ORDER BY n.number) - n.size AS earlier FROM (
            SELECT number, body, size FROM messages
            WHERE topic = at AND number > after_it ORDER BY number LIMIT 256
        ) AS n
    ) AS m WHERE m.earlier < 1048576 ORDER BY m.number;
END $$;

CREATE FUNCTION close_topic(at text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM take_turn('hub');
    PERFORM wake(at);
    DELETE FROM topics WHERE name = at;
END $$;

-- Let go of what has expired; a worker waits on these topics and on no others. Gives those on which it is no longer taken to wait.
CREATE FUNCTION renew(its_worker text, waiting text[], kept bigint, wait bigint) RETURNS SETOF text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE now bigint;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM take_turn('hub');
    now := now_is();
    -- Where the clock was set back, what is said to have happened later than now has happened now.
    UPDATE topics SET used = now WHERE used > now;
    UPDATE messages SET came = now WHERE came > now;
    UPDATE waits SET until = now + wait WHERE until > now + wait;
    UPDATE topics SET used = now WHERE name IN (SELECT topic FROM waits WHERE worker = its_worker) OR name = ANY (waiting);
    RETURN QUERY DELETE FROM waits WHERE worker = its_worker AND topic <> ALL (waiting) RETURNING topic;
    INSERT INTO waits SELECT name, its_worker, now + wait FROM topics WHERE name = ANY (waiting)
    ON CONFLICT (topic, worker) DO UPDATE SET until = excluded.until;
    DELETE FROM waits WHERE until <= now;
    DELETE FROM messages WHERE came <= now - kept;
    PERFORM expire_topics(kept);
END $$;
