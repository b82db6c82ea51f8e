import { cp, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
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

/** Appends a migration to the list in the build, as the next release does. @param source of an object in JavaScript */
export async function appendMigration({ modules }: CopiedBuild, source: string): Promise<void> {
  const marks = /(\nconst migrations = \[[^\]]*)(\n\];)/;
  for (const name of await readdir(modules)) {
    const file = join(modules, name);
    const text = await readFile(file, 'utf8');
    if (!marks.test(text)) continue;
    // A file of its own: the copy may share the old one's disk blocks, and a running process has read that one.
    await writeFile(
      `${file}.next`,
      text.replace(marks, (_, list, end) => `${list},\n\t${source}${end}`),
    );
    await rename(`${file}.next`, file);
    return;
  }
  throw new Error('the build has no list of migrations');
}
