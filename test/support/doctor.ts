import type { Finding } from '../../server/cli/doctor/finding.ts';
import type { Cli, CliRun } from './cli.ts';
import { freePort } from './services.ts';

export interface Examination extends CliRun {
  findings: Finding[];
  /** The findings of this id. */
  of(id: string): Finding[];
  /** `id level` of every problem. */
  complaints: string[];
}

/** Runs `foyer doctor --json`. */
export async function examine(foyer: Cli): Promise<Examination> {
  const run = await foyer('doctor', '--json');
  const { findings } = run.json<{ findings: Finding[] }>();
  return {
    ...run,
    findings,
    of: (id) => findings.filter((finding) => finding.id === id),
    complaints: findings.filter(({ level }) => level !== 'ok').map(({ id, level }) => `${id} ${level}`),
  };
}

/** The state of the test's machine is not under test. */
export const ofMachine = (complaint: string) =>
  /^(machine\.\S+|data-folder\.(space|memory|network)|\S+\.slow) /.test(complaint);

/** A public address without a server. */
export const nowhere = async (): Promise<string> => `http://localhost:${await freePort()}`;
