import type { User } from '../../../server/users/index.ts';
import { setMfaPreference } from '../../../server/users/index.ts';
import { giveTotp, signInWithTotp } from '../../sign-in/factor-steps.ts';
import type { Browser } from '../../support/browser.ts';
import { eachSignedInUser, type TestFoyer } from '../../support/foyer.ts';
import { backends } from '../../support/stores.ts';
import { emailCode, fresh, otherThan, phoneCode, rowOf } from './steps.ts';

interface Answered {
  status: number;
  body: { status?: unknown; flow?: string; deliveryMedium?: string; expiresInSeconds?: number; detail?: string };
}

describe.each(backends)('addresses and numbers by JSON, on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  eachSignedInUser(backend, { GUESS_LIMIT_ADDRESS: '1000', SMS_LIMIT_ADDRESS: '1000' }, (setting) => {
    ({ foyer, user, browser } = setting);
  });

  async function call(path: string, body: object): Promise<Answered> {
    const answer = await browser.postJson(`/identity/${path}`, body);
    return { status: answer.status, body: (await answer.json()) as Answered['body'] };
  }
  const verify = (attribute: string, flow: string | undefined, code: string) =>
    call('verifyUserAttribute', { attribute, flow, code });

  it('An address is changed with its code', async () => {
    const { email } = fresh();
    const asked = await call('changeEmail', { email });
    expect(asked).toMatchObject({ status: 200, body: { deliveryMedium: 'EMAIL', expiresInSeconds: 600 } });
    const code = await emailCode(foyer, email);
    const wrong = await verify('email', asked.body.flow, otherThan(code));
    expect(wrong).toMatchObject({ status: 400, body: { detail: 'Invalid code' } });
    // The flow is for an address.
    expect((await verify('phone_number', asked.body.flow, code)).status).toBe(400);
    expect(await verify('email', asked.body.flow, code)).toEqual({ status: 200, body: { status: 'SUCCESS' } });
    expect((await rowOf(foyer, user)).email).toBe(email);
    expect((await verify('email', asked.body.flow, code)).status).toBe(400);
  });

  it('A number is changed with its code and can be removed again', async () => {
    const { phone } = fresh();
    const asked = await call('changePhone', { phone_number: phone });
    expect(asked).toMatchObject({ status: 200, body: { deliveryMedium: 'SMS', expiresInSeconds: 600 } });
    const verified = await verify('phone_number', asked.body.flow, await phoneCode(foyer, phone));
    expect(verified.status).toBe(200);
    expect(await rowOf(foyer, user)).toMatchObject({ phone, phoneVerified: 1 });
    const setPreference = (preference: 'sms' | 'none') =>
      foyer.deps.database.transaction((trx) => setMfaPreference(trx, user.id, { preference, nowMs: foyer.deps.now() }));
    await signInWithTotp(foyer, browser, user, await giveTotp(foyer, user));
    await setPreference('sms');
    expect((await call('changePhone', { phone_number: '' })).status).toBe(409);
    await setPreference('none');
    expect(await call('changePhone', { phone_number: '' })).toEqual({ status: 200, body: { status: 'SUCCESS' } });
    expect((await rowOf(foyer, user)).phone).toBeNull();
  });

  it.each([
    ['changeEmail', { email: 'ada@example' }, 'Invalid email address'],
    [
      'changePhone',
      { phone_number: '0151 12345678' },
      'Invalid phone number. A phone number can only contain the + sign and digits',
    ],
    ['changePhone', { phone_number: '+4930123456' }, 'We can’t send text messages to this number.'],
    ['verifyUserAttribute', { attribute: 'email', flow: 'made-up', code: '123456' }, 'has expired'],
  ])('The call %s with %j gets 400 with the reason', async (path, body, said) => {
    expect(await call(path, body)).toMatchObject({ status: 400, body: { detail: expect.stringContaining(said) } });
  });

  it('An attribute without a code is refused', async () => {
    expect((await call('verifyUserAttribute', { attribute: 'given_name', flow: 'x', code: '1' })).status).toBe(400);
  });
});
