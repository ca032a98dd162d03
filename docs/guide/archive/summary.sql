-- SPDX-License-Identifier: GPL-2.0-or-later
-- Rows of --each --format ndjson from standard input, and what they come to.
.mode ascii
.separator "\037" "\n"
CREATE TABLE line (o TEXT);
.import /dev/stdin line
CREATE TABLE done AS
  SELECT o ->> 'path' AS capture, o ->> 'exit' AS exit, o ->> '$.verdict.state' AS state, o ->> '$.totals.errors' AS errors,
         o ->> '$.totals.warnings' AS warnings, o ->> '$.verdict.sentence' AS sentence
  FROM line WHERE o ->> 'type' = 'capture';
.mode column
.headers on
.print Captures by the state of their worst mount
SELECT state, count(*) AS captures, sum(exit = 1) AS "with findings", sum(exit = 2) AS damaged FROM done GROUP BY state ORDER BY captures DESC, state;
.print
.print Rules, by how many captures they were found in
SELECT o ->> 'severity' AS severity, o ->> 'rule' AS rule, count(DISTINCT o ->> 'capture') AS captures, sum(o ->> 'times') AS times
  FROM line WHERE o ->> 'type' = 'finding' AND o ->> 'severity' <> 'note' GROUP BY 1, 2 ORDER BY severity, captures DESC, rule LIMIT 40;
.print
.print The captures with most errors and warnings
SELECT errors, warnings, state, capture FROM done WHERE errors + warnings > 0 ORDER BY errors DESC, warnings DESC, capture LIMIT 20;
