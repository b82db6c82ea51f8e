import {
  countRecoveryCodes,
  hasTotp,
  removeAllFactors,
  removeFactorsAddedSince,
  replaceRecoveryCodes,
  upsertTotp,
} from '../../server/mfa/index.ts';
import { insertRememberedDevice } from '../../server/mfa/remembered-device-store.ts';
import { setMfaPreference, type User } from '../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toSha256 } from '../support/ids.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('removing second factors on $name', (backend) => {
  let foyer: TestFoyer;
  let phones = 0;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  interface Had {
    preference: User['mfaPreference'];
    totpAtMs?: number;
    codesAtMs?: number;
  }

  /** A member who has had these factors since these moments, and a remembered device. */
  async function memberWith({ preference, totpAtMs, codesAtMs }: Had): Promise<User> {
    phones += 1;
    const user = await foyer.addUser({ phone: `+3161234${5000 + phones}`, phoneVerified: true });
    const { database, boxes } = foyer.deps;
    await database.transaction(async (trx) => {
      const { id: userId } = user;
      await setMfaPreference(trx, userId, { preference, nowMs: 1 });
      if (totpAtMs !== undefined) {
        await upsertTotp(trx, boxes.mfa, { userId, secret: 'JBSWY3DPEHPK3PXP', lastStep: 1, createdAt: totpAtMs });
      }
      if (codesAtMs !== undefined)
        await replaceRecoveryCodes(trx, userId, { hashes: [toSha256('one'), toSha256('two')], nowMs: codesAtMs });
      const id = `device of ${userId}`;
      const times = { createdAt: 1, lastUsedAt: 1, expiresAt: Number.MAX_SAFE_INTEGER };
      await insertRememberedDevice(trx, {
        id,
        userId,
        secretHash: toSha256('x'),
        passwordEpoch: 0,
        userAgent: '',
        ip: '',
        ...times,
      });
    });
    return user;
  }

  async function leftOf({ id }: User) {
    const { db } = foyer.deps.database;
    const { mfaPreference: preference } = await db
      .selectFrom('users')
      .select('mfaPreference')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const devices = await db.selectFrom('rememberedDevices').select('id').where('userId', '=', id).execute();
    return {
      preference,
      totp: await hasTotp(db, id),
      codes: (await countRecoveryCodes(db, id)).left,
      devices: devices.length,
    };
  }

  const sinceMs = 1_000;
  it.each<[string, Had, { preference: string; totp: boolean; codes: number; taken: boolean }]>([
    [
      'removes an app and codes that are newer',
      { preference: 'totp', totpAtMs: 1_500, codesAtMs: 1_500 },
      { preference: 'none', totp: false, codes: 0, taken: true },
    ],
    [
      'keeps an app and codes that are older',
      { preference: 'totp', totpAtMs: 500, codesAtMs: 500 },
      { preference: 'totp', totp: true, codes: 2, taken: false },
    ],
    [
      'removes an app that replaced another and keeps the older codes',
      { preference: 'totp', totpAtMs: 1_000, codesAtMs: 500 },
      { preference: 'none', totp: false, codes: 2, taken: true },
    ],
    [
      'turns off SMS codes that were the first factor',
      { preference: 'sms', codesAtMs: 1_500 },
      { preference: 'none', totp: false, codes: 0, taken: true },
    ],
    [
      'turns off SMS codes and prefers the older app again',
      { preference: 'sms', totpAtMs: 500, codesAtMs: 1_500 },
      { preference: 'totp', totp: true, codes: 0, taken: true },
    ],
    [
      'keeps older SMS codes',
      { preference: 'sms', codesAtMs: 500 },
      { preference: 'sms', totp: false, codes: 2, taken: false },
    ],
    [
      'changes nothing for a user without factors',
      { preference: 'none' },
      { preference: 'none', totp: false, codes: 0, taken: false },
    ],
  ])('A removal of the factors added since a moment %s', async (_what, had, { taken, ...left }) => {
    const user = await memberWith(had);
    const other = await memberWith(had);
    const before = await leftOf(other);
    const { database } = foyer.deps;
    const any = await database.transaction((trx) =>
      removeFactorsAddedSince(trx, { userId: user.id, sinceMs, nowMs: 2_000 }),
    );
    expect({ any, ...(await leftOf(user)) }).toEqual({ any: taken, ...left, devices: 0 });
    expect(await leftOf(other)).toEqual(before);
  });

  it('A removal of all factors leaves none, for this user alone', async () => {
    const had: Had = { preference: 'totp', totpAtMs: 500, codesAtMs: 500 };
    const [user, other] = [await memberWith(had), await memberWith(had)];
    await foyer.deps.database.transaction((trx) => removeAllFactors(trx, user.id, 2_000));
    expect(await leftOf(user)).toEqual({ preference: 'none', totp: false, codes: 0, devices: 0 });
    expect(await leftOf(other)).toEqual({ preference: 'totp', totp: true, codes: 2, devices: 1 });
  });

  it('Codes by SMS are never preferred without a verified number', async () => {
    const { database } = foyer.deps;
    const prefer = ({ id }: User) =>
      database.transaction((trx) => setMfaPreference(trx, id, { preference: 'sms', nowMs: 1 }));
    expect(await prefer(await foyer.addUser())).toBe(false);
    expect(await prefer(await foyer.addUser({ phone: '+31612340001', phoneVerified: false }))).toBe(false);
    expect(await prefer(await foyer.addUser({ phone: '+31612340002', phoneVerified: true }))).toBe(true);
  });
});
