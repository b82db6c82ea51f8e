import { createHash } from 'node:crypto';
import { listMessages } from '../../server/messages/index.ts';
import { newAddress, profile } from '../sign-up/steps.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('the listing of the outbox, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  it('The listing shows neither a guessable address nor a hash that an attacker can compute from it', async () => {
    const email = newAddress();
    for (let n = 0; n < 2; n += 1) expect((await foyer.browser().post('/signup', profile(email))).status).toBe(303);
    const listed = await listMessages(foyer.stores.database.db, { limit: 10 });
    const shown = JSON.stringify(listed);
    expect(shown).not.toContain(email);
    for (const algorithm of ['sha256', 'sha1', 'md5']) {
      for (const form of ['hex', 'base64', 'base64url'] as const) {
        expect(shown).not.toContain(createHash(algorithm).update(email).digest(form));
      }
    }
    // The codes for one address still keep their order.
    expect(listed.map(({ template }) => template)).toEqual(['verify-email', 'verify-email']);
    expect(new Set(listed.map(({ groupId }) => groupId)).size).toBe(1);
    expect(listed[0]?.groupId).not.toBeNull();
  });

  it('Codes for a new password keep their order, whether the address or the number requested them', async () => {
    const phone = '+4915550001122';
    const { email } = await foyer.addUser({ phone, phoneVerified: true });
    for (const username of [email, phone]) {
      expect((await foyer.browser().post('/forgot-password', { username })).status).toBe(303);
    }
    const listed = (await listMessages(foyer.stores.database.db, { limit: 100 })).filter(
      ({ template }) => template === 'password-reset',
    );
    expect(listed).toHaveLength(2);
    expect(new Set(listed.map(({ groupId }) => groupId)).size).toBe(1);
    expect(listed[0]?.groupId).not.toBeNull();
  });
});
