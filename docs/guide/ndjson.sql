-- SPDX-License-Identifier: GPL-2.0-or-later
-- Loads --format ndjson from standard input, and answers a question:
-- rpcrdma-analyzer --format ndjson nfs.pcap | sqlite3 -init docs/guide/ndjson.sql FILE.db "SELECT rule, frame FROM findings"
.mode ascii
.separator "\037" "\n"
CREATE TABLE IF NOT EXISTS line (capture TEXT, o TEXT);
CREATE TEMP TABLE loaded (o TEXT);
.import /dev/stdin loaded
-- Of a run that was broken off the last line may be torn.
DELETE FROM loaded WHERE NOT json_valid(o);
-- With --each every line names its capture. Else the lines that name the files come last; several files are one trace.
INSERT INTO line
  SELECT coalesce(o ->> 'capture', (SELECT o ->> 'path' FROM loaded WHERE o ->> 'type' = 'input' LIMIT 1) ||
         (SELECT CASE WHEN count(*) > 1 THEN ' and ' || (count(*) - 1) || ' more' ELSE '' END FROM loaded WHERE o ->> 'type' = 'input')), o
  FROM loaded;
DROP TABLE loaded;
CREATE VIEW IF NOT EXISTS findings AS
  SELECT capture, o ->> 'rule' AS rule, o ->> 'severity' AS severity, o ->> 'connection' AS connection, o ->> '$.frames[0]' AS frame,
         CAST(o ->> 'time' AS REAL) AS time, o ->> 'xid' AS xid, o ->> 'violator' AS violator, o ->> 'occurrences' AS occurrences,
         o ->> 'message' AS message, o ->> 'filter' AS filter
  FROM line WHERE o ->> 'type' = 'finding';
CREATE VIEW IF NOT EXISTS connections AS
  SELECT capture, o ->> 'id' AS id, o ->> 'transport' AS transport, o ->> '$.client.address' AS client, o ->> '$.server.address' AS server,
         o ->> '$.thresholds.client_to_server' AS client_to_server, o ->> '$.thresholds.server_to_client' AS server_to_client,
         o ->> '$.messages.calls' AS calls, o ->> '$.latency_us.p50' AS p50_us, o ->> '$.latency_us.p99' AS p99_us
  FROM line WHERE o ->> 'type' = 'connection';
CREATE VIEW IF NOT EXISTS procedures AS
  SELECT capture, line.o ->> 'id' AS connection, p.value ->> 'name' AS name, p.value ->> 'calls' AS calls, p.value ->> 'p50_us' AS p50_us,
         p.value ->> 'p99_us' AS p99_us
  FROM line, json_each(line.o, '$.procedures') AS p WHERE line.o ->> 'type' = 'connection';
.mode column
