import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { runtimeFault } from '../../runtime-check.ts';
import { type Finding, findingsFor, those } from './finding.ts';
import type { Setup } from './setup.ts';

const { ok, note, warning, fault } = findingsFor('machine');

export interface MachineFacts {
  nodeVersion: string;
  cores: number;
  /** libuv's default is 4. */
  threads: number | undefined;
  workers: number;
  /** The limit of open files and connections of one process; undefined if it cannot be read. */
  openFiles: number | undefined;
  root: boolean;
  production: boolean;
}

const minFiles = 4096;
const defaultThreads = 4;

function openFilesLimit(): number | undefined {
  try {
    const [, soft = ''] = /^Max open files +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : /^\d+$/.test(soft) ? Number(soft) : undefined;
  } catch {
    return undefined;
  }
}

export function lookAtMachine({ config, env }: Setup): MachineFacts {
  const threads = env.UV_THREADPOOL_SIZE;
  return {
    nodeVersion: process.versions.node,
    cores: availableParallelism(),
    threads: threads && /^\d+$/.test(threads) ? Number(threads) : undefined,
    workers: config.WEB_CONCURRENCY,
    openFiles: openFilesLimit(),
    root: process.getuid?.() === 0,
    production: config.production,
  };
}

/** Node, threads, files: as this command sees them, which may have been started differently from the server. */
export function judgeMachine(facts: MachineFacts): Finding[] {
  const { nodeVersion, cores, threads, workers, openFiles, root, production } = facts;
  const tooOld = runtimeFault(nodeVersion);
  const fewThreads = production && (threads ?? defaultThreads) < Math.min(cores, 64);
  return those(
    tooOld === undefined
      ? ok('machine.node', `Node ${nodeVersion}, ${cores} cores.`)
      : fault('machine.node', {
          seen: `This is Node ${nodeVersion}.`,
          why: 'Foyer uses parts that older ones lack.',
          todo: 'Install Node 24 or newer, or use the one in node_modules/.bin.',
        }),
    fewThreads &&
      note('machine.threads', {
        seen: `UV_THREADPOOL_SIZE is ${threads ?? `not set here, so ${defaultThreads}`}, and there are ${cores} cores.`,
        why: 'Passwords are hashed in these threads: with fewer of them than cores some cores are left idle while members wait.',
        todo: `Set UV_THREADPOOL_SIZE=${cores} where the server is started (the Procfile and the unit in docs/production.md do).`,
      }),
    production &&
      workers > cores &&
      note('machine.workers', {
        seen: `WEB_CONCURRENCY is ${workers}, and there are ${cores} cores.`,
        why: 'More processes than cores take each other time and memory.',
        todo: `Set WEB_CONCURRENCY=${cores}.`,
      }),
    openFiles !== undefined &&
      openFiles < minFiles &&
      (production ? warning : note)('machine.open-files', {
        seen: `A process may have ${openFiles} files and connections open, as this command was started.`,
        why: 'Each connection of a member or proxy is one; when they run out, new ones are refused.',
        todo: 'Set LimitNOFILE=65536 in the service, or `ulimit -n 65536` before the start.',
      }),
    production &&
      root &&
      note('machine.root', {
        seen: 'This command runs as root.',
        why: 'Root may read and write everything, so whether the server’s own user may is told by owners and permissions alone.',
        todo: 'Run it as the user of the server (docs/production.md has the alias).',
      }),
  );
}
