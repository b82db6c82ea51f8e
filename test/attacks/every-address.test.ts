import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type Route, routesOf } from '../support/routes.ts';
import { anyBackend } from '../support/stores.ts';
import { type Answer, portOf, Visitor } from './wire.ts';

/** Every parameter name in which a page of this or another site accepts an address. */
const names = [
  'redirect',
  'redirect_uri',
  'logout_uri',
  'post_logout_redirect_uri',
  'initiate_login_uri',
  'target_link_uri',
  'return_to',
  'returnTo',
  'next',
  'url',
];

/** Spellings that one reader or another understands as an address of evil.example. */
const tricks = [
  ['another site', 'https://evil.example/'],
  ['without a scheme', '//evil.example/'],
  ['userinfo', 'https://localhost@evil.example/'],
  ['userinfo with a port', 'https://localhost:3000@evil.example/'],
  ['a backslash', '/\\evil.example/'],
  ['backslashes', 'https:\\\\evil.example\\'],
  ['a backslash before userinfo', 'https://evil.example\\@localhost/'],
  ['encoded', '/%2fevil.example/'],
  ['encoded twice', '%252f%252fevil.example/'],
  ['an encoded backslash', '/%5cevil.example/'],
  ['unicode', 'https://evil。example/'],
  ['full-width', '／／evil.example/'],
  ['a way up', '/settings/..//evil.example/'],
  ['a way up, encoded', '/settings/%2e%2e//evil.example/'],
  ['a fragment', 'https://evil.example/#https://localhost/'],
  ['a wildcard', 'https://*.evil.example/'],
  ['a port', 'https://evil.example:443/'],
  ['case', 'HTTPS://EVIL.EXAMPLE/'],
  ['a tab', '/\t/evil.example/'],
  ['a line break', '/\r\nLocation: https://evil.example/'],
  ['a script', 'javascript:location="https://evil.example/"'],
  ['a document', 'data:text/html,<script>location="https://evil.example/"</script>'],
] as const;

/** Pages that a browser opens by their address; the sandbox has pages of its own. */
const isPage = ({ path, methods }: Route) => methods.includes('GET') && !path.startsWith('/sandbox');

/** The targets of an answer: redirects, links and forms. */
function leadsTo({ headers, text }: Answer): string[] {
  const pressed = [...text.matchAll(/\s(?:href|action|src|formaction)="([^"]*)"/g)].map(([, value = '']) => value);
  const refreshed = [...text.matchAll(/http-equiv="refresh" content="\d+; url=([^"]*)"/gi)].map(
    ([, value = '']) => value,
  );
  const [location, link] = [headers.location, headers.refresh];
  return [...pressed, ...refreshed, ...[location, link].flatMap((one) => (one === undefined ? [] : [String(one)]))].map(
    (value) => value.replaceAll('&amp;', '&').replaceAll('&#x27;', "'"),
  );
}

const isEvil = (address: string, site: string): boolean => {
  const url = URL.parse(address, site);
  return !url || !['http:', 'https:', 'mailto:'].includes(url.protocol) || url.hostname.endsWith('evil.example');
};

describe.each([anyBackend])('an address in the query of any page', (backend) => {
  let foyer: TestFoyer;
  let member: Visitor;
  let visitor: Visitor;
  let pages: string[];
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    await foyer.addClient({ id: 'known', redirectUris: ['https://app.example.com/old/'], legacyIdTokenRedirect: true });
    pages = routesOf(foyer.app.express)
      .filter(isPage)
      .map(({ path }) => path);
    visitor = new Visitor(portOf(foyer.url), foyer.url);
    member = new Visitor(portOf(foyer.url), foyer.url);
    await member.post('/sign-in', { username: (await foyer.addUser()).email, password });
  });
  afterAll(() => foyer?.close());

  it('The tested pages include those that take no address and those that take one', () => {
    for (const path of ['/', '/tos', '/verify-user', '/logout', '/settings/mfa', '/re-authenticate']) {
      expect(pages).toContain(path);
    }
    expect(pages.length).toBeGreaterThan(40);
  });

  it.each(tricks)('No page redirects or links to an address of this form: %s', async (_what, trick) => {
    const query = new URLSearchParams(names.map((name) => [name, trick]));
    const named = new URLSearchParams([...query, ['client_id', 'known']]);
    // A sign-out would end the test; a cross-site request has to be confirmed first.
    const from = { 'sec-fetch-site': 'cross-site' };
    // Each page gets some of the spellings; the pages that accept addresses get all of them.
    const part = tricks.findIndex(([, one]) => one === trick) % 4;
    const chosen = pages.filter((_path, index) => index % 4 === part);
    for (const path of new Set([...chosen, '/', '/tos', '/verify-user', '/logout', '/re-authenticate', '/signup'])) {
      for (const who of [member, visitor]) {
        const answer = await who.get(`${path}?${path === '/' ? named : query}`, from);
        expect([path, answer.status < 500, leadsTo(answer).filter((to) => isEvil(to, foyer.url))]).toEqual([
          path,
          true,
          [],
        ]);
      }
    }
    expect((await member.get('/')).status).toBe(303);
  });

  it.each(tricks)('No posted form redirects or links to an address of this form: %s', async (_what, trick) => {
    const query = new URLSearchParams({ redirect: trick, redirect_uri: trick });
    for (const path of [
      '/sign-in',
      '/tos',
      '/re-authenticate',
      '/second-factor',
      '/verify-code',
      '/signup',
      '/forgot-password',
    ]) {
      const fields = { redirect: trick, username: 'unknown@example.com', password: 'wrong', decision: 'decline' };
      const answer = await visitor.post(`${path}?${query}`, fields);
      expect([path, leadsTo(answer).filter((to) => isEvil(to, foyer.url))]).toEqual([path, []]);
    }
  });
});
