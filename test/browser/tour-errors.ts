import { Browser, locationOf } from '../support/browser.ts';

import type { Stop } from './tour.ts';
import type { TourSteps } from './tour-steps.ts';

/** Error pages, and pages of a request that began in another browser. */
export function errorStops(steps: TourSteps): Stop[] {
  const { url, demoUrl, at } = steps;
  /** Starts a request in another browser and returns the query of its pages. */
  const begunElsewhere = async () => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: 'demo-app',
      scope: 'openid',
      redirect_uri: `${demoUrl()}/callback`,
      code_challenge: 'x'.repeat(43),
      code_challenge_method: 'S256',
    });
    return new URL(locationOf(await new Browser(url()).get(`/oauth2/authorize?${query}`))).search;
  };

  return [
    { name: '404', open: at('/no-such-page') },
    { name: '404 of settings', open: at('/settings/no-such-page') },
    { name: 'error', open: at('/oauth2/authorize?client_id=unknown-client') },
    {
      name: 'request begun elsewhere',
      async open(page) {
        await page.goto(`${url()}/begin-again${await begunElsewhere()}`);
      },
    },
    {
      name: 'sign-in after a request begun elsewhere',
      async open(page) {
        await page.goto(`${url()}/${await begunElsewhere()}`);
      },
    },
  ];
}
