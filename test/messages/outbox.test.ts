import type { Message } from '../../server/messages/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

const welcome = (to: string): Message => ({
  channel: 'mail',
  to,
  template: 'welcome',
  lang: 'en',
  values: { givenName: 'Ada' },
});

describe.each(backends)('the outbox on $name', (backend) => {
  let foyer: TestFoyer;
  const add = (message: Message) => foyer.deps.database.transaction((trx) => foyer.deps.outbox.add(trx, message));
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  it('delivers what was committed, once, and keeps nothing of what it said', async () => {
    const { id } = await add(welcome('ada@example.com'));
    const [mail, ...more] = await foyer.mails('ada@example.com');
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ to: 'ada@example.com', template: 'welcome', values: { givenName: 'Ada' } });
    expect(mail?.idempotencyKey).toBe(id);
    const row = await foyer.deps.database.db.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirst();
    expect(row).toMatchObject({ state: 'delivered', attempts: 1, sealed_payload: null, last_error: null });
    expect(JSON.stringify(row)).not.toContain('ada@');
    expect(await foyer.mails('ada@example.com')).toHaveLength(1);
  });

  it('sends nothing of a transaction that was rolled back', async () => {
    const { database, outbox } = foyer.deps;
    await expect(
      database.transaction(async (trx) => {
        await outbox.add(trx, welcome('nobody@example.com'));
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(await foyer.mails('nobody@example.com')).toEqual([]);
  });
});
