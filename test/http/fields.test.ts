import type { Request } from 'express';
import { HttpError, isMalformed, readFormField, readQueryParam } from '../../server/http/index.ts';

const posted = (body: unknown) => ({ body }) as Partial<Request> as Request;
const asked = (parameters: Record<string, string | string[]>) => ({ query: parameters }) as Partial<Request> as Request;

describe('readFormField', () => {
  it.each([
    [{ name: 'value' }, 'value'],
    [{ name: '' }, ''],
    [{}, ''],
    [undefined, ''],
    [null, ''],
    ['name=value', ''],
    [[{ name: 'value' }], ''],
    [Object.create({ name: 'inherited' }), ''],
  ])('The field of the body %j is read as %j', (body, value) => {
    expect(readFormField(posted(body), 'name')).toBe(value);
  });

  it.each([[['a', 'b']], [1], [true], [null], [{}], [{ toString: 'x' }]])(
    'A field with the value %j is refused',
    (value) => {
      expect(() => readFormField(posted({ name: value }), 'name')).toThrow(HttpError);
    },
  );

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'The inherited property %s is not read as a field',
    (name) => {
      expect(readFormField(posted({}), name)).toBe('');
    },
  );
});

describe('readQueryParam', () => {
  it('A query parameter that is given twice is refused', () => {
    expect(readQueryParam(asked({ name: 'value' }), 'name')).toBe('value');
    expect(readQueryParam(asked({}), 'name')).toBeUndefined();
    expect(() => readQueryParam(asked({ name: ['a', 'b'] }), 'name')).toThrow(HttpError);
  });
});

describe('isMalformed', () => {
  it.each(['', 'a', 'ü'.repeat(10), '日本語', '👩‍👩‍👧', 'a b', "O'Brien"])('The text %j is accepted', (text) => {
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
  ])('The text %j is malformed', (text) => {
    expect(isMalformed(text, 20)).toBe(true);
  });
});
