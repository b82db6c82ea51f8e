import { isRefusal } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { routesOf } from '../support/routes.ts';
import { anyBackend } from '../support/stores.ts';

/** The part of a page that is its own, without header and footer, whose forms are everywhere. */
const mainOf = (html: string) => /<main.*<\/main>/s.exec(html)?.[0] ?? '';

describe('a form that is refused', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  /** Fields that no form takes. */
  const nonsense = {
    username: '',
    password: '',
    code: '1',
    email: 'x',
    name: '',
    given_name: '',
    method: 'none at all',
  };

  it('A refused form at any page redirects to the page with the reason, so that no POST answers with a form', async () => {
    const paths = routesOf(foyer.app.express)
      .filter(
        ({ path, methods }) => methods.includes('GET') && methods.includes('POST') && !path.startsWith('/sandbox'),
      )
      .map(({ path }) => path);
    expect(paths.length).toBeGreaterThan(25);
    const refused = new Set<string>();
    for (const path of paths) {
      const member = await foyer.signedIn(await foyer.addUser({ phone: null }));
      for (const who of [foyer.browser(), member]) {
        const answer = await who.submit(path, nonsense);
        const html = await answer.text();
        const form = answer.status !== 303 && /<form[^>]* method="post"/.test(mainOf(html));
        expect([path, answer.status, form]).toEqual([path, answer.status, false]);
        if (!isRefusal(answer.status, answer.headers.getSetCookie())) continue;
        refused.add(path);
        // The page that follows is the form, with a reason.
        const shown = await who.get(answer.headers.get('location') ?? '');
        const reached = shown.status === 303 ? await who.get(shown.headers.get('location') ?? '') : shown;
        expect([path, reached.status >= 400, mainOf(await reached.text()) !== '']).toEqual([path, true, true]);
      }
    }
    expect([...refused].toSorted()).toEqual([
      '/cancel-factor-reset',
      '/forgot-password',
      '/oauth2/device',
      '/plan-purchase-appsumo/',
      '/re-authenticate',
      '/reset-password',
      '/settings/delete-account',
      '/settings/email',
      '/settings/mfa',
      '/settings/mfa/totp/activate',
      '/settings/name',
      '/settings/passkeys/add',
      '/settings/password',
      '/settings/phone',
      '/settings/picture',
      '/settings/profile',
      '/sign-in',
      '/signup',
      '/signup/emailCaptured',
      '/signup/plan/x',
      '/signup/plan/x/emailCaptured',
      '/undo-email-change',
      '/verify-code',
    ]);
  });
});
