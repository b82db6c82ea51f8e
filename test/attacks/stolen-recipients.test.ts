import { createHash } from 'node:crypto';
import { service } from '../api/callers.ts';
import { memberWithSms } from '../sign-in/factor-steps.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { entriesIn } from '../support/stored.ts';
import { backends } from '../support/stores.ts';

/** The hashes that an attacker computes from a list of addresses. */
const hashesOf = (value: string) =>
  (['base64url', 'base64', 'hex'] as const).flatMap((encoding) =>
    ['sha256', 'sha512', 'sha1', 'md5'].map((algorithm) => createHash(algorithm).update(value).digest(encoding)),
  );

describe.each(backends)('stolen key-value store, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  it('No key contains an address or a number that was written to, nor a plain hash of it', async () => {
    const { user, phone } = await memberWithSms(foyer);
    const browser = foyer.browser();
    await browser.post('/sign-in', { username: user.email, password });
    await browser.get('/second-factor');
    expect(await foyer.texts(phone)).toHaveLength(1);
    const stranger = 'unknown-user@example.net';
    const { token } = await service(foyer, ['messages:send']);
    for (const emailAddress of [user.email, stranger]) {
      await sendRequest(`${foyer.url}/sentEmail`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ emailAddress, action: 'password' }),
      });
    }
    const keys = (await entriesIn(foyer.stores)).map(({ key }) => key);
    expect(keys.filter((key) => key.startsWith('sent-email:'))).toHaveLength(2);
    expect(keys.filter((key) => key.startsWith('sms:number:')).length).toBeGreaterThan(0);
    const messages = keys.filter((key) => key.startsWith('sent-email:') || key.startsWith('sms:'));
    const found = [user.email, stranger, phone].flatMap((value) =>
      [value, ...hashesOf(value)].filter((look) => messages.some((key) => key.includes(look))),
    );
    expect(found).toEqual([]);
  });
});
