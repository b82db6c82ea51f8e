import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Look, PageLooks } from './looks.ts';

/** A file for each page and state; `npm run baseline` writes them, and a diff of them shows what a change has moved. */
const folder = join(import.meta.dirname, 'baseline');
/** Machines and versions of Chromium round widths of letters differently; a moved button moves further. */
const tolerancePx = 2;

const isUpdating = process.env.FOYER_BASELINE === 'update';
const toFileName = (name: string): string => `${name.replaceAll(/[^\p{L}\d]+/gu, '-').toLowerCase()}.txt`;

/** @returns the files of pages that are no longer there; an update deletes them */
export function findStaleFiles(names: readonly string[]): string[] {
  const wanted = new Set(names.map(toFileName));
  const stale = existsSync(folder) ? readdirSync(folder).filter((file) => !wanted.has(file)) : [];
  if (!isUpdating) return stale;
  for (const file of stale) rmSync(join(folder, file));
  return [];
}

/** The column whose boxes, and the one whose styles, a column has unless its lines say otherwise. */
function toReferences(name: string): { box: string; style: string } {
  const [width, lang, scheme] = name.split(' ');
  const plain = { box: '', style: '1366 en light' };
  if (scheme === 'light') return plain;
  return { box: `${width} ${lang} light`, style: lang === 'en' ? '1366 en dark' : `${width} en dark` };
}

const same = '=';
const names = (looks: readonly Look[]) => looks.map(({ element }) => element).join();

/**
 * A section for each column, a line for each element. Later columns leave out the names of the same elements; `=` is a
 * box or a style that another column has already shown.
 */
export function writeLooks(looks: PageLooks): string {
  const [first = []] = [...looks.values()];
  const sections = [...looks].map(([column, elements]) => {
    const isShort = elements !== first && names(elements) === names(first);
    const references = toReferences(column);
    const boxes = isShort ? looks.get(references.box) : undefined;
    const styles = isShort ? looks.get(references.style) : undefined;
    const lines = elements.map(({ element, words, box, style }, at) => {
      const known = { box: boxes?.[at]?.box.join(' '), style: styles?.[at]?.style };
      const place = box.join(' ') === known.box ? same : box.join(' ');
      const look = style === known.style && column !== references.style ? same : style;
      return isShort ? `${place} | ${look}` : `${element} | ${place} | ${look} | ${words}`;
    });
    const isAllSame = lines.length > 0 && lines.every((line) => line === `${same} | ${same}`);
    return `## ${column}\n${isAllSame ? same : lines.join('\n')}\n`;
  });
  return sections.join('\n');
}

export function parseLooks(text: string): PageLooks {
  const looks = new Map<string, Look[]>();
  for (const section of text.split(/^## /m).slice(1)) {
    const [column = '', ...written] = section.trimEnd().split('\n');
    const first = looks.values().next().value ?? [];
    const references = toReferences(column);
    const lines = written[0] === same ? first.map(() => `${same} | ${same}`) : written;
    const elements = lines.map((line, at): Look => {
      const parts = line.split(' | ');
      const isShort = parts.length === 2;
      const [box = '', style = ''] = isShort ? parts : parts.slice(1);
      const [x = 0, y = 0, width = 0, height = 0] = box.split(' ').map(Number);
      return {
        element: (isShort ? first[at]?.element : parts[0]) ?? '',
        words: (isShort ? first[at]?.words : parts.slice(3).join(' | ')) ?? '',
        box: (box === same ? looks.get(references.box)?.[at]?.box : undefined) ?? [x, y, width, height],
        style: (style === same ? looks.get(references.style)?.[at]?.style : undefined) ?? style,
      };
    });
    looks.set(column, elements);
  }
  return looks;
}

/** What differs between two looks of a page, in words. */
export function compareLooks(known: readonly Look[], found: readonly Look[]): string[] {
  const name = ({ element, words }: Look) => `${element} “${words}”`;
  const missing = known.length - found.length;
  const first = known.findIndex((look, at) => look.element !== found[at]?.element);
  if (missing !== 0 || first >= 0) {
    const [was, is] = [known[first], found[first]];
    return [
      `${known.length} elements, now ${found.length}: ${was ? name(was) : 'the end'}, now ${is ? name(is) : 'the end'}`,
    ];
  }
  return known.flatMap((was, at) => {
    const is = found[at];
    if (is === undefined) return [];
    const moved = was.box.some((value, side) => Math.abs(value - (is.box[side] ?? 0)) > tolerancePx);
    return [
      ...(moved ? [`${name(was)}: ${was.box.join(' ')}, now ${is.box.join(' ')}`] : []),
      ...(was.style === is.style ? [] : [`${name(was)}: ${was.style}, now ${is.style}`]),
    ];
  });
}

/** Compares a page with its file, or writes the file. @returns what differs */
export function checkBaseline(name: string, looks: PageLooks): string[] {
  const file = join(folder, toFileName(name));
  if (isUpdating) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, writeLooks(looks));
    return [];
  }
  if (!existsSync(file)) return [`“${name}” has no baseline: write it with npm run baseline, and commit it`];
  const known = parseLooks(readFileSync(file, 'utf8'));
  return [...looks].flatMap(([column, found]) => {
    const was = known.get(column);
    if (was === undefined) return [`${column}: not in the baseline`];
    return compareLooks(was, found).map((difference) => `${column}: ${difference}`);
  });
}
