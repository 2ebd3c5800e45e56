-- f: the value and the gradient of a formula, by exprgrad.
--
--   z = (x - mu)/sigma
--   exp(-z^2/2)/(sigma*sqrt(2*pi)) + erfc(z)
--
-- Inputs, in order: x, mu, sigma.
-- Reads the table rows, numbers its rows in f_row, and adds the columns value, d_x, d_mu,
-- d_sigma.
-- For DuckDB, PostgreSQL and SQLite.  A row gives NULL where an input is not a finite
-- number, or a step leaves its domain.
WITH f_rows AS MATERIALIZED (
  SELECT ROW_NUMBER() OVER () + f_row AS f_row, given.*
  FROM rows AS given CROSS JOIN (SELECT 0 AS f_row) AS zero
), f_0 AS (
  SELECT f_row,
    CAST(f_rows.x AS DOUBLE PRECISION) AS f_x,
    CAST(f_rows.mu AS DOUBLE PRECISION) AS f_mu,
    CAST(f_rows.sigma AS DOUBLE PRECISION) AS f_sigma
  FROM f_rows
), f_1 AS MATERIALIZED (
  SELECT *,
    f_x - f_x = 0.0 AND f_mu - f_mu = 0.0 AND f_sigma - f_sigma = 0.0 AS f_known,
    (f_x - f_mu)/NULLIF(f_sigma, 0.0) AS f_z,
    SQRT(CAST(2.0 AS DOUBLE PRECISION)*PI()) AS f_t4,
    CASE WHEN CAST(-46.0 AS DOUBLE PRECISION) < -745.2 THEN 0.0 ELSE EXP(CAST(-46.0 AS DOUBLE
      PRECISION)) END AS f_t41
  FROM f_0
), f_2 AS MATERIALIZED (
  SELECT *,
    f_z*f_z AS f_t1,
    f_sigma*f_t4 AS f_t5,
    ABS(f_z) AS f_t11,
    16.0*f_z AS f_t35
  FROM f_1
), f_3 AS MATERIALIZED (
  SELECT *,
    -f_t1/2.0 AS f_t2,
    (-3.307424347149491e-06*f_t1 - 9.968500709461738e-05)*f_t1 AS f_t7,
    (0.00022238327327855578e0*f_t1 + 0.005984657255496839e0)*f_t1 AS f_t9,
    CASE WHEN f_t11 < 28.0 THEN f_t11 WHEN f_t11 >= 28.0 THEN 28.0 END AS f_t12,
    CASE WHEN ABS(f_t35) < 2251799813685248.0 THEN f_t35 + 6755399441055744.0 -
      6755399441055744.0 ELSE f_t35 END AS f_t36
  FROM f_2
), f_4 AS MATERIALIZED (
  SELECT *,
    CASE WHEN f_t2 < -745.2 THEN 0.0 ELSE EXP(f_t2) END AS f_t3,
    ((f_t7 - 0.0062597805658704845e0)*f_t1 - 0.03169064187892366e0)*f_t1 AS f_t8,
    ((f_t9 + 0.06966706841428245e0)*f_t1 + 0.4080340100583768e0)*f_t1 + 1.0 AS f_t10,
    16.0*f_t12 AS f_t13,
    f_t12 + 1.0 AS f_t16,
    f_t36/16.0 AS f_t37
  FROM f_3
), f_5 AS MATERIALIZED (
  SELECT *,
    f_t3/NULLIF(f_t5, 0.0) AS f_t6,
    CASE WHEN ABS(f_t13) < 2251799813685248.0 THEN f_t13 + 6755399441055744.0 -
      6755399441055744.0 ELSE f_t13 END AS f_t14,
    1.0/f_t16 AS f_t17,
    f_z*((f_t8 - 0.3237433226739001e0)*f_t1 + 0.12837916709551256e0)/f_t10 AS f_t32,
    46.0 - f_t37*f_t37 AS f_t38,
    (f_t37 - f_z)*(f_z + f_t37) AS f_t39
  FROM f_4
), f_6 AS MATERIALIZED (
  SELECT *,
    f_t14/16.0 AS f_t15,
    (284.04142154259205e0*f_t17 + 642.972766837198e0)*f_t17 AS f_t18,
    (56.762352926424576e0*f_t17 + 254.15963530869197e0)*f_t17 AS f_t22,
    CASE WHEN f_t38 < -745.2 THEN 0.0 ELSE EXP(f_t38) END AS f_t40
  FROM f_5
), f_7 AS MATERIALIZED (
  SELECT *,
    ((f_t18 + 785.7516489763349e0)*f_t17 + 658.295586127321e0)*f_t17 AS f_t19,
    ((f_t22 + 541.7273827281094e0)*f_t17 + 716.301218455881e0)*f_t17 AS f_t23,
    -f_t15*f_t15 AS f_t27,
    (f_t15 - f_t12)*(f_t15 + f_t12) AS f_t29,
    f_t40*CASE WHEN f_t39 < -745.2 THEN 0.0 ELSE EXP(f_t39) END AS f_t42
  FROM f_6
), f_8 AS MATERIALIZED (
  SELECT *,
    ((f_t19 + 406.0411903399069e0)*f_t17 + 193.98371875146682e0)*f_t17 AS f_t20,
    ((f_t23 + 672.7888471577957e0)*f_t17 + 453.8140329711412e0)*f_t17 AS f_t24,
    f_t42*(-2.0/SQRT(CAST(PI() AS DOUBLE PRECISION))*f_t41) AS f_t43
  FROM f_7
), f_9 AS MATERIALIZED (
  SELECT *,
    ((f_t20 + 69.23568240193875e0)*f_t17 + 19.85205737674614e0)*f_t17 AS f_t21,
    ((f_t24 + 241.87488322917187e0)*f_t17 + 91.201514319532)*f_t17 AS f_t25,
    CASE WHEN f_t11 > 28.0 THEN 0.0 ELSE f_t43 END AS f_t44
  FROM f_8
), f_10 AS MATERIALIZED (
  SELECT *,
    ((f_t25 + 29.344219600236848e0)*f_t17 + 5.342635945579957e0)*f_t17 + 1.0 AS f_t26,
    f_t44 + -(1.0/NULLIF(f_t5, 0.0)*f_t3*0.5)*(2.0*f_z) AS f_t45
  FROM f_9
), f_11 AS MATERIALIZED (
  SELECT *,
    ((f_t21 + 3.578449132731795e0)*f_t17 + 0.5641895835477563e0)/f_t26/f_t16 AS f_t28,
    f_t45*(1.0/NULLIF(f_sigma, 0.0)) AS f_t46,
    -f_t6/NULLIF(f_t5, 0.0)*f_t4 + f_t45*(-f_z/NULLIF(f_sigma, 0.0)) AS f_t47
  FROM f_10
), f_12 AS MATERIALIZED (
  SELECT *,
    f_t28*CASE WHEN f_t27 < -745.2 THEN 0.0 ELSE EXP(f_t27) END AS f_t30
  FROM f_11
), f_13 AS MATERIALIZED (
  SELECT *,
    f_t30*CASE WHEN f_t29 < -745.2 THEN 0.0 ELSE EXP(f_t29) END AS f_t31
  FROM f_12
), f_14 AS MATERIALIZED (
  SELECT *,
    CASE WHEN f_z < 0.0 THEN 2.0 - f_t31 ELSE f_t31 END AS f_t33
  FROM f_13
), f_15 AS MATERIALIZED (
  SELECT *,
    CASE WHEN f_t11 < 0.84375 THEN 0.5 - (f_z - 0.5 + f_t32) ELSE f_t33 END AS f_t34
  FROM f_14
), f_out AS (
  SELECT f_row,
    CASE WHEN f_known THEN f_t6 + f_t34 END AS value,
    CASE WHEN f_known THEN f_t46 END AS d_x,
    CASE WHEN f_known THEN -f_t46 END AS d_mu,
    CASE WHEN f_known THEN f_t47 END AS d_sigma
  FROM f_15
)
SELECT f_rows.*,
  value,
  d_x,
  d_mu,
  d_sigma
FROM f_rows JOIN f_out ON f_out.f_row = f_rows.f_row
ORDER BY f_rows.f_row;
