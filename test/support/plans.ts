import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PlansFile, shippedPlansFile } from '../../config/plans.ts';

let files: Map<string, string> | undefined;

/** Writes the shipped plans with other values once, and returns the file. It is gone when the process ends. */
export function plansWith(change: Partial<Omit<PlansFile, 'trial'>>): string {
  files ??= new Map();
  const text = JSON.stringify({ ...JSON.parse(readFileSync(shippedPlansFile, 'utf8')), ...change });
  const known = files.get(text);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), 'foyer-plans-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'plans.json');
  writeFileSync(file, text);
  files.set(text, file);
  return file;
}

/** The shipped plans with periods of exactly 30 and 365 days. */
export const plansByDays = (): string => plansWith({ periods: 'days' });
