-- f: the value and the gradient of a formula, by exprgrad.
--
--   lambda*ψ + y1*class^2 + gradient*value + t1 + exp*sin(exp)
--
-- Inputs, in order: lambda, ψ, y1, class, gradient, value, t1, exp.
-- Reads the table rows, numbers its rows in f_row, and adds the columns value_, d_lambda,
-- "d_ψ", d_y1, d_class, d_gradient, d_value, d_t1, d_exp.
-- For DuckDB, PostgreSQL and SQLite.  A row gives NULL where an input is not a finite
-- number, or a step leaves its domain.
WITH f_rows AS MATERIALIZED (
  SELECT ROW_NUMBER() OVER () + f_row AS f_row, given.*
  FROM rows AS given CROSS JOIN (SELECT 0 AS f_row) AS zero
), f_0 AS (
  SELECT f_row,
    CAST(f_rows."lambda" AS DOUBLE PRECISION) AS f_lambda,
    CAST(f_rows."ψ" AS DOUBLE PRECISION) AS f_psi,
    CAST(f_rows.y1 AS DOUBLE PRECISION) AS f_y1,
    CAST(f_rows.class AS DOUBLE PRECISION) AS f_class,
    CAST(f_rows.gradient AS DOUBLE PRECISION) AS f_gradient,
    CAST(f_rows.value AS DOUBLE PRECISION) AS f_value,
    CAST(f_rows.t1 AS DOUBLE PRECISION) AS f_t1,
    CAST(f_rows.exp AS DOUBLE PRECISION) AS f_exp
  FROM f_rows
), f_1 AS MATERIALIZED (
  SELECT *,
    f_lambda - f_lambda = 0.0 AND f_psi - f_psi = 0.0 AND f_y1 - f_y1 = 0.0 AND f_class -
      f_class = 0.0 AND f_gradient - f_gradient = 0.0 AND f_value - f_value = 0.0 AND f_t1 -
      f_t1 = 0.0 AND f_exp - f_exp = 0.0 AS f_known,
    f_class*f_class AS f_t2,
    SIN(f_exp) AS f_t3
  FROM f_0
), f_2 AS MATERIALIZED (
  SELECT *,
    f_lambda*f_psi + f_y1*f_t2 + f_gradient*f_value + f_t1 + f_exp*f_t3 AS f_t4
  FROM f_1
), f_out AS (
  SELECT f_row,
    CASE WHEN f_known THEN f_t4 END AS value_,
    CASE WHEN f_known THEN f_psi END AS d_lambda,
    CASE WHEN f_known THEN f_lambda END AS "d_ψ",
    CASE WHEN f_known THEN f_t2 END AS d_y1,
    CASE WHEN f_known THEN f_y1*(2.0*f_class) END AS d_class,
    CASE WHEN f_known THEN f_value END AS d_gradient,
    CASE WHEN f_known THEN f_gradient END AS d_value,
    CASE WHEN f_known THEN CAST(1.0 AS DOUBLE PRECISION) END AS d_t1,
    CASE WHEN f_known THEN f_t3 + f_exp*COS(f_exp) END AS d_exp
  FROM f_2
)
SELECT f_rows.*,
  value_,
  d_lambda,
  "d_ψ",
  d_y1,
  d_class,
  d_gradient,
  d_value,
  d_t1,
  d_exp
FROM f_rows JOIN f_out ON f_out.f_row = f_rows.f_row
ORDER BY f_rows.f_row;
