import type { Random } from './random.ts';

/** Texts that are known to break parsers, stores and templates. */
const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\r\nSet-Cookie: a=b',
  '\u001b[2J',
  '\u202e\u2066evil\u2069',
  '\u2028\u2029',
  '\ud800',
  '\udc00a',
  '\ufeff',
  '\uffff',
  'é'.normalize('NFD'),
  '👩‍👩‍👧‍👦'.repeat(20),
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  "' OR 1=1; --",
  '\\',
  '"><script>alert(1)</script>',
  '{{7*7}}#{7*7}<%= 7 %>$t(a)',
  '../../../../etc/passwd',
  '..%2f..%2f',
  '//evil.example',
  'https://evil.example/\\@localhost',
  'javascript:alert(1)',
  'data:text/html,x',
  'http://[::1',
  'http://a:b@c:99999/',
  'urn:x',
  '%',
  '%00',
  '%E0%A4%A',
  '%ud800',
  'null',
  'undefined',
  'NaN',
  'true',
  '-1',
  '0',
  '00',
  '1e309',
  '-0',
  '9007199254740993',
  '99999999999999999999999999',
  '0x10',
  '1.5',
  '2147483648',
  '-2147483649',
  '2026-02-30',
  '+999999-01-01T00:00:00Z',
  'a@b',
  'a@b.c'.repeat(60),
  '"a b"@example.com',
  'ü@exämple.com',
  '+491511234567890123456',
  '٣٤٥٦٧٨',
  '１２３４５６',
  '[object Object]',
  '(((((((((((((((((((((((((((((a)',
  'a'.repeat(300),
  'a'.repeat(5_000),
];

/** A text, changed: replaced, cut, doubled, mixed with hostile texts, or with some of its bits turned. */
export function mutateText(random: Random, text: string): string {
  switch (random.below(8)) {
    case 0:
      return random.pick(hostileTexts);
    case 1:
      return text.slice(0, random.below(text.length + 1));
    case 2:
      return text + random.pick(hostileTexts);
    case 3: {
      const at = random.below(text.length + 1);
      return text.slice(0, at) + random.pick(hostileTexts) + text.slice(at);
    }
    case 4:
      return text.repeat(2 + random.below(3)).slice(0, 12_000);
    case 5: {
      const characters = [...text];
      const at = random.below(characters.length + 1);
      characters[at] = String.fromCodePoint(random.below(0xffff));
      return characters.join('');
    }
    case 6:
      return text.split('').reverse().join('');
    default:
      return random.oneIn(2) ? text.toUpperCase() : random.bytes(random.below(40)).toString('latin1');
  }
}

/** Bytes with up to eight places changed, taken out or doubled. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  let changed = Buffer.from(bytes);
  for (let round = random.below(8); round >= 0; round -= 1) {
    const at = random.below(changed.length + 1);
    const length = random.below(1 + Math.min(64, changed.length - at));
    const before = changed.subarray(0, at);
    const after = changed.subarray(at + length);
    const middle = [
      () => Buffer.alloc(0),
      () => random.bytes(1 + random.below(6)),
      () => changed.subarray(at, at + length),
      () => Buffer.from(random.pick(hostileTexts)),
    ];
    changed = Buffer.concat([
      before,
      random.pick(middle)(),
      ...(random.oneIn(3) ? [changed.subarray(at, at + length)] : []),
      after,
    ]);
  }
  return changed.subarray(0, 60_000);
}

function nested(random: Random): unknown {
  const depth = random.pick([3, 17, 200, 2_000]);
  return JSON.parse(
    random.oneIn(2) ? `${'['.repeat(depth)}${']'.repeat(depth)}` : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  );
}

/** A JSON value that no schema allows. */
export function oddJson(random: Random): unknown {
  const kinds: (() => unknown)[] = [
    () => null,
    () => random.pick([true, false]),
    () => random.pick([0, -1, 1.5, 1e300, -0, Number.MAX_VALUE, 2 ** 53, 2 ** 31]),
    () => random.pick(hostileTexts),
    () => [],
    () => ({}),
    () => [random.pick(hostileTexts), null],
    () => JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{}}}'),
    () => nested(random),
    () => Array.from({ length: random.pick([10, 1_000]) }, (_, n) => n),
  ];
  return random.pick(kinds)();
}

/** A value of JSON with some of its parts replaced, removed or added. */
export function mutateJson(random: Random, value: unknown): unknown {
  if (random.oneIn(6)) return oddJson(random);
  if (typeof value === 'string') return random.oneIn(2) ? mutateText(random, value) : value;
  if (Array.isArray(value)) return value.map((item) => (random.oneIn(3) ? mutateJson(random, item) : item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(() => !random.oneIn(8));
  const changed = entries.map(([name, item]) => [
    random.oneIn(20) ? mutateText(random, name) : name,
    random.oneIn(3) ? mutateJson(random, item) : item,
  ]);
  if (random.oneIn(6)) changed.push([random.pick(hostileTexts), oddJson(random)]);
  return Object.fromEntries(changed);
}

export type Field = [name: string, value: string];

/** Fields of a form or query: values and names changed, some missing, some twice, some of them arrays. */
export function mutateFields(random: Random, fields: readonly Field[]): Field[] {
  const changed = fields.filter(() => !random.oneIn(12));
  const mutated = changed.flatMap(([name, value]): Field[] => {
    if (random.oneIn(3)) return [[name, mutateText(random, value)]];
    if (random.oneIn(15))
      return [
        [name, value],
        [name, mutateText(random, value)],
      ];
    if (random.oneIn(20)) return [[`${name}[]`, value]];
    if (random.oneIn(20)) return [[mutateText(random, name), value]];
    return [[name, value]];
  });
  if (random.oneIn(10)) mutated.push([random.pick(hostileTexts), random.pick(hostileTexts)]);
  if (random.oneIn(60)) for (let n = 0; n < 60; n += 1) mutated.push([`f${n}`, '1']);
  return mutated;
}

/** Encodes fields as a browser does, or with invalid percent signs. */
export function encodeFields(random: Random, fields: readonly Field[]): string {
  const text = fields.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
  return random.oneIn(25) ? mutateText(random, text).replaceAll(/[^\u0020-\u00ff]/g, '') : text;
}

const encode = (text: string) => encodeURIComponent(text.toWellFormed()).replaceAll('%20', '+');

/** A text that a header line can carry: Node's client refuses others before they leave. */
export const headerText = (text: string): string =>
  text.replaceAll(/[^\t\u0020-\u007e\u0080-\u00ff]/g, '').slice(0, 7_000);

/** XML with elements doubled, moved or emptied, attributes and texts changed, or its bytes. */
export function mutateXml(random: Random, xml: string): string {
  const elements = xml.match(/<(\w+:)?\w+[^>]*>/g) ?? ['<a>'];
  const element = random.pick(elements);
  switch (random.below(9)) {
    case 0:
      return xml.replace(element, element + element);
    case 1:
      return xml.replace(element, '');
    case 2:
      return xml.replace(/"[^"]{4,80}"/, () => `"${mutateText(random, 'value').replaceAll('"', '')}"`);
    case 3:
      return xml.replace(/>([^<>]{4,400})</, (_, text: string) => `>${mutateText(random, text)}<`);
    case 4:
      return `<!DOCTYPE a [<!ENTITY b "${'c'.repeat(50)}">]>${xml}`;
    case 5:
      return xml.replace(element, `<!--${element}-->${element}<![CDATA[${element}]]>`);
    case 6:
      return xml.replace(element, `${element}${'<x>'.repeat(1 + random.below(500))}`);
    case 7:
      return xml.replaceAll(/xmlns:\w+="[^"]*"/g, (found) => (random.oneIn(3) ? '' : found));
    default:
      return mutateBytes(random, Buffer.from(xml)).toString();
  }
}

/** A compact JWS with its header, payload, signature or shape changed. */
export function mutateJwt(random: Random, jwt: string): string {
  const [header = '', payload = '', signature = ''] = jwt.split('.');
  const changeJson = (part: string) => {
    try {
      const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
      return Buffer.from(JSON.stringify(mutateJson(random, value)) ?? '').toString('base64url');
    } catch {
      return part;
    }
  };
  const withHeader = (value: object) => [Buffer.from(JSON.stringify(value)).toString('base64url'), payload, signature];
  const shapes: (() => string[])[] = [
    () => [changeJson(header), payload, signature],
    () => [header, changeJson(payload), signature],
    () => [header, payload, mutateText(random, signature)],
    () => [header, payload],
    () => [header, payload, ''],
    () => withHeader({ alg: 'none' }),
    () => withHeader({ alg: 'HS256', typ: 'JWT', crit: ['b64'], b64: false }),
    () => withHeader({ alg: 'RSA-OAEP', enc: 'A256GCM', zip: 'DEF' }),
    () => [header, payload, signature, signature, signature],
    () => [mutateText(random, header), payload, signature],
    () => [mutateText(random, jwt)],
  ];
  return random.pick(shapes)().join('.');
}
