// What is ticked is kept for the next visit, where the browser allows it.

app.keep = () => { try { localStorage.setItem(location.pathname, [...ticks].map(({checked}) => Number(checked))); } catch {} };
try {
  (localStorage.getItem(location.pathname) ?? "").split(",").forEach((one, task) => { if (one === "1") tick(task); });
} catch {}
