import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readUtf8File } from './text-file.ts';

/** Texts of one language by file and key, as in `locales/<language>`. */
interface TextTree {
  readonly [key: string]: string | TextTree;
}

interface TextReplacements {
  /** By language, then as {@link TextTree}. */
  texts: Record<string, TextTree>;
  count: number;
  faults: string[];
}

/** `sign-in.json` has the texts of `signIn`. */
const toName = (file: string) =>
  basename(file, '.json').replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const listPlaceholders = (text: string) =>
  [...new Set([...text.matchAll(/\{\{\s*([\w.-]+)[^}]*\}\}/g)].map(([, name = '']) => name))].toSorted();

const isTree = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Texts beside a field, without which the field still has its name. */
const mayBeEmpty = /(?:hint|placeholder)$/i;

function findTextFault(key: string, text: string, shipped: string): string | undefined {
  if (text.trim() === '' && !mayBeEmpty.test(key)) return 'is empty';
  // i18next would put another text in its place.
  if (text.includes('$t(')) return 'has "$t(", which means something else here';
  const [own, expected] = [listPlaceholders(text), listPlaceholders(shipped)];
  const missing = text.trim() === '' ? [] : expected.filter((name) => !own.includes(name));
  const unknown = own.filter((name) => !expected.includes(name));
  if (missing.length > 0) return `lacks ${missing.map((name) => `{{${name}}}`).join(', ')}`;
  if (unknown.length > 0) return `has ${unknown.map((name) => `{{${name}}}`).join(', ')}, which has no value here`;
  return undefined;
}

/** Names and texts of a folder; the fault if it cannot be read. */
function listNames(folder: string): string[] | { fault: string } {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith('.'))
      .toSorted();
  } catch (error) {
    return {
      fault: `${folder} cannot be read (${error instanceof Error && 'code' in error ? String(error.code) : ''})`,
    };
  }
}

function readTree(file: string): { tree?: Readonly<Record<string, unknown>>; fault?: string } {
  try {
    const value: unknown = JSON.parse(readUtf8File(file));
    return isTree(value) ? { tree: value } : { fault: 'is no JSON object' };
  } catch (error) {
    return {
      fault: error instanceof SyntaxError ? 'is no JSON' : error instanceof Error ? error.message : 'cannot be read',
    };
  }
}

/**
 * Reads the texts with which an operator replaces those of the pages, mails and text messages:
 * `<folder>/<language>/<file>.json` with single keys. All others stay.
 * @param shipped the texts of all languages
 */
export function readTextReplacements(folder: string, shipped: Readonly<Record<string, TextTree>>): TextReplacements {
  const faults: string[] = [];
  let count = 0;

  function checked(tree: Readonly<Record<string, unknown>>, known: TextTree, place: string): TextTree {
    const entries = Object.entries(tree).flatMap(([key, value]): [string, string | TextTree][] => {
      const at = place.endsWith(': ') ? `${place}${key}` : `${place}.${key}`;
      const original = Object.hasOwn(known, key) ? known[key] : undefined;
      if (original === undefined) faults.push(`${at} is no key of Foyer's texts`);
      else if (typeof original === 'string' && typeof value === 'string') {
        const fault = findTextFault(key, value, original);
        if (fault !== undefined) faults.push(`${at} ${fault}`);
        count += 1;
        return [[key, value]];
      } else if (typeof original !== 'string' && isTree(value)) return [[key, checked(value, original, at)]];
      else faults.push(`${at} must be ${typeof original === 'string' ? 'a text' : 'an object'}`);
      return [];
    });
    return Object.fromEntries(entries);
  }

  function readFile(file: string, known: TextTree): [string, TextTree][] {
    const name = toName(file);
    const texts = file.endsWith('.json') && Object.hasOwn(known, name) ? known[name] : undefined;
    if (texts === undefined || typeof texts === 'string') {
      faults.push(`${file} has the name of no file of locales/en`);
      return [];
    }
    const read = readTree(file);
    if (read.fault !== undefined) faults.push(`${file} ${read.fault}`);
    return read.tree ? [[name, checked(read.tree, texts, `${file}: `)]] : [];
  }

  const languages = listNames(folder);
  if ('fault' in languages) return { texts: {}, count, faults: [languages.fault] };
  const texts = languages.flatMap((lang): [string, TextTree][] => {
    const known = Object.hasOwn(shipped, lang) ? shipped[lang] : undefined;
    const files = listNames(join(folder, lang));
    if (known === undefined)
      faults.push(`${join(folder, lang)} is no language; write ${Object.keys(shipped).join(', ')}`);
    else if ('fault' in files) faults.push(files.fault);
    else return [[lang, Object.fromEntries(files.flatMap((file) => readFile(join(folder, lang, file), known)))]];
    return [];
  });
  return { texts: Object.fromEntries(texts), count, faults };
}
