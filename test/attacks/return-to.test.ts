import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { type Answer, portOf, Visitor } from './wire.ts';

/** `security.md`, rule 10, as a visitor meets it: the table of addresses is in test/http/return-address.test.ts. */
describe.each([anyBackend])('a redirect parameter', (backend) => {
  let foyer: TestFoyer;
  let member: Visitor;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    member = new Visitor(portOf(foyer.url), foyer.url);
    await member.post('/sign-in', { username: (await foyer.addUser()).email, password });
  });
  afterAll(() => foyer?.close());

  const tricks = [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'https:evil.example',
    'javascript:alert(1)',
    'blob:http://localhost/x',
    '/logout',
    '/LOGOUT',
    '/x/..//logout',
    '/%6cogout',
    '/storage',
    '/sign-in',
    '/oauth2/logout',
    '/.//evil.example',
    'a\r\nLocation: https://evil.example',
    '\ud800',
    `/${'a'.repeat(5_000)}`,
  ];

  function expectAtHome(answer: Answer): void {
    expect(answer.status).toBe(303);
    const to = String(answer.headers.location);
    const address = new URL(to, foyer.url);
    expect([to, address.origin]).toEqual([to, foyer.url]);
    expect(address.pathname).not.toMatch(/^\/+(logout|storage|sign-in|oauth2)/i);
    // A path that looks like a host is only sent behind Foyer's own scheme and host.
    if (to.includes('evil')) expect(to.startsWith(`${foyer.url}//`)).toBe(true);
  }

  it('A redirect parameter leads a signed-in user only to pages of this site', async () => {
    for (const trick of tricks) {
      expectAtHome(
        await member.get(`/?${new URLSearchParams({ redirect: trick })}`, { 'sec-fetch-site': 'cross-site' }),
      );
    }
    // The request signed no user out.
    expect((await member.get('/')).status).toBe(303);
  });

  it('A redirect parameter leads only to this site after the sign-in, the terms and the language, too', async () => {
    for (const trick of tricks) {
      const search = `?${new URLSearchParams({ redirect: trick })}`;
      const fields = { decision: 'accept', version: String(foyer.deps.terms.number) };
      expectAtHome(await member.post(`/tos${search}`, fields));
      expectAtHome(await member.post('/language', { lang: 'en', redirect: trick }));
    }
    const user = await foyer.addUser();
    for (const trick of tricks.slice(0, 9)) {
      const visitor = new Visitor(portOf(foyer.url), foyer.url);
      const search = `?${new URLSearchParams({ redirect: trick })}`;
      expectAtHome(await visitor.post(`/sign-in${search}`, { username: user.email, password }));
    }
  });

  it('A redirect parameter that is given twice is ignored', async () => {
    expectAtHome(await member.get('/?redirect=/tos&redirect=https://evil.example'));
    expectAtHome(await member.get('/?redirect[]=https://evil.example'));
  });

  it('redirect_uri, state and client_id, which the specification carries along, cause no redirect by themselves', async () => {
    const search = '/?redirect_uri=https://evil.example/%22%3E%3Cscript%3E&state=%22%3E%3Cscript%3E';
    const visitor = new Visitor(portOf(foyer.url), foyer.url);
    for (const address of [search, `${search}&client_id=y`, '/?client_id=%22%3E%3Cscript%3E']) {
      for (const who of [member, visitor]) {
        const page = await who.get(address);
        expect([page.status, page.headers.location]).toEqual([400, undefined]);
        expect(page.text).not.toContain('"><script>');
        expect(page.text).not.toMatch(/(href|url|action)=["']?https:\/\/evil/i);
      }
    }
  });
});
