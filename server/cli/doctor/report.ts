import { keysIn } from '../../shared/index.ts';
import type { Result } from '../io.ts';
import { counted, printable } from '../text.ts';
import { areas, type Finding, type Level, levels } from './finding.ts';

const labels: Record<Level, string> = { ok: 'ok', note: 'note', warning: 'WARNING', fault: 'FAULT' };
const indent = ' '.repeat(11);
const width = 100;

/** Wraps words into aligned lines. */
function wrapped(text: string): string {
  const lines = [''];
  for (const word of printable(text).split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.join(`\n${indent}`);
}

function block({ level, seen, why, todo }: Finding): string {
  const lines = [`  ${labels[level].padEnd(9)}${wrapped(seen)}`];
  if (why !== undefined) lines.push(`${indent}${wrapped(`Why: ${why}`)}`);
  if (todo !== undefined) lines.push(`${indent}${wrapped(`Do:  ${todo}`)}`);
  return lines.join('\n');
}

type Counts = Record<Level, number>;

export function countLevels(findings: readonly Finding[]): Counts {
  const of = (level: Level) => findings.filter((finding) => finding.level === level).length;
  return { ok: of('ok'), note: of('note'), warning: of('warning'), fault: of('fault') };
}

/** `1 fault, 2 warnings, 1 note; 20 checks are in order` */
function summary(counts: Counts): string {
  const found = levels
    .filter((level) => level !== 'ok' && counts[level] > 0)
    .toReversed()
    .map((level) => counted(counts[level], level));
  const rest = `${counted(counts.ok, 'check')} in order`;
  return found.length === 0 ? `Nothing to complain of: ${rest}.` : `${found.join(', ')}; ${rest}.`;
}

/** All findings, by area, in the order of the checks. */
export function report(findings: readonly Finding[]): Result {
  const counts = countLevels(findings);
  const sections = keysIn(areas).flatMap((area) => {
    const findingsOfArea = findings.filter((finding) => finding.area === area);
    return findingsOfArea.length === 0 ? [] : [[areas[area], ...findingsOfArea.map(block)].join('\n')];
  });
  return { json: { ok: counts.fault === 0, counts, findings }, text: [...sections, summary(counts)].join('\n\n') };
}
