import { hostCookies } from '../../server/http/index.ts';
import { exchange } from '../sessions/exchange.ts';

describe('hostCookies', () => {
  it('Cookies on https have the prefix __Host- and Secure, and a cookie without the prefix is ignored', () => {
    const cookies = hostCookies(true);
    const { req, res, set } = exchange({ foyer_lang: 'planted', '__Host-foyer_lang': 'ours' });
    expect(cookies.read(req, 'foyer_lang')).toBe('ours');
    cookies.set(res, 'foyer_lang', { value: 'de', maxAgeMs: 5_000 });
    expect(Object.keys(set())).toEqual(['__Host-foyer_lang']);
    expect(set()['__Host-foyer_lang']).toMatchObject({
      plain: 'de',
      httpOnly: true,
      secure: true,
      sameSite: 'lax',
      path: '/',
      domain: null,
      maxAge: 5,
    });
    expect(cookies.read(exchange({ foyer_lang: 'planted' }).req, 'foyer_lang')).toBeUndefined();
  });

  it('Cookies on plain http have neither prefix nor Secure, because browsers would refuse them', () => {
    const cookies = hostCookies(false);
    expect(cookies.name('foyer_lang')).toBe('foyer_lang');
    expect(cookies.options).toEqual({ httpOnly: true, secure: false, sameSite: 'lax', path: '/' });
  });

  it('A cookie is cleared with the attributes that it was set with', () => {
    const { res, set } = exchange({});
    hostCookies(true).clear(res, 'foyer_lang');
    const gone = set()['__Host-foyer_lang'];
    expect(gone).toMatchObject({ plain: '', httpOnly: true, secure: true, sameSite: 'lax', path: '/', domain: null });
    const ends = gone?.maxAge === 0 || (gone?.expires instanceof Date && gone.expires.getTime() <= Date.now());
    expect(ends).toBe(true);
  });

  it('Cookies with a common prefix are read together, with their own names', () => {
    const cookies = hostCookies(true);
    const { req } = exchange({
      '__Host-foyer_request_a': '1',
      '__Host-foyer_request_b': '2',
      foyer_request_c: 'planted',
      '__Host-foyer_lang': 'de',
    });
    expect(cookies.readAll(req, 'foyer_request_')).toEqual([
      ['foyer_request_a', '1'],
      ['foyer_request_b', '2'],
    ]);
  });

  it.each(['', ';', '=', 'a', 'a=%E0%A4%A', '__proto__=x', 'constructor=x', `a=${'x'.repeat(10_000)}`, '"="'])(
    'The cookie header %j is read without an error and gives no value',
    (cookie) => {
      const { req } = exchange({});
      req.headers.cookie = cookie;
      expect(hostCookies(true).read(req, 'foyer_lang')).toBeUndefined();
      expect(hostCookies(false).readAll(req, 'foyer_')).toEqual([]);
    },
  );
});
