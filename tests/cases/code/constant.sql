-- f: the value and the gradient of a formula, by exprgrad.
--
--   2 + 2
--
-- Inputs, in order: none.
-- Reads the table rows, and adds the columns value.
-- For DuckDB, PostgreSQL and SQLite.  A row gives NULL where an input is not a finite
-- number, or a step leaves its domain.
WITH f_0 AS (
  SELECT *
  FROM rows
), f_1 AS MATERIALIZED (
  SELECT *,
    TRUE AS f_known
  FROM f_0
)
SELECT *,
  CASE WHEN f_known THEN CAST(4.0 AS DOUBLE PRECISION) END AS value
FROM f_1;
