import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { validate } from 'dockerfile-utils';
import { parse } from 'yaml';
import { foreignFolder } from '../../scripts/lib/foreign.mjs';
import { root } from '../../scripts/lib/processes.mjs';
import { legalFolder } from '../support/legal-folder.ts';
import { createDatabase, dropDatabase, withDatabase } from '../support/postgres-databases.ts';
import { freePort, requireService, startRedis } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { performSteps, type Stage } from './image-steps.ts';
import { askSite, siteHost, startSite } from './nginx-sites.ts';

const run = promisify(execFile);
const docker = join(root, 'config/docker');
const read = (name: string) => readFile(join(docker, name), 'utf8');

interface Compose {
  services: Record<string, { environment?: Record<string, string>; command?: string[] }>;
}

describe('config/docker', () => {
  it('The linters find nothing in Dockerfile and compose.yaml', async () => {
    expect(validate(await read('Dockerfile'))).toEqual([]);
    // It wants single quotes; Biome formats with double ones.
    const linter = join(foreignFolder, 'node_modules/.bin/dclint');
    const { stdout } = await run(linter, [
      join(docker, 'compose.yaml'),
      '--formatter=json',
      '--disable-rule=require-quotes-in-ports',
    ]);
    expect(JSON.parse(stdout)).toMatchObject([{ errorCount: 0, warningCount: 0, messages: [] }]);
  });

  it('Each variable of foyer.env.example and compose.yaml is one of Foyer’s', async () => {
    const known = await readFile(join(root, 'config/example.env'), 'utf8');
    const { services }: Compose = parse(await read('compose.yaml'), { merge: true });
    const names = [...(await read('foyer.env.example')).matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
    names.push(...Object.keys(services['foyer-1']?.environment ?? {}));
    expect(names.length).toBeGreaterThan(8);
    expect(names.filter((name) => !known.includes(`#${name}=`))).toEqual([]);
  });
});

describe('the containers, step by step', () => {
  let folder: string;
  let image: Stage;
  const processes: ChildProcess[] = [];
  const output: string[] = [];
  const endings: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'foyer-image-'));
    image = await performSteps(await read('Dockerfile'), folder);
  }, 400_000);
  afterAll(async () => {
    for (const process of processes)
      if (process.exitCode === null && process.kill('SIGTERM')) await once(process, 'exit');
    for (const end of endings) await end();
    await rm(folder, { recursive: true, force: true });
  });

  function start([program = '', ...args]: string[], env: Record<string, string>, uid?: number): ChildProcess {
    const path = process.env.PATH ?? '';
    const child = spawn(program, args, {
      cwd: join(image.folder, image.workdir),
      env: { PATH: path, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(uid !== undefined && process.getuid?.() === 0 && { uid, gid: uid }),
    });
    processes.push(child);
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text) => output.push(text));
    return child;
  }

  /** What a container of compose.yaml gets, with the addresses of this machine in place of the other containers'. */
  async function readEnvironment(service: string, port: number): Promise<Record<string, string>> {
    const { services }: Compose = parse(await read('compose.yaml'), { merge: true });
    const postgres = requireService('postgres');
    const database = await createDatabase(postgres);
    const redis = await startRedis(services.redis?.command?.slice(1, -2));
    endings.push(() => dropDatabase(postgres, database), redis.stop);
    // The volume of compose.yaml.
    const legal = join(image.folder, 'legal');
    await cp(legalFolder, legal, { recursive: true });
    const addresses: Record<string, string> = {
      DATABASE_URL: withDatabase(postgres, database),
      REDIS_URL: redis.url,
      TRUST_PROXY: 'loopback',
    };
    const written = Object.fromEntries(
      [...(await read('foyer.env.example')).matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    );
    const names = Object.keys(services[service]?.environment ?? {});
    expect(names.toSorted()).toEqual(Object.keys(addresses).toSorted());
    return {
      ...image.env,
      ...written,
      ...addresses,
      SECRET_KEY: randomBytes(48).toString('base64'),
      SMTP_URL: 'smtps://user:secret@mail.example.com:465',
      METRICS_PORT: '',
      DATA_DIR: join(image.folder, 'data'),
      LEGAL_DIR: legal,
      PORT: String(port),
    };
  }

  /** The HEALTHCHECK of the image, as Docker runs it. */
  const isHealthy = async (env: Record<string, string>) => {
    const [program = '', ...args] = image.healthcheck;
    const checked = run(program, args, { env: { PATH: process.env.PATH ?? '', ...env } });
    await checked.catch(() => {
      throw new Error(`the health check failed; the processes said: ${output.join('')}`);
    });
  };

  it('Two processes of the image answer behind nginx, and one that is killed costs no request', async () => {
    const [one, two] = [await freePort(), await freePort()];
    const env = await readEnvironment('foyer-1', one);
    const first = start(image.command, env, image.uid);
    await waitFor(() => isHealthy(env), 60_000);
    start(image.command, { ...env, PORT: String(two) }, image.uid);
    await waitFor(() => isHealthy({ ...env, PORT: String(two) }), 60_000);
    const site = await startSite('config/docker', [one, two]);
    endings.push(site.stop);
    const discovery = '/.well-known/openid-configuration';
    await waitFor(async () => expect((await askSite(site, discovery)).status).toBe(200));
    const { text } = await askSite(site, discovery);
    expect(Object(JSON.parse(text)).issuer).toBe(`https://${siteHost}`);
    expect((await askSite(site, '/')).text).toContain('name="password"');

    first.kill('SIGKILL');
    await once(first, 'exit');
    await expect(isHealthy(env)).rejects.toThrow();
    for (let i = 0; i < 6; i += 1) expect((await askSite(site, '/readyz')).status).toBe(200);
  }, 200_000);

  it('The image has neither the sandbox nor packages of the tests', async () => {
    const has = (path: string) =>
      readFile(join(image.folder, 'app', path)).then(
        () => true,
        () => false,
      );
    expect(await has('package.json')).toBe(true);
    expect(await has('node_modules/jest/package.json')).toBe(false);
    expect(await has('dist/sandbox/main.js')).toBe(false);
    expect(await has('dist/run/sandbox.js')).toBe(false);
  });
});
