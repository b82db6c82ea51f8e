import { Session } from 'node:inspector/promises';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = resolve(import.meta.dirname, '..', '..');
const serverUrl = `${pathToFileURL(join(root, 'server'))}/`;

export interface Coverage {
  /**
   * The files of `server/`, relative to the project, of which a function was called since the last time. The top level
   * of a module is no function.
   */
  take(): Promise<string[]>;
  stop(): void;
}

/** Starts V8's precise coverage of this process, which runs the sources: their paths need no source map. */
export async function startCoverage(): Promise<Coverage> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    async take() {
      const { result: scripts } = await session.post('Profiler.takePreciseCoverage');
      const called = scripts.filter(
        ({ url, functions }) =>
          url.startsWith(serverUrl) &&
          functions.some(({ functionName, ranges: [range] }) => {
            const isTopLevel = functionName === '' && range?.startOffset === 0;
            return !isTopLevel && range !== undefined && range.count > 0;
          }),
      );
      return called.map(({ url }) => relative(root, fileURLToPath(url)).split(sep).join('/'));
    },
    stop: () => session.disconnect(),
  };
}
