import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { ownTime } from '../support/own-time.ts';
import { behindProxies } from '../support/proxy.ts';
import { anyBackend, backends, secondBackends } from '../support/stores.ts';

const embedded = anyBackend;
const [servers] = secondBackends;

interface Health {
  status: number;
  body: Record<string, string>;
}

async function ask(foyer: TestFoyer, path: string): Promise<Health> {
  const answer = await fetch(`${foyer.url}${path}`, { signal: AbortSignal.timeout(5_000) });
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}

const alive = { status: 200, body: { status: 'alive' } };
const ready = { status: 200, body: { status: 'ready', database: 'answers', keyValue: 'answers', schema: 'current' } };

/** A lost connection is made anew in its own time. */
async function eventually(foyer: TestFoyer, wanted: Health): Promise<void> {
  const deadline = Date.now() + 10_000;
  let found = await ask(foyer, '/readyz');
  while (found.status !== wanted.status && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    found = await ask(foyer, '/readyz');
  }
  expect(found).toEqual(wanted);
}

describe.each(backends)('health on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  it('/readyz is ready when both stores answer, at any host name', async () => {
    expect(await ask(foyer, '/readyz')).toEqual(ready);
    const byNumber = await fetch(`${foyer.url.replace('localhost', '127.0.0.1')}/readyz`);
    expect(byNumber.status).toBe(200);
  });

  it('A process that drains is alive but not ready', async () => {
    foyer.app.readiness.draining = true;
    try {
      expect(await ask(foyer, '/readyz')).toEqual({ status: 503, body: { ...ready.body, status: 'draining' } });
      expect(await ask(foyer, '/healthz')).toEqual(alive);
    } finally {
      foyer.app.readiness.draining = false;
    }
    expect(await ask(foyer, '/readyz')).toEqual(ready);
  });
});

describe('removed store files', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    if (!embedded) throw new Error('no backend');
    foyer = await startFoyer(embedded);
  });
  afterAll(() => foyer?.close());

  it.each([
    { file: 'foyer.db', store: 'database' },
    { file: 'short-lived.db', store: 'keyValue' },
  ])(
    'Without $file Foyer is alive but not ready, and it is ready again when the file is back',
    async ({ file, store }) => {
      const path = join(foyer.stores.urls.dataDir, file);
      await rename(path, `${path}.away`);
      expect(await ask(foyer, '/readyz')).toEqual({
        status: 503,
        body: { ...ready.body, status: 'not ready', [store]: 'away' },
      });
      expect(await ask(foyer, '/healthz')).toEqual(alive);
      await rename(`${path}.away`, path);
      expect(await ask(foyer, '/readyz')).toEqual(ready);
    },
  );
});

if (servers) {
  describe('unreachable store servers', () => {
    let foyer: TestFoyer;
    const { backend, proxies } = behindProxies(servers);
    beforeAll(async () => {
      foyer = await startFoyer(backend);
    });
    afterAll(() => foyer?.close());

    it.each([
      { store: 'database', how: 'cut' },
      { store: 'database', how: 'freeze' },
      { store: 'keyValue', how: 'cut' },
      { store: 'keyValue', how: 'freeze' },
    ] as const)(
      'Foyer is alive but not ready within three seconds when $store is away ($how), and ready when it is back',
      async ({ store, how }) => {
        expect(await ask(foyer, '/readyz')).toEqual(ready);
        proxies[store]()[how]();
        const waitedMs = ownTime();
        expect(await ask(foyer, '/readyz')).toEqual({
          status: 503,
          body: { ...ready.body, status: 'not ready', [store]: 'away' },
        });
        expect(waitedMs()).toBeLessThan(3_000);
        expect(await ask(foyer, '/healthz')).toEqual(alive);
        await proxies[store]().mend();
        await eventually(foyer, ready);
      },
    );
  });
}
