import { randomInt } from 'node:crypto';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createPasswordHasher } from '../../server/password/index.ts';
import { openDatabase } from '../../server/store/index.ts';
import { insertUser, insertUserRecord } from '../../server/users/index.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { secondBackends } from '../support/stores.ts';
import { startStripe, type TestStripe } from '../support/stripe.ts';
import { catalogueFile, type Market } from './catalogue.ts';
import { type Front, openFront } from './front.ts';
import { createProducts, type Products } from './product-process.ts';
import { password } from './visitor.ts';

const { runCli } = await import('#cli');

interface Code {
  coupon: Record<string, unknown>;
  promotion?: { restrictions: { first_time_transaction?: boolean; minimum_amount?: number } };
  /** The plans that it is for, monthly and yearly. */
  productName?: string;
  /** It can be used for so long. */
  days?: number;
}

/** Promotion codes that members know. The rest of a coupon is that of Stripe's API. */
const codes: Record<string, Code> = {
  HALF: { coupon: { percent_off: 50, duration: 'once' } },
  TENNER: { coupon: { amount_off: 1_000, duration: 'once' } },
  ALWAYS20: { coupon: { percent_off: 20, duration: 'forever' } },
  ALLOFIT: { coupon: { percent_off: 100, duration: 'once' } },
  ALMOSTALL: { coupon: { percent_off: 99.95, duration: 'once' } },
  ALMOSTQUARTER: { coupon: { percent_off: 99.95, duration: 'repeating', duration_in_months: 3 } },
  ALMOSTALWAYS: { coupon: { percent_off: 99.95, duration: 'forever' } },
  TINY: { coupon: { percent_off: 0.05, duration: 'once' } },
  MONTH: { coupon: { percent_off: 50, duration: 'repeating', duration_in_months: 1 } },
  QUARTER: { coupon: { percent_off: 25, duration: 'repeating', duration_in_months: 3 } },
  AYEAR: { coupon: { amount_off: 500, duration: 'repeating', duration_in_months: 12 } },
  BIG: { coupon: { amount_off: 9_875, duration: 'once' } },
  FIRST: {
    coupon: { percent_off: 10, duration: 'once' },
    promotion: { restrictions: { first_time_transaction: true } },
  },
  GROWTH: { coupon: { percent_off: 40, duration: 'repeating', duration_in_months: 2 }, productName: 'Growth' },
  MINIMUM: {
    coupon: { percent_off: 15, duration: 'once' },
    promotion: { restrictions: { minimum_amount: 60_000 } },
  },
  ENDS: { coupon: { percent_off: 35, duration: 'forever' }, days: 45 },
  ONCEONLY: { coupon: { percent_off: 30, duration: 'once', max_redemptions: 1 } },
};
export const codeNames: readonly string[] = Object.keys(codes);

/** How a run of `foyer` ended. */
interface CommandRun {
  code: number;
  /** The result alone. */
  out: string;
  err: string;
}

/** Members, prices and codes before anything has happened: every world begins with a copy of it. */
interface Beginning {
  dataDir: string;
  stripe: unknown;
  owners: ReadonlyMap<string, string>;
}

/** Where a world is. */
export interface Place {
  /** PostgreSQL and Redis instead of files. */
  hasServers: boolean;
  /** How many processes the product has. */
  processes: number;
}

/** The stores of a world. */
interface Ground {
  variables: Record<string, string>;
  /** The addresses of the members by their ids. */
  owners: ReadonlyMap<string, string>;
  remove(): Promise<void>;
}

/** What all worlds share: one stand-in for Stripe, one port, the processes, and a beginning for each market. */
export interface Shop {
  stripe: TestStripe;
  products: Products;
  url: string;
  /** @returns a folder of its own for a world; the stand-in is set to the beginning */
  begin(market: Market, place: Place): Promise<Ground>;
  front: Front;
  /** How many answers of Stripe were errors of its own: a kept one is repeated to every request with its key. */
  errors(): number;
  /** Runs the operator's command on the stores of a world. */
  foyer(variables: Record<string, string>, ...words: string[]): Promise<CommandRun>;
  close(): Promise<void>;
}

export const members = ['ada', 'bea', 'cleo', 'dora'].map((name) => `${name}@example.com`);

export async function freePort(): Promise<number> {
  const port = randomInt(10_240, 32_000);
  const free = await new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
  return free ? port : freePort();
}

/** @returns the addresses by id */
async function addMembers(stores: { url?: string; dataDir: string }): Promise<Map<string, string>> {
  const hasher = createPasswordHasher({
    queueMax: 10,
    waitMs: 60_000,
    cost: { memoryCost: 1_024, timeCost: 1, parallelism: 1 },
  });
  const passwordHash = await hasher.hash(password, 'operator');
  const database = await openDatabase(stores);
  const owners = new Map<string, string>();
  const names = { givenName: 'Ada', familyName: 'Member' };
  for (const email of members) {
    const user = {
      email: toNormalisedEmail(email),
      passwordHash,
      emailVerified: true,
      acceptedTosVersion: 1,
      ...names,
    };
    await database.transaction(async (trx) => {
      const { id } = await insertUser(trx, user, Date.now());
      await insertUserRecord(trx, id, Date.now());
      // The catalogue sells to consumers: nothing is charged without a country and a postal code.
      const place = { country: 'DE', postalCode: '10115' };
      const at = { createdAt: Date.now(), updatedAt: Date.now() };
      await trx
        .insertInto('billingDetails')
        .values({ userId: id, ...place, ...at })
        .execute();
      owners.set(id, email);
    });
  }
  await database.close();
  return owners;
}

function addCodes(stripe: TestStripe, { currency }: Market): void {
  const post = (path: string, params: Record<string, unknown>) => stripe.engine.call({ method: 'POST', path, params });
  const { data: products } = stripe.engine.call({ method: 'GET', path: '/v1/products', params: { limit: 100 } }) as {
    data: { id: string; name: string }[];
  };
  for (const [code, { coupon, promotion: { restrictions } = {}, productName, days }] of Object.entries(codes)) {
    const limited = productName ? products.filter(({ name }) => name.startsWith(productName)).map(({ id }) => id) : [];
    if (productName && limited.length === 0) throw new Error(`there is no product ${productName}`);
    const { id } = post('/v1/coupons', {
      ...coupon,
      ...('amount_off' in coupon && { currency }),
      ...(productName && { applies_to: { products: limited } }),
    }) as { id: string };
    post('/v1/promotion_codes', {
      code,
      promotion: { type: 'coupon', coupon: id },
      ...(days && { expires_at: Math.floor(stripe.engine.nowMs() / 1_000) + days * 86_400 }),
      ...(restrictions && {
        restrictions: { ...restrictions, ...(restrictions.minimum_amount && { minimum_amount_currency: currency }) },
      }),
    });
  }
}

async function runFoyer(env: Record<string, string>, words: string[]): Promise<CommandRun> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runCli(words, {
    env,
    stdin: Readable.from([]),
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
  });
  return { code, out: out.join(''), err: err.join('') };
}

export async function openShop(): Promise<Shop> {
  const root = await mkdtemp(join(tmpdir(), 'foyer-money-'));
  const stripe = await startStripe({ checked: false, draftsRenewals: true });
  stripe.webhooks.mode = 'held';
  const products = createProducts();
  const url = `http://localhost:${await freePort()}`;
  const front = await openFront(Number(new URL(url).port));
  const empty = stripe.snapshot();
  const beginnings = new Map<string, Promise<Beginning>>();
  let [worlds, errors] = [0, 0];
  stripe.observe(({ status }) => {
    if (status >= 500) errors += 1;
  });

  const variablesFor = (dataDir: string): Record<string, string> => ({
    NODE_ENV: 'test',
    SANDBOX: 'true',
    PUBLIC_URL: url,
    SEARCH_APP_URL: 'http://127.0.0.1:9/search',
    SECRET_KEY: 'a secret key that is used by tests alone',
    DATA_DIR: dataDir,
    PLANS_FILE: join(dataDir, 'plans.json'),
    LOG_LEVEL: 'fatal',
    CARD_LIMIT_MEMBER: '100000',
    CARD_LIMIT_ADDRESS: '100000',
    GUESS_LIMIT_ADDRESS: '100000',
    GUESS_LIMIT_DEVICE: '100000',
    PASSWORD_LIMIT_DEVICE: '100000',
    PASSWORD_LIMIT_MEMBER: '100000',
    ...stripe.environment(),
  });

  async function makeBeginning(market: Market): Promise<Beginning> {
    const dataDir = await mkdtemp(join(root, 'beginning-'));
    await writeFile(join(dataDir, 'plans.json'), catalogueFile(market));
    const variables = variablesFor(dataDir);
    stripe.restore(empty);
    const synced = await runFoyer(variables, ['plans', 'sync']);
    if (synced.code !== 0) throw new Error(`foyer plans sync: ${synced.err}`);
    addCodes(stripe, market);
    const first = { ...variables, PORT: String(await freePort()) };
    const product = await products.begin({ movedMs: 0, variables: first, isFirst: true }, () => {});
    await product.kill();
    const owners = await addMembers({ dataDir });
    return { dataDir, stripe: stripe.snapshot(), owners };
  }

  return {
    stripe,
    products,
    url,
    front,
    errors: () => errors,
    async begin(market, { hasServers }) {
      const beginning = beginnings.get(JSON.stringify(market)) ?? makeBeginning(market);
      beginnings.set(JSON.stringify(market), beginning);
      const { dataDir: from, stripe: state, owners } = await beginning;
      worlds += 1;
      const dataDir = join(root, `world-${worlds}`);
      await rm(join(root, `world-${worlds - 1}`), { recursive: true, force: true });
      await cp(from, dataDir, { recursive: true });
      stripe.restore(state);
      const variables = variablesFor(dataDir);
      const [servers] = secondBackends;
      if (!hasServers || !servers) return { variables, owners, remove: async () => {} };
      const { urls, remove } = await servers.reserve({ migrated: true });
      const own = { ...variables, DATABASE_URL: urls.databaseUrl, REDIS_URL: urls.redisUrl };
      return { variables: own, owners: await addMembers({ url: urls.databaseUrl, dataDir }), remove };
    },
    foyer: (variables, ...words) => runFoyer(variables, words),
    async close() {
      products.close();
      await front.close();
      await stripe.close();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
