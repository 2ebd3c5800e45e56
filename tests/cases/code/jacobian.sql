-- short_f: the values and the Jacobian of a formula, by exprgrad.
--
--   u = x*y^2
--   v = exp(x)/y
--   u*v
--
-- Inputs, in order: x, y.
-- Reads the table rows, numbers its rows in short_f_row, and adds the columns u, v, d_u_x,
-- d_u_y, d_v_x, d_v_y.
-- For DuckDB, PostgreSQL and SQLite.  A row gives NULL where an input is not a finite
-- number, or a step leaves its domain.
WITH short_f_rows AS MATERIALIZED (
  SELECT ROW_NUMBER() OVER () + short_f_row AS short_f_row, given.*
  FROM rows AS given CROSS JOIN (SELECT 0 AS short_f_row) AS zero
), short_f_0 AS (
  SELECT short_f_row,
    CAST(short_f_rows.x AS DOUBLE PRECISION) AS short_f_x,
    CAST(short_f_rows.y AS DOUBLE PRECISION) AS short_f_y
  FROM short_f_rows
), short_f_1 AS MATERIALIZED (
  SELECT *,
    short_f_x - short_f_x = 0.0 AND short_f_y - short_f_y = 0.0 AS short_f_known,
    short_f_y*short_f_y AS short_f_t1,
    CASE WHEN short_f_x < -745.2 THEN 0.0 ELSE EXP(short_f_x) END AS short_f_t2
  FROM short_f_0
), short_f_2 AS MATERIALIZED (
  SELECT *,
    short_f_x*short_f_t1 AS short_f_u,
    short_f_t2/NULLIF(short_f_y, 0.0) AS short_f_v
  FROM short_f_1
), short_f_out AS (
  SELECT short_f_row,
    CASE WHEN short_f_known THEN short_f_u END AS u,
    CASE WHEN short_f_known THEN short_f_v END AS v,
    CASE WHEN short_f_known THEN short_f_t1 END AS d_u_x,
    CASE WHEN short_f_known THEN short_f_x*(2.0*short_f_y) END AS d_u_y,
    CASE WHEN short_f_known THEN 1.0/NULLIF(short_f_y, 0.0)*short_f_t2 END AS d_v_x,
    CASE WHEN short_f_known THEN -short_f_v/NULLIF(short_f_y, 0.0) END AS d_v_y
  FROM short_f_2
)
SELECT short_f_rows.*,
  u,
  v,
  d_u_x,
  d_u_y,
  d_v_x,
  d_v_y
FROM short_f_rows JOIN short_f_out ON short_f_out.short_f_row = short_f_rows.short_f_row
ORDER BY short_f_rows.short_f_row;
