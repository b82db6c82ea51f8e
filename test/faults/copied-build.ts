import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** A folder like an operator's, whose build a test may change. */
export interface CopiedBuild {
  root: string;
  /** The folder of the modules that are loaded on demand. */
  modules: string;
  remove(): Promise<void>;
}

export async function copyBuild(): Promise<CopiedBuild> {
  const copy = await mkdtemp(join(tmpdir(), 'foyer-build-'));
  await cp(join(root, 'dist'), join(copy, 'dist'), { recursive: true });
  await cp(join(root, 'package.json'), join(copy, 'package.json'));
  for (const name of ['node_modules', 'server', 'config']) await symlink(join(root, name), join(copy, name));
  return {
    root: copy,
    modules: join(copy, 'dist/run/node_modules'),
    remove: () => rm(copy, { recursive: true, force: true }),
  };
}
