-- short_f: the value, the gradient and the Hessian of a formula, by exprgrad.
--
--   u = x*y^2
--   v = exp(x)/y
--   u*v
--
-- Inputs, in order: x, y.
-- Reads the table rows, numbers its rows in short_f_row, and adds the columns value, d_x,
-- d_y, d_x_x, d_x_y, d_y_x, d_y_y.
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
    CASE WHEN short_f_x < -745.2 THEN 0.0 ELSE EXP(short_f_x) END AS short_f_t2,
    1.0/NULLIF(short_f_y, 0.0) AS short_f_t3,
    2.0*short_f_y AS short_f_t7
  FROM short_f_0
), short_f_2 AS MATERIALIZED (
  SELECT *,
    short_f_x*short_f_t1 AS short_f_u,
    short_f_t2/NULLIF(short_f_y, 0.0) AS short_f_v,
    short_f_t3*short_f_t2 AS short_f_t8
  FROM short_f_1
), short_f_3 AS MATERIALIZED (
  SELECT *,
    -short_f_v/NULLIF(short_f_y, 0.0) AS short_f_t4,
    short_f_u*short_f_t3*short_f_t2 AS short_f_t5,
    short_f_v*short_f_x AS short_f_t6
  FROM short_f_2
), short_f_4 AS MATERIALIZED (
  SELECT *,
    short_f_t4*short_f_t1 + short_f_u*(short_f_t3*-short_f_t8) AS short_f_t9,
    -short_f_t4 AS short_f_t11,
    short_f_t7*(short_f_x*short_f_t4) + short_f_t6*2.0 AS short_f_t13,
    short_f_u*short_f_t4 + short_f_t6*short_f_t7 AS short_f_t14,
    short_f_t2*(short_f_t3*short_f_t1) + short_f_t5 + short_f_t1*short_f_t8 AS short_f_t15
  FROM short_f_3
), short_f_5 AS MATERIALIZED (
  SELECT *,
    short_f_t9 + short_f_t7*(short_f_x*short_f_t8 + short_f_v) AS short_f_t10,
    short_f_u*(short_f_t3*short_f_t11 + short_f_t11/NULLIF(short_f_y, 0.0)) AS short_f_t12
  FROM short_f_4
), short_f_6 AS MATERIALIZED (
  SELECT *,
    short_f_t4*(short_f_x*short_f_t7) + short_f_t12 + short_f_t13 AS short_f_t16
  FROM short_f_5
), short_f_out AS (
  SELECT short_f_row,
    CASE WHEN short_f_known THEN short_f_u*short_f_v END AS value,
    CASE WHEN short_f_known THEN short_f_t5 + short_f_v*short_f_t1 END AS d_x,
    CASE WHEN short_f_known THEN short_f_t14 END AS d_y,
    CASE WHEN short_f_known THEN short_f_t15 END AS d_x_x,
    CASE WHEN short_f_known THEN short_f_t10 END AS d_x_y,
    CASE WHEN short_f_known THEN short_f_t10 END AS d_y_x,
    CASE WHEN short_f_known THEN short_f_t16 END AS d_y_y
  FROM short_f_6
)
SELECT short_f_rows.*,
  value,
  d_x,
  d_y,
  d_x_x,
  d_x_y,
  d_y_x,
  d_y_y
FROM short_f_rows JOIN short_f_out ON short_f_out.short_f_row = short_f_rows.short_f_row
ORDER BY short_f_rows.short_f_row;
