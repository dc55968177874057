-- What DDL says of tables that no definition describes.
CREATE TABLE IF NOT EXISTS `shop`.`mail_queue` (
  `id` BIGINT UNSIGNED NOT NULL AUTO_INCREMENT COMMENT 'the key, (not the id)',
  `app_code` VARCHAR(32) NOT NULL,
  `state` TINYINT NOT NULL DEFAULT 0,
  `run_at` DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
  PRIMARY KEY (`id`),
  KEY `idx_mail` (`app_code`, `state`, `run_at`)
) ENGINE=InnoDB;

SELECT id FROM mail_queue WHERE state = 0 AND run_at <= NOW(3) ORDER BY run_at, id LIMIT 10 FOR UPDATE SKIP LOCKED;
--             ^ claim-without-scope
SELECT id FROM mail_queue WHERE app_code = ? AND (state = 0 OR run_at <= NOW(3)) ORDER BY run_at, id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                               ^ claim-or-branch

-- It has no scope, and so none is asked for.
CREATE TABLE sms_queue (id bigserial PRIMARY KEY, status text NOT NULL, locked_until timestamptz);
SELECT id FROM sms_queue WHERE status = 'new' ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED;
--             ^ claim-without-index
SELECT id FROM sms_queue WHERE status = 'new' OR locked_until < now() ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                             ^ claim-or-branch

-- It is given one later.
CREATE TABLE push_queue (id BIGINT PRIMARY KEY, status TEXT);
ALTER TABLE push_queue ADD COLUMN app_code TEXT NOT NULL DEFAULT '';
SELECT id FROM push_queue WHERE status = 'new' ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED;
--             ^ claim-without-scope

-- An archive is no queue, and neither is a table of another name.
CREATE TABLE mail_queue_archive (id BIGINT PRIMARY KEY, app_code TEXT, status TEXT);
SELECT id FROM mail_queue_archive WHERE status = 'new' ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED;
CREATE TABLE customers (id BIGINT PRIMARY KEY, app_code TEXT, status TEXT);
SELECT id FROM customers WHERE status = 'new' OR status = 'old' ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED;

-- Nothing but its name is known.
SELECT id FROM invoice_outbox WHERE processed_at IS NULL OR locked_at < now() ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED;
--                                  ^ claim-or-branch
SELECT id FROM invoice_outbox WHERE processed_at IS NULL ORDER BY id LIMIT 10 FOR UPDATE SKIP LOCKED;
