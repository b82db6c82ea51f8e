import { routes } from '../../server/oidc/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

/** RFC 6749, section 3: endpoints have exact addresses. At any other address a program gets an error in JSON. */
describe.each(backends)('protocol endpoints with a slash at the end, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const { token, userinfo, jwks, revocation, introspection, pushed_authorization_request: par } = routes;
  const machine = [token, userinfo, jwks, revocation, introspection, par, routes.device_authorization];

  it.each([...machine, '/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'])(
    '%s/ answers 404 in JSON for each method and media type',
    async (path) => {
      for (const method of ['GET', 'POST', 'PUT', 'OPTIONS']) {
        for (const accept of ['*/*', 'text/html', 'application/json']) {
          const answer = await sendRequest(`${foyer.url}${path}/`, {
            method,
            headers: { accept },
            ...(method === 'POST' && { body: new URLSearchParams({ grant_type: 'client_credentials' }) }),
          });
          expect([method, accept, answer.status, answer.headers.get('content-type')]).toEqual([
            ...[method, accept, 404],
            expect.stringContaining('application/problem+json'),
          ]);
        }
      }
    },
  );

  it.each([routes.end_session, routes.code_verification])('%s/ answers 404 with a page', async (path) => {
    for (const method of ['GET', 'POST']) {
      const answer = await sendRequest(`${foyer.url}${path}/`, { method, headers: { accept: 'text/html' } });
      expect([method, answer.status, answer.headers.get('content-type')]).toEqual([
        ...[method, 404],
        expect.stringContaining('text/html'),
      ]);
    }
  });

  it('The authorization endpoint also exists with a final slash', async () => {
    const answer = await sendRequest(`${foyer.url}${routes.authorization}/`, { redirect: 'manual' });
    expect(answer.status).not.toBe(404);
  });
});
