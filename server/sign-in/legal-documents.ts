import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Language, languages } from '../http/index.ts';
import { propertyIn, type Sha256, sha256 } from '../shared/index.ts';
import type { TermsVersion } from '../users/index.ts';
import { frontMatter, type RenderedMarkdown, renderMarkdown } from './markdown.ts';

interface LegalDocument extends RenderedMarkdown {
  /** The language of the document: English if there is no file in the user's language. */
  lang: Language;
  /** SHA-256 (base64url) of the rendered Markdown. */
  hash: Sha256;
}

export interface Legal {
  /** The current version of the terms. */
  version: TermsVersion;
  terms(lang: Language): LegalDocument;
  imprint(lang: Language): LegalDocument;
  accessibility(lang: Language): LegalDocument;
}

/** All faults of the files together. */
export class LegalFilesError extends Error {
  override name = 'LegalFaults';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`The legal documents cannot be used:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/** The documents that come with Foyer, found from the sources and from dist/ alike. */
export const shippedLegalDir = join(
  import.meta.dirname.replace(/([\\/])dist([\\/]server[\\/]sign-in)$/, '$2'),
  ...['..', '..', 'config', 'legal'],
);

const fallback: Language = 'en';
type Name = 'terms' | 'imprint' | 'accessibility';

/** A folder without this document, as of earlier releases, shows the one that comes with Foyer. */
const shippedFor = (name: Name, dir: string) =>
  name === 'accessibility' && !existsSync(join(dir, fallback, `${name}.md`));

/** @returns its text, or the code of the error: `ENOENT`, `EACCES` */
function readText(file: string): { text: string } | { code: string } {
  try {
    return { text: readFileSync(file, 'utf8') };
  } catch (error) {
    return { code: String(propertyIn(error, 'code')) };
  }
}

/** The folder has no such file, or is none itself. */
const isMissing = (code: string) => code === 'ENOENT' || code === 'ENOTDIR';

/**
 * Reads `<dir>/<language>/terms.md`, `imprint.md` and `accessibility.md`. The English files of the first two are
 * required; English replaces missing languages.
 * Every file of the terms declares the same version (`version`, a whole number, and `label`).
 * @param values fill `{{brand}}`, `{{host}}` and `{{publicUrl}}`
 * @throws {LegalFilesError}
 */
export function loadLegal(dir: string, values: { brand: string; publicUrl: string }): Legal {
  const faults: string[] = [];
  const fill: Record<string, string> = { ...values, host: new URL(values.publicUrl).host };
  const versions = new Map<string, { file: string; version: TermsVersion }>();

  function read(name: Name, lang: Language): LegalDocument | undefined {
    const file = join(shippedFor(name, dir) ? shippedLegalDir : dir, lang, `${name}.md`);
    const found = readText(file);
    if ('code' in found) {
      if (!isMissing(found.code)) faults.push(`${file} cannot be read (${found.code})`);
      else if (lang === fallback) faults.push(`${file} is missing`);
      return undefined;
    }
    const { text } = found;
    const { facts, body } = frontMatter(text);
    if (name === 'terms') {
      const version = { number: Number(facts.version), label: facts.label ?? '' };
      if (!Number.isInteger(version.number) || version.number < 1 || version.label === '') {
        faults.push(`${file}: its head must say version: (a whole number from 1) and label:, between two lines of ---`);
      } else versions.set(JSON.stringify(version), { file, version });
    }
    const filled = body.replace(/\{\{(\w+)\}\}/g, (whole, key: string) => {
      if (fill[key] === undefined) faults.push(`${file}: ${whole} means nothing here`);
      return fill[key] ?? '';
    });
    const { title, ...rendered } = renderMarkdown(filled);
    if (title === undefined) faults.push(`${file}: must begin with a title (# …)`);
    return { ...rendered, title: title ?? '', lang, hash: sha256(filled) };
  }

  const inAll = (name: Name) => new Map(languages.map((lang) => [lang, read(name, lang)]));
  const documents = { terms: inAll('terms'), imprint: inAll('imprint'), accessibility: inAll('accessibility') };
  if (versions.size > 1) {
    const submitted = [...versions.values()].map(({ file, version }) => `${file} ${version.number} (${version.label})`);
    faults.push(`the terms do not say one version: ${submitted.join(', ')}`);
  }
  const [found] = versions.values();
  if (faults.length > 0 || !found) throw new LegalFilesError(faults);
  const of = (name: Name) => (lang: Language) => {
    const document = documents[name].get(lang) ?? documents[name].get(fallback);
    if (!document) throw new Error(`there is no ${name}`);
    return document;
  };
  return { version: found.version, terms: of('terms'), imprint: of('imprint'), accessibility: of('accessibility') };
}
