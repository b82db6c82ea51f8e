import type { Finding } from '../../server/cli/doctor/finding.ts';

/** The id and the level of each finding that is not in order. */
export const listComplaints = (findings: readonly Finding[]) =>
  findings.filter(({ level }) => level !== 'ok').map(({ id, level }) => `${id} ${level}`);
