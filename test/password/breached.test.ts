import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { createLog } from '../../server/http/index.ts';
import { entriesToList, isListed, openTexts, packTexts, shippedList } from '../../server/password/breached-list.ts';
import { createPasswordPolicy, passwordFaults } from '../../server/password/index.ts';

describe('a packed set of texts', () => {
  const texts = Array.from({ length: 20_000 }, (_, n) => `text ${n}`);
  const set = openTexts(packTexts(texts));

  it('The set finds everything that it has', () => {
    expect(texts.filter((text) => !set.has(text))).toEqual([]);
    expect(set.size).toBe(20_000);
  });

  it('The set finds almost nothing else', () => {
    expect(Array.from({ length: 100_000 }, (_, n) => `other ${n}`).filter((text) => set.has(text))).toEqual([]);
  });

  it('Another file, or a part of one, is refused as a list', () => {
    expect(() => openTexts(Buffer.from('123456\npassword\n'))).toThrow('not a list');
    expect(() => openTexts(packTexts(['a', 'b']).subarray(0, -1))).toThrow('cut off');
  });
});

describe('the list that comes with Foyer', () => {
  it.each([
    // The most common ones that the other rules let through.
    ...['password1', '123456789', '1q2w3e4r', 'passw0rd', 'trustno1', '1qaz2wsx', 'abcd1234', 'qwerty123', 'iloveyou1'],
    // The case and the width of letters do not matter.
    ...['PASSWORD1', 'Trustno1', 'ｐassword1'],
    // With letters as signs, and a sign at the end.
    ...['P@ssw0rd', 'Password1!', 'p4$$w0rd', 'Qwerty123!?'],
    // One common word with a number.
    ...['Dragon1!', 'Summer2024!', '99monkey99', 'Schatz2026!'],
  ])('The list has %s', (password) => {
    expect(isListed(shippedList(), password)).toBe(true);
    expect(passwordFaults(password, { email: 'ada@example.com' })).toEqual(['breached']);
  });

  it.each(['correct horse 9', 'open sesame 7', 'Tr0ub4dor&3', 'purple-elephant-4', 'Wq7$kPz2mN'])(
    'The list does not have %s',
    (password) => {
      expect(passwordFaults(password, { email: 'ada@example.com' })).toEqual([]);
    },
  );

  it('Random passwords are not refused', () => {
    const random = Array.from({ length: 10_000 }, () => randomBytes(12).toString('base64'));
    // Some 50,000 look-ups, each wrong once in two million; two wrong ones in ten thousand would be a broken list.
    expect(random.filter((password) => isListed(shippedList(), password)).length).toBeLessThan(2);
  });

  it('A common password that another rule refuses is not reported as breached', () => {
    expect(passwordFaults('password', { email: 'ada@example.com' })).toEqual(['no-number-or-symbol']);
  });

  it('The list has only passwords that the other rules accept, and common words', () => {
    expect([...entriesToList(['Monkey12', 'short1', 'abc1', 'Password'], { words: 2 })]).toEqual([
      'monkey12',
      'password',
      '\0monkey',
      '\0short',
    ]);
  });
});

describe('the range interface (a stand-in; the real service is not asked)', () => {
  const seen: IncomingMessage[] = [];
  let answer: (req: IncomingMessage, res: ServerResponse) => void;
  const server = createServer((req, res) => {
    seen.push(req);
    answer(req, res);
  });
  let lines: string[] = [];
  const log = createLog(
    'info',
    new Writable({
      write(chunk, _encoding, done) {
        lines.push(String(chunk));
        done();
      },
    }),
  );
  const known = 'a breached phrase 7';
  const sha1 = createHash('sha1').update(known).digest('hex').toUpperCase();
  const padding = `${'0'.repeat(35)}:0`;
  /** Writes on, as fast as it is read, until the connection is closed. */
  const endless = (res: ServerResponse) => {
    const more = () => {
      while (!res.destroyed && res.write('x'.repeat(60_000)));
    };
    res.on('drain', more);
    more();
  };
  const policy = () =>
    createPasswordPolicy({
      breachedApi: `http://127.0.0.1:${(server.address() as AddressInfo).port}/range/`,
      log,
    });
  const faults = (password: string) => policy().faults(password, { email: 'ada@example.com' });

  beforeAll(() => new Promise<void>((done) => void server.listen(0, '127.0.0.1', done)));
  afterAll(() => new Promise((done) => server.close(done)));
  beforeEach(() => {
    seen.length = 0;
    lines = [];
    answer = (_req, res) => res.end([padding, `${sha1.slice(5)}:3`, `${'F'.repeat(35)}:1`].join('\r\n'));
  });

  it('A known password is refused, and the service gets only five digits of its hash', async () => {
    expect(await faults(known)).toEqual(['breached']);
    expect(seen.map(({ url, method }) => [method, url])).toEqual([['GET', `/range/${sha1.slice(0, 5)}`]]);
    expect(seen[0]?.headers['add-padding']).toBe('true');
    expect(JSON.stringify(seen[0]?.headers)).not.toContain('breached phrase');
  });

  it('A password that is unknown, or known as padding only, is accepted', async () => {
    expect(await faults('another phrase 8')).toEqual([]);
    answer = (_req, res) => res.end(`${sha1.slice(5)}:0`);
    expect(await faults(known)).toEqual([]);
    expect(lines).toEqual([]);
  });

  it('The service is not asked about a password that is refused anyway', async () => {
    expect(await faults('short1')).toEqual(['too-short']);
    expect(await faults('password1')).toEqual(['breached']);
    expect(seen).toEqual([]);
  });

  it.each<[string, typeof answer]>([
    ['an error', (_req, res) => res.writeHead(503).end()],
    ['a redirect', (_req, res) => res.writeHead(302, { location: 'https://evil.example/' }).end()],
    ['no answer', (req) => req.socket.destroy()],
    ['more than any answer of the service', (_req, res) => res.end('x'.repeat(300_000))],
    ['megabytes without an end', (_req, res) => endless(res)],
    ['silence', () => {}],
    ['silence in the middle', (_req, res) => res.write(`${padding}\r\n`)],
  ])(
    'With %s from the service the password is accepted and a log line written, without the password',
    async (_what, reply) => {
      answer = reply;
      const deadlines = jest.spyOn(AbortSignal, 'timeout');
      // What never ends here has been cut off there: by its length, or by the deadline.
      expect(await faults(known)).toEqual([]);
      const asked = deadlines.mock.calls;
      deadlines.mockRestore();
      expect(asked).toHaveLength(1);
      expect(asked[0]?.[0]).toBeLessThan(4_000);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain('breached password service unavailable');
      expect(lines[0]).not.toContain('phrase');
      expect(lines[0]).not.toContain(sha1);
      server.closeAllConnections();
    },
  );

  it('The service is asked only if it is configured', async () => {
    expect(await createPasswordPolicy({ log }).faults(known, { email: '' })).toEqual([]);
    expect(seen).toEqual([]);
  });
});
