import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const folder = 'server/store/migrations';

/** Runs git in the repository; undefined if it fails. */
function git(...words: string[]): string | undefined {
  try {
    return execFileSync('git', ['-C', root, ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}

/** The newest tag of a release, or else the commit before the one that added the newest migration. */
function findCommit(): string | undefined {
  const [chosen, tag] = [process.env.FOYER_PREVIOUS_RELEASE, git('describe', '--tags', '--abbrev=0', '--match', 'v*')];
  if (chosen || tag) return git('rev-parse', '--verify', `${chosen || tag}^{commit}`);
  const newest = readdirSync(join(root, folder))
    .filter((name) => /^\d{4}-/.test(name))
    .toSorted()
    .at(-1);
  const path = `${folder}/${newest}`;
  // Not committed yet: what is committed is the release before.
  if (git('cat-file', '-e', `HEAD:${path}`) === undefined) return git('rev-parse', 'HEAD');
  const added = git('log', '-1', '--diff-filter=A', '--format=%H', '--', path);
  return added === undefined || added === '' ? undefined : git('rev-parse', '--verify', `${added}^`);
}

interface Packages {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

export type PreviousRelease = { commit: string } | { absent: string };

/** The code of the release before this one, or the reason why this clone cannot run it. */
export function findPreviousRelease(): PreviousRelease {
  const commit = findCommit();
  const text = commit && git('show', `${commit}:package.json`);
  if (!commit || text === undefined) return { absent: 'the history of git does not reach it' };
  const { dependencies, devDependencies } = JSON.parse(text) as Packages;
  const missing = Object.keys({ ...dependencies, ...devDependencies }).filter(
    (name) => !existsSync(join(root, 'node_modules', name)),
  );
  return missing.length === 0 ? { commit } : { absent: `its packages are not installed: ${missing.join(', ')}` };
}
