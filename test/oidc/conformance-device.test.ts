import { device } from '../support/devices.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

/** Requirements of RFC 8628 in docs/conformance.md that no other test shows. */
describe('device authorization', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  const post = async (path: string, fields: Record<string, string>) => {
    const answer = await sendRequest(foyer.url + path, { method: 'POST', body: new URLSearchParams(fields) });
    return { answer, body: (await answer.json()) as Record<string, unknown> };
  };

  it('The device authorization endpoint answers no-store JSON with everything the device shows (section 3.2)', async () => {
    const radio = await device(foyer);
    const { answer, body } = await post('/oauth2/device_authorization', { client_id: radio.id, scope: 'openid' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    for (const name of ['device_code', 'user_code', 'verification_uri', 'verification_uri_complete'])
      expect(body[name]).toEqual(expect.any(String));
    // The device code has at least 128 bits, because no user types it (section 6.1).
    expect(String(body.device_code).length).toBeGreaterThan(21);
    expect(body.expires_in).toBeGreaterThan(0);
    expect(body.interval ?? 5).toBeLessThanOrEqual(5);
  });

  it('Device authorization needs a client that is registered for it and that authenticates (sections 3.1 and 3.4)', async () => {
    const [web, secret] = [await foyer.addClient({ public: true }), await device(foyer, { public: false })];
    const ask = (id: string) => post('/oauth2/device_authorization', { client_id: id, scope: 'openid' });
    const [notRegistered, without, unknown] = [await ask(web.id), await ask(secret.id), await ask('unknown-client')];
    // RFC 6749, section 5.2, calls this unauthorized_client; the library has another code.
    expect([notRegistered.answer.status, notRegistered.body.error]).toEqual([400, 'invalid_request']);
    expect([without.answer.status, without.body.error]).toEqual([401, 'invalid_client']);
    expect([unknown.answer.status, unknown.body.error]).toEqual([401, 'invalid_client']);
  });

  it.each<Record<string, string>>([{}, { scope: 'unheard-of' }])(
    'A device authorization request with %j is refused with invalid_scope at once (RFC 6749, section 3.3)',
    async (asked) => {
      const radio = await device(foyer);
      const { answer, body } = await post('/oauth2/device_authorization', { client_id: radio.id, ...asked });
      expect([answer.status, body.error, body.user_code]).toEqual([400, 'invalid_scope', undefined]);
    },
  );
});
