<?php
$db->query("SELECT event_id FROM order_outbox WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
//                               ^ claim-without-scope
$db->query('SELECT event_id FROM order_outbox ' . 'WHERE app_code = ? AND status = ? ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE');
// @128 claim-without-skip-locked
$db->query("SELECT event_id FROM order_outbox WHERE status = 'pending' $where ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED");
// @13 dynamic-queue-sql
$sql = <<<SQL
    SELECT event_id FROM order_outbox
    --                   ^ claim-without-scope
    WHERE status = 'pending' ORDER BY created_at_ms, event_id LIMIT 10 FOR UPDATE SKIP LOCKED
    SQL;
