import type { Request } from 'express';
import { HttpError, isMalformed, readFormField, readQueryParam } from '../../server/http/index.ts';

const posted = (body: unknown) => ({ body }) as Partial<Request> as Request;
const asked = (parameters: Record<string, string | string[]>) => ({ query: parameters }) as Partial<Request> as Request;

describe('field', () => {
  it.each([
    [{ name: 'value' }, 'value'],
    [{ name: '' }, ''],
    [{}, ''],
    [undefined, ''],
    [null, ''],
    ['name=value', ''],
    [[{ name: 'value' }], ''],
    [Object.create({ name: 'inherited' }), ''],
  ])('of %j is %j', (body, value) => {
    expect(readFormField(posted(body), 'name')).toBe(value);
  });

  it.each([[['a', 'b']], [1], [true], [null], [{}], [{ toString: 'x' }]])('that is %j is refused', (value) => {
    expect(() => readFormField(posted({ name: value }), 'name')).toThrow(HttpError);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('%s is none of a plain form', (name) => {
    expect(readFormField(posted({}), name)).toBe('');
  });
});

describe('query', () => {
  it('given twice is refused, not chosen from', () => {
    expect(readQueryParam(asked({ name: 'value' }), 'name')).toBe('value');
    expect(readQueryParam(asked({}), 'name')).toBeUndefined();
    expect(() => readQueryParam(asked({ name: ['a', 'b'] }), 'name')).toThrow(HttpError);
  });
});

describe('malformed', () => {
  it.each(['', 'a', 'ü'.repeat(10), '日本語', '👩‍👩‍👧', 'a b', "O'Brien"])('%j can be typed', (text) => {
    expect(isMalformed(text, 20)).toBe(false);
  });

  it.each([
    '\u0000',
    'a\nb',
    'a\rb',
    'a\tb',
    '\u001b[0m',
    '\u007f',
    '\u0085',
    '\u009f',
    '\ud800',
    '\udc00a',
    'x'.repeat(21),
  ])('%j cannot', (text) => {
    expect(isMalformed(text, 20)).toBe(true);
  });
});
