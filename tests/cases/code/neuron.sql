-- f: the value and the gradient of a formula, by exprgrad.
--
--   o = tanh(x1*w1 + x2*w2 + b)
--
-- Inputs, in order: x1, w1, x2, w2, b.
-- Reads the table rows, numbers its rows in f_row, and adds the columns value, d_x1, d_w1,
-- d_x2, d_w2, d_b.
-- For DuckDB, PostgreSQL and SQLite.  A row gives NULL where an input is not a finite
-- number, or a step leaves its domain.
WITH f_rows AS MATERIALIZED (
  SELECT ROW_NUMBER() OVER () + f_row AS f_row, given.*
  FROM rows AS given CROSS JOIN (SELECT 0 AS f_row) AS zero
), f_0 AS (
  SELECT f_row,
    CAST(f_rows.x1 AS DOUBLE PRECISION) AS f_x1,
    CAST(f_rows.w1 AS DOUBLE PRECISION) AS f_w1,
    CAST(f_rows.x2 AS DOUBLE PRECISION) AS f_x2,
    CAST(f_rows.w2 AS DOUBLE PRECISION) AS f_w2,
    CAST(f_rows.b AS DOUBLE PRECISION) AS f_b
  FROM f_rows
), f_1 AS MATERIALIZED (
  SELECT *,
    f_x1 - f_x1 = 0.0 AND f_w1 - f_w1 = 0.0 AND f_x2 - f_x2 = 0.0 AND f_w2 - f_w2 = 0.0 AND f_b
      - f_b = 0.0 AS f_known,
    f_x1*f_w1 + f_x2*f_w2 + f_b AS f_t1
  FROM f_0
), f_2 AS MATERIALIZED (
  SELECT *,
    TANH(f_t1) AS f_o,
    COSH(f_t1) AS f_t2
  FROM f_1
), f_3 AS MATERIALIZED (
  SELECT *,
    1.0/f_t2/f_t2 AS f_t3
  FROM f_2
), f_out AS (
  SELECT f_row,
    CASE WHEN f_known THEN f_o END AS value,
    CASE WHEN f_known THEN f_t3*f_w1 END AS d_x1,
    CASE WHEN f_known THEN f_t3*f_x1 END AS d_w1,
    CASE WHEN f_known THEN f_t3*f_w2 END AS d_x2,
    CASE WHEN f_known THEN f_t3*f_x2 END AS d_w2,
    CASE WHEN f_known THEN f_t3 END AS d_b
  FROM f_3
)
SELECT f_rows.*,
  value,
  d_x1,
  d_w1,
  d_x2,
  d_w2,
  d_b
FROM f_rows JOIN f_out ON f_out.f_row = f_rows.f_row
ORDER BY f_rows.f_row;
