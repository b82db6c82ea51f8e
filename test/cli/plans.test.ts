import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shippedPlansFile } from '../../config/plans.ts';
import { type Cli, cliOn } from '../support/cli.ts';
import { startStripe, type TestStripe } from '../support/stripe.ts';

/** Nothing here opens a store. */
const nowhere = { databaseUrl: '', redisUrl: '', dataDir: join(tmpdir(), 'foyer-cli-plans', 'nowhere') };

describe('foyer plans', () => {
  let stripe: TestStripe;
  let foyer: Cli;
  let dearer: Cli;
  let away: Cli;
  const folder = mkdtempSync(join(tmpdir(), 'foyer-plans-'));
  beforeAll(async () => {
    stripe = await startStripe();
    const other = join(folder, 'plans.json');
    writeFileSync(other, readFileSync(shippedPlansFile, 'utf8').replace('"planAmount": 99,', '"planAmount": 109,'));
    foyer = cliOn(nowhere, stripe.environment());
    dearer = cliOn(nowhere, { ...stripe.environment(), PLANS_FILE: other });
    away = cliOn(nowhere, { ...stripe.environment(), STRIPE_API_URL: 'http://127.0.0.1:9' });
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await stripe?.close();
  });

  it('Listing plans shows the catalogue without a call to Stripe', async () => {
    const { code, out } = await away('plans', 'list');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^10 +m-99 +Starter +paid +monthly +99\.00 usd +starter-monthly +showcase:1 shortlist messages$/m,
    );
    expect(out).toMatch(/^101 +Appsumo-Tier-1 +AppSumo Tier 1 +partner +- +- +hollyfy_tier1 +/m);
    expect(out).toContain('Members begin with Basic (Basic-Plan-M): 7 days, 30 in the post-signup flow.');
    expect((await away('plans', 'list', '--json')).json<{ id: string; amount: number }[]>()).toContainEqual(
      expect.objectContaining({
        id: '15',
        code: 'y-8000',
        plan_hash: 'scale-yearly',
        amount: 800_000,
        currency: 'usd',
      }),
    );
  });

  it('Syncing plans creates everything at Stripe, after which the check finds nothing to do', async () => {
    const before = await foyer('plans', 'check');
    expect(before.code).toBe(1);
    expect(before.out).toMatch(/^10 +m-99 +Starter \(monthly\) +99\.00 usd +1 month +product missing; price missing$/m);
    expect(before.err).toBe('7 prices at Stripe not as the catalogue says.\n');

    const dry = await foyer('plans', 'sync', '--dry-run');
    expect(dry).toMatchObject({ code: 0, err: '' });
    expect(dry.out).toContain('14 acts would be done; nothing was.');
    expect((await foyer('plans', 'check')).code).toBe(1);

    const done = await foyer('plans', 'sync');
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(done.out).toMatch(/^trial +Basic-Plan-M +Basic +0\.00 usd +1 month +create product; create price$/m);
    expect(done.out).toMatch(/test mode\): 14 acts done\.$/m);

    const after = await foyer('plans', 'check');
    expect(after).toMatchObject({ code: 0, err: '' });
    expect(after.out).toMatch(/^15 +y-8000 +Scale \(yearly\) +8000\.00 usd +1 year +ok$/m);
    expect((await foyer('plans', 'sync', '--json')).json()).toMatchObject({ dry_run: false, plans: expect.anything() });
  });

  it('Checking plans reports how Stripe differs and exits with 1, also as JSON', async () => {
    const run = await dearer('plans', 'check', '--json');
    expect(run.code).toBe(1);
    const { ok, plans } = run.json<{ ok: boolean; plans: { plan: string; drift: unknown[] }[] }>();
    expect(ok).toBe(false);
    expect(plans.filter(({ drift }) => drift.length > 0)).toEqual([
      { plan: '10', lookup_key: 'm-99', drift: [{ what: 'amount', is: '9900', should: '10900' }] },
    ]);
    expect((await dearer('plans', 'check')).out).toMatch(/amount is 9900, not 10900$/m);
    expect((await dearer('plans', 'sync')).out).toMatch(/1 month +create price; archive price price_\w+$/m);
    expect((await dearer('plans', 'check')).code).toBe(0);
  });

  it('A missing or unreachable Stripe gets a message in plain words', async () => {
    expect(await away('plans', 'check')).toMatchObject({ code: 4, err: expect.stringMatching(/^Stripe: /) });
    const none = cliOn(nowhere, { SANDBOX: 'false', SEARCH_APP_URL: 'http://localhost:9' });
    const missing = { code: 4, err: expect.stringMatching(/^STRIPE_SECRET_KEY is missing/) };
    expect(await none('plans', 'sync')).toMatchObject(missing);
    const broken = cliOn(nowhere, { PLANS_FILE: join(folder, 'none.json') });
    expect(await broken('plans', 'list')).toMatchObject({ code: 4, err: expect.stringContaining('cannot be read') });
  });
});
