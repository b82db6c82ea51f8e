import { texts } from '../../sandbox/texts.ts';
import { languages } from '../../server/http/index.ts';
import { flattenTexts } from './flatten-texts.ts';
import { findFaults, textRules } from './text-rules.ts';

const all = languages.flatMap((lang) => [...flattenTexts(texts[lang])].map(([key, text]) => ({ lang, key, text })));

describe.each(textRules)('texts: $name ($lang)', (rule) => {
  const isJudged = (key: string) => !rule.except?.test(key) && (rule.only?.test(key) ?? true);
  const judged = all.filter(({ lang, key }) => lang === (rule.lang ?? lang) && isJudged(key));

  it('No text breaks the rule', () => {
    expect(judged.length).toBeGreaterThan(20);
    expect(
      judged.flatMap(({ lang, key, text }) => findFaults(rule, text).map((found) => `${lang} ${key}: ${found}`)),
    ).toEqual([]);
  });

  it('The rule finds each kind of fault', () => {
    for (const fault of rule.faults)
      expect({ fault, found: findFaults(rule, fault).length > 0 }).toEqual({ fault, found: true });
  });

  it('Each exception is still needed', () => {
    const excepted = all.filter(({ lang, key }) => lang === (rule.lang ?? lang) && rule.except?.test(key));
    expect(rule.except === undefined || excepted.some(({ text }) => findFaults(rule, text).length > 0)).toBe(true);
  });
});
