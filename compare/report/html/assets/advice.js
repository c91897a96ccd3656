// advice.js: from causes and kinds of wrong to what to try next.

import {t, el} from './text.js';
import {command} from './cards.js';

// For each cause or kind of wrong, what to try, in this order; each has a text, and some have lines to paste.
const remedies = {
  nan: ['overflow', 'fp32', 'epsilon'], inf: ['overflow', 'fp32', 'epsilon'], saturated: ['overflow', 'fp32', 'mask'], underflow: ['fp32', 'loss-scale'],
  zeros: ['unwritten', 'fusion'], integers: ['inputs', 'fp32'], scalar: ['precision-mode', 'fp32'],
  cosine: ['fusion', 'precision-mode', 'fp32'], distance: ['fusion', 'precision-mode', 'fp32'], tolerance: ['precision-mode', 'fp32'],
  unexplained: ['fusion', 'attributes', 'report'], 'jump-distance': ['precision-mode', 'fp32', 'fusion'], 'jump-largest': ['unwritten', 'twice', 'fusion'],
  law: ['twice', 'report'], imaginary: ['complex'],
  'low-precision': ['precision-mode', 'fp32'], 'low-accumulation': ['precision-mode', 'fp32'], 'coarse-type': ['hf32', 'fp32'], stale: ['twice', 'report'], repeated: ['report'],
  scale: ['fusion'], offset: ['fusion'], affine: ['fusion'], 'slice-offset': ['fusion'], 'slice-scale': ['fusion'], 'row-scale': ['unwritten', 'precision-mode'],
  slope: ['fusion'], 'activation-missing': ['fusion'], 'activation-added': ['fusion'], 'axes-permuted': ['formats'], 'layout-misread': ['formats'], 'blocks-transposed': ['formats'],
  unwritten: ['unwritten', 'report'], border: ['attributes'], lanes: ['unwritten'], region: ['twice', 'report'], 'bit-flip': ['twice'], 'random-elements': ['twice'], 'missing-bias': ['fusion'],
};

// Lines to paste into the script or the command line, alike in all languages. TYPE and NAME are the operator's.
const lines = {
  fp32: ['{"black-list": {"to-add": ["TYPE"]}}', 'custom_op.parameter_map["modify_mixlist"].s = tf.compat.as_bytes("mixlist.json")', 'atc … --keep_dtype=keep.txt   # keep.txt: NAME'],
  'precision-mode': ['custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("must_keep_origin_dtype")',
    'atc … --precision_mode=must_keep_origin_dtype --op_precision_mode=op_precision.ini   # [ByOpType] TYPE=high_precision'],
  fusion: ['{"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}}', 'custom_op.parameter_map["fusion_switch_file"].s = tf.compat.as_bytes("fusion_switch.json")',
    'atc … --fusion_switch_file=fusion_switch.json'],
  overflow: ['custom_op.parameter_map["enable_dump_debug"].b = True', 'custom_op.parameter_map["dump_debug_mode"].s = tf.compat.as_bytes("all")'],
  hf32: ['torch.npu.matmul.allow_hf32 = False', 'torch.npu.conv.allow_hf32 = False'],
  twice: ['precision compare -lt RUN_1 -rt RUN_2'],
};

/** adviceView lists what to try for an operator. */
export function adviceView(m, op, looks) {
  const kinds = [];
  for (const l of looks) for (const p of l.patterns ?? []) kinds.push(p.kind);
  const checks = m.file.table.checks;
  if (checks?.pattern) {
    const names = Array.isArray(checks.op) ? checks.op : checks.op.at.map(k => checks.op.of[k]);
    const patterns = Array.isArray(checks.pattern) ? checks.pattern : checks.pattern.at.map(k => checks.pattern.of[k]);
    names.forEach((name, k) => { if (name === op.name && patterns[k]) kinds.push(patterns[k]); });
  }
  for (const i of op.rows) if (m.role(i) === 'output') for (const c of m.causes.get(i) ?? []) if (!c.waived) kinds.push(c.kind);
  const steps = [];
  for (const k of kinds) for (const s of remedies[k] ?? []) if (!steps.includes(s)) steps.push(s);
  if (op.inserted && !steps.includes('formats')) steps.unshift('formats');
  if (op.state === 'inherited') return el('div.advice', {}, el('h4', {}, t('advice')), el('p', {}, t('advice.inherited')));
  if (!steps.length) return null;
  return el('div.advice', {}, el('h4', {}, t('advice')), el('ol', {}, steps.slice(0, 5).map(s => el('li', {}, t('advice.' + s), lines[s] ? pasted(s, op) : null))));
}

/** pasted are the lines of a step, with the operator's type and name in their places. */
function pasted(step, op) {
  const framework = op.framework[0] ?? op.name;
  return el('div', {}, lines[step].map(line => command(line.replaceAll('TYPE', op.type).replaceAll('NAME', framework))));
}
