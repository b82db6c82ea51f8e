import { loadPlans } from '../../config/plans.ts';
import { createCatalogue, createStripe, syncPlans } from '../../server/billing/index.ts';
import { openDatabase } from '../../server/store/index.ts';
import { createServers, untilReady } from '../journeys/server-process.ts';
import { startSmtp } from '../messages/stand-in-smtp.ts';
import { Browser } from '../support/browser.ts';
import { cliSecretKey } from '../support/cli.ts';
import { startStripe, stripeKeys, type TestStripe } from '../support/stripe.ts';
import { waitFor } from '../support/wait-for.ts';

const servers = createServers();
let stripe: TestStripe;
let smtp: Awaited<ReturnType<typeof startSmtp>>;
beforeAll(async () => {
  [stripe, smtp] = await Promise.all([startStripe(), startSmtp()]);
  const client = createStripe({ secretKey: stripeKeys.secretKey, apiUrl: stripe.url });
  await syncPlans(client, createCatalogue(loadPlans()));
});
afterAll(async () => {
  await servers.end();
  await Promise.all([stripe?.close(), smtp?.close()]);
});

describe('a process that is killed between the confirmation of a member and their customer', () => {
  it.each(['POST /v1/customers', 'POST /v1/subscriptions'])(
    'After kill -9 at %s the next process creates one customer and one trial',
    async (deadly) => {
      const dataDir = await servers.folder();
      const email = `${deadly.length}@example.com`;
      const variables = {
        NODE_ENV: 'test',
        SANDBOX: 'false',
        SEARCH_APP_URL: 'http://127.0.0.1:9/search',
        SECRET_KEY: cliSecretKey,
        DATA_DIR: dataDir,
        SMTP_URL: `smtp://127.0.0.1:${smtp.port}?requireTLS=false`,
        MAIL_FROM: 'Foyer <no-reply@example.com>',
        ...stripe.environment(),
      };
      const first = await servers.start(variables);
      await untilReady(first);
      const killed = Promise.withResolvers<void>();
      let isArmed = true;
      stripe.observe(({ method, path }) => {
        if (!isArmed || `${method} ${path}` !== deadly) return;
        isArmed = false;
        first.signal('SIGKILL');
        killed.resolve();
      });
      const browser = new Browser(first.url);
      const call = (operation: string, body: object) => browser.postJson(`/identity/${operation}`, body);
      const names = { given_name: 'Ida', family_name: 'Sommer' };
      const begun = await call('signUp', { email, password: 'open sesame 7', ...names });
      const { flow } = (await begun.json()) as { flow: string };
      const code = await waitFor(() => {
        const found = smtp.received.find(({ to }) => to.includes(email))?.body.match(/\b\d{6}\b/)?.[0];
        if (found === undefined) throw new Error('no code was mailed');
        return found;
      });
      await Promise.all([call('confirmSignUp', { flow, code }).catch(() => {}), killed.promise]);
      await first.ended;

      const database = await openDatabase({ dataDir });
      const { db } = database;
      const { userId } = await db.selectFrom('billingTasks').select('userId').executeTakeFirstOrThrow();
      // The lease of the killed process runs out after minutes.
      await db.deleteFrom('leases').execute();
      await database.close();
      const next = await servers.start({ ...variables, PORT: String(first.port) });
      await untilReady(next);
      const client = stripe.client();
      const read = async () => {
        const { data } = await client.customers.list({ limit: 100 });
        const own = data.filter(({ metadata }) => metadata.foyer_user === userId);
        const lists = await Promise.all(own.map(({ id }) => client.subscriptions.list({ customer: id })));
        return [own.length, lists.flatMap((list) => list.data.map(({ status }) => status))];
      };
      // No page is loaded: the job of the minute does it.
      const after = await openDatabase({ dataDir });
      const selectTasks = after.db.selectFrom('billingTasks').select('kind');
      await waitFor(async () => expect(await selectTasks.execute()).toEqual([]), 150_000).finally(() => after.close());
      expect(await read()).toEqual([1, ['trialing']]);
      next.signal('SIGTERM');
      await next.ended;
    },
    250_000,
  );
});
