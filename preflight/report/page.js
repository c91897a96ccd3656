// page.js: a chart for every quantity of two training logs, the loss scale as steps.
const data = JSON.parse(document.getElementById('data').textContent);
const number = v => typeof v === 'number' ? v : null; // NaN and Inf leave a gap
const charts = document.getElementById('charts');

for (const q of data.quantities) {
  const steps = [...new Set([...q.steps_a, ...q.steps_b])].sort((x, y) => x - y);
  const side = (at, values) => { const m = new Map(at.map((s, i) => [s, number(values[i])])); return steps.map(s => m.has(s) ? m.get(s) : undefined); };
  const paths = q.stepped ? {paths: uPlot.paths.stepped({align: 1})} : {};
  const parts = {hooks: {draw: [u => {
    if (q.part_step === null) return;
    const x = u.valToPos(q.part_step, 'x', true);
    u.ctx.save();
    u.ctx.strokeStyle = '#c33';
    u.ctx.setLineDash([4, 4]);
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    u.ctx.restore();
  }]}};
  const log = q.positive && q.high > 100 * q.low;
  const box = document.createElement('div');
  charts.append(box);
  const options = {
    title: q.title, width: Math.max(320, Math.min(document.body.clientWidth - 32, 1400)), height: 320,
    scales: {x: {time: false}, y: log ? {distr: 3} : {}},
    cursor: {drag: {x: true, y: false}, sync: {key: 'steps'}},
    axes: [{stroke: '#888', grid: {stroke: '#8883'}}, {stroke: '#888', grid: {stroke: '#8883'}, size: 80, values: (u, list) => list.map(v => v === null ? '' : String(Number(v.toPrecision(6))))}],
    series: [{label: data.step}, {label: 'A', stroke: '#3273c9', width: 1.5, spanGaps: true, ...paths}, {label: 'B', stroke: '#d9822b', width: 1.5, spanGaps: true, ...paths}],
    plugins: [parts],
  };
  const chart = new uPlot(options, [steps, side(q.steps_a, q.values_a), side(q.steps_b, q.values_b)], box);
  window.addEventListener('resize', () => chart.setSize({width: Math.max(320, Math.min(document.body.clientWidth - 32, 1400)), height: 320}));
}
document.body.dataset.ready = 'yes';
