import { toRelyingParty } from '../../server/passkeys/index.ts';

describe('the relying party of passkeys', () => {
  it.each([
    ['https://login.example.com', 'login.example.com'],
    ['https://login.example.com:8443', 'login.example.com'],
    ['http://localhost:3000', 'localhost'],
    ['http://foyer.localhost:3000', 'foyer.localhost'],
  ])('%s has its own host as id, never the parent domain, and its own origin alone', (publicUrl, id) => {
    expect(toRelyingParty(publicUrl)).toEqual({ id, origin: publicUrl });
  });

  it.each(['http://login.example.com', 'http://127.0.0.1:3000', 'https://192.0.2.7', 'https://[2001:db8::1]'])(
    '%s has no relying party, as browsers support no passkeys there',
    (publicUrl) => {
      expect(toRelyingParty(publicUrl)).toBeUndefined();
    },
  );
});
