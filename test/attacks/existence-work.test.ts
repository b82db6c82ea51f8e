import type { KyselyPlugin, Transaction } from 'kysely';
import { listMessages } from '../../server/messages/index.ts';
import { noMetrics } from '../../server/shared/index.ts';
import type { Database, Schema } from '../../server/store/index.ts';
import { mailForms } from '../../views/mail/index.ts';
import { service } from '../api/callers.ts';
import { endWait, flowOf } from '../password/steps.ts';
import { forgetWait, profile } from '../sign-up/steps.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { imported } from '../support/imported.ts';
import { type Backend, backends } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';

/** Every statement on the outbox that reaches the database, also in transactions. */
function listenToOutbox(database: Database, heard: string[]): Database {
  const plugin = (compile: KyselyPlugin['transformQuery']): KyselyPlugin => ({
    transformQuery: compile,
    transformResult: async ({ result }) => result,
  });
  const listening = <D extends Database['db'] | Transaction<Schema>>(db: D): D =>
    db.withPlugin(
      plugin(({ node, queryId }) => {
        const { sql } = database.db.getExecutor().compileQuery(node, queryId);
        if (sql.includes('"outbox"')) heard.push(sql);
        return node;
      }),
    ) as D;
  return {
    ...database,
    db: listening(database.db),
    transaction: (fn) => database.transaction((trx) => fn(listening(trx))),
  };
}

interface Work {
  /** The statements on the outbox, except the search for due messages. */
  statements: string[];
  rendered: string[];
}

describe.each(backends)('enumeration of users by the work behind equal answers, on $name', (backend) => {
  const heard: string[] = [];
  /** The template of each rendered document: a mail has two, HTML and text. */
  const drawn: string[] = [];
  const counted: string[] = [];
  let foyer: TestFoyer;
  let token: string;
  beforeAll(async () => {
    const { html, text } = mailForms;
    jest.spyOn(mailForms, 'html').mockImplementation((mail) => {
      drawn.push(mail.template);
      return html(mail);
    });
    jest.spyOn(mailForms, 'text').mockImplementation((mail) => {
      drawn.push(mail.template);
      return text(mail);
    });
    const listened: Backend = {
      ...backend,
      async open() {
        const stores = await backend.open();
        return { ...stores, database: listenToOutbox(stores.database, heard) };
      },
    };
    const metrics = {
      ...noMetrics,
      on: true,
      messageAdded: (channel: string, template: string) => counted.push(`added ${channel} ${template}`),
      messageTried: ({ template, result }: { template: string; result: string }) =>
        counted.push(`${result} ${template}`),
    };
    foyer = await startFoyer(
      listened,
      {
        PREVENT_USER_EXISTENCE_ERRORS: 'true',
        GUESS_LIMIT_ADDRESS: '1000',
        SIGN_UP_LIMIT_ADDRESS: '1000',
        SENDGRID_TEMPLATES: 'receipt=d-1',
      },
      { metrics },
    );
    ({ token } = await service(foyer, ['messages:send']));
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await foyer?.close();
  });

  /** The worker polls at its own times; the other three statements are those of this test and its mail recorder. */
  const isApart = (sql: string) =>
    [
      /^select "id", "template"/,
      /^select count\(\*\)/,
      /^select "sealed_payload" from "outbox" where "id" = \S+$/,
      /^update "outbox" set "next_attempt_at" = \S+ where "state"/,
    ].some((pattern) => pattern.test(sql));

  /** The work that an action causes until the outbox is empty. `act` may have to wait for work after its answer. */
  async function workOf(act: () => Promise<unknown>): Promise<Work> {
    await foyer.mails('');
    heard.length = 0;
    counted.length = 0;
    drawn.length = 0;
    const before = await rowsEver();
    await act();
    await waitFor(async () => expect(await rowsEver()).toBeGreaterThan(before));
    await foyer.mails('');
    const rendered = drawn.filter((_, at) => at % 2 === 0);
    expect(drawn).toHaveLength(2 * rendered.length);
    return { statements: heard.filter((sql) => !isApart(sql)).sort(), rendered };
  }
  const rowsEver = async () => {
    const rows = foyer.stores.database.db.selectFrom('outbox').select(({ fn }) => fn.countAll().as('count'));
    return Number((await rows.executeTakeFirstOrThrow()).count);
  };

  const page = (path: string, fields: Record<string, string>) => foyer.browser().post(path, fields);
  const call = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${foyer.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  async function resend(username: string) {
    const browser = foyer.browser();
    await browser.post('/forgot-password', { username });
    await endWait(foyer, await flowOf(browser));
    return () => browser.post(`/reset-password?${new URLSearchParams({ username })}`, { act: 'resend' });
  }
  async function resendSignUp(email: string) {
    const { password, given_name, family_name } = profile(email) as Record<string, string>;
    const begun = await call('/identity/signUp', { email, password, given_name, family_name });
    const { flow } = (await begun.json()) as { flow: string };
    await forgetWait(foyer, flow);
    return () => call('/identity/resendConfirmationCode', { flow });
  }

  /** Each returns the action whose work is measured. */
  const places: Record<string, (email: string) => Promise<() => Promise<Response>>> = {
    'the page for a forgotten password': async (username) => () => page('/forgot-password', { username }),
    'the call for a forgotten password': async (username) => () => call('/identity/forgotPassword', { username }),
    'another code for a reset': resend,
    'a mail of the product by POST /sentEmail': async (emailAddress) => () =>
      call('/sentEmail', { emailAddress, action: 'welcome' }, { authorization: `Bearer ${token}` }),
    'a mapped mail by POST /sentEmail': async (emailAddress) => () =>
      call('/sentEmail', { emailAddress, action: 'receipt' }, { authorization: `Bearer ${token}` }),
  };

  for (const [name, prepare] of Object.entries(places)) {
    it(`${name} causes the same outbox statements and renderings for a user’s address and an unknown one`, async () => {
      const member = await foyer.addUser();
      const stranger = `stranger.${name.replaceAll(/\W/g, '')}@example.com`;
      const toMember = await prepare(member.email);
      const ofMember = await workOf(async () => expect((await toMember()).status).toBeLessThan(400));
      expect(counted.filter((line) => line.startsWith('delivered'))).toHaveLength(1);
      const toStranger = await prepare(stranger);
      const ofStranger = await workOf(async () => expect((await toStranger()).status).toBeLessThan(400));
      expect(ofStranger).toEqual(ofMember);
      expect(ofMember.statements.filter((sql) => sql.startsWith('insert'))).toHaveLength(1);
      expect(ofMember.rendered).toHaveLength(name.startsWith('a mapped') ? 0 : 1);
      // A decoy mail reaches no mail service and no metric.
      expect(counted).toEqual([]);
      expect(await foyer.mails(stranger)).toEqual([]);
      expect(await foyer.mails('nobody@example.invalid')).toEqual([]);
    });
  }

  it('Another code for a sign-up causes the same statements and as many renderings for a user’s address and a new one', async () => {
    const member = await foyer.addUser();
    const toMember = await resendSignUp(member.email);
    const ofMember = await workOf(async () => expect((await toMember()).status).toBe(200));
    const toStranger = await resendSignUp('new.address@example.com');
    const ofStranger = await workOf(async () => expect((await toStranger()).status).toBe(200));
    expect(ofStranger.statements).toEqual(ofMember.statements);
    expect([ofMember.rendered, ofStranger.rendered]).toEqual([['account-exists'], ['verify-email']]);
  });

  it('A wrong password causes the same work for imported users without one, users with one and unknown addresses', async () => {
    const { email: bare } = await imported(foyer);
    const { email: member } = await foyer.addUser();
    const signIn = (username: string) =>
      workOf(async () => expect((await page('/sign-in', { username, password: 'not this one 1' })).status).toBe(400));
    const expected = await signIn(bare);
    expect(expected.rendered).toEqual(['first-password']);
    expect(await signIn(member)).toEqual(expected);
    expect(await signIn('another.stranger@example.com')).toEqual(expected);
    expect(counted).toEqual([]);
    expect(await foyer.mails(member)).toEqual([]);
    expect((await foyer.mails(bare)).map(({ template }) => template)).toEqual(['first-password']);
  });

  it('Decoys are in no listing of the outbox', async () => {
    const rows = await foyer.stores.database.db.selectFrom('outbox').select(['id', 'decoy']).execute();
    const decoys = rows.filter(({ decoy }) => decoy === 1).map(({ id }) => id);
    expect(decoys.length).toBeGreaterThan(5);
    const listed = (await listMessages(foyer.stores.database.db, { limit: 10_000 })).map(({ id }) => id);
    expect(listed).toHaveLength(rows.length - decoys.length);
    expect(listed.filter((id) => decoys.includes(id))).toEqual([]);
  });

  it('Mails and decoys leave at a random moment between 0.2 and 2 seconds after the request', async () => {
    await foyer.stores.database.db.deleteFrom('outbox').execute();
    const member = await foyer.addUser();
    for (let n = 0; n < 12; n += 1) {
      await call('/identity/forgotPassword', { username: n % 2 === 0 ? member.email : `waiting${n}@example.com` });
    }
    const rows = await foyer.stores.database.db
      .selectFrom('outbox')
      .select(['createdAt', 'nextAttemptAt', 'decoy'])
      .execute();
    expect(rows.filter(({ decoy }) => decoy === 1)).toHaveLength(6);
    const delays = rows.map(({ createdAt, nextAttemptAt }) => nextAttemptAt - createdAt);
    for (const delay of delays) {
      expect(delay).toBeGreaterThanOrEqual(200);
      expect(delay).toBeLessThanOrEqual(2_000);
    }
    expect(new Set(delays).size).toBeGreaterThan(6);
    // Every message is delivered by itself and not early.
    expect(await foyer.deps.outboxWorker.turn()).toBeLessThan(12);
    await waitFor(async () => {
      await foyer.deps.outboxWorker.turn();
      const waiting = await foyer.stores.database.db
        .selectFrom('outbox')
        .select('id')
        .where('state', '=', 'waiting')
        .execute();
      expect(waiting).toEqual([]);
    }, 5_000);
  });
});
