import { isSameOrigin } from '../../server/http/request-guards.ts';

const origin = 'https://login.example.com';

describe('isSameOrigin', () => {
  it.each([
    [true, { site: 'same-origin', origin }],
    [true, { site: 'same-origin' }],
    [true, { origin }],
    [false, {}],
    [false, { site: 'same-site', origin }],
    [false, { site: 'cross-site', origin }],
    [false, { site: 'none' }],
    [false, { site: 'none', origin }],
    [false, { site: '' }],
    [false, { site: 'SAME-ORIGIN' }],
    [false, { origin: 'null' }],
    [false, { site: 'same-origin', origin: 'null' }],
    [false, { origin: '' }],
    [false, { origin: 'http://login.example.com' }],
    [false, { origin: 'https://login.example.com:8443' }],
    [false, { origin: 'https://login.example.com.evil.example' }],
    [false, { origin: 'https://shop.example.com' }],
    [false, { origin: 'https://LOGIN.example.com' }],
    [false, { origin: `${origin}/` }],
    [false, { origin: `${origin}, ${origin}` }],
  ])('The result of isSameOrigin is %s for the headers %j', (expected, headers) => {
    expect(isSameOrigin(headers, origin)).toBe(expected);
  });
});
