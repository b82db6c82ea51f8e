import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import {
  type AuditEntry,
  eraseAuditEvents,
  listEvents,
  listMemberEvents,
  recordEntry,
  sealAll,
  toAuditKeys,
  verifyChain,
} from '../../server/audit/index.ts';
import { dropExpired, renewSignatures } from '../../server/audit/retention.ts';
import type { Schema } from '../../server/store/index.ts';
import { startRecorders } from '../audit/recorders.ts';
import { toClientId, toUserId } from '../support/ids.ts';
import { backends, type OpenStores } from '../support/stores.ts';

const secret = 'the secret key of the tests of the audit trail';
const keys = toAuditKeys([secret]);
const ada = toUserId('ada');
const bob = toUserId('bob');

describe.each(backends)('the audit trail on $name', ({ open }) => {
  let stores: OpenStores;
  let db: Kysely<Schema>;
  beforeEach(async () => {
    stores = await open();
    db = stores.database.db;
  });
  afterEach(() => stores?.destroy());

  const entry = (atMs: number, subject = ada): AuditEntry => ({
    type: 'app.connected',
    details: { scopes: ['openid'] },
    clientId: toClientId('shop'),
    address: '192.0.2.7',
    actor: { kind: 'member' },
    subject,
    atMs,
  });
  const seal = () => sealAll(stores.database, keys, 1);
  const verify = () => verifyChain(db, keys);
  const drop = (beforeMs: number) => dropExpired(stores.database, keys, { beforeMs, nowMs: 1_000 });
  async function write(count: number, from = 1): Promise<void> {
    for (let at = from; at < from + count; at += 1) await recordEntry(db, entry(at, at % 2 === 0 ? bob : ada));
    await seal();
  }

  it('Recorded events are sealed in their order, and the chain verifies', async () => {
    expect(await verify()).toMatchObject({ kind: 'intact', events: 0 });
    await write(450);
    expect(await verify()).toMatchObject({ kind: 'intact', events: 450, erased: 0, first: 1, head: { seq: 450 } });
    const [newest] = await listEvents(db, { limit: 1 });
    expect(newest).toMatchObject({
      seq: 450,
      at: 450,
      type: 'app.connected',
      actor: { kind: 'member' },
      member: 'bob',
      client: 'shop',
      address: '192.0.2.7',
      device: null,
      details: { scopes: ['openid'] },
      erased: false,
    });
  });

  it('An event is in the trail only if the transaction of its change commits', async () => {
    const failed = stores.database.transaction(async (trx) => {
      await recordEntry(trx, entry(1));
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    await stores.database.transaction((trx) => recordEntry(trx, entry(2)));
    await seal();
    expect((await listEvents(db, { limit: 10 })).map(({ at }) => at)).toEqual([2]);
  });

  it('Events that are too long, or have details of another type, are refused', async () => {
    const event = (details: object) => ({ type: 'app.connected', details, atMs: 1 }) as AuditEntry;
    const long = event({ scopes: ['x'.repeat(101)] });
    await expect(recordEntry(db, long)).rejects.toThrow();
    const other = event({ scopes: [], password: 'hunter2' });
    await expect(recordEntry(db, other)).rejects.toThrow();
  });

  it('Members see their own events alone: those that wait first, the others in pages without gaps', async () => {
    await write(5);
    await recordEntry(db, entry(7));
    const first = await listMemberEvents(db, ada, { before: undefined, limit: 2 });
    expect(first.map(({ at, seq }) => [at, seq])).toEqual([
      [7, null],
      [5, 5],
      [3, 3],
    ]);
    const next = await listMemberEvents(db, ada, { before: 3, limit: 2 });
    expect(next.map(({ at }) => at)).toEqual([1]);
  });

  it.each([
    ['a changed body', sql`update audit_events set body = replace(body, 'openid', 'emails') where seq = 4`, 4],
    ['a changed address', sql`update audit_events set person = replace(person, '192', '198') where seq = 4`, 4],
    ['another member', sql`update audit_events set user_id = 'eve' where seq = 4`, 4],
    ['another time in its column', sql`update audit_events set at = 99 where seq = 4`, 4],
    ['a deleted event', sql`delete from audit_events where seq = 4`, 4],
    ['a deleted first event', sql`delete from audit_events where seq = 1`, 1],
    ['a cut end', sql`delete from audit_events where seq > 7`, 8],
    ['an emptied chain', sql`delete from audit_events`, 1],
    ['a deleted checkpoint', sql`delete from audit_marks where name = 'head'`, 9],
    ['a cut end with the checkpoint set back', sql`update audit_marks set seq = 7 where name = 'head'`, 7],
    ['a beginning that was cut off with its checkpoint', sql`update audit_marks set seq = 3 where name = 'start'`, 3],
  ])('The verification names the first broken event: %s', async (_what, damage, seq) => {
    await write(9);
    await damage.execute(db);
    expect(await verify()).toMatchObject({ kind: 'broken', seq });
  });

  it('The verification names the first of two events that have changed their places', async () => {
    await write(9);
    await sql`update audit_events set seq = -1 where seq = 3`.execute(db);
    await sql`update audit_events set seq = 3 where seq = 4`.execute(db);
    await sql`update audit_events set seq = 4 where seq = -1`.execute(db);
    expect(await verify()).toMatchObject({ kind: 'broken', seq: 3 });
  });

  it('A writer who rebuilds all hashes after a change cannot sign the head without SECRET_KEY', async () => {
    await write(3);
    await sql`delete from audit_events`.execute(db);
    await sql`delete from audit_marks`.execute(db);
    await recordEntry(db, entry(99));
    await sealAll(stores.database, toAuditKeys(['a key that the writer has made up']), 1);
    expect(await verify()).toMatchObject({ kind: 'broken', fault: expect.stringContaining('not signed') });
  });

  it('A trail that was set back to an older signed head differs from an anchor that was kept elsewhere', async () => {
    await write(3);
    const old = await sql<{ mac: string; chain_hash: string }>`select * from audit_marks where name = 'head'`.execute(
      db,
    );
    await write(3, 4);
    const report = await verify();
    const anchor = report.kind === 'intact' ? report.head : undefined;
    expect(anchor?.seq).toBe(6);
    await sql`delete from audit_events where seq > 3`.execute(db);
    const { mac, chain_hash: hash } = (old.rows[0] ?? {}) as { mac?: string; chain_hash?: string; chainHash?: string };
    const chainHash = hash ?? Reflect.get(old.rows[0] ?? {}, 'chainHash');
    await sql`update audit_marks set seq = 3, mac = ${mac}, chain_hash = ${chainHash} where name = 'head'`.execute(db);
    expect(await verify()).toMatchObject({ kind: 'intact', events: 3 });
    expect(await verifyChain(db, keys, anchor)).toMatchObject({ kind: 'broken', seq: 4 });
    await write(3, 7);
    expect(await verifyChain(db, keys, anchor)).toMatchObject({ kind: 'broken', seq: 6 });
  });

  it.each([
    ['after the last one', 12],
    ['directly after the last one', 10],
    ['before the first one', 0],
  ])(
    'Attack: an event that was inserted %s is found, before and after the next events are sealed',
    async (_place, seq) => {
      await write(9);
      await sql`insert into audit_events (seq, id, at, type, user_id, body, person, salt, chain_hash)
      select cast(${seq} as bigint), 'forged', at, type, user_id, replace(body, id, 'forged'), person, salt, chain_hash
      from audit_events where seq = 9`.execute(db);
      expect(await verify()).toMatchObject({ kind: 'broken', seq, id: 'forged' });
      await write(5, 20);
      expect(await verify()).toMatchObject({ kind: 'broken' });
      expect(await listMemberEvents(db, ada, { before: undefined, limit: 100 })).toContainEqual(
        expect.objectContaining({ at: 23 }),
      );
      await drop(100);
      expect(await verify()).toMatchObject({ kind: 'broken' });
    },
  );

  it.each([
    ['cuts the end off, and sets the head back', sql`delete from audit_events where seq > 3`],
    ['sets the head back, and forges the events after it', sql`update audit_events set type = 'forged' where seq > 3`],
  ])('Attack: a writer who %s gets no signature from the next event', async (_what, damage) => {
    await write(9);
    await damage.execute(db);
    await sql`update audit_marks set seq = 3,
      chain_hash = (select chain_hash from audit_events where seq = 3) where name = 'head'`.execute(db);
    await write(5, 20);
    expect(await verify()).toMatchObject({ kind: 'broken', fault: expect.stringContaining('"head" is not signed') });
    expect(await listEvents(db, { sinceMs: 20, limit: 10 })).toHaveLength(5);
  });

  it.each(['head', 'start', 'head or start'])(
    'Attack: a writer who deletes the checkpoint %s gets no new one that is signed',
    async (names) => {
      await write(4);
      for (const name of names.split(' or ')) await sql`delete from audit_marks where name = ${name}`.execute(db);
      await write(2, 5);
      expect(await verify()).toMatchObject({ kind: 'broken', fault: expect.stringContaining('is not signed') });
      expect(await listEvents(db, { limit: 10 })).toHaveLength(6);
    },
  );

  it.each([
    ['changes the times of events, so that retention deletes them', sql`update audit_events set at = 0 where seq < 8`],
    ['forges the first events', sql`update audit_events set body = replace(body, 'openid', 'emails') where seq < 3`],
    ['sets the first checkpoint on', sql`update audit_marks set seq = 1 where name = 'start'`],
  ])('Attack: retention deletes nothing, and signs nothing, after a writer who %s', async (_what, damage) => {
    await write(10, 100);
    await damage.execute(db);
    const before = await db.selectFrom('auditEvents').select('seq').execute();
    expect(await drop(108)).toMatchObject({ kind: 'broken' });
    expect(await db.selectFrom('auditEvents').select('seq').execute()).toEqual(before);
    expect(await verify()).toMatchObject({ kind: 'broken' });
  });

  it('Retention meanwhile is no fault of the trail', async () => {
    await write(1_500);
    const running = verify();
    await drop(1_200);
    expect(await running).toMatchObject({ kind: 'intact' });
  });

  it('Erasing a member deletes id, address, device and salt, sealed or not, and the chain still verifies', async () => {
    await write(6);
    await recordEntry(db, entry(7));
    await stores.database.transaction((trx) => eraseAuditEvents(trx, ada));
    await seal();
    expect(await verify()).toMatchObject({ kind: 'intact', events: 7, erased: 4 });
    expect(await listMemberEvents(db, ada, { before: undefined, limit: 10 })).toEqual([]);
    expect(await listMemberEvents(db, bob, { before: undefined, limit: 10 })).toHaveLength(3);
    const rows = await db.selectFrom('auditEvents').selectAll().where('at', 'in', [1, 3, 5, 7]).execute();
    expect(JSON.stringify(rows)).not.toMatch(/ada|192\.0\.2\.7/);
    expect(rows.map(({ salt }) => salt)).toEqual([null, null, null, null]);
  });

  it('Retention deletes the oldest events, keeps a signed checkpoint, and the rest still verifies', async () => {
    await write(10);
    expect(await drop(5)).toEqual({ kind: 'deleted', events: 4 });
    expect(await drop(5)).toEqual({ kind: 'deleted', events: 0 });
    expect(await verify()).toMatchObject({ kind: 'intact', events: 6, first: 5 });
    await write(1, 11);
    expect(await drop(100)).toEqual({ kind: 'deleted', events: 7 });
    expect(await verify()).toMatchObject({ kind: 'intact', events: 0, first: 12 });
    await write(2, 12);
    expect(await verify()).toMatchObject({ kind: 'intact', events: 2, first: 12 });
  });

  it('After a change of SECRET_KEY the new key signs the checkpoints, and the old one can be removed', async () => {
    await write(2);
    const newKey = 'another secret key of the tests of the audit trail';
    expect(await verifyChain(db, toAuditKeys([newKey]))).toMatchObject({ kind: 'broken' });
    await renewSignatures(stores.database, toAuditKeys([newKey]), 1);
    expect(await verifyChain(db, toAuditKeys([newKey]))).toMatchObject({ kind: 'broken' });
    await renewSignatures(stores.database, toAuditKeys([newKey, secret]), 1);
    expect(await verifyChain(db, toAuditKeys([newKey]))).toMatchObject({ kind: 'intact' });
  });

  it('Several sealers at once lose and repeat no event', async () => {
    await Promise.all(Array.from({ length: 300 }, (_, at) => recordEntry(db, entry(at))));
    await Promise.all(Array.from({ length: 4 }, seal));
    await seal();
    expect(await verify()).toMatchObject({ kind: 'intact', events: 300 });
    const times = (await listEvents(db, { limit: 1_000 })).map(({ at }) => at);
    expect(new Set(times).size).toBe(300);
  });

  it('Two processes that record and seal at once, one of which is killed, leave a chain that verifies', async () => {
    const recorders = await startRecorders(2, stores.urls, secret);
    await sleep(1_500);
    await recorders[0]?.kill();
    await sleep(500);
    const committed = (await Promise.all(recorders.map((one) => one.kill()))).flat();
    await seal();
    const report = await verify();
    expect(report).toMatchObject({ kind: 'intact' });
    const sealed = await db.selectFrom('auditEvents').select('body').execute();
    const names = sealed.map(({ body }) => (JSON.parse(body) as { details: { scopes: string[] } }).details.scopes[0]);
    const known = new Set(names);
    expect(known.size).toBe(names.length);
    expect(committed.length).toBeGreaterThan(20);
    expect(committed.filter((name) => !known.has(name))).toEqual([]);
  });
});
