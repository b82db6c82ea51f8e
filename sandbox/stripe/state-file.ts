import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

const delayMs = 100;

/**
 * The stand-in's state on disk: written as a whole and renamed into place, so that a crash never leaves an incomplete file.
 * @param path of the file; its folder is created
 * @param snapshot returns the state at the time of writing
 */
export function createStateFile(path: string, snapshot: () => unknown, log: (line: string) => void) {
  // Two servers with one folder write separate files.
  const temporaryPath = `${path}.${process.pid}`;
  let timer: NodeJS.Timeout | undefined;
  let dirty = false;
  let writing = Promise.resolve();

  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(async () => {
      if (!dirty) return;
      dirty = false;
      try {
        await writeFile(temporaryPath, JSON.stringify(snapshot()), { mode: 0o600 });
        await rename(temporaryPath, path);
      } catch (error) {
        dirty = true;
        log(`The stand-in for Stripe cannot write ${path}: ${error}`);
      }
    });
    return writing;
  }

  return {
    /** Passes the written state to `restore`. An unreadable file is renamed, and reported. */
    read(restore: (snapshot: unknown) => void): void {
      mkdirSync(dirname(path), { recursive: true });
      let text: string;
      try {
        text = readFileSync(path, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
        throw error;
      }
      try {
        restore(JSON.parse(text));
      } catch (error) {
        renameSync(path, `${path}.unreadable`);
        log(
          `The stand-in for Stripe cannot read ${path} (${error}): it begins anew, the file is beside it as .unreadable`,
        );
      }
    },
    /** The state has changed: it is written soon. */
    changed(): void {
      dirty = true;
      timer ??= setTimeout(write, delayMs);
    },
    /** Everything is on disk. */
    close: write,
  };
}
