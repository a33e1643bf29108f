const number = y => y === 0 ? "0" : Math.abs(y) >= 1e5 || Math.abs(y) < 1e-3 ? y.toExponential(3) : String(+y.toPrecision(5));
const text = s => s.replace(/[&<>"]/g, c => "&#" + c.charCodeAt(0) + ";");
// steps are round numbers from lo to hi, about count of them.
function steps(lo, hi, count, least) {
  let step = 10 ** Math.floor(Math.log10((hi - lo) / count || 1));
  for (const f of [10, 5, 2]) if ((hi - lo) / (step * f) >= count) { step *= f; break; }
  step = Math.max(step, least);
  const list = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9 && list.length < 50; k++) list.push(+(k * step).toPrecision(12));
  return list;
}
// decades are powers of ten within lo and hi, with their double and fivefold where there are few.
function decades(lo, hi) {
  const a = Math.floor(Math.log10(lo)), b = Math.ceil(Math.log10(hi)), every = Math.ceil((b - a) / 7), list = [];
  for (let k = a; k <= b; k += every) for (const f of b - a < 3 ? [1, 2, 5] : [1]) list.push(f * 10 ** k);
  return list.filter(y => y >= lo * 0.999 && y <= hi * 1.001);
}
function chart(box, c) {
  const legend = box.querySelector(".legend"), at = box.querySelector(".at"), button = box.querySelector("button"), area = box.querySelector(".area");
  const all = c.series.flatMap(s => s.y), xs = c.series.flatMap(s => [s.x[0], s.x[s.x.length - 1]]);
  const canLog = !c.share && Math.min(...c.series.map(s => s.y.reduce((a, b) => Math.min(a, b)))) > 0;
  const most = c.series.flatMap(s => s.y).reduce((a, b) => Math.max(a, b));
  const [scale, unit] = c.unit != "s" || most >= 1 ? [1, c.unit] : most >= 1e-3 ? [1e3, "ms"] : [1e6, "µs"];
  let log = c.log && canLog, place;
  button.hidden = !canLog;
  function show(epoch) {
    legend.innerHTML = c.series.map(s => {
      let k = s.x.length - 1;
      if (epoch !== undefined) for (k = 0; k < s.x.length - 1 && Math.abs(s.x[k + 1] - epoch) <= Math.abs(s.x[k] - epoch);) k++;
      return `<span><i style="background:var(--c${s.color % 8})"></i>${text(s.name)} <b data-value="${s.y[k]}" data-epoch="${s.x[k]}">${number(scale * s.y[k])}${unit ? " " + unit : ""}</b></span>`;
    }).join("");
    at.textContent = epoch === undefined ? "last epoch" : "epoch " + epoch;
  }
  function draw() {
    const width = area.clientWidth || 600, height = width < 480 ? 210 : 260, left = 54, right = 14, top = 8, foot = 26;
    let lo = all.reduce((a, b) => Math.min(a, b)), hi = all.reduce((a, b) => Math.max(a, b));
    if (c.share) { lo = Math.min(0, lo); hi = Math.max(1, hi); } else if (!log && lo > 0) lo = 0;
    if (hi <= lo) hi = log ? lo * 10 : lo + 1;
    const first = Math.min(...xs), last = Math.max(...xs, first + 1);
    const x = e => left + (e - first) / (last - first) * (width - left - right);
    const part = log ? y => Math.log(y / lo) / Math.log(hi / lo) : y => (y - lo) / (hi - lo);
    const y = v => top + (1 - part(v)) * (height - top - foot);
    let s = `<svg viewBox="0 0 ${width} ${height}" height="${height}" role="img" aria-label="${text(c.title)}">`;
    for (const v of log ? decades(lo, hi) : steps(lo, hi, 3, 0))
      s += `<line class="grid" x1="${left}" x2="${width - right}" y1="${y(v).toFixed(1)}" y2="${y(v).toFixed(1)}"/><text x="${left - 8}" y="${(y(v) + 4).toFixed(1)}" text-anchor="end">${label(scale * v)}</text>`;
    for (const e of steps(first, last, Math.max(2, Math.floor(width / 130)), 1))
      s += `<text x="${x(e).toFixed(1)}" y="${height - 7}" text-anchor="middle">${e}</text>`;
    s += `<text x="${left - 8}" y="${height - 7}" text-anchor="end">epoch</text>`;
    for (const l of c.series) {
      const color = `var(--c${l.color % 8})`, dash = l.color >= 8 ? ` stroke-dasharray="5 3"` : "";
      if (l.x.length == 1) s += `<circle cx="${x(l.x[0])}" cy="${y(l.y[0])}" r="3" style="fill:${color}"/>`;
      else s += `<path class="curve" style="stroke:${color}"${dash} d="${l.x.map((e, i) => (i ? "L" : "M") + x(e).toFixed(1) + " " + y(l.y[i]).toFixed(1)).join("")}"/>`;
    }
    area.innerHTML = s + `<line class="cursor" y1="${top}" y2="${height - foot}" visibility="hidden"/></svg>`;
    place = { left, right, width, first, last, x };
    button.setAttribute("aria-pressed", log);
  }
  const label = v => v === 0 ? "0" : v >= 1e5 || v < 1e-3 ? v.toExponential(0) : String(+v.toPrecision(4));
  area.addEventListener("pointermove", e => {
    const px = e.clientX - area.getBoundingClientRect().left, p = place;
    const want = p.first + (px - p.left) / (p.width - p.left - p.right) * (p.last - p.first);
    const l = c.series.reduce((a, b) => b.x.length > a.x.length ? b : a);
    const epoch = l.x.reduce((a, b) => Math.abs(b - want) < Math.abs(a - want) ? b : a), line = area.querySelector(".cursor");
    line.setAttribute("x1", p.x(epoch)); line.setAttribute("x2", p.x(epoch)); line.setAttribute("visibility", "visible");
    show(epoch);
  });
  area.addEventListener("pointerleave", () => { area.querySelector(".cursor").setAttribute("visibility", "hidden"); show(); });
  button.addEventListener("click", () => { log = !log; draw(); });
  let width = 0;
  new ResizeObserver(() => { if (area.clientWidth != width) { width = area.clientWidth; draw(); } }).observe(area);
  show();
  draw();
}
for (const c of charts) chart(document.getElementById("chart-" + c.id), c);
