import { translator } from '../../sandbox/texts.ts';
import { sendRequest } from '../support/send-request.ts';
import { askToSignIn } from './steps.ts';
import type { Stop } from './tour.ts';
import type { TourSteps } from './tour-steps.ts';

const storage = /\/storage(\?|$)/;
const resume = /\/oauth2\/authorize\/./;

/** Requests of client apps: verification, consent and sign-out. */
export function clientAppStops(steps: TourSteps): Stop[] {
  const { guide, url, demoUrl, submit, signIn, heading, atConsent, at } = steps;
  return [
    { name: 'sign-in after the request expired', open: at('/?authorization_code=long-gone') },
    {
      name: 'verify-user',
      async open(page, lang) {
        // Never answered.
        await page.route(storage, () => {});
        await askToSignIn(page, demoUrl(), translator(lang));
        await submit(page, lang);
        await heading(page, translator(lang)('oauth.verify.title'));
      },
    },
    {
      name: 'verify-user failed',
      async open(page, lang) {
        await page.route(storage, (route) => route.fulfill({ json: { status: 503 } }));
        await askToSignIn(page, demoUrl(), translator(lang));
        await submit(page, lang);
        await page.getByRole('alert').waitFor();
      },
    },
    { name: 'consent', open: atConsent },
    {
      name: 'consent, with the membership',
      otherWords: true,
      async open(page, lang) {
        const { sandbox, thirdPartyUrl } = guide();
        await signIn(page);
        const asked = await sendRequest(`${thirdPartyUrl}/sign-in`, { redirect: 'manual' });
        const address = new URL(asked.headers.get('location') ?? sandbox.foyer.url);
        address.searchParams.set('scope', 'openid profile email membership');
        await page.goto(address.href);
        await heading(page, translator(lang)('oauth.consent.title', { clientName: 'Orchard Analytics' }));
      },
    },
    {
      name: 'consent, with credentials and the card',
      otherWords: true,
      async open(page, lang) {
        const { desk } = guide();
        await signIn(page);
        await page.goto((await desk.begin({ prompt: 'consent' })).url);
        await heading(page, translator(lang)('oauth.consent.title', { clientName: 'Member Desk' }));
      },
    },
    {
      name: 'going on to an app',
      async open(page, lang) {
        const t = translator(lang);
        await atConsent(page, lang);
        // The navigation never happens, so that the page stays.
        await page.route(resume, (route) => route.abort('aborted'));
        await page.getByRole('button', { name: t('oauth.consent.allow') }).click();
        await heading(page, t('common.redirect.titleTo', { clientName: 'Orchard Analytics' }));
      },
    },
    {
      name: 'sign-out question',
      async open(page, lang) {
        await signIn(page);
        const query = new URLSearchParams({
          response_type: 'code',
          client_id: 'demo-app',
          redirect_uri: `${demoUrl()}/callback`,
          code_challenge: 'x'.repeat(43),
          code_challenge_method: 'S256',
        });
        await page.goto(`${url()}/logout?${query}`);
        await page.getByText(translator(lang)('oauth.signOut.switches', { clientName: 'Demo app' })).waitFor();
      },
    },
    {
      name: 'sign-out question for an unknown app',
      async open(page, lang) {
        await signIn(page);
        await page.goto(`${url()}/oauth2/logout?post_logout_redirect_uri=${demoUrl()}/bye`);
        await page.getByText(translator(lang)('oauth.signOut.fromUnknownApp')).waitFor();
      },
    },
    {
      name: 'sign-in after the session has ended',
      async open(page) {
        await page.context().addCookies([{ name: 'foyer_session', value: 'ended', url: url() }]);
        await page.goto(`${url()}/?redirect=/settings`);
      },
    },
  ];
}
