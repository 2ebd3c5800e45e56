-- f: the value and the gradient of a formula, by exprgrad.
--
--   m = max(a, b, 2)
--   where((a < b)*(b < 3), m%a, relu(a) + sign(b)*round(a/b)^3)
--
-- Inputs, in order: a, b.
-- Reads the table rows, numbers its rows in f_row, and adds the columns value, d_a, d_b.
-- For DuckDB, PostgreSQL and SQLite.  A row gives NULL where an input is not a finite
-- number, or a step leaves its domain.
WITH f_rows AS MATERIALIZED (
  SELECT ROW_NUMBER() OVER () + f_row AS f_row, given.*
  FROM rows AS given CROSS JOIN (SELECT 0 AS f_row) AS zero
), f_0 AS (
  SELECT f_row,
    CAST(f_rows.a AS DOUBLE PRECISION) AS f_a,
    CAST(f_rows.b AS DOUBLE PRECISION) AS f_b,
    CASE WHEN CAST('Infinity' AS DOUBLE PRECISION) > 0.0 THEN CAST('Infinity' AS DOUBLE
      PRECISION) ELSE 9e307*10 END AS f_inf
  FROM f_rows
), f_1 AS MATERIALIZED (
  SELECT *,
    f_a - f_a = 0.0 AND f_b - f_b = 0.0 AS f_known,
    CASE WHEN f_a > f_b THEN f_a WHEN f_a <= f_b THEN f_b END AS f_t1,
    f_a < f_b AND f_b < 3.0 AS f_t2,
    f_a/NULLIF(f_b, 0.0) AS f_t4,
    CASE WHEN f_a > 0.0 THEN f_a WHEN f_a <= 0.0 THEN 0.0 END AS f_t6,
    CASE WHEN f_a = 0.0 THEN CAST(NULL AS DOUBLE PRECISION) ELSE 1.0 END AS f_t8,
    CAST(CASE WHEN f_a > 0.0 THEN 1 ELSE 0 END AS DOUBLE PRECISION) AS f_t15
  FROM f_0
), f_2 AS MATERIALIZED (
  SELECT *,
    CASE WHEN f_t1 > 2.0 THEN f_t1 WHEN f_t1 <= 2.0 THEN 2.0 END AS f_m,
    CASE WHEN ABS(f_t4) < 2251799813685248.0 THEN f_t4 + 6755399441055744.0 - 6755399441055744.0
      ELSE f_t4 END AS f_t5
  FROM f_1
), f_3 AS MATERIALIZED (
  SELECT *,
    CASE WHEN SIGN(MOD(f_m, f_a))*SIGN(f_a) < 0 THEN MOD(f_m, f_a) + f_a ELSE MOD(f_m, f_a) END
      AS f_t3,
    f_t6 + CAST(SIGN(f_b) AS DOUBLE PRECISION)*POWER(f_t5, 3.0) AS f_t7,
    CAST(CASE WHEN f_a = f_m THEN 1 ELSE 0 END AS DOUBLE PRECISION) AS f_t11,
    CAST(CASE WHEN f_b = f_m THEN 1 ELSE 0 END AS DOUBLE PRECISION) AS f_t12,
    CASE WHEN 2.0 = f_m THEN CAST(f_inf AS DOUBLE PRECISION) ELSE 0.0 END AS f_t13
  FROM f_2
), f_4 AS MATERIALIZED (
  SELECT *,
    f_m/NULLIF(f_a, 0.0) - f_t3/NULLIF(f_a, 0.0) AS f_t9,
    f_t11 + f_t12 + f_t13 AS f_t14
  FROM f_3
), f_5 AS MATERIALIZED (
  SELECT *,
    CASE WHEN ABS(f_t9) < 2251799813685248.0 THEN f_t9 + 6755399441055744.0 - 6755399441055744.0
      ELSE f_t9 END AS f_t10,
    CASE WHEN f_t2 THEN f_t8*(f_t11/NULLIF(f_t14, 0.0)) ELSE 0.0 END AS f_t17,
    CASE WHEN f_t2 THEN f_t8*(f_t12/NULLIF(f_t14, 0.0)) ELSE 0.0 END AS f_t19
  FROM f_4
), f_6 AS MATERIALIZED (
  SELECT *,
    CASE WHEN f_t2 THEN -f_t10 ELSE 0.0 END AS f_t16
  FROM f_5
), f_7 AS MATERIALIZED (
  SELECT *,
    CASE WHEN f_t2 THEN 0.0 ELSE f_t15 END + f_t16 + f_t17 AS f_t18
  FROM f_6
), f_out AS (
  SELECT f_row,
    CASE WHEN f_known THEN CASE WHEN f_t2 THEN f_t3 ELSE f_t7 END END AS value,
    CASE WHEN f_known THEN f_t18 END AS d_a,
    CASE WHEN f_known THEN f_t19 END AS d_b
  FROM f_7
)
SELECT f_rows.*,
  value,
  d_a,
  d_b
FROM f_rows JOIN f_out ON f_out.f_row = f_rows.f_row
ORDER BY f_rows.f_row;
