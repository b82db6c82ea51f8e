import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../../scripts/lib/processes.mjs';
import { addMember, createServers, runCommand, type ServerProcess } from '../journeys/server-process.ts';
import { legalFolder } from '../support/legal-folder.ts';
import { createDatabase, dropDatabase, withDatabase } from '../support/postgres-databases.ts';
import { freePort, requireService, type Service, startRedis, startSentinel } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Site, siteHost, startSite } from './nginx-sites.ts';

/**
 * The files of examples/several-hosts with the addresses of this machine: nginx, two hosts, PostgreSQL, and Redis with a
 * replica and a Sentinel. Members and visitors use it without pause while hosts are replaced and die.
 */
const example = join(root, 'examples/several-hosts');
const read = (name: string) => readFile(join(example, name), 'utf8');

const servers = createServers();
const services: Service[] = [];
let site: Site;
let variables: Record<string, string>;
let database: string;
let master: Service;
interface Member {
  email: string;
  password: string;
}
let member: Member;
/** A member has so many sessions: the sign-ins of the load are another one's. */
let other: Member;
const running: ServerProcess[] = [];

/** The settings of a file of lines `NAME=value`. */
const parseEnv = (text: string) =>
  Object.fromEntries([...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));

/** The settings of a Redis file as arguments, without those that name other hosts or sizes of this machine. */
const redisArguments = (text: string) =>
  [...text.matchAll(/^(appendonly|appendfsync|maxmemory|maxmemory-policy|min-replicas-[a-z-]+) (\S+)$/gm)].flatMap(
    ([, name = '', value = '']) => [`--${name}`, value],
  );

async function startRedisHosts(): Promise<string> {
  const settings = redisArguments(await read('redis.conf'));
  expect(settings).toContain('--min-replicas-to-write');
  master = await startRedis(settings);
  // After a failover the only other Redis has no replica of its own: its rule of three hosts cannot hold for two.
  const alone = settings.filter((_, index) => !/min-replicas/.test(settings[index - (index % 2)] ?? ''));
  const replica = await startRedis([...alone, '--replicaof', '127.0.0.1', String(master.port)]);
  const sentinel = await startSentinel(master.port);
  services.push(master, replica, sentinel);
  return sentinel.url;
}

interface Answer {
  status: number;
  location: string;
  cookies: string[];
  text: string;
}

const agent = new Agent({ keepAlive: true, servername: siteHost });

function ask(path: string, cookie = '', fields?: Record<string, string>): Promise<Answer> {
  const body = fields && new URLSearchParams(fields).toString();
  const headers = {
    host: siteHost,
    accept: 'text/html',
    ...(cookie !== '' && { cookie }),
    ...(body !== undefined && {
      origin: `https://${siteHost}`,
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(Buffer.byteLength(body)),
    }),
  };
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const asked = request(
      { host: '127.0.0.1', port: site.port, ca: site.ca, path, method, headers, agent },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        answer.on('error', reject).on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            location: answer.headers.location ?? '',
            cookies: (answer.headers['set-cookie'] ?? []).map((line) => line.split(';', 1)[0] ?? ''),
            text,
          }),
        );
      },
    );
    asked.on('error', reject).end(body);
  });
}

async function signIn({ email, password }: Member): Promise<string> {
  const { status, cookies, location } = await ask('/sign-in', '', { username: email, password });
  if (status === 503) return '503';
  if (status !== 303 || !cookies.some((one) => one.includes('foyer_session=')))
    throw new Error(`the sign-in answered ${status} ${location}`);
  return cookies.join('; ');
}

/** Visitors, a signed-in member and sign-ins, until it is stopped. @returns what each answer was, and how often */
function useFoyer(session: string) {
  const seen: Record<string, number> = {};
  let going = true;
  const note = (what: string) => {
    seen[what] = (seen[what] ?? 0) + 1;
  };
  const loop = async (what: string, act: () => Promise<string>) => {
    while (going) {
      note(`${what} ${await act().catch((error: unknown) => String(error))}`);
      await sleep(25);
    }
  };
  const done = Promise.all([
    loop('page', async () => String((await ask('/')).status)),
    loop('settings', async () => String((await ask('/settings', session)).status)),
    loop('sign-in', async () => ((await signIn(other)) === '503' ? '503' : 'signed in')),
  ]);
  return {
    seen,
    async stop() {
      going = false;
      await done;
      return seen;
    },
  };
}

const allWell = {
  'page 200': expect.any(Number),
  'settings 200': expect.any(Number),
  'sign-in signed in': expect.any(Number),
};

async function startHost(port: number): Promise<ServerProcess> {
  const server = await servers.start({ ...variables, PORT: String(port) });
  await waitFor(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200), 60_000);
  return server;
}

beforeAll(async () => {
  const postgres = requireService('postgres');
  database = await createDatabase(postgres);
  const sentinelUrl = await startRedisHosts();
  const folder = await servers.folder();
  const written = parseEnv(await read('foyer.env'));
  expect(Object.keys(written).toSorted()).toEqual(
    ['DATABASE_URL', 'HOST', 'NODE_ENV', 'PORT', 'PUBLIC_URL', 'REDIS_URL', 'TRUST_PROXY'].toSorted(),
  );
  variables = {
    ...written,
    HOST: '127.0.0.1',
    TRUST_PROXY: 'loopback',
    DATABASE_URL: withDatabase(postgres, database),
    REDIS_URL: `${sentinelUrl}${/\?.*$/.exec(written.REDIS_URL ?? '')?.[0]}`,
    SECRET_KEY: randomBytes(48).toString('base64'),
    SEARCH_APP_URL: 'https://www.example.com/search',
    MAIL_FROM: 'Foyer <no-reply@example.com>',
    SMTP_URL: 'smtp://127.0.0.1:9',
    LEGAL_DIR: legalFolder,
    DATA_DIR: folder,
    GUESS_LIMIT_ACCOUNT: '100000',
    GUESS_LIMIT_ADDRESS: '100000',
    GUESS_LIMIT_DEVICE: '100000',
    PASSWORD_LIMIT_DEVICE: '100000',
    PASSWORD_LIMIT_MEMBER: '100000',
    PASSWORD_QUEUE_ACCOUNT: '1000',
    PASSWORD_QUEUE_ADDRESS: '1000',
    LOG_LEVEL: 'error',
  };
  await runCommand(variables, ['migrate']);
  member = await addMember(variables);
  other = { ...member, email: 'grace@example.com' };
  const words = ['--email', other.email, '--password', other.password, '--verified', '--accept-terms'];
  await runCommand(variables, ['user', 'add', ...words]);
  const ports = [await freePort(), await freePort()] as const;
  for (const port of ports) running.push(await startHost(port));
  site = await startSite('examples/several-hosts', ports);
  await waitFor(async () => expect((await ask('/')).status).toBe(200), 20_000);
}, 200_000);

afterAll(async () => {
  agent.destroy();
  await site?.stop();
  await servers.end();
  for (const service of services) await service.stop();
  await dropDatabase(requireService('postgres'), database);
}, 60_000);

it('While both hosts are replaced one after the other no request fails, and members stay signed in', async () => {
  const load = useFoyer(await signIn(member));
  for (const [index, server] of [...running].entries()) {
    server.signal('SIGTERM');
    expect(await server.ended).toBe(0);
    // The README goes on as soon as it is ready.
    running[index] = await startHost(server.port);
  }
  expect(await load.stop()).toEqual(allWell);
}, 200_000);

it('A host that is killed costs no page, and a sign-in at most the one that it was answering', async () => {
  const [first] = running;
  if (!first) throw new Error('there is no first host');
  const load = useFoyer(await signIn(member));
  await sleep(1_000);
  first.signal('SIGKILL');
  await first.ended;
  await sleep(3_000);
  const { 'sign-in Error: the sign-in answered 502 ': broken = 0, ...others } = await load.stop();
  expect(others).toEqual(allWell);
  expect(broken).toBeLessThanOrEqual(1);
  running[0] = await startHost(first.port);
}, 100_000);

it('While the master of Redis dies answers are right or 503, and afterwards sessions are as before', async () => {
  const session = await signIn(member);
  // The replica has it too.
  await sleep(500);
  const load = useFoyer(session);
  await sleep(500);
  master.signal('SIGKILL');
  await waitFor(async () => expect(await signIn(other)).not.toBe('503'), 30_000);
  await sleep(1_000);
  const seen = await load.stop();
  expect(Object.keys(seen).filter((what) => !/ (?:200|503|signed in)$/.test(what))).toEqual([]);
  expect((await ask('/settings', session)).status).toBe(200);
}, 100_000);
