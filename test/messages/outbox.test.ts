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

  it('The outbox delivers what was committed once and keeps nothing of its content', async () => {
    const { id } = await add(welcome('ada@example.com'));
    const [mail, ...more] = await foyer.mails('ada@example.com');
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ to: 'ada@example.com', template: 'welcome', values: { givenName: 'Ada' } });
    expect(mail?.idempotencyKey).toBe(id);
    const row = await foyer.deps.database.db.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirst();
    expect(row).toMatchObject({ state: 'delivered', attempts: 1, sealedPayload: null, lastError: null });
    expect(JSON.stringify(row)).not.toContain('ada@');
    expect(await foyer.mails('ada@example.com')).toHaveLength(1);
  });

  it('Attack: a reader of the database finds no code, name or whole address of a mail that waits', async () => {
    const code = { givenName: 'Adalbert', code: '135790', minutes: 10 };
    const { id } = await add({
      channel: 'mail',
      to: 'sealed@example.com',
      template: 'verify-email',
      lang: 'en',
      values: code,
    });
    const { db } = foyer.deps.database;
    const row = await db.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    expect(row.recipient).toBe('s…@example.com');
    expect(JSON.stringify(row)).not.toMatch(/135790|Adalbert|sealed@/);
    // Nor is another row's payload delivered under this one's id.
    const other = await add(welcome('grace@example.com'));
    const { sealedPayload } = await db
      .selectFrom('outbox')
      .selectAll()
      .where('id', '=', other.id)
      .executeTakeFirstOrThrow();
    await db.updateTable('outbox').set({ sealedPayload }).where('id', '=', id).execute();
    expect(await foyer.mails('grace@example.com')).toHaveLength(1);
    expect(await foyer.mails('sealed@example.com')).toEqual([]);
    expect(foyer.logged()).not.toMatch(/135790|Adalbert|sealed@/);
  });

  it('The outbox sends nothing of a transaction that was rolled back', async () => {
    const { database, outbox } = foyer.deps;
    await expect(
      database.transaction(async (trx) => {
        await outbox.add(trx, welcome('unknown@example.com'));
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(await foyer.mails('unknown@example.com')).toEqual([]);
  });
});
