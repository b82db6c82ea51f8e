import { randomInt } from 'node:crypto';
import { fuzz } from './run.ts';
import { type FuzzScene, openFuzzScene } from './scene.ts';

/** `npm run fuzz` sends more, and others each time; the default is what each run of the tests can afford. */
const { FUZZ_REQUESTS, FUZZ_SEED } = process.env;
const requests = Number(FUZZ_REQUESTS ?? 4_000);
const seed = Number(FUZZ_SEED ?? (FUZZ_REQUESTS === undefined ? 20_261_122 : randomInt(2 ** 32)));
const beganMs = performance.now();

describe('fuzzed requests', () => {
  let scene: FuzzScene;
  const crashes: unknown[] = [];
  const crashed = (error: unknown) => crashes.push(error);
  beforeAll(async () => {
    process.on('uncaughtExceptionMonitor', crashed);
    scene = await openFuzzScene();
  }, 60_000);
  afterAll(async () => {
    process.off('uncaughtExceptionMonitor', crashed);
    await scene?.close();
  });

  it(
    'Hostile routes, forms, headers, cookies, JSON, SAML and JWTs cause no 5xx, no hang and no crash',
    async () => {
      const progress = (sent: number) => {
        if (requests > 20_000)
          console.info(`${sent} requests after ${Math.round((performance.now() - beganMs) / 1000)} s`);
      };
      const result = await fuzz(scene, { requests, seed, progress });
      const { sent, statuses, slowestMs, findings } = result;
      if (requests > 20_000) console.info(JSON.stringify({ seed, sent, statuses, slowestMs: Math.round(slowestMs) }));
      expect([`seed ${seed}`, findings]).toEqual([`seed ${seed}`, []]);
      expect([`seed ${seed}`, scene.errors()]).toEqual([`seed ${seed}`, []]);
      expect(crashes).toEqual([]);
      // If all requests were refused at once, the fuzzer would find nothing.
      for (const [kind, count] of Object.entries(sent)) expect([kind, count > requests / 30]).toEqual([kind, true]);
      for (const hundred of ['2xx', '3xx', '4xx'])
        expect([hundred, (statuses[hundred] ?? 0) > requests / 50]).toEqual([hundred, true]);
    },
    60_000 + requests * 20,
  );
});
