import { type ClientRequest, clientMetadata, InvalidClientRequest } from '../../server/oidc/index.ts';

const good = 'https://shop.example.com/callback';

/** The faults of a registration, in production unless `development` is set. */
function faultsOf(change: Partial<ClientRequest>, development = false): readonly string[] {
  try {
    clientMetadata({ id: 'shop', name: 'Shop', redirectUris: [good], ...change }, { development });
    return [];
  } catch (error) {
    if (error instanceof InvalidClientRequest) return error.faults;
    throw error;
  }
}

const ways: [what: string, change: (uri: string) => Partial<ClientRequest>][] = [
  ['redirect address', (uri) => ({ redirectUris: [good, uri] })],
  ['redirect address of an id_token client', (uri) => ({ redirectUris: [uri], responseTypes: ['id_token'] })],
  ['logout address', (uri) => ({ logoutUris: [uri] })],
  ['back-channel logout address', (uri) => ({ backchannelLogoutUri: uri })],
  ['start address for sign-ins', (uri) => ({ logbackUri: uri })],
];

/** Core 1.0, sections 3.1.2.1 and 3.2.2.1; RP-Initiated Logout 1.0, section 3.1; Back-Channel Logout 1.0, section 2.2. */
describe.each(ways)('the %s of a client app', (_what, change) => {
  it('An absolute https address is accepted in production', () => {
    expect(faultsOf(change(good))).toEqual([]);
    expect(faultsOf(change(`${good}?app=1`))).toEqual([]);
  });

  it.each([
    ['with plain http', 'http://shop.example.com/x'],
    ['with plain http on this machine', 'http://localhost:3000/x'],
    ['that is a path alone', '/callback'],
    ['without a scheme', '//shop.example.com/x'],
    ['with a fragment', `${good}#x`],
    ['with an empty fragment', `${good}#`],
    ['with a user', 'https://user@shop.example.com/x'],
    ['with a wildcard', 'https://*.example.com/x'],
    ['with a space', 'https://shop.example.com/a b'],
    ['with a backslash', 'https://shop.example.com\\x'],
    ['with another scheme', 'ftp://shop.example.com/x'],
    ['that is a script', 'javascript:alert(1)'],
    ['that is empty', ''],
  ])('An address %s is refused in production', (_how, uri) => {
    expect(faultsOf(change(uri))).toEqual([expect.stringContaining(uri)]);
  });

  it('A plain http address is accepted only on this machine and only in development', () => {
    expect(faultsOf(change('http://127.0.0.1:4000/x'), true)).toEqual([]);
    expect(faultsOf(change('http://shop.example.com/x'), true)).toHaveLength(1);
  });
});

it('A private scheme of a client that is not native is refused with the option that allows it', () => {
  const redirectUris = ['com.example.app:/callback'];
  expect(faultsOf({ redirectUris })).toEqual([expect.stringMatching(/must begin with https:\/\/.*--native/)]);
  expect(faultsOf({ redirectUris, native: true })).toEqual([]);
});
