import type { SamlResponseOptions } from '../../sandbox/providers/index.ts';
import { readSamlResponse } from '../../server/federation/saml/read-response.ts';
import { samlService } from '../../server/federation/saml/service.ts';
import { settingsOf } from '../federation/strategies.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { startWithProviders } from '../support/foyer-with-providers.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { answerXml, arrive, beginSaml, federationLog } from '../support/saml.ts';
import { backends } from '../support/stores.ts';

const c14n = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const countElements = (xml: string) => (xml.match(/<[A-Za-z]/g) ?? []).length;
const groups = (n: number) => Array.from({ length: n }, (_, index) => `group-${index}`);
/** Inserts text behind the attributes, so that both signatures cover it. */
const inAssertion = (more: string) => (xml: string) => {
  if (!xml.includes('</saml:AttributeStatement>')) throw new Error('no attributes');
  return xml.replace('</saml:AttributeStatement>', `${more}</saml:AttributeStatement>`);
};

describe.each(backends)('the work that a SAML answer can cause, on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  startWithProviders(
    backend,
    (started) => ({ GUESS_LIMIT_ADDRESS: '100000', ...started.environment() }),
    (setting) => {
      ({ foyer, providers } = setting);
    },
  );

  async function come(change: SamlResponseOptions) {
    const attempt = await beginSaml(foyer);
    const xml = await answerXml(providers, attempt, change);
    const to = await arrive(foyer, attempt, xml);
    const signedIn = (await attempt.browser.get('/')).status === 303;
    return { xml, to, signedIn, last: federationLog(foyer).at(-1) };
  }

  it('A message of 301 elements is refused before any signature check, and one of 300 elements is not', async () => {
    const plain = countElements((await come({ sign: 'none' })).xml);
    for (const [elements, detail] of [
      [300, 'the assertion is not signed by this provider'],
      [301, 'the message has too many elements'],
    ] as const) {
      const { xml, last, signedIn } = await come({
        sign: 'none',
        afterSigning: inAssertion('<a/>'.repeat(elements - plain)),
      });
      expect([countElements(xml), last?.detail, signedIn]).toEqual([elements, detail, false]);
    }
    // The log states the number.
    expect(federationLog(foyer).at(-1)).toMatchObject({ count: 301 });
  });

  it('An answer with each of 400 roles as an attribute of its own is refused, and the log names the number', async () => {
    const role = '<saml:Attribute Name="Role"><saml:AttributeValue>r</saml:AttributeValue></saml:Attribute>';
    const { xml, last, signedIn } = await come({
      assertionBeforeSigning: (assertion) =>
        assertion.replace('</saml:AttributeStatement>', `${role.repeat(400)}</saml:AttributeStatement>`),
    });
    const count = countElements(xml);
    expect(count).toBeGreaterThan(800);
    expect(last).toMatchObject({ outcome: 'invalid', detail: 'the message has too many elements', count });
    expect(signedIn).toBe(false);
  });

  it('An answer with 150 groups signs in', async () => {
    const mail = 'groups@corp.acme.example';
    const { xml, signedIn } = await come({ nameId: 'groups', attributes: { mail, groups: groups(150) } });
    expect([countElements(xml) <= 300, signedIn]).toEqual([true, true]);
  });

  it.each([
    ['801 attributes', 'the message has too many attributes', '<a b="" c="" d=""/>'.repeat(267)],
    ['401 namespaces', 'the message has too many namespaces', '<a xmlns:b="u" xmlns:c="u"/>'.repeat(201)],
    [
      'namespaces declared level by level',
      'the message is too deep',
      `${'<a xmlns:b="u">'.repeat(30)}${'</a>'.repeat(30)}`,
    ],
    [
      '21 attributes of one element',
      'an element of the message has too many attributes',
      `<a ${Array.from({ length: 21 }, (_, n) => `b${n}=""`).join(' ')}/>`,
    ],
    ['a long value', 'the message is too long', `<a>${'x'.repeat(131_072)}</a>`],
    [
      'more characters that are escaped than 8,000',
      'the message has too many characters that are escaped',
      `<a>${'&lt;'.repeat(8_000)}</a>`,
    ],
    ['a long attribute', 'the message is too long', `<a b="${'x'.repeat(131_072)}"/>`],
    ['ampersands that begin no reference', 'the message is no XML', `<a>${'&'.repeat(100_000)}</a>`],
    ['a reference to an entity that nobody declared', 'the message is no XML', '<a>&x;</a>'],
  ])(
    'A message with excessive or broken content is refused before any signature is checked: %s',
    async (_what, detail, more) => {
      const { last, signedIn } = await come({ sign: 'none', afterSigning: inAssertion(more) });
      expect([last?.detail, signedIn]).toEqual([detail, false]);
    },
  );

  it.each<[string, string, (xml: string) => string]>([
    [
      'with 3 transforms',
      'a signature has too many transforms',
      (xml) => xml.replace('</ds:Transforms>', `<ds:Transform Algorithm="${c14n}"/></ds:Transforms>`),
    ],
    [
      'that includes 21 namespaces',
      'a signature includes too many namespaces',
      (xml) =>
        xml.replace(
          `<ds:Transform Algorithm="${c14n}"/>`,
          `<ds:Transform Algorithm="${c14n}"><InclusiveNamespaces xmlns="${c14n}" PrefixList="${groups(21).join(' ')}"/></ds:Transform>`,
        ),
    ],
    [
      'whose value is 2,000 characters long',
      'a signature is too long',
      (xml) => xml.replace('<ds:SignatureValue>', `<ds:SignatureValue>${'A'.repeat(2_000)}`),
    ],
    [
      'whose key is 20,001 characters long',
      'the key of a signature is too long',
      (xml) => xml.replace(/<\/ds:Signature>/, `<ds:KeyInfo>${'A'.repeat(20_001)}</ds:KeyInfo></ds:Signature>`),
    ],
    [
      'with elements in its value',
      'the value of a signature has elements in it',
      (xml) => xml.replace('</ds:SignatureValue>', '<a/></ds:SignatureValue>'),
    ],
    [
      'with 2 references',
      'a signature does not sign one element',
      (xml) => xml.replace(/<ds:Reference.*?<\/ds:Reference>/s, (reference) => reference + reference),
    ],
    [
      'beside another one of the same element',
      'an element has two signatures',
      (xml) => xml.replace(/<ds:Signature .*?<\/ds:Signature>/s, (signature) => signature + signature),
    ],
  ])('A signature %s is refused before it is verified', async (_what, detail, afterSigning) => {
    const { last, signedIn } = await come({ sign: 'assertion', afterSigning });
    expect([last?.detail, signedIn]).toEqual([detail, false]);
  });

  it('Two elements with one id, in any spelling of the attribute, are refused before a signature is verified', async () => {
    for (const name of ['ID', 'Id', 'id', 'xml:id']) {
      const { last, signedIn } = await come({
        sign: 'assertion',
        afterSigning: inAssertion(`<a ${name}="_twice"/><b ID="_twice"/>`),
      });
      expect([name, last?.detail, signedIn]).toEqual([name, 'two elements have the same id', false]);
    }
  });
});

/** Some 300 elements with a namespace and an attribute each. */
const widest = Array.from({ length: 235 }, (_, n) => `<q${n}:a xmlns:q${n}="u" q${n}:b=""/>`).join('');
/** Escaped characters, as many as a message may have: the parser replaces them one by one. */
const references = `<a>${'&lt;'.repeat(5_800)}</a>`;
/** With many namespaces in scope, the parser searches all of them for each prefix. */
const nested = Array.from({ length: 12 }, (_, level) => {
  const names = Array.from({ length: 10 }, (_, n) => `l${level}n${n}`);
  return `<a ${names.map((name) => `xmlns:${name}="u"`).join(' ')} ${names.map((name) => `${name}:a=""`).join(' ')}>`;
}).join('');
const deepest = nested + '<l0n0:b l1n1:a="" l2n2:a=""/>'.repeat(220) + '</a>'.repeat(12);
const inResponse = (more: string) => (xml: string) => xml.replace('<samlp:Status>', `<x>${more}</x><samlp:Status>`);
const inKeyInfo = (more: string) => (xml: string) => xml.replace('</ds:KeyInfo>', `${more}</ds:KeyInfo>`);

describe('the processor time of a SAML answer', () => {
  let providers: TestProviders;
  beforeAll(async () => {
    providers = await startProviders();
  });
  afterAll(() => providers?.close());

  /** @returns the answers by what they are, and a way to read one */
  async function prepared() {
    const settings = settingsOf(providers.environment());
    const [, config] = settings.file.providers;
    if (config?.kind !== 'saml') throw new Error('no SAML provider');
    const service = samlService(settings, config);
    const request = { id: '_r', begunAtMs: Date.now() };
    const app = { id: '_r', acsUrl: service.acs, app: service.entityId };
    const usual = providers.saml.usual(providers.people.saml.ada, app);
    const many = { ...usual, attributes: { ...usual.attributes, groups: groups(150) } };
    const signer = providers.otherSigner();
    const assertionAlone = { ...usual, sign: 'assertion' as const };

    const answers: Record<string, SamlResponseOptions> = {
      'good, 3 attributes': usual,
      'good, 150 groups': many,
      'signed by a stranger, 150 groups': { ...many, signer },
      'signed by a stranger, largest': { ...usual, signer, assertionBeforeSigning: inAssertion(widest) },
      'changed after the provider signed it, 150 groups': {
        ...many,
        afterSigning: (xml) => xml.replace('>group-7<', '>group-8<'),
      },
      'changed after the provider signed it, largest': { ...usual, afterSigning: inAssertion(widest) },
      'changed after the provider signed it, deepest': { ...usual, afterSigning: inAssertion(deepest) },
      'changed after the provider signed it, with references': {
        ...usual,
        afterSigning: inAssertion(widest + references),
      },
      'signed by the provider for another audience, 150 groups': { ...many, audience: 'https://another-app.example' },
      // Nothing signed was changed, so these answers are accepted.
      'added to the response around a signed assertion, largest': {
        ...assertionAlone,
        afterSigning: inResponse(widest),
      },
      'added to the response around a signed assertion, deepest': {
        ...assertionAlone,
        afterSigning: inResponse(deepest),
      },
      'added to the response around a signed assertion, with references': {
        ...assertionAlone,
        afterSigning: inResponse(widest + references),
      },
      'added to the key of the signature of an assertion, largest': {
        ...assertionAlone,
        afterSigning: inKeyInfo(widest),
      },
    };
    const texts = await Promise.all(
      Object.entries(answers).map(async ([name, options]) => {
        const xml = await providers.samlResponse(options);
        return [name, Buffer.from(xml, 'utf8').toString('base64')] as const;
      }),
    );
    const isTaken = (text: string) => {
      const expected = {
        audience: service.entityId,
        acs: service.acs,
        issuer: config.entityId,
        requestId: request.id,
        freshSinceMs: undefined,
        certificates: config.certificates,
        key: undefined,
        encryptedAssertions: false,
        nowMs: Date.now(),
        toleranceMs: 60_000,
      };
      return readSamlResponse(service, { encoded: text, expected, request }).then(
        () => true,
        () => false,
      );
    };
    return { texts, isTaken };
  }

  it('Each hostile answer takes less than twice the processor time of the smallest good one', async () => {
    const { texts, isTaken } = await prepared();
    const least = new Map<string, number>();
    // The minimum of many runs counts: other processes and the compiler only add time.
    for (let round = 0; round < 25; round += 1) {
      for (const [name, text] of texts) {
        const from = process.cpuUsage();
        const taken = await isTaken(text);
        const { user, system } = process.cpuUsage(from);
        expect([name, taken]).toEqual([name, /^(good|added)/.test(name)]);
        least.set(name, Math.min(least.get(name) ?? Number.POSITIVE_INFINITY, (user + system) / 1_000));
      }
    }
    const ms = Object.fromEntries([...least].map(([name, value]) => [name, Math.round(value * 10) / 10]));
    console.log('CPU of a SAML answer in ms', ms);
    const good = least.get('good, 3 attributes') ?? Number.NaN;
    const figures = [...least].map(([name, value]) => ({ name, value }));
    expect(figures.filter(({ name, value }) => !name.startsWith('good') && !(value < 2 * good))).toEqual([]);
    // A stranger without an answer of the provider costs less than a valid answer.
    expect(figures.filter(({ name, value }) => name.startsWith('signed by a stranger') && !(value < good))).toEqual([]);
  }, 60_000);
});
