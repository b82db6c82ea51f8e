/** The texts of the product, and of the sandbox's own pages behind them. */
import { type KeyPath, type Language, texts as productTexts, type Translate } from '../locales/index.ts';
import { createI18n, createTranslator } from '../server/http/index.ts';
import deParts from './locales/de/parts.json' with { type: 'json' };
import deSandbox from './locales/de/sandbox.json' with { type: 'json' };
import enParts from './locales/en/parts.json' with { type: 'json' };
import enSandbox from './locales/en/sandbox.json' with { type: 'json' };
import frParts from './locales/fr/parts.json' with { type: 'json' };
import frSandbox from './locales/fr/sandbox.json' with { type: 'json' };
import nlParts from './locales/nl/parts.json' with { type: 'json' };
import nlSandbox from './locales/nl/sandbox.json' with { type: 'json' };

type Texts = typeof productTexts.en & { sandbox: typeof enSandbox; parts: typeof enParts };

export const texts: Record<Language, Texts> = {
  en: { ...productTexts.en, sandbox: enSandbox, parts: enParts },
  de: { ...productTexts.de, sandbox: deSandbox, parts: deParts },
  fr: { ...productTexts.fr, sandbox: frSandbox, parts: frParts },
  nl: { ...productTexts.nl, sandbox: nlSandbox, parts: nlParts },
};

export type SandboxT = Translate<KeyPath<Texts>>;

/** The typed texts of one language. */
export const translator = createTranslator<KeyPath<Texts>>(createI18n(texts));

/** The texts in the language of a page. */
export const textsFor = ({ lang }: { lang: Language }): SandboxT => translator(lang);
