-- f: the value and the gradient of a formula, by exprgrad.
--
--   2 + 2
--
-- Inputs, in order: none.
-- Reads the table rows, numbers its rows in f_row, and adds the columns value.
-- For DuckDB, PostgreSQL and SQLite.  A row gives NULL where an input is not a finite
-- number, or a step leaves its domain.
WITH f_rows AS MATERIALIZED (
  SELECT ROW_NUMBER() OVER () + f_row AS f_row, given.*
  FROM rows AS given CROSS JOIN (SELECT 0 AS f_row) AS zero
), f_0 AS (
  SELECT f_row
  FROM f_rows
), f_1 AS MATERIALIZED (
  SELECT *,
    TRUE AS f_known
  FROM f_0
), f_out AS (
  SELECT f_row,
    CASE WHEN f_known THEN CAST(4.0 AS DOUBLE PRECISION) END AS value
  FROM f_1
)
SELECT f_rows.*,
  value
FROM f_rows JOIN f_out ON f_out.f_row = f_rows.f_row
ORDER BY f_rows.f_row;
