-- What is kept of one application; `$` stands for what the names of its tables begin with. Times are in microseconds since the epoch.
--
-- What is kept is counted by triggers, so whatever deletes a row counts it, too: in value_shares and topic_shares for each owner, and
-- under the owner '' for all of them.

-- used: when a value was last touched or replaced, if it ever was. since: when its time began, which is over at ends.
CREATE TABLE IF NOT EXISTS $values (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    value BLOB NOT NULL,
    version TEXT NOT NULL,
    owner TEXT NOT NULL,
    size INTEGER NOT NULL,
    in_flight INTEGER NOT NULL,
    used INTEGER,
    since INTEGER NOT NULL,
    ends INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS $values_by_end ON $values (ends);
CREATE INDEX IF NOT EXISTS $values_by_since ON $values (since);
CREATE INDEX IF NOT EXISTS $values_by_use ON $values (owner, in_flight, used, number);

CREATE TABLE IF NOT EXISTS $value_shares (owner TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;

CREATE TRIGGER IF NOT EXISTS $value_put AFTER INSERT ON $values BEGIN
    INSERT INTO $value_shares VALUES (new.owner, new.size), ('', new.size)
    ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER IF NOT EXISTS $value_gone AFTER DELETE ON $values BEGIN
    UPDATE $value_shares SET bytes = bytes - old.size WHERE owner IN (old.owner, '');
    DELETE FROM $value_shares WHERE owner = old.owner AND bytes <= 0;
END;

-- begun: another one each time the topic begins. last, dropped: the newest message, and the newest that is no longer kept, or 0.
CREATE TABLE IF NOT EXISTS $topics (
    name TEXT PRIMARY KEY,
    begun TEXT NOT NULL,
    owner TEXT NOT NULL,
    last INTEGER NOT NULL DEFAULT 0,
    dropped INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    used INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS $topics_by_use ON $topics (used);
CREATE INDEX IF NOT EXISTS $topics_by_owner ON $topics (owner, used);

-- Numbers go up in a topic, and are the time where that goes up; so none comes a second time, even if the newest ones are lost.
CREATE TABLE IF NOT EXISTS $messages (
    topic TEXT NOT NULL,
    number INTEGER NOT NULL,
    body BLOB NOT NULL,
    size INTEGER NOT NULL,
    came INTEGER NOT NULL,
    UNIQUE (topic, number)
);
CREATE INDEX IF NOT EXISTS $messages_by_coming ON $messages (came);

CREATE TABLE IF NOT EXISTS $topic_shares (owner TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;

CREATE TRIGGER IF NOT EXISTS $topic_begun AFTER INSERT ON $topics BEGIN
    INSERT INTO $topic_shares VALUES (new.owner, 1024), ('', 1024)
    ON CONFLICT (owner) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER IF NOT EXISTS $topic_gone AFTER DELETE ON $topics BEGIN
    UPDATE $topic_shares SET bytes = bytes - 1024 - old.bytes WHERE owner IN (old.owner, '');
    DELETE FROM $topic_shares WHERE owner = old.owner AND bytes <= 0;
    DELETE FROM $messages WHERE topic = old.name;
    DELETE FROM $waits WHERE topic = old.name;
END;
CREATE TRIGGER IF NOT EXISTS $message_put AFTER INSERT ON $messages BEGIN
    UPDATE $topics SET last = new.number, messages = messages + 1, bytes = bytes + new.size WHERE name = new.topic;
    UPDATE $topic_shares SET bytes = bytes + new.size
    WHERE owner IN ((SELECT owner FROM $topics WHERE name = new.topic), '');
END;
-- With its topic it is counted there, and the topic is gone by now.
CREATE TRIGGER IF NOT EXISTS $message_gone AFTER DELETE ON $messages
WHEN EXISTS (SELECT 1 FROM $topics WHERE name = old.topic) BEGIN
    UPDATE $topics SET dropped = max(dropped, old.number), messages = messages - 1, bytes = bytes - old.size
    WHERE name = old.topic;
    UPDATE $topic_shares SET bytes = bytes - old.size
    WHERE owner IN ((SELECT owner FROM $topics WHERE name = old.topic), '');
END;

-- On which topics readers of a worker wait, for as long as it says so again.
CREATE TABLE IF NOT EXISTS $waits (
    topic TEXT NOT NULL,
    worker TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (topic, worker)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS $waits_by_worker ON $waits (worker, topic);

-- Of which topics the readers of other workers are to be woken.
CREATE TABLE IF NOT EXISTS $news (number INTEGER PRIMARY KEY AUTOINCREMENT, topic TEXT NOT NULL, came INTEGER NOT NULL);
