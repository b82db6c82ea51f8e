import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

const pauseMs = 100;

/**
 * The stand-in's memory on disk: written whole and put into place at once, so that no crash leaves half of it.
 * @param path of the file; its folder is made
 * @param snapshot what is to be written, asked when it is written
 */
export function createStateFile(path: string, snapshot: () => unknown, log: (line: string) => void) {
  // Two servers on one folder write one after the other, never into each other's.
  const unfinished = `${path}.${process.pid}`;
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
        await writeFile(unfinished, JSON.stringify(snapshot()), { mode: 0o600 });
        await rename(unfinished, path);
      } catch (error) {
        dirty = true;
        log(`The stand-in for Stripe cannot write ${path}: ${error}`);
      }
    });
    return writing;
  }

  return {
    /** Gives what was written to `restore`. What cannot be read is put aside, and said. */
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
    /** Something has changed: it is on disk soon. */
    changed(): void {
      dirty = true;
      timer ??= setTimeout(write, pauseMs);
    },
    /** Everything is on disk. */
    close: write,
  };
}
