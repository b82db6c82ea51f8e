/** `npm run bench` measures the promises of section 10 of the design. See docs/benchmarks.md. */
import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { type Figure, isMet, line } from './figures.ts';
import { measureExistence } from './part-existence.ts';
import { measureFederation } from './part-federation.ts';
import { measureFlood } from './part-flood.ts';
import { measureHashes } from './part-hash.ts';
import { measureImport } from './part-import.ts';
import { measureLookUps } from './part-look-up.ts';
import { measureOverload } from './part-overload.ts';
import { measurePage } from './part-page.ts';
import { type Effort, measureProvider } from './part-provider.ts';
import { measurePurchases } from './part-purchase.ts';
import { measureRefresh } from './part-refresh.ts';
import { measureScale } from './part-scale.ts';
import { measureSignIns } from './part-sign-in.ts';
import { measureSignInOverload } from './part-sign-in-overload.ts';
import { measureApps, measureSignUps } from './part-sign-up.ts';
import { measureStart } from './part-start.ts';
import { embeddedStores, type Stores, serverStores } from './stores.ts';

const help = `npm run bench -- [options]

  --only NAMES    of: provider, provider-servers, refresh, refresh-servers, sign-in, totp, sign-up, federation, look-up,
                  look-up-servers, purchase, flood, overload, sign-in-overload, hash, page, start, import,
                  import-servers, existence, existence-window (with commas; all of these by default), scale,
                  scale-servers
  --members NS    of scale: numbers of generated members (1000,100000,1000000)
  --users N       of import: users in the file (100000)
  --pairs N       alternating pairs of each comparison (5)
  --seconds N     length of one round (3)
  --tries N       of existence: requests for members, and as many for strangers (200)
  --places NAMES  of existence: of forgot-page, forgot-call, hint-page, resend-page, resend-sign-up-page,
                  resend-sign-up-call, sent-email-call (with commas; all by default)
  --json FILE     writes the figures there too
`;

type Part = (effort: Effort) => Promise<Figure[]>;

const onEmbedded =
  (measure: (stores: Stores, effort: Effort) => Promise<Figure[]>): Part =>
  async (effort) => {
    const stores = await embeddedStores();
    try {
      return await measure(stores, effort);
    } finally {
      await stores.remove();
    }
  };

const onServers =
  (measure: (stores: Stores, effort: Effort) => Promise<Figure[]>): Part =>
  async (effort) => {
    const stores = await serverStores();
    if (!stores) {
      console.log('PostgreSQL or Redis is not installed: the measurement on them is left out');
      return [];
    }
    try {
      return await measure(stores, effort);
    } finally {
      await stores.remove();
    }
  };

const parts: Record<string, Part> = {
  provider: onEmbedded(measureProvider),
  'provider-servers': onServers(measureProvider),
  refresh: onEmbedded(measureRefresh),
  'refresh-servers': onServers(measureRefresh),
  'sign-in': onEmbedded(measureSignIns),
  totp: onEmbedded(measureApps),
  'sign-up': onEmbedded(measureSignUps),
  federation: onEmbedded(measureFederation),
  'look-up': onEmbedded(measureLookUps),
  'look-up-servers': onServers(measureLookUps),
  purchase: onEmbedded(measurePurchases),
  flood: onEmbedded(measureFlood),
  overload: onEmbedded(measureOverload),
  'sign-in-overload': onEmbedded(measureSignInOverload),
  hash: measureHashes,
  page: onEmbedded(measurePage),
  start: onEmbedded(measureStart),
  import: onEmbedded((stores) => measureImport(stores, userCount())),
  'import-servers': onServers((stores) => measureImport(stores, userCount())),
  existence: onEmbedded((stores) => measureExistence(stores, { ...existenceOf(), window: false })),
  'existence-window': onEmbedded((stores) => measureExistence(stores, { ...existenceOf(), window: true })),
};

/** These take minutes and gigabytes. */
const onRequest: Record<string, Part> = {
  scale: (effort) => measureScale(embeddedStores, memberCounts(), effort),
  'scale-servers': (effort) => measureScale(demandServers, memberCounts(), effort),
};

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h' },
    only: { type: 'string' },
    pairs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    tries: { type: 'string', default: '200' },
    places: { type: 'string' },
    members: { type: 'string', default: '1000,100000,1000000' },
    users: { type: 'string', default: '100000' },
    json: { type: 'string' },
  },
});

function existenceOf(): { tries: number; places: string[] | undefined } {
  const tries = Number(values.tries);
  if (!Number.isInteger(tries) || tries < 10 || tries > 2_000)
    throw new Error('--tries: write a number from 10 to 2000');
  return { tries, places: values.places?.split(',') };
}

function memberCounts(): number[] {
  const counts = values.members.split(',').map(Number);
  if (counts.some((count) => !Number.isInteger(count) || count < 100 || count > 10_000_000))
    throw new Error('--members: write numbers from 100 to 10000000');
  return counts;
}

function userCount(): number {
  const count = Number(values.users);
  if (!Number.isInteger(count) || count < 10_000 || count > 10_000_000)
    throw new Error('--users: write a number from 10000 to 10000000');
  return count;
}

async function demandServers(): Promise<Stores> {
  const stores = await serverStores();
  if (!stores) throw new Error('PostgreSQL or Redis is not installed');
  return stores;
}

function effortOf(): Effort {
  const [pairs, seconds] = [Number(values.pairs), Number(values.seconds)];
  if (!Number.isInteger(pairs) || pairs < 1 || pairs > 50) throw new Error('--pairs: write a number from 1 to 50');
  if (!(seconds >= 0.5 && seconds <= 15)) throw new Error('--seconds: write a number from 0.5 to 15');
  return { pairs, seconds };
}

async function run(): Promise<void> {
  const names = values.only?.split(',') ?? Object.keys(parts);
  const known = { ...parts, ...onRequest };
  for (const name of names) if (!known[name]) throw new Error(`--only: there is no "${name}"`);
  const effort = effortOf();
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.versions.node}`;
  console.log(`${machine}; medians of ${effort.pairs} pairs, ${effort.seconds} s each\n`);
  const figures: Figure[] = [];
  for (const name of names) {
    for (const figure of (await known[name]?.(effort)) ?? []) {
      figures.push(figure);
      console.log(line(figure));
    }
  }
  const missed = figures.filter((figure) => isMet(figure) === false);
  console.log(missed.length === 0 ? '\nEvery aim is met.' : `\n${missed.length} of the aims are missed.`);
  if (values.json !== undefined) {
    await writeFile(
      values.json,
      `${JSON.stringify({ at: new Date().toISOString(), machine, effort, figures }, null, 2)}\n`,
    );
  }
}

// An orderly exit ends every child process.
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
if (values.help) console.log(help);
else await run();
