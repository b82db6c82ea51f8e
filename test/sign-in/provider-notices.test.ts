import type { TestFoyer } from '../support/foyer.ts';
import { codeFlowKinds, idsOnPages, providerIds } from '../support/provider-kinds.ts';
import type { TestProviders } from '../support/providers.ts';
import { comeBy, type ProviderSetup, plain, startWithProviders, ways } from './provider-steps.ts';

let setup: ProviderSetup;
let foyer: TestFoyer;
let providers: TestProviders;
beforeAll(async () => {
  setup = await startWithProviders();
  ({ foyer, providers } = setup);
});
afterAll(() => setup?.close());

describe('the notice after a failed attempt', () => {
  async function pageAfter(notice: string, address: string) {
    const browser = foyer.browser();
    await browser.announce(notice);
    const answer = await browser.get(address);
    return { status: answer.status, html: await answer.text() };
  }

  it.each([
    ['cancelled', 'notice info', 'You came back from Google without signing in there.'],
    ['unreachable', 'notice error', 'Google isn’t answering right now.'],
    ['no-email', 'notice error', 'Google didn’t give us an email address'],
    ['offer', 'notice info', 'You already have an account with the email address from Google.'],
  ])('The notice %s has its own text', async (why, look, text) => {
    const { html } = await pageAfter(`federation:${why}/google`, '/');
    expect(html).toContain(`class="${look}"`);
    expect(plain(html)).toContain(text);
  });

  it('The notice of a link offer hides the button of that provider', async () => {
    const { html } = await pageAfter('federation:offer/google', '/?redirect=%2Ffederation%2Flink');
    expect(ways(html).map((way) => way?.split('?')[0])).not.toContain('/federation/google');
    expect(ways(html)).toHaveLength(idsOnPages.length - 1);
  });

  it.each(['federation:cancelled/okta', 'federation:hacked/google'])(
    'An unknown provider or notice shows nothing: %s',
    async (notice) => {
      const { status, html } = await pageAfter(notice, '/');
      expect(status).toBe(200);
      expect(html).not.toMatch(/class="notice/);
    },
  );

  it('A failed attempt keeps the return address', async () => {
    const browser = foyer.browser();
    providers.answerAs('refuse', 'google');
    const back = (await comeBy(browser, '/federation/google?redirect=%2Fsettings')).headers.get('location') ?? '';
    expect(back).toBe('/?redirect=%2Fsettings#federation:cancelled/google');
    const html = await (await browser.get(back)).text();
    expect(html).toContain('action="/sign-in?redirect=%2Fsettings"');
  });

  it('The redirect ends with an empty fragment, which removes the one that Facebook adds', async () => {
    providers.answerAs('refuse', 'facebook');
    const { headers } = await comeBy(foyer.browser(), '/federation/facebook');
    expect([headers.get('sent-location'), headers.get('location')]).toEqual(['/#', '/#federation:cancelled/facebook']);
  });

  it.each(codeFlowKinds.map((kind) => providerIds[kind]))(
    'A sign-up by %s that fails leads back to the sign-up page with the plan',
    async (id) => {
      const browser = foyer.browser();
      const notice = `#federation:cancelled/${id}`;
      const way = `/federation/${id}?redirect=%2Fsettings`;
      const back = async (path: string) => {
        providers.answerAs('refuse');
        const answer = await comeBy(browser, path, { at: 'sign-up' });
        return answer.headers.get('location')?.replace(/#$/, '') ?? '';
      };
      expect(await back(way)).toBe(`/signup?redirect=%2Fsettings${notice}`);
      const withPlan = await back(`${way}&planHash=growth-42`);
      expect(withPlan).toBe(`/signup/plan/growth-42?redirect=%2Fsettings${notice}`);
      const html = await (await browser.get(withPlan)).text();
      expect(html).toMatch(/class="notice info".*without signing in there.*Try again/s);
      expect(ways(html)).toContain('/federation/google?redirect=%2Fsettings&planHash=growth-42');
      expect(html).toMatch(/<form id="provider-buttons"[^>]*><input type="hidden" name="at" value="sign-up"/);
    },
  );

  it('A sign-up that the provider does not allow leads to the sign-in page', async () => {
    providers.answerAs({ ...providers.people.amazon.ada, email: 'new-user@example.com' }, 'amazon');
    const back = await comeBy(foyer.browser(), '/federation/amazon', { at: 'sign-up' });
    expect(back.headers.get('location')).toBe('/#federation:sign-up-closed/amazon');
  });
});
