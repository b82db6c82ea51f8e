import type { User } from '../../server/users/index.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { manyCards, type Shop, startShop } from '../billing/steps.ts';
import { locationOf } from '../support/browser.ts';
import { anyBackend } from '../support/stores.ts';

const path = '/cancel-membership';
const linkPath = '/cancel-membership/link';

describe('cancelling a membership without a sign-in', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards);
  });
  afterAll(() => shop?.close());

  /** A member who pays for Starter. */
  async function subscriber(): Promise<User> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    return user;
  }
  const mailed = async (email: string) =>
    (await shop.foyer.mails(email)).filter(({ template }) => template === 'cancel-link');
  /** The token of the newest mail. */
  async function tokenOf({ email }: User): Promise<string> {
    const { values } = (await mailed(email)).at(-1) ?? {};
    const url = new URL(String(new Map(Object.entries(values ?? {})).get('cancelUrl')));
    return url.searchParams.get('token') ?? '';
  }
  async function tokenFor(user: User): Promise<string> {
    await shop.foyer.browser().post(path, { email: user.email });
    return tokenOf(user);
  }
  const standing = async ({ id }: User) => shop.membership.refresh(id);

  it('The footer of the first page links to it, and the page asks for the address alone', async () => {
    const browser = shop.foyer.browser();
    expect(await (await browser.get('/')).text()).toContain(`href="${path}"`);
    const html = await (await browser.get(path)).text();
    expect(wordsOf(html)).toContain('You don’t need your password.');
    expect(html.match(/<input(?![^>]*hidden)[^>]*name="([^"]*)"/g)).toHaveLength(1);
  });

  it('The mailed link ends the membership with its period, without a cookie, and a mail confirms it', async () => {
    const user = await subscriber();
    const browser = shop.foyer.browser();
    const answer = await browser.post(path, { email: ` ${user.email.toUpperCase()} ` });
    expect([answer.status, locationOf(answer)]).toEqual([
      303,
      `${shop.foyer.url}${path}?sent#cancel-by-mail:sent/${user.email.toUpperCase()}`,
    ]);
    const sent = wordsOf(await (await browser.get(locationOf(answer))).text());
    expect(sent).toContain(`an account with ${user.email.toUpperCase()}, a link is on its way to it`);
    expect(wordsOf(await (await browser.get(`${path}?sent`)).text())).toContain('an account with this address');
    const token = await tokenOf(user);
    const other = shop.foyer.browser();
    const page = await other.get(`${linkPath}?${new URLSearchParams({ token })}`);
    expect(wordsOf(await page.text())).toMatch(
      /You’re about to cancel Starter.* Until \w+ \d+, \d{4} you keep everything/,
    );
    expect(await standing(user)).toMatchObject({ cancelAtPeriodEnd: false });
    expect(locationOf(await other.post(linkPath, { token }))).toBe(`${shop.foyer.url}${linkPath}?done=done`);
    expect(await standing(user)).toMatchObject({ status: 'active', cancelAtPeriodEnd: true });
    expect((await shop.foyer.mails(user.email)).map(({ template }) => template)).toContain('plan-cancelled');
  });

  it('An address without an account gets the same answer, and no mail leaves (user enumeration)', async () => {
    const user = await subscriber();
    const [known, unknown] = await Promise.all(
      [user.email, 'stranger@example.net'].map((email) => shop.foyer.browser().post(path, { email })),
    );
    const seen = async (answer: Response | undefined) => ({
      status: answer?.status,
      location: answer?.headers.get('location')?.replace(/sent\/.*/, 'sent/the address that was entered'),
      body: await answer?.text(),
      cookies: answer?.headers.getSetCookie().map((cookie) => cookie.split('=')[0]),
    });
    expect(await seen(unknown)).toEqual(await seen(known));
    expect(await mailed('stranger@example.net')).toEqual([]);
    expect(await mailed(user.email)).toHaveLength(1);
  });

  it('A mail service that opens the link cancels nothing', async () => {
    const user = await subscriber();
    const token = await tokenFor(user);
    for (let i = 0; i < 3; i += 1) {
      await shop.foyer.browser().get(`${linkPath}?${new URLSearchParams({ token })}`);
    }
    expect(await standing(user)).toMatchObject({ cancelAtPeriodEnd: false });
  });

  it('A link works once: after Resume the same link does not cancel again (replay)', async () => {
    const user = await subscriber();
    const token = await tokenFor(user);
    const answers = await Promise.all([1, 2, 3].map(() => shop.foyer.browser().post(linkPath, { token })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404, 404]);
    expect(await shop.membership.resume(user)).toBe('resumed');
    expect((await shop.foyer.browser().post(linkPath, { token })).status).toBe(404);
    expect(await standing(user)).toMatchObject({ cancelAtPeriodEnd: false });
  });

  it('A guessed, a cut and a lengthened token lead to one page and cancel nothing', async () => {
    const user = await subscriber();
    const token = await tokenFor(user);
    for (const wrong of [token.slice(1), `${token.slice(1)}A`, 'x'.repeat(43), '', `${token}${token}`]) {
      const page = await shop.foyer.browser().get(`${linkPath}?${new URLSearchParams({ token: wrong })}`);
      expect([page.status, wordsOf(await page.text())]).toEqual([
        404,
        expect.stringContaining('This link isn’t valid any more'),
      ]);
      expect((await shop.foyer.browser().post(linkPath, { token: wrong })).status).toBe(404);
    }
    expect(await standing(user)).toMatchObject({ cancelAtPeriodEnd: false });
  });

  it('A member without a plan learns that there is nothing to cancel', async () => {
    const user = await shop.foyer.addUser();
    const token = await tokenFor(user);
    const page = await shop.foyer.browser().get(`${linkPath}?${new URLSearchParams({ token })}`);
    expect(wordsOf(await page.text())).toContain('There’s nothing to cancel');
  });

  it('An invalid address gets a clear error and keeps what was typed', async () => {
    const answer = await shop.foyer.browser().post(path, { email: 'vera@' });
    const shown = answer.status === 303 ? await shop.foyer.browser().get(locationOf(answer)) : answer;
    const html = await shown.text();
    expect(html).toContain('Please enter a valid email address.');
    expect(html).toContain('value="vera@"');
  });

  it('A stranger can have three mails a day sent to one address, and ten an hour from one network', async () => {
    const user = await subscriber();
    const statuses: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      statuses.push((await shop.foyer.browser().post(path, { email: user.email })).status);
    }
    expect(statuses).toEqual([303, 303, 303, 429]);
    expect(await mailed(user.email)).toHaveLength(3);
    for (let i = 0; i < 10; i += 1) {
      statuses.push((await shop.foyer.browser().post(path, { email: `stranger${i}@example.net` })).status);
    }
    expect(statuses.at(-1)).toBe(429);
  });
});
