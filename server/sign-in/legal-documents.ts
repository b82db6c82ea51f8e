import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { NotUtf8Error, readUtf8File } from '../../config/text-file.ts';
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
  /** A summary of what has changed in this version, if the operator has written one. */
  changes(lang: Language): LegalDocument | undefined;
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
const isoDate = z.iso.date();
type Name = 'terms' | 'terms-changes' | 'imprint' | 'accessibility';

/** A folder without this document, as of earlier releases, shows the one that comes with Foyer. */
const shippedFor = (name: Name, dir: string) =>
  name === 'accessibility' && !existsSync(join(dir, fallback, `${name}.md`));

/** @returns its text, or the error: its code is `ENOENT`, `EACCES` */
function readText(file: string): { text: string } | { code: string; says: string } {
  try {
    return { text: readUtf8File(file) };
  } catch (error) {
    const code = String(propertyIn(error, 'code'));
    if (error instanceof NotUtf8Error) return { code, says: error.message };
    return { code, says: `cannot be read (${code})${code === 'EACCES' ? ': let the service’s user read it' : ''}` };
  }
}

/** @returns the version that the head of the terms declares, or the fault */
function readVersion({ version, label = '', date }: Record<string, string>): TermsVersion | string {
  const number = Number(version);
  if (!Number.isInteger(number) || number < 1 || label === '')
    return 'its head must say version: (a whole number from 1) and label:, between two lines of ---';
  if (date === undefined) return { number, label };
  return isoDate.safeParse(date).success ? { number, label, date } : 'date: must be a day, as in 2026-11-01';
}

/** By the hash of its text: a start reads the folder twice, for its faults and for its texts. */
const parsed = new Map<string, ReturnType<typeof renderMarkdown>>();

/** The folder has no such file, or is none itself. */
const isMissing = (code: string) => code === 'ENOENT' || code === 'ENOTDIR';

/**
 * Reads `<dir>/<language>/terms.md`, `imprint.md` and `accessibility.md`. The English files of the first two are
 * required; English replaces missing languages.
 * Every file of the terms declares the same version (`version`, a whole number, and `label`; `date` is optional).
 * `terms-changes.md` is optional and declares the version that it is about, so that no old one is shown.
 * @param values fill `{{brand}}`, `{{host}}` and `{{publicUrl}}`
 * @throws {LegalFilesError}
 */
export function loadLegal(dir: string, values: { brand: string; publicUrl: string }): Legal {
  const faults: string[] = [];
  const fill: Record<string, string> = { ...values, host: new URL(values.publicUrl).host };
  const versions = new Map<string, { file: string; version: TermsVersion }>();
  const summaries: { file: string; version: string }[] = [];

  function read(name: Name, lang: Language): LegalDocument | undefined {
    const file = join(shippedFor(name, dir) ? shippedLegalDir : dir, lang, `${name}.md`);
    const found = readText(file);
    if ('code' in found) {
      if (!isMissing(found.code)) faults.push(`${file} ${found.says}`);
      else if (lang === fallback && name !== 'terms-changes') faults.push(`${file} is missing`);
      return undefined;
    }
    const { text } = found;
    const { facts, body } = frontMatter(text);
    if (name === 'terms') {
      const version = readVersion(facts);
      if (typeof version === 'string') faults.push(`${file}: ${version}`);
      else versions.set(JSON.stringify(version), { file, version });
    }
    if (name === 'terms-changes') summaries.push({ file, version: facts.version ?? '' });
    const filled = body.replace(/\{\{(\w+)\}\}/g, (whole, key: string) => {
      if (fill[key] === undefined) faults.push(`${file}: ${whole} means nothing here`);
      return fill[key] ?? '';
    });
    const hash = sha256(filled);
    const { title, ...rendered } = parsed.get(hash) ?? renderMarkdown(filled);
    parsed.set(hash, { title, ...rendered });
    if (title === undefined) faults.push(`${file}: must begin with a title (# …)`);
    return { ...rendered, title: title ?? '', lang, hash };
  }

  const inAll = (name: Name) => new Map(languages.map((lang) => [lang, read(name, lang)]));
  const documents = {
    terms: inAll('terms'),
    'terms-changes': inAll('terms-changes'),
    imprint: inAll('imprint'),
    accessibility: inAll('accessibility'),
  };
  if (versions.size > 1) {
    const submitted = [...versions.values()].map(
      ({ file, version: { number, label, date = '' } }) => `${file} ${`${number} (${label}) ${date}`.trim()}`,
    );
    faults.push(`the terms do not say one version: ${submitted.join(', ')}`);
  }
  const [found] = versions.values();
  for (const { file, version } of summaries) {
    if (!found || Number(version) === found.version.number) continue;
    faults.push(`${file}: its head must say version: ${found.version.number}, as the terms do; it says "${version}"`);
  }
  if (faults.length > 0 || !found) throw new LegalFilesError(faults);
  const find = (name: Name, lang: Language) => documents[name].get(lang) ?? documents[name].get(fallback);
  const of = (name: Name) => (lang: Language) => {
    const document = find(name, lang);
    if (!document) throw new Error(`there is no ${name}`);
    return document;
  };
  return {
    version: found.version,
    terms: of('terms'),
    changes: (lang) => find('terms-changes', lang),
    imprint: of('imprint'),
    accessibility: of('accessibility'),
  };
}
