import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { HttpError, requirePublicHost } from '../../server/http/index.ts';

const proxy = '192.0.2.1';
const gate = requirePublicHost('https://login.example.com', (address) => address === proxy);

/** What goes on behind the gate, or the status with which it is refused. */
function pass(headers: IncomingHttpHeaders, { url = '/path?a=b', from = '198.51.100.1', express = false } = {}) {
  const request = {
    url,
    headers: { ...headers },
    socket: { remoteAddress: from },
    ...(express && { originalUrl: url }),
  };
  let went = false;
  try {
    gate(
      request as Partial<IncomingMessage> as IncomingMessage,
      {} as Partial<ServerResponse> as ServerResponse,
      () => {
        went = true;
      },
    );
  } catch (error) {
    return error instanceof HttpError ? error.status : 500;
  }
  return went ? request : 'nothing';
}
const own = { host: 'login.example.com' };

describe('requirePublicHost', () => {
  it('Host and scheme are those of PUBLIC_URL, whatever forwarding headers say', () => {
    expect(
      pass({ ...own, forwarded: 'host=evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }),
    ).toMatchObject({
      url: '/path?a=b',
      headers: { ...own, 'x-forwarded-proto': 'https' },
    });
    const passed = pass({ ...own, forwarded: 'host=evil.example', 'x-forwarded-host': 'evil.example' });
    expect(passed).not.toHaveProperty('headers.forwarded');
    expect(passed).not.toHaveProperty('headers.x-forwarded-host');
  });

  it.each([
    undefined,
    '',
    'evil.example',
    'login.example.com:443',
    'LOGIN.example.com',
    'login.example.com.',
    'login.example.com, evil.example',
  ])('The host %j gets 421', (host) => {
    expect(pass(host === undefined ? {} : { host })).toBe(421);
  });

  it('The forwarded host is accepted from the proxy alone', () => {
    expect(pass({ host: 'internal', 'x-forwarded-host': 'login.example.com' }, { from: proxy })).toMatchObject({
      headers: own,
    });
    expect(pass({ ...own, 'x-forwarded-host': 'evil.example' }, { from: proxy })).toBe(421);
    expect(pass({ host: 'internal', 'x-forwarded-host': 'login.example.com' })).toBe(421);
  });

  it.each([
    ['https://login.example.com/path?a=b', '/path?a=b'],
    ['http://login.example.com/path', '/path'],
    ['HTTPS://login.example.com/path', '/path'],
    ['https://login.example.com', '/'],
    ['https://login.example.com?a=b', '/?a=b'],
    ['//login.example.com/path', '//login.example.com/path'],
  ])('The request line %j is read as %j', (url, path) => {
    expect(pass(own, { url, express: true })).toMatchObject({ url: path, originalUrl: path });
  });

  it.each([
    'https://evil.example/',
    'https://login.example.com:443/',
    'https://login.example.com@evil.example/',
    'https://login.example.com.evil.example/',
    'https://evil.example?https://login.example.com/',
    'ftp://login.example.com/',
    'javascript:alert(1)',
    '*',
    'path',
    '',
  ])('The request line %j gets 421', (url) => {
    expect(pass(own, { url })).toBe(421);
  });
});
