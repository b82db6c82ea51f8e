import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPlans } from '../../config/plans.ts';
import { createCatalogue, createStripe, syncPlans } from '../../server/billing/index.ts';
import { judgePlans } from '../../server/cli/doctor/checks-services.ts';
import { checkPlans } from '../../server/cli/doctor/plans.ts';
import { readSetup } from '../../server/cli/doctor/setup.ts';
import { production } from '../attacks/production.ts';
import { plansWith } from '../support/plans.ts';
import { startStripe, stripeKeys, type TestStripe } from '../support/stripe.ts';

describe('foyer doctor on plans', () => {
  let stripe: TestStripe;
  const folder = mkdtempSync(join(tmpdir(), 'foyer-doctor-plans-'));
  beforeAll(async () => {
    stripe = await startStripe();
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await stripe?.close();
  });

  const look = async (env: NodeJS.ProcessEnv) => {
    const findings = await checkPlans(readSetup(env, Date.now));
    return findings.map(({ id, level }) => `${id} ${level}`);
  };
  const development = (more: NodeJS.ProcessEnv = {}) => ({
    NODE_ENV: 'development',
    DATA_DIR: folder,
    SECRET_KEY: 's'.repeat(40),
    ...stripe.environment(),
    ...more,
  });

  it('Prices that differ at Stripe are a fault until they are synced', async () => {
    expect(await look(development())).toEqual([
      'plans.file ok',
      'plans.mode ok',
      'plans.grace ok',
      'plans.prices fault',
    ]);
    const client = createStripe({ secretKey: stripeKeys.secretKey, apiUrl: stripe.url });
    await syncPlans(client, createCatalogue(loadPlans()));
    expect(await look(development())).toEqual(['plans.file ok', 'plans.mode ok', 'plans.grace ok', 'plans.prices ok']);
  });

  it('Each payment method that Stripe collects in euros alone is a fault with a catalogue in dollars', async () => {
    const methods = (currency: string) => ({
      PAYMENT_METHODS: 'card,sepa_debit,ideal,bancontact',
      PLANS_FILE: plansWith({ currency }),
    });
    const found = await checkPlans(readSetup(development(methods('usd')), Date.now));
    expect(found.filter(({ id }) => id === 'plans.methods')).toEqual(
      ['sepa_debit', 'ideal', 'bancontact'].map((method) =>
        expect.objectContaining({
          level: 'fault',
          seen: `PAYMENT_METHODS: ${method} needs a catalogue in eur; that of PLANS_FILE is in usd.`,
        }),
      ),
    );
    expect((await look(development(methods('eur')))).join()).not.toContain('plans.methods');
  });

  it('The doctor names the retries at Stripe that fit the grace', async () => {
    const found = await checkPlans(readSetup(development({ PLANS_FILE: plansWith({ graceDays: 10 }) }), Date.now));
    expect(found.find(({ id }) => id === 'plans.grace')?.seen).toContain('retries at Stripe that end within 10 days');
  });

  it('The doctor says whether Stripe Tax is active where the catalogue asks for tax', async () => {
    const taxed = (automatic: boolean) => plansWith({ tax: { automatic, behaviour: 'inclusive' } });
    expect(await look(development({ PLANS_FILE: taxed(true) }))).toContain('plans.tax ok');
    expect((await look(development({ PLANS_FILE: taxed(false) }))).join()).not.toContain('plans.tax');
  });

  it('Stripe Tax that lacks settings is a fault that names them', () => {
    const facts = { count: 1, mode: 'live', production: true, graceDays: 7, taxed: true } as const;
    const found = judgePlans({ ...facts, missingTaxSettings: ['head_office', 'defaults.tax_code'] });
    expect(found.find(({ id }) => id === 'plans.tax')).toMatchObject({
      level: 'fault',
      seen: 'Stripe Tax is not active: it lacks head_office, defaults.tax_code.',
    });
    expect(JSON.stringify(found)).not.toContain('without VAT');
  });

  it('The doctor reports that Stripe does not answer and never shows the key', async () => {
    const findings = await checkPlans(readSetup(development({ STRIPE_API_URL: 'http://127.0.0.1:9' }), Date.now));
    expect(findings.at(-1)).toMatchObject({ id: 'plans.stripe', level: 'fault' });
    expect(JSON.stringify(findings)).not.toContain(stripeKeys.secretKey);
  });

  it('The doctor warns of test mode in production and of live mode elsewhere', async () => {
    const keys = (mode: string) => ({
      STRIPE_SECRET_KEY: `sk_${mode}_1`,
      STRIPE_PUBLISHABLE_KEY: `pk_${mode}_1`,
      STRIPE_WEBHOOK_SECRET: 'whsec_1',
      STRIPE_API_URL: 'https://127.0.0.1:9',
    });
    const mode = async (env: NodeJS.ProcessEnv) => (await look(env)).filter((one) => one.startsWith('plans.mode'));
    expect(await mode({ ...production, ...keys('test') })).toEqual(['plans.mode warning']);
    expect(await mode({ ...production, ...keys('live') })).toEqual(['plans.mode ok']);
    expect(await mode(development(keys('live')))).toEqual(['plans.mode note']);
  });

  it('The doctor says with live keys that plans are sold without VAT and with gaps for consumers in the EU', () => {
    const limits = (mode: 'none' | 'test' | 'live') =>
      judgePlans({ count: 1, graceDays: 7, mode, production: true }).filter(({ id }) => id === 'plans.limits');
    expect(limits('live')).toEqual([
      expect.objectContaining({ level: 'note', seen: expect.stringMatching(/without VAT.*consumers in the EU/) }),
    ]);
    expect([...limits('test'), ...limits('none')]).toEqual([]);
  });

  it('The doctor reports every fault of the file and makes no request when no plans are sold', async () => {
    const file = join(folder, 'plans.json');
    writeFileSync(file, '{"currency": "USD"}');
    const found = await look(development({ PLANS_FILE: file }));
    expect(found.length).toBeGreaterThan(3);
    expect(new Set(found)).toEqual(new Set(['plans.file fault']));
    const faults = await checkPlans(readSetup(development({ PLANS_FILE: file }), Date.now));
    for (const { seen } of faults) expect(seen.startsWith(`PLANS_FILE: ${file}: `)).toBe(true);
    expect(await look({ ...production })).toEqual(['plans.file ok', 'plans.sold ok']);
    expect(await look({ NODE_ENV: 'development', DATA_DIR: folder, SECRET_KEY: 's'.repeat(40) })).toEqual([
      'plans.file ok',
    ]);
  });
});
