import {
  claimGift,
  eraseGifts,
  findGift,
  giftState,
  revokeGift,
  sweepGifts,
} from '../../server/billing/gifts/gift-store.ts';
import { createGiftCode, insertGift, toGiftCodeHash } from '../../server/billing/index.ts';
import { dayMs, toPlanId, toUserId } from '../../server/shared/index.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { NOW_MS } from './rows.ts';

describe.each(backends)('gifts on $name', (backend) => {
  let stores: OpenStores;
  beforeAll(async () => {
    stores = await backend.open();
  });
  afterAll(() => stores?.destroy());

  async function made(validMs = dayMs) {
    const codeHash = toGiftCodeHash(createGiftCode());
    if (codeHash === undefined) throw new Error('no code');
    const gift = { codeHash, planId: toPlanId('11'), months: 3, expiresAt: NOW_MS + validMs };
    const id = await stores.database.transaction((trx) => insertGift(trx, gift, NOW_MS));
    return { id, read: () => findGift(stores.database.db, codeHash) };
  }
  const claim = (id: string, user: string, nowMs = NOW_MS) =>
    stores.database.transaction((trx) =>
      claimGift(trx, { id, userId: toUserId(user), endsAt: NOW_MS + 90 * dayMs }, nowMs),
    );

  it('Of eight claims of one gift at once, one gets it', async () => {
    const { id, read } = await made();
    const users = Array.from({ length: 8 }, (_, index) => `user-${index}`);
    const got = await Promise.all(users.map((user) => claim(id, user)));
    expect(got.filter(Boolean)).toHaveLength(1);
    expect(await read()).toMatchObject({ userId: users[got.indexOf(true)], redeemedAt: NOW_MS });
  });

  it('A revoked gift is not claimed, and a claimed one is not revoked', async () => {
    const [revoked, used] = [await made(), await made()];
    const revoke = (id: string) => stores.database.transaction((trx) => revokeGift(trx, id, NOW_MS));
    expect([await revoke(revoked.id), await revoke(revoked.id), await claim(revoked.id, 'a')]).toEqual([
      true,
      false,
      false,
    ]);
    expect([await claim(used.id, 'a'), await revoke(used.id)]).toEqual([true, false]);
  });

  it('A gift is claimed until its last moment', async () => {
    const [early, late] = [await made(), await made()];
    expect(await claim(early.id, 'a', NOW_MS + dayMs - 1)).toBe(true);
    expect(await claim(late.id, 'a', NOW_MS + dayMs)).toBe(false);
    const row = await late.read();
    expect(row && giftState(row, NOW_MS + dayMs)).toBe('expired');
  });

  it('The sweep deletes a code a year after its end, and a used one a year after the end of its plan', async () => {
    const [unused, used] = [await made(), await made()];
    await claim(used.id, 'swept');
    await sweepGifts(stores.database.db, NOW_MS + 365 * dayMs);
    expect([await unused.read(), await used.read()]).toEqual([expect.anything(), expect.anything()]);
    await sweepGifts(stores.database.db, NOW_MS + 367 * dayMs);
    expect([await unused.read(), await used.read()]).toEqual([undefined, expect.anything()]);
    await sweepGifts(stores.database.db, NOW_MS + 456 * dayMs);
    expect(await used.read()).toBeUndefined();
  });

  it('An erased user is forgotten, and the code stays used', async () => {
    const { id, read } = await made();
    await claim(id, 'leaving');
    await stores.database.transaction((trx) => eraseGifts(trx, toUserId('leaving')));
    expect(await read()).toMatchObject({ userId: null, redeemedAt: NOW_MS });
    expect(await claim(id, 'b')).toBe(false);
  });
});

describe('a gift code', () => {
  it('A code has 120 random bits in groups of four, and is the same in any case, with or without dashes', () => {
    const code = createGiftCode();
    expect(code).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){5}[0-9A-HJKMNP-TV-Z]{4}$/);
    const typed = [
      code.toLowerCase(),
      code.replaceAll('-', ''),
      ` ${code.replaceAll('-', ' ')} `,
      code.replaceAll('-', '–'),
    ];
    for (const each of typed) expect(toGiftCodeHash(each)).toBe(toGiftCodeHash(code));
    expect(toGiftCodeHash('OIL0-0000-0000-0000-0000-0000')).toBe(toGiftCodeHash('0110-0000-0000-0000-0000-0000'));
    for (const none of ['', '-', code.slice(1), `${code}0`, code.replace(/^./, 'U')])
      expect(toGiftCodeHash(none)).toBeUndefined();
    expect(new Set(Array.from({ length: 1_000 }, createGiftCode)).size).toBe(1_000);
  });
});
