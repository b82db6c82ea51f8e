import { newPassword } from '../password/steps.ts';
import { newAddress, profile } from '../sign-up/steps.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { production, site } from './production.ts';
import { portOf, Visitor } from './wire.ts';

/** Right passwords of one user are limited; the limit must not lock the user out. */
describe.each(backends)('attack: filling another user’s limit of correct passwords, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, {
      ...production,
      PREVENT_USER_EXISTENCE_ERRORS: 'true',
      // This stays below the limit of guesses, so that the limit of right passwords is reached first.
      PASSWORD_LIMIT_MEMBER: '5',
      GUESS_LIMIT_ACCOUNT: '20',
    });
  });
  afterAll(() => foyer?.close());

  const at = (ip: string) => new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': ip });
  const signIn = (visitor: Visitor, { email }: { email: string }, given: string = password) =>
    visitor.post('/sign-in', { username: email, password: given });
  async function statusesOf(user: { email: string }, given: string, times: number) {
    const statuses: number[] = [];
    for (let n = 0; n < times; n += 1) statuses.push((await signIn(at(`198.51.${n}.7`), user, given)).status);
    return statuses;
  }

  it('A user still signs in after an attacker uses up the limit with the password of a sign-up for the user’s address', async () => {
    const user = await foyer.addUser();
    expect((await at('192.0.2.1').post('/signup', profile(user.email, { password: newPassword }))).status).toBe(303);
    await statusesOf(user, newPassword, 8);
    expect((await signIn(at('203.0.113.1'), user)).status).toBe(303);
  });

  it('The password of a sign-up is checked as often as any guess, whether or not the address belongs to a user', async () => {
    const [user, stranger] = [await foyer.addUser(), { email: newAddress() }];
    for (const [n, { email }] of [user, stranger].entries())
      expect((await at(`192.0.2.${10 + n}`).post('/signup', profile(email, { password: newPassword }))).status).toBe(
        303,
      );
    const [ofMember, ofNobody] = [await statusesOf(user, newPassword, 24), await statusesOf(stranger, newPassword, 24)];
    expect(ofMember).toEqual(ofNobody);
    expect(ofMember.filter((status) => status === 429)).toHaveLength(4);
  });

  it('Correct passwords before a password reset do not count after it', async () => {
    const user = await foyer.addUser();
    expect((await statusesOf(user, password, 6)).at(-1)).toBe(429);
    const home = at('203.0.113.2');
    expect((await home.post('/forgot-password', { username: user.email })).status).toBe(303);
    const mails = (await foyer.mails(user.email)).filter(({ template }) => template === 'password-reset');
    const fields = { code: String(mails.at(-1)?.values.code), password: newPassword, confirm: newPassword };
    const reset = await home.post(`/reset-password?${new URLSearchParams({ username: user.email })}`, fields);
    expect(reset.status).toBe(303);
    expect((await signIn(home, user, newPassword)).status).toBe(303);
    expect((await signIn(at('203.0.113.3'), user, newPassword)).status).toBe(303);
  });
});
