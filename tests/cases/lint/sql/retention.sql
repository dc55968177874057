-- Old rows: how they are found, copied and removed.
CREATE TABLE mail_outbox (
    id BIGINT PRIMARY KEY AUTO_INCREMENT,
    app_code VARCHAR(32) NOT NULL,
    status VARCHAR(20) NOT NULL,
    sent_at DATETIME NULL,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    created_at DATETIME NOT NULL,
    KEY idx_sent (app_code, status, sent_at, id),
    KEY idx_updated (app_code, status, updated_at, id)
);

-- One state, its age, an index on both.
SELECT id FROM mail_outbox WHERE app_code = ? AND status = 'sent' AND sent_at < ? ORDER BY sent_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED;
INSERT INTO mail_outbox_archive (id) SELECT id FROM mail_outbox WHERE app_code = ? AND status = 'sent' AND sent_at < ? ORDER BY sent_at, id LIMIT 1000;

-- Without the scope in front the index is of no use.
SELECT id FROM mail_outbox WHERE status = 'sent' AND sent_at < ? ORDER BY sent_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED;
-- @16 retention-without-index
-- Another column of age, which no index has.
SELECT id FROM mail_outbox WHERE app_code = ? AND status = 'sent' AND created_at < ? ORDER BY created_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED;
-- @16 retention-without-index
-- The order is not that of the index.
SELECT id FROM mail_outbox WHERE app_code = ? AND status = 'sent' AND sent_at < ? ORDER BY id LIMIT 1000 FOR UPDATE SKIP LOCKED;
-- @16 retention-without-index

-- A column that every change renews.
SELECT id FROM mail_outbox WHERE app_code = ? AND status = 'sent' AND updated_at < ? ORDER BY updated_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED;
-- @71 retention-on-update-column
DELETE FROM mail_outbox WHERE app_code = ? AND status = 'sent' AND updated_at < ? ORDER BY updated_at, id LIMIT 1000;
-- @68 retention-on-update-column

-- Several states.
SELECT id FROM mail_outbox WHERE app_code = ? AND status IN ('sent', 'dead') AND sent_at < ? ORDER BY sent_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED;
-- @51 retention-state-list
DELETE FROM mail_outbox WHERE app_code = ? AND (status = 'sent' OR status = 'dead') AND sent_at < ? LIMIT 1000;
-- @48 retention-state-list
DELETE FROM mail_outbox WHERE app_code = ? AND status <> 'new' AND sent_at < ? LIMIT 1000;
-- @48 retention-state-list
-- A list of one is one.
SELECT id FROM mail_outbox WHERE app_code = ? AND status IN ('sent') AND sent_at < ? ORDER BY sent_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED;

-- Lists for people, counts and keys look for nothing to remove.
SELECT id FROM mail_outbox WHERE status IN ('sent', 'dead') AND created_at < ? ORDER BY created_at DESC LIMIT 50;
SELECT COUNT(*) FROM mail_outbox WHERE status = 'sent' AND created_at < ?;
SELECT id FROM mail_outbox WHERE status = 'sent' AND created_at < ? ORDER BY created_at LIMIT 50 OFFSET 50;
DELETE FROM mail_outbox WHERE id IN (?, ?, ?) AND created_at < ?;
DELETE m FROM mail_outbox m JOIN batch_keys k ON k.id = m.id;
UPDATE mail_outbox SET status = 'sent', sent_at = ? WHERE id = ? AND status = 'sending';
