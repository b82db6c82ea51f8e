import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError, loadConfig } from '../../config/load.ts';
import { loadPlans, PlansFileError, parsePlans, shippedPlansFile } from '../../config/plans.ts';

type Json = Record<string, unknown>;
type FreeJson = Json & { plans: Json[]; trial: Json };

/** The shipped file with something else in it. */
function changed(change: (file: FreeJson) => void): string {
  const file = JSON.parse(readFileSync(shippedPlansFile, 'utf8')) as FreeJson;
  change(file);
  return JSON.stringify(file);
}

function faultsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof PlansFileError)) throw error;
    for (const fault of error.faults) expect(error.message).toContain(fault);
    return error.faults;
  }
}
const faults = (change: (file: FreeJson) => void) => faultsOf(() => parsePlans(changed(change), 'plans.json'));
const planOf = ({ plans }: FreeJson, id: string): Json => {
  const plan = plans.find((one) => one.id === id);
  if (!plan) throw new Error(`no plan ${id}`);
  return plan;
};

describe('the plans that come with the product', () => {
  const shipped = loadPlans();

  it('The paid plans are those of the specification: ids 10 to 15 with their codes, types and whole dollars', () => {
    const paid = shipped.plans.filter((plan) => plan.kind === 'paid');
    expect(paid.map(({ id, code, planType, planAmount }) => [id, code, planType, planAmount])).toEqual([
      ['10', 'm-99', '1', 99],
      ['11', 'y-900', '2', 900],
      ['12', 'm-499', '1', 499],
      ['13', 'y-5000', '2', 5000],
      ['14', 'm-899', '1', 899],
      ['15', 'y-8000', '2', 8000],
    ]);
    expect(shipped.currency).toBe('usd');
  });

  it('Tax is computed by Stripe Tax or not, and is in the amounts or added to them', () => {
    const taxed = (tax: unknown) => faults((file) => Object.assign(file, { tax }));
    expect(taxed({ automatic: true, behaviour: 'inclusive' })).toEqual([]);
    expect(taxed({ automatic: false, behaviour: 'exclusive' })).toEqual([]);
    expect(taxed({ automatic: 'yes', behaviour: 'net' })).toEqual([
      'tax.automatic: write true or false',
      'tax.behaviour: write inclusive or exclusive',
    ]);
  });

  it.each(['usd', 'eur', 'chf', 'gbp'])('A catalogue is sold in %s, whose smallest unit is the cent', (currency) => {
    expect(faults((file) => Object.assign(file, { currency }))).toEqual([]);
  });

  it.each(['jpy', 'kwd', 'huf', 'isk', 'twd', 'ugx', 'xxx', 'abc'])(
    'A catalogue in %s is refused, because its amounts are no cents or it is no currency',
    (currency) => {
      expect(faults((file) => Object.assign(file, { currency }))).toEqual([
        'currency: write a currency with two decimals, as usd, eur or chf',
      ]);
    },
  );

  it('The file has the free plans, the partner’s tiers and the codes that only completion pages use', () => {
    expect(shipped.plans.filter(({ kind }) => kind === 'free').map(({ code }) => code)).toEqual(['m-free', 'y-free']);
    const partner = shipped.plans.filter((plan) => plan.kind === 'partner');
    expect(partner.map(({ tier, planHash, code }) => [tier, planHash, code])).toEqual([
      [1, 'hollyfy_tier1', 'Appsumo-Tier-1'],
      [2, 'hollyfy_tier2', 'Appsumo-Tier-2'],
      [3, 'hollyfy_tier3', 'Appsumo-Tier-3'],
    ]);
    expect(shipped.formerCodes).toEqual(['m-30', 'm-150', 'y-300', 'y-1500']);
  });

  it('Members begin with Basic-Plan-M for 7 days, or 30 in the post-sign-up flow', () => {
    expect(shipped.trial).toMatchObject({ lookupKey: 'Basic-Plan-M', days: 7, postSignUpDays: 30 });
  });

  it('Every plan has its texts in every language', () => {
    const { lookupKey, features: ofTrial } = shipped.trial;
    for (const { id, summary, features } of [
      ...shipped.plans,
      { id: lookupKey, summary: ofTrial, features: ofTrial },
    ]) {
      for (const texts of [summary, features]) {
        expect({ id, languages: Object.keys(texts).toSorted() }).toEqual({ id, languages: ['de', 'en', 'fr', 'nl'] });
      }
      // As many lines as in English.
      const lines = [features.de, features.fr, features.nl].map((all) => all?.length);
      expect({ id, lines }).toEqual({ id, lines: lines.map(() => features.en.length) });
    }
  });

  it('A dearer plan never gives less than a cheaper one', () => {
    const named = (id: string) => shipped.plans.find((plan) => plan.id === id)?.entitlements ?? [];
    // The yearly plan of a name gives what the monthly one does.
    for (const [monthly, yearly] of [
      ['1', '2'],
      ['10', '11'],
      ['12', '13'],
      ['14', '15'],
    ] as const)
      expect(named(yearly)).toEqual(named(monthly));
    const kinds = (id: string) => named(id).map((one) => one.split(':')[0]);
    expect(kinds('12')).toEqual(expect.arrayContaining(kinds('10')));
    expect(kinds('14')).toEqual(expect.arrayContaining(kinds('12')));
  });
});

describe('a file of plans', () => {
  it('A faulty file of plans is refused with all faults at once, each with its place', () => {
    const found = faults((file) => {
      file.currency = 'USD';
      file.graceDays = 61;
      file.trial.days = 0;
      planOf(file, '10').planAmount = 99.5;
      planOf(file, '11').planAmount = 0;
      planOf(file, '12').planType = '3';
      planOf(file, '13').entitlements = ['Team of ten'];
      planOf(file, '14').planHash = 'scale/monthly';
      planOf(file, '101').tier = 4;
    });
    expect(found.map((fault) => fault.split(':')[0]).toSorted()).toEqual(
      [
        ...['currency', 'graceDays', 'trial.days', 'plans.2.planAmount', 'plans.3.planAmount', 'plans.4.planType'],
        ...['plans.5.entitlements.0', 'plans.6.planHash', 'plans.8.tier'],
      ].toSorted(),
    );
    expect(found).toContain('plans.2.planAmount: write whole dollars');
  });

  it('A file of plans reports all of its contradictions', () => {
    const found = faults((file) => {
      planOf(file, '11').id = '10';
      planOf(file, '12').code = 'm-99';
      planOf(file, '13').planHash = 'starter-monthly';
      planOf(file, '14').lookupKey = 'Basic-Plan-M';
      planOf(file, '102').tier = 1;
      file.defaultPlan = '16';
    });
    expect(found).toEqual([
      'plans: id 10 stands there twice',
      'plans: code m-99 stands there twice',
      'plans: planHash starter-monthly stands there twice',
      // A plan has its code as its key, unless the file says otherwise.
      'plans: lookupKey m-99 stands there twice',
      'plans: lookupKey Basic-Plan-M stands there twice',
      'plans: tier 1 stands there twice',
      'defaultPlan: there is no plan with the id 16',
    ]);
  });

  it.each<[string, (file: FreeJson) => void, RegExp]>([
    ['a code that was sold before', (file) => (planOf(file, '10').code = 'm-30'), /code m-30 stands there twice/],
    ['a partner’s plan for everybody', (file) => (file.defaultPlan = '101'), /^defaultPlan: a partner/],
    ['an amount of a free plan', (file) => (planOf(file, '1').planAmount = 1), /^plans\.0: .*planAmount/],
    [
      'two most chosen plans of one interval',
      (file) => (planOf(file, '10').mostChosen = true),
      /^plans: mostChosen stands at 10 and 12: mark one of each planType$/,
    ],
    ['a partner’s plan as most chosen', (file) => (planOf(file, '101').mostChosen = true), /^plans\.8: .*mostChosen/],
    ['a price of a partner’s plan', (file) => (planOf(file, '101').lookupKey = 'x'), /^plans\.8: .*lookupKey/],
    ['a word that it does not know', (file) => (file.vat = 19), /^the file: .*vat/],
    ['no plans', (file) => (file.plans = []), /^plans: name at least one plan/],
    ['no English', (file) => (planOf(file, '10').summary = { de: 'Nur Deutsch' }), /^plans\.2\.summary\.en/],
    ['another language', (file) => (planOf(file, '10').summary = { en: 'a', it: 'b' }), /^plans\.2\.summary: .*it/],
    [
      'an empty line',
      (file) => (planOf(file, '10').features = { en: [' '] }),
      /^plans\.2\.features\.en\.0: write some/,
    ],
  ])('A file of plans with %s is refused', (_what, change, fault) => {
    expect(faults(change)).toEqual(expect.arrayContaining([expect.stringMatching(fault)]));
  });

  it('A file of plans that is missing or is not JSON is reported', () => {
    const folder = mkdtempSync(join(tmpdir(), 'foyer-plans-'));
    try {
      const file = join(folder, 'plans.json');
      expect(faultsOf(() => loadPlans(file))).toEqual(['cannot be read: ENOENT']);
      writeFileSync(file, '{"currency": usd}');
      expect(faultsOf(() => loadPlans(file))).toEqual([expect.stringMatching(/^is no JSON: /)]);
      writeFileSync(
        file,
        changed((plans) => (planOf(plans, '10').planAmount = 79)),
      );
      expect(loadPlans(file).plans.find(({ id }) => id === '10')).toMatchObject({ planAmount: 79 });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('the configuration of Stripe', () => {
  const development = { NODE_ENV: 'test', SANDBOX: 'true', SECRET_KEY: 'k'.repeat(48), DATA_DIR: tmpdir() };
  const production = {
    NODE_ENV: 'production',
    PUBLIC_URL: 'https://login.example.com',
    SECRET_KEY: 'k'.repeat(48),
    SEARCH_APP_URL: 'https://search.example.com',
    TRUST_PROXY: '1',
    MAIL_FROM: 'no-reply@example.com',
    SMTP_URL: 'smtps://mail.example.com',
  };
  const stripe = {
    STRIPE_SECRET_KEY: 'sk_live_abc',
    STRIPE_PUBLISHABLE_KEY: 'pk_live_abc',
    STRIPE_WEBHOOK_SECRET: 'whsec_abc',
  };
  const configurationFaults = (given: Record<string, string>): readonly string[] => {
    try {
      loadConfig(given);
      return [];
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return error.faults;
    }
  };

  it('Stripe may be left out everywhere, and then no plans are sold', () => {
    expect(configurationFaults(development)).toEqual([]);
    expect(configurationFaults(production)).toEqual([]);
    expect(configurationFaults({ ...production, ...stripe })).toEqual([]);
  });

  it.each(Object.keys(stripe) as (keyof typeof stripe)[])(
    'The configuration of Stripe without %s is refused',
    (name) => {
      const { [name]: _, ...rest } = stripe;
      expect(configurationFaults({ ...production, ...rest })).toEqual([
        expect.stringMatching(new RegExp(`^${name} is missing`)),
      ]);
    },
  );

  it('A partial configuration names both missing variables', () => {
    const found = configurationFaults({ ...development, STRIPE_SECRET_KEY: 'sk_test_abc' });
    expect(found.map((fault) => fault.split(' ')[0])).toEqual(['STRIPE_PUBLISHABLE_KEY', 'STRIPE_WEBHOOK_SECRET']);
  });

  it('Test mode and live mode cannot be mixed, because cards would be saved where nothing is charged', () => {
    expect(configurationFaults({ ...production, ...stripe, STRIPE_PUBLISHABLE_KEY: 'pk_test_abc' })).toEqual([
      expect.stringMatching(/^STRIPE_PUBLISHABLE_KEY: is of the other mode/),
    ]);
    expect(configurationFaults({ ...production, ...stripe, STRIPE_SECRET_KEY: 'rk_live_abc' })).toEqual([]);
  });

  it.each([
    ['STRIPE_SECRET_KEY', 'pk_live_abc'],
    ['STRIPE_PUBLISHABLE_KEY', 'sk_live_abc'],
    ['STRIPE_WEBHOOK_SECRET', 'abc'],
  ])('The wrong key for %s is refused and not repeated', (name, value) => {
    const found = configurationFaults({ ...production, ...stripe, [name]: value });
    expect(found).toEqual([expect.stringMatching(new RegExp(`^${name}: write`))]);
    expect(found.join()).not.toContain(value);
  });

  it('Stripe is used only over https in production', () => {
    const http = { STRIPE_API_URL: 'http://api.stripe.com', STRIPE_JS_URL: 'http://js.stripe.com/endive/stripe.js' };
    expect(configurationFaults({ ...production, ...stripe, ...http })).toEqual([
      'STRIPE_API_URL: must begin with https:// in production',
      'STRIPE_JS_URL: must begin with https:// in production',
    ]);
  });

  it('The stand-in of Stripe is used only in the sandbox of a development machine', () => {
    const sandbox = loadConfig({ ...development, NODE_ENV: 'development', SANDBOX_PORT: '4001' });
    expect(sandbox).toMatchObject({
      STRIPE_SECRET_KEY: 'sk_test_sandbox',
      STRIPE_API_URL: 'http://127.0.0.1:4001',
      STRIPE_JS_URL: 'http://127.0.0.1:4001/stripe.js',
    });
    expect(loadConfig(development).STRIPE_SECRET_KEY).toBeUndefined();
    const own = {
      STRIPE_SECRET_KEY: 'sk_test_1',
      STRIPE_PUBLISHABLE_KEY: 'pk_test_1',
      STRIPE_WEBHOOK_SECRET: 'whsec_1',
    };
    expect(loadConfig({ ...development, ...own, NODE_ENV: 'development' })).toMatchObject({
      ...own,
      STRIPE_API_URL: 'https://api.stripe.com',
    });
  });
});
