import { Writable } from 'node:stream';
import { createLog } from '../../server/http/index.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

type Line = Record<string, unknown>;

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

describe.each(backends)('log lines of a request on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  /** The lines that `act` caused. Answers leave before their last line is written. */
  async function linesWhile(act: () => Promise<unknown>): Promise<Line[]> {
    const before = foyer.logged().length;
    await act();
    await new Promise((resolve) => setTimeout(resolve, 20));
    return linesOf(foyer.logged().slice(before));
  }

  it('Every log line of a request has its reference, also after body, session, stores and password hash', async () => {
    const user = await foyer.addUser();
    const lines = await linesWhile(() =>
      Promise.all(
        ['one wrong', 'two wrong', password, 'three wrong'].map((given) =>
          foyer.browser().submit('/sign-in', { username: user.email, password: given }),
        ),
      ),
    );
    const byReference = Map.groupBy(lines, ({ reference }) => reference);
    expect(byReference.size).toBe(4);
    const stories = [...byReference].map(([reference, own]) => {
      expect(reference).toMatch(/^[0-9A-F]{10}$/);
      expect(own.map(({ msg }) => msg)).toEqual(['sign-in', 'request completed']);
      const [act, answer] = own;
      expect(answer).toMatchObject({ method: 'POST', path: '/sign-in', pid: process.pid });
      return [act?.outcome, answer?.status];
    });
    expect(stories.toSorted()).toEqual([
      ['signed-in', 303],
      ['wrong-password', 303],
      ['wrong-password', 303],
      ['wrong-password', 303],
    ]);
  });

  it.each([
    { what: 'a page', path: '/oauth2/authorize?client_id=unknown&state=s', accept: 'text/html', ofApp: true },
    { what: 'a page of another handler', path: '/storage', accept: 'text/html', ofApp: false },
    { what: 'a problem document', path: '/oauth2/authorize/none', accept: 'application/json', ofApp: true },
  ])('The reference that an error shows is found in the log: $what', async ({ path, accept, ofApp }) => {
    let shown: string | undefined;
    const lines = await linesWhile(async () => {
      const answer = await foyer.browser().get(path, { headers: { accept } });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      [shown] = /\b[0-9A-F]{10}\b/.exec(await answer.text()) ?? [];
    });
    const found = lines.filter(({ reference }) => reference === shown);
    const refused = ofApp ? ['request refused', 'client app refused'] : ['request refused'];
    expect(found.map(({ msg }) => msg)).toEqual([...refused, 'request completed']);
    expect(found[0]?.kind).toBeDefined();
  });

  it('A log line names the route pattern, not the id of the pending request', async () => {
    const client = await relyingParty(foyer, await foyer.addClient());
    const user = await foyer.addUser();
    const lines = await linesWhile(async () => signInFor(foyer.browser(), await client.begin(), user));
    const paths = lines.flatMap(({ path }) => path ?? []);
    expect(paths).toEqual(['/oauth2/authorize', '/', '/sign-in', '/storage', '/oauth2/authorize/:uid']);
  });
});

describe('redaction in the log', () => {
  function written(write: (log: ReturnType<typeof createLog>) => void): string {
    let text = '';
    const stream = new Writable({
      write(chunk, _encoding, done) {
        text += String(chunk);
        done();
      },
    });
    write(createLog('trace', stream));
    return text;
  }

  it('A logged error has name, message, code and stack of itself and its causes, but no other property', () => {
    const cause = Object.assign(new Error('the cause'), { command: { args: ['a secret of the cause'] } });
    const error = Object.assign(new TypeError('what went wrong', { cause }), {
      code: 'E_WRONG',
      body: 'a secret body',
      parameters: ['a secret parameter'],
      detail: 'Key (email)=(a secret address) already exists.',
    });
    const text = written((log) => log.error({ err: error }, 'trouble'));
    const { err } = JSON.parse(text) as { err: Line };
    expect(Object.keys(err).toSorted()).toEqual(['code', 'message', 'stack', 'type']);
    expect(err).toMatchObject({ type: 'TypeError', message: 'what went wrong: the cause', code: 'E_WRONG' });
    expect(err.stack).toContain('caused by: Error: the cause');
    expect(text).not.toContain('secret');
  });

  it('A thrown value that is no error is not written to the log', () => {
    expect(written((log) => log.error({ err: 'a secret text' }, 'trouble'))).not.toContain('secret');
    expect(written((log) => log.error({ err: { password: 'a secret' } }, 'trouble'))).not.toContain('a secret');
  });

  it.each(['password', 'token', 'cookie', 'authorization', 'refresh_token', 'code_verifier', 'headers', 'body'])(
    'The value of %s is redacted, on a line and one level down',
    (name) => {
      const text = written((log) => {
        log.info({ [name]: 'a secret' }, 'first');
        log.info({ inner: { [name]: 'a secret' } }, 'second');
      });
      expect(text).not.toContain('a secret');
      expect(text.match(/\[redacted\]/g)).toHaveLength(2);
    },
  );
});
