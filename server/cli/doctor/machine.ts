import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Setup } from './setup.ts';

/** libuv's. */
export const defaultThreads = 4;

function openFilesLimit(): number | undefined {
  try {
    const [, soft = ''] = /^Max open files +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : /^\d+$/.test(soft) ? Number(soft) : undefined;
  } catch {
    return undefined;
  }
}

/** As this command sees it, which may have been started differently from the server. */
export type MachineFacts = ReturnType<typeof readMachine>;

export function readMachine({ config, env }: Setup) {
  const threads = env.UV_THREADPOOL_SIZE;
  return {
    nodeVersion: process.versions.node,
    cores: availableParallelism(),
    threads: threads && /^\d+$/.test(threads) ? Number(threads) : undefined,
    workers: config.WEB_CONCURRENCY,
    /** The limit of open files and connections of one process; undefined if it cannot be read. */
    openFiles: openFilesLimit(),
    root: process.getuid?.() === 0,
    production: config.production,
  };
}
