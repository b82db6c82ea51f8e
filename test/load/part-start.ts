import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeSettings } from '../../scripts/lib/processes.mjs';
import { freePort } from '../support/services.ts';
import { type Figure, median } from './figures.ts';
import type { Generator } from './generator/main.ts';
import type { Effort } from './part-provider.ts';
import { startChild } from './rpc.ts';
import type { Stores } from './stores.ts';

const main = join(import.meta.dirname, '..', '..', 'dist', 'sandbox', 'main.js');
const mostMs = 15_000;

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/', headers: { host: `localhost:${port}` }, agent: false }, (res) => {
      res.resume();
      resolve(res.statusCode === 200);
    }).once('error', () => resolve(false));
  });
}

/** Resident memory in megabytes, or undefined without /proc. */
async function residentMb(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? undefined : (Number(kilobytes) * 1024) / 1e6;
}

interface Started {
  ms: number;
  port: number;
  child: ChildProcess;
}

/** The entry that `npm start` runs: development with sandbox and demo app, listening on this machine only. */
async function startMain(dataDir: string): Promise<Started> {
  const [port, sandboxPort] = [await freePort(), await freePort()];
  const beganMs = performance.now();
  const child = spawn(process.execPath, [main], {
    env: {
      PORT: String(port),
      SANDBOX_PORT: String(sandboxPort),
      DATA_DIR: dataDir,
      ...nodeSettings({}),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  while (!(await answers(port))) {
    if (child.exitCode !== null || performance.now() - beganMs > mostMs) {
      child.kill('SIGKILL');
      throw new Error('the server did not start');
    }
    await sleep(2);
  }
  return { ms: performance.now() - beganMs, port, child };
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(timer);
}

/** The time from the start of the process to its first page, and its memory, idle and after requests for pages. */
export async function measureStart({ environment }: Stores, { pairs, seconds }: Effort): Promise<Figure[]> {
  const dataDir = join(environment.DATA_DIR ?? '', 'started');
  // The first start creates the database, the keys and the demo user, and is not measured.
  await stop((await startMain(dataDir)).child);
  const times: number[] = [];
  const idle: number[] = [];
  const loaded: number[] = [];
  const generator = startChild<Generator>('generator/main.ts');
  try {
    for (let turn = 0; turn < pairs; turn += 1) {
      const { ms, child, port } = await startMain(dataDir);
      try {
        times.push(ms);
        await sleep(1_500);
        const pid = child.pid ?? 0;
        const before = await residentMb(pid);
        if (before !== undefined) idle.push(before);
        await generator.pages({ port, ms: seconds * 1000, atOnce: 16, development: true });
        const after = await residentMb(pid);
        if (after !== undefined) loaded.push(after);
      } finally {
        await stop(child);
      }
    }
  } finally {
    await generator.stop();
  }
  const memory = (what: string, samples: number[], below: number): Figure[] =>
    samples.length === 0 ? [] : [{ what, value: median(samples), unit: 'MB', aim: { below } }];
  return [
    { what: 'Start to first page (npm start, warm)', value: median(times), unit: 'ms', aim: { below: 600 } },
    ...memory('Memory, idle (npm start)', idle, 130),
    ...memory('Memory, after pages (npm start)', loaded, 200),
  ];
}
