import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type createServers, type ServerProcess, untilReady } from '../journeys/server-process.ts';
import { waitFor } from '../support/wait-for.ts';

/** Milliseconds of the processor that a process has used. */
function usedMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

interface JumpingServer {
  server: ServerProcess;
  /** The time of its clock. */
  now(): number;
  /** Sets its clock to so many milliseconds ahead of the true time. */
  jumpTo(ms: number): Promise<void>;
}

/** Starts a server whose wall clock the test sets while it runs. */
export async function startJumpingServer(
  servers: ReturnType<typeof createServers>,
  dataDir: string,
  variables: Record<string, string>,
): Promise<JumpingServer> {
  const clockFile = join(dataDir, 'clock');
  const movedClock = join(import.meta.dirname, 'moved-clock.mjs');
  const nodeOptions = ['--import', movedClock];
  const server = await servers.start({ ...variables, CLOCK_FILE: clockFile }, { nodeOptions });
  await untilReady(server);
  let aheadMs = 0;
  return {
    server,
    now: () => Date.now() + aheadMs,
    async jumpTo(ms) {
      aheadMs = ms;
      writeFileSync(clockFile, String(ms));
      server.signal('SIGUSR2');
      await waitFor(() => expect(readFileSync(`${clockFile}.taken`, 'utf8')).toBe(String(ms)));
      // It answers, and its timers do not run in circles.
      await waitFor(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(200));
      if (!existsSync('/proc/self/stat')) return;
      const before = usedMs(server.pid);
      await sleep(1_500);
      expect(usedMs(server.pid) - before).toBeLessThan(750);
    },
  };
}
