import type { SamlResponseOptions } from '../../sandbox/providers/index.ts';
import { buildLogoutRequest, redirectAddress } from '../../sandbox/providers/index.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { startWithProviders } from '../support/foyer-with-providers.ts';
import type { TestProviders } from '../support/providers.ts';
import { answerXml, arrive, beginSaml, federationLog } from '../support/saml.ts';
import { backends } from '../support/stores.ts';

/** Two NameIDs that differ only in white space belong to two people. */
describe.each(backends)('the name of a person in a SAML answer, on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  startWithProviders(
    backend,
    (started) => ({
      GUESS_LIMIT_ADDRESS: '100000',
      ...started.environment((file) => ({
        ...file,
        providers: [
          ...file.providers,
          {
            ...(file.providers[1] as object),
            id: 'by-number',
            entityId: 'https://number.example',
            domains: ['number.example'],
            subject: 'number',
          },
        ],
      })),
    }),
    (setting) => {
      ({ foyer, providers } = setting);
    },
  );

  const rows = () => foyer.stores.database.db.selectFrom('federatedIdentities').selectAll().orderBy('id').execute();
  async function come(change: SamlResponseOptions, provider = 'acme-saml') {
    const attempt = await beginSaml(foyer, { provider });
    const to = await arrive(foyer, attempt, await answerXml(providers, attempt, change));
    return { to, browser: attempt.browser, signedIn: (await attempt.browser.get('/')).status === 303 };
  }

  const padded: [string, string][] = [
    ['a space behind it', 'victim-7 '],
    ['a space before it', ' victim-7'],
    ['a no-break space behind it', 'victim-7\u00a0'],
    ['a byte order mark before it', '\ufeffvictim-7'],
    ['an em space behind it', 'victim-7\u2003'],
  ];

  it.each(padded)(
    'A NameID of another person with %s is refused, and no linked account changes',
    async (_how, nameId) => {
      const victim = { nameId: 'victim-7', attributes: { mail: 'victim-7@corp.acme.example' } };
      expect((await come(victim)).signedIn).toBe(true);
      const before = await rows();
      const attack = await come({ nameId, attributes: { mail: 'mallory@corp.acme.example' } });
      expect(attack.to).toContain('#federation:invalid');
      expect(attack.signedIn).toBe(false);
      expect(federationLog(foyer).at(-1)).toMatchObject({
        outcome: 'invalid',
        detail: 'the NameID has white space at its start or end',
      });
      expect(await rows()).toEqual(before);
      expect((await come(victim)).signedIn).toBe(true);
    },
  );

  it('Names in other letter case or with a zero-width space belong to other people', async () => {
    const names = ['apart', 'APART', 'apart\u200b', 'ap\u0061\u0301rt', 'ap\u00e1rt'];
    for (const [at, nameId] of names.entries())
      expect((await come({ nameId, attributes: { mail: `apart${at}@corp.acme.example` } })).signedIn).toBe(true);
    const subjects = (await rows()).map(({ subject }) => subject);
    for (const nameId of names) expect(subjects.filter((one) => one === nameId)).toHaveLength(1);
  });

  it('A NameID with an element in it is refused', async () => {
    const nested = {
      nameId: 'victim-7',
      assertionBeforeSigning: (xml: string) => xml.replace('>victim-7<', '>victim<saml:x/>-7<'),
    };
    expect((await come(nested)).signedIn).toBe(false);
    expect(federationLog(foyer).at(-1)?.detail).toBe('the NameID has elements in it');
  });

  describe('a name in an attribute that the configuration names', () => {
    const issuer = 'https://number.example';
    const by = (number: string | string[], mail: string) =>
      come({ issuer, nameId: 'any', attributes: { number, mail: `${mail}@number.example` } }, 'by-number');

    it.each(padded)(
      'A configured attribute with %s is refused, and no linked account changes',
      async (_how, number) => {
        expect((await by('victim-7', 'victim')).signedIn).toBe(true);
        const before = await rows();
        expect((await by(number, 'mallory')).signedIn).toBe(false);
        expect(federationLog(foyer).at(-1)?.detail).toBe(
          'the attribute that names the person has white space at its start or end',
        );
        expect(await rows()).toEqual(before);
      },
    );

    it.each([
      ['a blank one before it', ['', 'victim-7']],
      ['a blank one behind it', ['victim-7', ' ']],
      ['another one', ['victim-7', 'mallory-8']],
      ['the same one twice', ['victim-7', 'victim-7']],
    ])('A configured attribute with a second value is refused: %s', async (_how, number) => {
      expect((await by(number, 'mallory')).signedIn).toBe(false);
      expect(federationLog(foyer).at(-1)?.detail).toBe('the attribute that names the person does not have one value');
    });
  });

  it('A logout request with white space around the NameID is refused, and the session of the user continues', async () => {
    const victim = { nameId: 'victim-9', attributes: { mail: 'victim-9@corp.acme.example' }, sessionIndex: '_s1' };
    const { browser } = await come(victim);
    const slo = `${foyer.url}/federation/acme-saml/logout`;
    const ask = (nameId: string) => {
      const xml = buildLogoutRequest({
        issuer: providers.saml.entityId,
        destination: slo,
        nameId,
        atMs: Date.now(),
      });
      const signed = { message: 'SAMLRequest', xml, signer: providers.samlSigner } as const;
      return foyer.browser().get(redirectAddress(slo, signed));
    };
    for (const [, wrong] of padded) {
      const nameId = wrong.replace('victim-7', 'victim-9');
      expect((await ask(nameId)).status).toBe(400);
      expect(federationLog(foyer).at(-1)).toMatchObject({
        outcome: 'logout-refused',
        detail: 'the NameID has white space at its start or end',
      });
    }
    expect((await browser.get('/')).status).toBe(303);
    expect((await ask('victim-9')).status).toBe(303);
    expect((await browser.get('/')).status).toBe(200);
  });
});
