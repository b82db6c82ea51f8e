import { languages, translator } from '../../server/http/language.ts';
import { errorKinds, errorTexts } from '../../views/errors/error-texts.ts';

describe.each(languages)('error texts in %s', (lang) => {
  it('Every kind of error has its own title and a message', () => {
    const all = errorKinds.map((kind) => errorTexts(translator(lang), kind));
    expect(new Set(all.map(({ title }) => title)).size).toBe(errorKinds.length);
    for (const { message } of all) expect(message.length).toBeGreaterThan(10);
  });
});

it.each([
  [undefined, '60 seconds'],
  [0, '1 second '],
  [1, '1 second '],
  [0.2, '1 second '],
  [90, '90 seconds'],
  [91, '2 minutes'],
  [3600, '60 minutes'],
])('A wait of %s seconds reads “%s”', (retryAfterSeconds, expected) => {
  expect(errorTexts(translator('en'), 'tooMany', { retryAfterSeconds }).message).toContain(expected);
});
