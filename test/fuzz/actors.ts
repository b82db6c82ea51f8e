import type { User } from '../../server/users/index.ts';
import { memberWithSms, memberWithTotp, toChallenge } from '../sign-in/factor-steps.ts';
import { begin, newAddress } from '../sign-up/steps.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { beginSaml, type SamlAttempt } from '../support/saml.ts';
import type { FuzzApps } from './apps.ts';
import type { Form } from './forms.ts';
import { formsIn, linksIn } from './forms.ts';

/** A browser in some state of the product, with the pages and forms that it can reach. */
export interface Actor {
  name: string;
  cookie: string;
  forms: Form[];
  links: string[];
}

type Prepare = (foyer: TestFoyer, apps: FuzzApps) => Promise<{ browser: Browser; begin?: string[] }>;

const visitorAt =
  (...begin: string[]): Prepare =>
  async (foyer) => ({ browser: foyer.browser(), begin });

async function signedIn(foyer: TestFoyer, user?: User, ...begin: string[]) {
  return { browser: await foyer.signedIn(user ?? (await foyer.addUser())), begin: ['/settings', ...begin] };
}

/** The target of an answer on this site. */
async function follow(browser: Browser, path: string): Promise<string> {
  const location = (await browser.get(path, { from: 'cross-site' })).headers.get('location');
  return location ?? path;
}

/** States that a browser can be in. Each is prepared through the product's own pages. */
const prepared: Record<string, Prepare> = {
  visitor: visitorAt('/', '/signup', '/forgot-password', '/device', '/tos', '/logout'),
  'visitor with a pending authorization request': async (foyer, apps) => {
    const browser = foyer.browser();
    return { browser, begin: [await follow(browser, (await apps.web.begin()).url)] };
  },
  'visitor who signs up': async (foyer) => {
    const browser = foyer.browser();
    await begin(foyer, browser, newAddress());
    return { browser, begin: ['/signup/verify', '/signup'] };
  },
  'visitor who resets a password': async (foyer) => {
    const [browser, user] = [foyer.browser(), await foyer.addUser()];
    await browser.post('/forgot-password', { username: user.email });
    return { browser, begin: [`/reset-password?username=${encodeURIComponent(user.email)}`] };
  },
  'member at the second factor': async (foyer) => {
    const [browser, { user }] = [foyer.browser(), await memberWithTotp(foyer)];
    await toChallenge(browser, user);
    return { browser, begin: ['/second-factor'] };
  },
  'member at the second factor by text message': async (foyer) => {
    const [browser, { user }] = [foyer.browser(), await memberWithSms(foyer)];
    await toChallenge(browser, user);
    return { browser, begin: ['/second-factor'] };
  },
  member: (foyer) => signedIn(foyer, undefined, '/re-authenticate', '/dashboard', '/plan-purchase/1'),
  'member at a consent': async (foyer, apps) => {
    const { browser } = await signedIn(foyer);
    return { browser, begin: [await follow(browser, (await apps.partner.begin({ prompt: 'consent' })).url)] };
  },
  'member who must accept the terms': async (foyer) =>
    signedIn(foyer, await foyer.addUser({ acceptedTosVersion: null }), '/tos', '/'),
  'member who connects a device': async (foyer, apps) => {
    const { browser } = await signedIn(foyer);
    return { browser, begin: [`/device?user_code=${await apps.userCode()}`] };
  },
};

/** Reads the forms of a page, and of the pages that it links to, up to this many. */
async function crawl(
  browser: Browser,
  begin: readonly string[],
  limit: number,
): Promise<Pick<Actor, 'forms' | 'links'>> {
  const waiting = [...begin];
  const seen = new Set<string>();
  const forms: Form[] = [];
  for (let path = waiting.shift(); path !== undefined && seen.size < limit; path = waiting.shift()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const answer = await browser.get(path);
    const location = answer.headers.get('location');
    if (location !== null && new URL(location, answer.url).origin === new URL(answer.url).origin)
      waiting.unshift(location);
    if (!answer.headers.get('content-type')?.startsWith('text/html')) continue;
    const html = await answer.text();
    forms.push(...formsIn(html, answer.url).filter(({ action }) => !action.endsWith('/logout')));
    waiting.push(...linksIn(html, answer.url).filter((link) => !link.startsWith('/sandbox')));
  }
  return { forms, links: [...seen] };
}

export async function prepareActors(foyer: TestFoyer, apps: FuzzApps): Promise<Actor[]> {
  const actors: Actor[] = [];
  for (const [name, prepare] of Object.entries(prepared)) {
    const { browser, begin = [] } = await prepare(foyer, apps);
    const { forms, links } = await crawl(browser, begin, 40);
    actors.push({ name, forms, links, cookie: await browser.jar.getCookieString(foyer.url) });
  }
  return actors;
}

/** A sign-in at the SAML provider that waits for its answer. */
export const samlAttempt = (foyer: TestFoyer): Promise<SamlAttempt> => beginSaml(foyer);
