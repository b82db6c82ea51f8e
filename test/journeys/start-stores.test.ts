import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { createDatabase, dropDatabase, withDatabase } from '../support/postgres-databases.ts';
import { leftOut, requireService } from '../support/services.ts';
import { production } from './production.ts';
import { createServers, doctorFindings } from './server-process.ts';

const servers = createServers();
afterAll(() => servers.end());

/** Root may write everywhere, so a start without rights needs another user. */
const other = process.getuid?.() === 0 ? 65_534 : undefined;

/** The plain text with which a start ends. */
async function refusalOf(variables: Record<string, string>, uid?: number): Promise<string> {
  const server = await servers.start({ ...production, ...variables }, { uid });
  expect(await server.ended).toBe(1);
  expect(server.stderr()).not.toMatch(/^\s+at /m);
  return server.stderr();
}

/** The faults that the doctor finds, each with a remedy. */
async function faultsOf(variables: Record<string, string>, id: string, uid?: number): Promise<string[]> {
  const found = (await doctorFindings({ ...production, ...variables }, uid)).filter((one) => one.id === id);
  for (const { level, why, todo } of found)
    expect({ level, why, todo }).toEqual({ level: 'fault', why: expect.any(String), todo: expect.any(String) });
  return found.map(({ seen, todo = '' }) => `${seen}\n${todo}`);
}

describe('start and doctor with stores that cannot be used', () => {
  it('A database file that root has made is named with its owner, its mode and the remedy', async () => {
    const DATA_DIR = await servers.preparedFolder();
    await chmod(DATA_DIR, 0o777);
    const file = join(DATA_DIR, 'foyer.db');
    await chmod(file, 0o400);
    const says = new RegExp(
      `DATA_DIR: ${file} cannot be written by user .*: it belongs to user \\d+ and has mode 400 \\(EACCES\\); chown it`,
    );
    expect(await refusalOf({ DATA_DIR }, other)).toMatch(says);
    expect(await faultsOf({ DATA_DIR }, 'data-folder.writable', other)).toEqual([expect.stringMatching(says)]);
  });

  it('A folder in the place of a file is named', async () => {
    const DATA_DIR = await servers.folder();
    await mkdir(join(DATA_DIR, 'short-lived.db'));
    const says = /DATA_DIR: .*short-lived\.db is a folder, where Foyer keeps a file; move it away/;
    expect(await refusalOf({ DATA_DIR })).toMatch(says);
    expect(await faultsOf({ DATA_DIR }, 'data-folder.writable')).toEqual([expect.stringMatching(says)]);
  });

  it('The file of a store that is a server now is not looked at', async () => {
    const DATA_DIR = await servers.folder();
    await mkdir(join(DATA_DIR, 'foyer.db'));
    const DATABASE_URL = 'postgres://127.0.0.1:9/foyer';
    expect(await refusalOf({ DATA_DIR, DATABASE_URL })).toMatch(/^A store does not answer: PostgreSQL .*DATABASE_URL/);
  });

  it('The certificate of a PostgreSQL address that is not there is named with the variable', async () => {
    const DATABASE_URL = 'postgres://127.0.0.1:9/foyer?sslmode=verify-full&sslrootcert=/no/ca.pem';
    const DATA_DIR = await servers.folder();
    expect(await refusalOf({ DATA_DIR, DATABASE_URL })).toMatch(
      /- DATABASE_URL: \/no\/ca\.pem cannot be read \(ENOENT\)$/m,
    );
    const [found = ''] = await faultsOf({ DATA_DIR, DATABASE_URL }, 'database.answer');
    expect(found).toMatch(/\/no\/ca\.pem[\s\S]*DATABASE_URL/);
  });

  it.each([
    ['HOST', { HOST: '192.0.2.4' }],
    ['METRICS_HOST', { METRICS_PORT: '29465', METRICS_HOST: '192.0.2.4' }],
  ])('The doctor finds a %s that is of another machine, without a running server', async (name, variables) => {
    const DATA_DIR = await servers.folder();
    expect(await faultsOf({ DATA_DIR, ...variables }, 'configuration.listening')).toEqual([
      expect.stringContaining(`192.0.2.4 is no address of this machine: set ${name} to one`),
    ]);
  });

  it('The doctor finds a port that needs more rights', async () => {
    const DATA_DIR = await servers.folder();
    await chmod(DATA_DIR, 0o777);
    expect(await faultsOf({ DATA_DIR, PORT: '1' }, 'configuration.listening', other)).toEqual([
      expect.stringMatching(/^Port 1 needs rights .* set PORT to one from 1024 on/),
    ]);
  });

  it('A second process with another SECRET_KEY does not start beside the first, and the text says how to change a key', async () => {
    const DATA_DIR = await servers.folder();
    const first = await servers.start({ ...production, DATA_DIR });
    await first.ready;
    const SECRET_KEY = 'another one of the secrets that only tests know';
    expect(await refusalOf({ DATA_DIR, SECRET_KEY })).toBe(
      'SECRET_KEY does not open what is stored: write the key that was in use before, behind the new one and a comma.\n',
    );
    expect(await faultsOf({ DATA_DIR, SECRET_KEY }, 'keys.sealed')).toEqual([
      expect.stringMatching(/^SECRET_KEY does not open[\s\S]*behind the new one, with a comma/),
    ]);
    const headers = { host: 'login.example.com', 'x-forwarded-proto': 'https' };
    expect((await fetch(`http://127.0.0.1:${first.port}/readyz`, { headers })).status).toBe(200);
    const third = await servers.start({
      ...production,
      DATA_DIR,
      SECRET_KEY: `${SECRET_KEY},${production.SECRET_KEY}`,
    });
    await third.ready;
  });

  it('A clock that is behind the database is a warning at the start and a fault for the doctor', async () => {
    const DATA_DIR = await servers.folder();
    const first = await servers.start({ ...production, DATA_DIR });
    await first.ready;
    first.signal('SIGTERM');
    await first.ended;
    expect(first.stdout()).not.toContain('"act":"clock"');
    const slow = join(DATA_DIR, 'slow.mjs');
    await writeFile(slow, 'const now = Date.now; Date.now = () => now() - 3 * 365 * 86_400_000;\n');
    const second = await servers.start({ ...production, DATA_DIR }, { nodeOptions: ['--import', slow] });
    await second.ready;
    expect(second.stdout()).toMatch(/"level":40.*"act":"clock".*the clock of this machine is behind the database/);
    expect(await faultsOf({ DATA_DIR }, 'clock.data')).toEqual([]);
    expect(await faultsOf({ DATA_DIR, NODE_OPTIONS: `--import ${slow}` }, 'clock.data')).toEqual([
      expect.stringMatching(/^This machine’s clock says 20\d\d-.*tables were made at[\s\S]*timedatectl/),
    ]);
  });
});

if (!leftOut('redis')) {
  it('A database of Redis that does not exist is refused, because its keys would lie in database 0', async () => {
    const REDIS_URL = `${requireService('redis')}/9999`;
    const DATA_DIR = await servers.folder();
    const says = /Redis refuses its database 9999: .*; write another number, or none/;
    expect(await refusalOf({ DATA_DIR, REDIS_URL })).toMatch(new RegExp(`- REDIS_URL: ${says.source}`));
    expect(await faultsOf({ DATA_DIR, REDIS_URL }, 'key-value.answer')).toEqual([expect.stringMatching(says)]);
  });
}

if (!leftOut('postgres')) {
  describe('start and doctor with PostgreSQL', () => {
    const adminUrl = requireService('postgres');
    const role = 'foyer_without_rights';
    let name: string;
    const asAdmin = async (statement: string) => {
      const client = new pg.Client({ connectionString: adminUrl });
      await client.connect();
      await client.query(statement).finally(() => client.end());
    };
    beforeAll(async () => {
      name = await createDatabase(adminUrl);
      await asAdmin(`drop role if exists ${role}`);
      await asAdmin(`create role ${role} login password 'only-of-tests'`);
    });
    afterAll(async () => {
      await dropDatabase(adminUrl, name);
      await asAdmin(`drop role ${role}`);
    });

    it('A user without the right to make tables is refused with the remedy and no stack trace', async () => {
      const url = new URL(withDatabase(adminUrl, name));
      [url.username, url.password] = [role, 'only-of-tests'];
      const [DATABASE_URL, DATA_DIR] = [url.href, await servers.folder()];
      const says = await refusalOf({ DATA_DIR, DATABASE_URL });
      expect(says).toMatch(/PostgreSQL refuses its user: permission denied .*the user of DATABASE_URL the owner/);
      expect(says).not.toContain('only-of-tests');
      expect(await faultsOf({ DATA_DIR, DATABASE_URL }, 'postgres.rights')).toEqual([
        expect.stringMatching(/may not make tables[\s\S]*OWNER TO/),
      ]);
    });

    it('A database that does not exist is named with the variable', async () => {
      const [DATABASE_URL, DATA_DIR] = [withDatabase(adminUrl, 'nonesuch'), await servers.folder()];
      expect(await refusalOf({ DATA_DIR, DATABASE_URL })).toMatch(/database "nonesuch" does not exist.*DATABASE_URL/);
    });
  });
}
